import DualCamCore
import Foundation
import Frames
import TestSupport
import Testing

@Suite struct CameraTests {
    @Test(
        "a source reads and prints as the same word",
        arguments: [
            ("auto", SourceSpecification.auto), ("test", .test(nil)), ("test:bars", .test("bars")),
            ("v4l2:/dev/video0", .v4l2("/dev/video0")), ("file:/a:b.jpg", .file("/a:b.jpg")),
            ("pipewire:cam", .pipewire("cam")), ("phone", .phone("")), ("phone:a", .phone("a")),
        ]
    )
    func source(word: String, source: SourceSpecification) throws {
        #expect(try SourceSpecification(parsing: word) == source)
        #expect(source.description == word)
    }

    private static func page(_ path: String) throws -> String {
        try String(contentsOf: repository.appending(path: path), encoding: .utf8)
    }

    @Test("each message in a picture is in the documents", arguments: Notice.allCases)
    func explained(notice: Notice) throws {
        let message = notice.text(for: .back).split(separator: "\n")[0]
            .replacing("Back camera", with: "Back (or Front) camera")
        #expect(
            try Self.page("docs/troubleshooting.md").contains("\n| \(message) | "),
            "add it to the table of messages in docs/troubleshooting.md"
        )
    }

    @Test("each form of a source is in the documents", arguments: SourceSpecification.forms)
    func documented(form: String) throws {
        let page = try Self.page("docs/configuration.md")
        let kind = form.prefix { $0 != ":" }
        #expect(
            page.split(separator: "\n").contains {
                $0.hasPrefix("|") && ($0.contains("`\(form)`") || $0.contains("`\(kind):"))
            },
            "add it to the table of sources in docs/configuration.md"
        )
        let example = Configuration().rendered.split(separator: "\n").first {
            $0.hasPrefix("source = ")
        }
        #expect(example?.contains(" \(kind)") == true, "add it to the key source")
    }

    @Test(arguments: [
        "", "auto:", "auto:x", "test:", "v4l2", "v4l2:", "file:", "/dev/video0", "Auto",
    ])
    func `a source that cannot be read is named in the error`(word: String) {
        let error = #expect(throws: UnreadableValue.self) { try SourceSpecification(parsing: word) }
        #expect(error?.value == word)
        #expect(error?.description.contains("v4l2:DEVICE") == true)
    }

    @Test("a mode reads and prints as the same word")
    func mode() throws {
        let size = Size(width: 1280, height: 720)
        let rows: [(String, CaptureModePreference)] = [
            ("auto", .auto),
            ("1280x720@30", .mode(size: size, rate: 30, format: nil)),
            ("1280x720@29.97/MJPG", .mode(size: size, rate: 29.97, format: .mjpg)),
            ("1280x720@7.5/YUYV", .mode(size: size, rate: 7.5, format: .yuyv)),
            ("1280x720@7.05/Y16", .mode(size: size, rate: 7.05, format: PixelFormat("Y16"))),
        ]
        for (word, preference) in rows {
            #expect(try CaptureModePreference(parsing: word) == preference)
            #expect(preference.description == word)
        }
        #expect(CaptureMode(size: size, rate: 30, format: .mjpg).description == "1280x720@30/MJPG")
    }

    @Test(arguments: [
        "", "1280x720", "1280x720@", "1280x720@0", "1280x720@nan", "0x720@30", "-1x720@30",
        "1280x720x3@30", "1280x720@30@30", "1280x720@30/", "1280x720@30/MJPGS", "99999x1@30",
    ])
    func `a mode that cannot be read is refused`(word: String) {
        #expect(throws: UnreadableValue(word, expected: "auto, or a mode such as 1280x720@30/MJPG"))
        {
            try CaptureModePreference(parsing: word)
        }
    }
}
