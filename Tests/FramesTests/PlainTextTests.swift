import Frames
import Testing

@Suite("Text of others")
struct PlainTextTests {
    @Test("nothing is left that moves a cursor or turns the direction of what follows")
    func commands() {
        var bad: [Unicode.Scalar] = ["\u{61C}", "\u{2028}", "\u{2029}", "\u{FEFF}", "\u{E0001}"]
        for range in [0...31, 127...159, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069] {
            bad += range.compactMap { Unicode.Scalar(UInt32($0)) }
        }
        for scalar in bad {
            #expect("a\(Character(scalar))b".plain("?") == "a?b", "\(scalar.value)")
        }
        #expect("photo\u{202E}gpj.exe".plain("\u{FFFD}") == "photo\u{FFFD}gpj.exe")
    }

    @Test("words of every language stay")
    func words() {
        for text in ["", "Kamera äöü", "دوربین می\u{200C}روم", "👩\u{200D}💻 e\u{301}", "कैमरा", "摄像头"]
        {
            #expect(text.plain("?") == text)
        }
    }

    @Test(
        "a name keeps its capital in the middle of a sentence",
        arguments: [
            ("No such file", "no such file"), ("FFmpeg cannot read it", "FFmpeg cannot read it"),
            ("JPEG, or none", "JPEG, or none"), ("PipeWire is away", "PipeWire is away"), ("", ""),
            ("A JPEG", "a JPEG"),
        ]
    )
    func capitals(text: String, small: String) { #expect(text.uncapitalized == small) }
}
