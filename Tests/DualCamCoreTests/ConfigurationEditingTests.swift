import DualCamCore
import TestSupport
import Testing

@Suite("A source that is written into a configuration") struct ConfigurationEditingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let before: String
        let after: String
        init(_ name: String, _ before: String, _ after: String) {
            func full(_ text: String) -> String {
                text.replacing("F", with: "[cameras.front]")
                    .replacing("S", with: "source = \"v4l2:x\"")
            }
            (testDescription, self.before, self.after) = (name, full(before), full(after))
        }
    }

    @Test("the loopback device has its own line, too")
    func loopback() throws {
        func edited(
            _ text: String,
            _ device: String = "auto"
        ) throws -> String {
            try Configuration.setting(
                [.init("loopback.device", .text(device))],
                in: text,
                file: "x"
            )
        }
        #expect(try edited("") == "[loopback]\ndevice = \"auto\"\n")
        let written = "[loopback]\ndevice=\"/dev/video9\"# why\n"
        #expect(try edited(written) == "[loopback]\ndevice=\"auto\"# why\n")
        #expect(try edited(written, "") == "[loopback]\ndevice=\"\"# why\n")
        #expect(try edited(written, "/dev/video9") == written)
        #expect(throws: ConfigurationError.self) { try edited("loopback = {}\n") }
    }

    @Test("so has the wish that cameras are hidden")
    func hidden() throws {
        func edited(_ text: String, _ isHidden: Bool = true) throws -> String {
            let wish = Configuration.Change("desktop.hide-cameras", .bool(isHidden))
            return try Configuration.setting([wish], in: text, file: "x")
        }
        #expect(try edited("") == "[desktop]\nhide-cameras = true\n")
        let written = "[desktop]\nhide-cameras=true # in calls\n"
        #expect(try edited(written) == written)
        #expect(try edited(written, false) == "[desktop]\nhide-cameras=false # in calls\n")
        #expect(throws: ConfigurationError.self) { try edited("desktop = {}\n") }
    }

    /// Each with front = "v4l2:x" to be written. F stands for its table, S for the line.
    private static let cases = [
        Case("nothing", "", "F\nS\n"),
        Case("a byte order mark", "\u{feff}", "\u{feff}F\nS\n"),
        Case("a comment without a line end", "# mine", "# mine\n\nF\nS\n"),
        Case(
            "a value with a comment",
            "F\n  source=\"auto\"# why\nmirror = false\n",
            "F\n  source=\"v4l2:x\"# why\nmirror = false\n"
        ),
        Case(
            "line ends of Windows",
            "F\r\nmirror = false \r\n[scene]\r\n",
            "F\r\nS\r\nmirror = false \r\n[scene]\r\n"
        ),
        Case("a value at a Windows line's end", "F\r\nsource = 'auto' \r\n", "F\r\nS \r\n"),
        Case("a header at the end", "F # here", "F # here\nS"),
        Case(
            "indented keys",
            "  [ cameras . front ]\n\t# note\n\tmirror = true\n",
            "  [ cameras . front ]\n\tS\n\t# note\n\tmirror = true\n"
        ),
        Case(
            "quoted names",
            "['cameras'.\"front\"]\n\"source\" = \"auto\"",
            "['cameras'.\"front\"]\n\"source\" = \"v4l2:x\""
        ),
        Case(
            "a long string",
            "F\nsource = \"\"\"\nauto\"\"\" # end\nmirror = true\n",
            "F\nS # end\nmirror = true\n"
        ),
        Case(
            "dotted keys at the top",
            "cameras.front.mirror = false\ncameras.ignore = []\n",
            "cameras.front.mirror = false\ncameras.front.S\ncameras.ignore = []\n"
        ),
        Case(
            "a dotted source",
            "[cameras]\nfront . source = 'test'\nback.source = \"auto\"\n",
            "[cameras]\nfront . S\nback.source = \"auto\"\n"
        ),
        Case(
            "dotted keys in a table",
            "[cameras]\n  front.mirror = true",
            "[cameras]\n  front.mirror = true\n  front.S"
        ),
        Case(
            "lenses before their camera",
            "[[cameras.front.lenses]]\nname = \"a\"\nfactor = 2\nsource = \"test\"\n",
            "[[cameras.front.lenses]]\nname = \"a\"\nfactor = 2\nsource = \"test\"\n\nF\nS\n"
        ),
        Case(
            "what only looks like it",
            "#F\n[output]\ndescription = \"F\"\n[cameras.back]\nsource = \"auto\"\n",
            "#F\n[output]\ndescription = \"F\"\n[cameras.back]\nsource = \"auto\"\n\nF\nS\n"
        ),
        Case(
            "unknown keys",
            "F\nsauce = [1, # 2\n]\n[other]\nsource = 3\n",
            "F\nS\nsauce = [1, # 2\n]\n[other]\nsource = 3\n"
        ),
        Case("it already", "F\nsource = 'v4l2:x'\n", "F\nsource = 'v4l2:x'\n"),
    ]

    private func source(_ role: Role, _ source: SourceSpecification) -> Configuration.Change {
        SourceChange(role: role, source: source).change
    }

    @Test(arguments: [
        ("output.width", Plain.int(1281)), ("output.widht", .int(1280)),
        ("cameras.back.mirror", .text("yes")),
    ])
    func whatNoKeyCanHaveIsRefused(key: String, value: Plain) {
        #expect(throws: ConfigurationError.self) {
            try Configuration.setting([.init(key, value)], in: "", file: "f")
        }
    }

    @Test(arguments: cases)
    func changesItsLineAlone(given: Case) throws {
        let after = try Configuration.setting(
            [source(.front, .v4l2("x"))],
            in: given.before,
            file: "f"
        )
        #expect(Array(after.utf8) == Array(given.after.utf8))
        let again = try Configuration.setting([source(.front, .v4l2("x"))], in: after, file: "f")
        #expect(again == after, "written once")
    }

    @Test(arguments: [
        ("cameras = { front = { mirror = true } }\n", "f:1: cameras is in braces"),
        ("\n[cameras]\nfront = { }\n", "f:3: cameras.front is in braces"),
        ("cameras.front = {source = \"test\"}", "f:1: cameras.front is in braces"),
        ("[cameras.front]\n\"s\\u006furce\" = \"auto\"\n", "change it yourself"),
        ("[cameras.front]\nsource = 3\n", "f:2: cameras.front.source is 3"),
        ("[cameras.front\n", "f:1:"), ("[[cameras.front]]\n", "cameras.front is"),
    ])
    func orIsRefused(text: String, reason: String) {
        do {
            let after = try Configuration.setting([source(.front, .v4l2("x"))], in: text, file: "f")
            Issue.record("it became \(after)")
        } catch {
            #expect("\(error)".contains(reason), "\(error)")
        }
    }

    @Test func bothRolesAreWritten() throws {
        let before = "[cameras.back]\nsource = \"v4l2:a\" # desk\n[scene]\nlayout = \"pip\"\n"
        let after = try Configuration.setting(
            [source(.front, .v4l2("a")), source(.back, .auto)],
            in: before,
            file: "f"
        )
        #expect(
            after == "[cameras.back]\nsource = \"auto\" # desk\n[scene]\nlayout = \"pip\"\n\n"
                + "[cameras.front]\nsource = \"v4l2:a\"\n"
        )
    }

    @Test(arguments: [
        SourceSpecification.file("/a \"b\" \\c\u{1F600}"), .v4l2("usb-0000:00:14.0-1"),
        .test("bars"), .pipewire("a.b"),
    ])
    func anyValueIsReadBack(source: SourceSpecification) throws {
        let after = try Configuration.setting([self.source(.back, source)], in: "", file: "f")
        #expect(try Configuration.parse(after, file: "f").0.cameras.back.source == source)
    }

    private static let parts = [
        ["# [cameras.front]", "", "   ", "#source = \"auto\""],
        ["[output]", "width = 640", "description = \"\"\"", "[cameras.back]\"\"\""],
        ["[cameras.front]", "mirror = false#x"], ["[cameras.front]", "\tsource = 'auto'\t# y"],
        ["[[cameras.front.lenses]]", "name=\"a\"", "factor = 2", "source = \"test\""],
        ["[cameras.back]", "source = \"\"\"\\", "  auto\"\"\"", "capture = \"auto\""],
        ["[cameras]", "ignore = [ # z", "  \"]\", ", "]"],
        ["[cameras]", "front.mirror = true", "back.rotation = 90"],
        ["[scene]", "layout = \"single\"", "x = {a = [1, {b = 2}]}"],
        ["cameras.back.mirror = true"], ["[other.\"cameras.front\"]", "source = 1"],
    ]

    @Test("leaves all other lines of any document as they are", arguments: 0..<4)
    func property(seed: UInt64) throws {
        var random = Chance(seed: seed)
        var edits = 0
        for _ in 0..<400 {
            let end = Bool.random(using: &random) ? "\r\n" : "\n"
            let count = Int.random(in: 0...5, using: &random)
            let chosen = Self.parts.shuffled(using: &random).prefix(count)
            var before = chosen.joined().joined(separator: end)
            if Bool.random(using: &random) { before += end }
            let role = Role.allCases.randomElement(using: &random) ?? .back
            guard let old = try? Configuration.parse(before, file: "f").0,
                let after = try? Configuration.setting(
                    [source(role, .v4l2("new"))],
                    in: before,
                    file: "f"
                )
            else { continue }
            edits += 1
            var wanted = old
            wanted.cameras[role].source = .v4l2("new")
            #expect(try Configuration.parse(after, file: "f").0 == wanted)
            func lines(_ text: String) -> [[UInt8]] {
                text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                    .map(Array.init)
            }
            // One block differs: the lines that the source has, or at most three new ones.
            let (a, b) = (lines(before), lines(after))
            let first = zip(a, b).prefix { $0 == $1 }.count
            let last = zip(a[first...].reversed(), b[first...].reversed()).prefix { $0 == $1 }.count
            func block(_ lines: [[UInt8]]) -> [String] {
                lines[first..<lines.count - last].map { line in
                    String(decoding: line, as: UTF8.self).filter { !$0.isWhitespace }
                }
            }
            let isLastEnded = a.last == []
            #expect(
                block(a).allSatisfy { $0.contains("source=") || $0 == "auto\"\"\"" }
                    || (!isLastEnded && block(a).count == 1 && block(b).first == block(a).first),
                "\(block(a)) in\n\(before)"
            )
            #expect(block(b).contains { $0.contains("source=\"v4l2:new\"") }, "\(block(b))")
            #expect(block(b).count - block(a).count <= 4, "\(block(b)) in\n\(before)")
        }
        #expect(edits > 50, "\(edits)")
    }
}
