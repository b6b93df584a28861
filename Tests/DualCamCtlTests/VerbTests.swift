import ArgumentParser
import Testing

@testable import DualCamTool

@Suite("Verbs") struct VerbTests {
    @Test func `A verb for one camera takes each word for it`() throws {
        let helps = Tool.configuration.subcommands.map { Tool.helpMessage(for: $0) }
        let forOne = helps.filter { $0.contains("--camera") }
        #expect(forOne.count >= 16)
        for help in forOne {
            let words = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.contains("back, front, main, inset"), "\(help)")
        }
    }

    @Test(arguments: [
        ["status", "--no-such-option"], ["layout", "round"],
        ["inset", "--size", "1.9"], ["inset", "--size", "nan"], ["inset", "--size", "+inf"],
        ["inset", "show", "--corner", "middle"], ["mirror", "on", "--camera", "side"],
        ["rotate", "45"], ["rotate", "+45"], ["orientation", "up"], ["room", "on"],
        ["room", "/no.png"], ["room-blur", "2"], ["framing", "on"], ["framing-tightness", "2"],
        ["metering", "off"],
        ["swap", "left"], ["iso", "fast"], ["shutter", "250"], ["shutter", "0s"],
        ["focus", "2"], ["focus", "nan"], ["wb", "moon"], ["dial", "left"],
        ["zoom", "far"], ["zoom", "0"], ["zoom", "-"], ["zoom", "inf"],
        ["zoom", "2", "--at", "2,0"],
        ["controls", "--set", "gain"], ["photo", "--live", "-o", "x.jpg"],
        ["photo", "--in", "0"], ["record", "start", "--in", "601"],
        ["photo", "--live", "--full"], ["photo", "--full", "--of", "stream"],
        ["image", "iso"], ["image", "hue", "blue"], ["ev", "nan"], ["ev", "+"], ["scene", "save"],
        ["scene", "save", "x", "--only", "layout,hat"], ["title", "a\u{202E}b"],
        ["title", "a", "b", "c"],
        ["phone", "side"], ["phone", "back", "--forget"], ["title", "--corner", "middle"],
    ])
    func `Wrong usage is refused before the daemon is asked`(_ arguments: [String]) throws {
        let error = try #require(throws: (any Error).self) {
            try Tool.parseAsRoot(Tool.separated(arguments))
        }
        #expect(Tool.exitCode(for: error) == .validationFailure)
        #expect(Tool.fullMessage(for: error).lowercased().contains("usage: dualcamctl"))
    }
}

@Suite("First words") struct FirstWordsTests {
    private static let verbs = Tool.configuration.subcommands.map { $0._commandName }

    @Test(arguments: [
        "brightness", "contrast", "blur", "background", "timer", "who", "viewers", "flip",
        "devices", "preview", "pause", "resume", "mute", "list", "away",
    ])
    func `A word that people try leads on, and to a verb that there is`(_ word: String) throws {
        let sentence = try #require(FirstWords.sentence(word))
        #expect(FirstWords.guess(word, among: Self.verbs) == nil)
        for match in sentence.matches(of: /dualcamctl ([a-z0-9., +-]+)/) {
            let words = match.1.prefix { $0 != "," }.split(separator: " ").map(String.init)
            #expect(Self.verbs.contains(words[0]), "\(sentence)")
        }
    }

    @Test(arguments: [
        ("sawp", "swap"), ("statsu", "status"), ("zom", "zoom"), ("contr", "controls"),
        ("stpo", nil), ("sop", nil), ("privcy", nil), ("togle", nil), ("mute", nil), ("who", nil),
        ("list", nil), ("away", nil), ("st", nil), ("x", nil),
    ])
    func `A guess is nearly certain, and takes no camera away`(_ word: String, _ guess: String?) {
        #expect(FirstWords.guess(word, among: Self.verbs) == guess)
    }
}
