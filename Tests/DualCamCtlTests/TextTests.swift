import ArgumentParser
import Control
import DBusKit
import DualCamCore
import Testing

@testable import DualCamTool

@Suite("Texts of dualcamctl") struct TextTests {
    @Test func `viewers are named up to two, and the others counted`() {
        func sentence(_ names: String...) -> String? {
            ViewerNames(names.map { ["name": .string($0)] }).sentence
        }
        #expect(sentence() == nil && sentence("") == nil)
        #expect(sentence("OBS", "OBS") == "OBS is using the camera")
        #expect(sentence("OBS", "Zoom") == "OBS and Zoom are using the camera")
        #expect(sentence("OBS", "Zoom", "Meet") == "OBS, Zoom and 1 more are using the camera")
        #expect(
            sentence("OBS", "Zoom", "Meet", "Jitsi") == "OBS, Zoom and 2 more are using the camera"
        )
    }

    @Test(
        "a number may be in percent, and is a change with a sign, unless = comes before it",
        arguments: [
            ("0.3", .to(0.3)), ("30%", .to(0.3)), ("30 %", .to(0.3)), ("+0.05", .by(0.05)),
            ("+5%", .by(0.05)), ("-5%", .by(-0.05)), ("=-1", .to(-1)), ("nan", nil), ("+", nil),
        ] as [(String, Amount?)]
    )
    func amount(word: String, amount: Amount?) {
        #expect(Amount(word, percent: true) == amount)
        #expect(Amount("2x", unit: "x") == .to(2) && Amount("30%") == nil)
    }

    @Test("a device is listed with the largest mode of each format")
    func modes() {
        let modes = [
            "640x480@30/YUYV", "1920x1080@30/MJPG", "1280x720@60/MJPG", "1280x720@10/YUYV",
        ]
        let table = DeviceText.table([
            [
                "path": .string("/dev/video0"), "name": .string("Brio"),
                "modes": .array(modes.map { .string($0) }, of: .string),
            ]
        ])
        #expect(table.contains("YUYV 1280x720@10, MJPG 1920x1080@30\n"))
        for odd in ["@/X", "/", "x/X", "9223372036854775807x2@1/X", "-1x-1@1/X", ""] {
            #expect(DeviceText.table([["modes": .strings([odd])]]).contains("–"))
        }
    }

    @Test(
        "the distance of two words is what has to be put in, taken out, replaced or swapped",
        arguments: [
            ("", "", 0), ("swap", "swap", 0), ("", "swap", 4), ("swap", "", 4), ("swap", "swab", 1),
            ("swp", "swap", 1), ("swaap", "swap", 1), ("wap", "swap", 1), ("swaps", "swap", 1),
            ("sawp", "swap", 1), ("zoom", "record", 5), ("inset-corner", "corner", 6),
            ("corner", "inset-corner", 6), ("kitten", "sitting", 3), ("é", "e", 1),
        ]
    )
    func distance(_ one: String, _ other: String, _ expected: Int) {
        #expect(one.distance(to: other) == expected)
        #expect(other.distance(to: one) == expected)
    }

    @Test func `status --json has all that can be set of the scene and of a camera`() throws {
        let members = Snapshot.members(nil)
        guard case .object(let cameras) = members.first(where: { $0.0 == "cameras" })?.1,
            case .object(let camera) = cameras.first?.1
        else { throw Failure(status: .failed, message: "no cameras") }
        for (interface, keys) in [(Interface.scene, members.map(\.0)), (.camera, camera.map(\.0))] {
            for property in interface.properties where property.isWritable {
                let key = property.name.prefix(1).lowercased() + property.name.dropFirst()
                #expect(keys.contains(key), "add \(property.name) to Snapshot.members")
            }
        }
    }

    @Test func `a scene's values are JSON, whatever a later version wrote into it`() throws {
        let text = "[[scene]]\nname = \"a\"\nlayout = 1979-05-27\nhud = \"off\"\nglow = 3\n"
        let preset = try SceneBook(parsing: text).preset("a")
        let json = Scenes.object(Settings.scenes.entries(of: preset.values)).text
        #expect(json == #"{"hud":"off","glow":"3","layout":"1979-05-27"}"#)
    }

    @Test(
        "a recording's time is minutes and seconds, and hours where there are any",
        arguments: [
            (0, "0:00"), (9, "0:09"), (59, "0:59"), (60, "1:00"), (599, "9:59"), (3599, "59:59"),
            (3600, "1:00:00"), (3661, "1:01:01"), (86399, "23:59:59"), (360_000, "100:00:00"),
        ]
    )
    func recordingTime(_ seconds: Int, _ text: String) {
        let values = PropertyValues<CaptureInterface>([
            "Recording": .boolean(true), "RecordingSeconds": .uint32(UInt32(seconds)),
        ])
        #expect(StatusText.recordingText(values) == "● REC \(text)")
        let paused = PropertyValues<CaptureInterface>([
            "Recording": .boolean(true), "RecordingSeconds": .uint32(UInt32(seconds)),
            "RecordingPaused": .boolean(true),
        ])
        #expect(StatusText.recordingText(paused) == "● REC \(text) (paused)")
    }

    @Test("a status says who takes the stream, and since when")
    func viewers() {
        func lines(_ viewers: [[String: Value]], _ consumers: UInt32 = 2) -> [String] {
            let stream: [String: Value] = [
                "Consumers": .uint32(consumers),
                "Viewers": viewers.dbus,
            ]
            return StatusText.lines(Snapshot(main: [StreamInterface.name: stream]))
                .filter { $0.hasPrefix("  viewer") }
        }
        func viewer(
            _ name: String,
            _ application: String,
            _ pid: UInt32,
            _ since: UInt64,
            _ through: String = ""
        )
            -> [String: Value]
        {
            [
                "name": .string(name), "application-id": .string(application),
                "pid": .uint32(pid), "since": .uint64(since), "through": .string(through),
            ]
        }
        #expect(
            lines([
                viewer("Meet", "org.example.Meet", 12, 0), viewer("\u{1b}[2J", "", 4711, .max),
                viewer("", "", 0, 0), viewer("zoom", "", 7, 0, "/dev/video9"),
                [:],
            ]) == [
                "  viewer  Meet (org.example.Meet)", "  viewer  \u{FFFD}[2J (4711)",
                "  viewer  an app", "  viewer  zoom (7), through /dev/video9", "  viewer  an app",
            ]
        )
        #expect(
            lines([viewer("a", "", 0, 0), viewer("b", "", 0, 0, "dualcam.back")], 0)
                == ["  viewer  b, through dualcam.back"]
        )
        let old = lines([viewer("a", "", 1, 1_000_000_000_000_000)])
        #expect(old.first?.hasPrefix("  viewer  a (1) · since 2001-09-") == true)
    }

    @Test func `what is not recorded has no time`() {
        for values: [String: Value] in [[:], ["Recording": .boolean(false)]] {
            #expect(StatusText.recordingText(PropertyValues<CaptureInterface>(values)) == nil)
        }
    }

    @Test("padding fills up and never cuts")
    func padding() {
        #expect("ab".padded(to: 4) == "ab  " && "abc".padded(to: 2) == "abc")
        #expect("".padded(to: 0) == "")
        #expect("小さい".padded(to: 8) == "小さい  ")
    }

    @Test(
        "the columns of a text are those of a terminal",
        arguments: [
            ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("小さい猫カメラ", 14), ("ｶﾒﾗ", 3),
            ("카메라", 6), ("\u{1112}\u{1161}\u{11ab}", 2), ("📷", 2), ("👩‍👩‍👧‍👦", 2), ("🇩🇪", 2),
            ("❤️", 2), ("👍🏽", 2), ("☕", 2), ("“–…•●°×", 7), ("กำ", 2), ("\u{fffd}", 1),
            ("ＡＢ", 4), ("𠀋", 2), ("✓", 1),
        ]
    )
    func columns(_ text: String, _ count: Int) {
        #expect(text.columns == count)
    }
}

@Suite("JSON of dualcamctl") struct JSONTests {
    @Test(
        "a string is one line without commands, for every reader",
        arguments: [
            ("plain", "plain"), ("a\"b\\c", #"a\"b\\c"#), ("a\nb\tc", #"a\nb\tc"#),
            ("\r", #"\u000d"#), ("\u{0}\u{1b}[2J", #"\u0000\u001b[2J"#),
            ("\u{7f}\u{9b}", #"\u007f\u009b"#), ("\u{2028}|\u{2029}", #"\u2028|\u2029"#),
            ("é€😀", "é€😀"), ("a\u{202e}\u{2066}\u{200e}\u{61c}", #"a\u202e\u2066\u200e\u061c"#),
            ("\u{e0001}", #"\udb40\udc01"#), ("نمی\u{200c}خواهم", "نمی\u{200c}خواهم"),
        ]
    )
    func strings(_ text: String, _ expected: String) {
        #expect(JSON.string(text).text == "\"\(expected)\"")
        #expect(JSON.object([(text, .null)]).text == "{\"\(expected)\":null}")
        // What was JSON before stays so, and has no commands either.
        #expect(JSON.written(JSON.string(text).text).text == "\"\(expected)\"")
    }

    @Test("each value of D-Bus has its own form, and a number that is none is null")
    func values() {
        let cases: [(Value, String)] = [
            (.boolean(true), "true"), (.byte(7), "7"), (.int32(-5), "-5"),
            (.uint32(.max), "4294967295"),
            (.uint64(.max), "18446744073709551615"), (.int64(.min), "-9223372036854775808"),
            (.double(0.5), "0.5"), (.double(1.7000000000000006), "1.7"), (.double(1e308), "1e+308"),
            (.double(0.1 + 0.2 - 0.3), "0"), (.double(-5e-17), "0"), (.double(-0.7), "-0.7"),
            (.double(Double(Float(1.8))), "1.8"), (.double(-1e300), "-1e+300"),
            (.double(.nan), "null"), (.double(.infinity), "null"),
            (.objectPath("/a/b"), "\"/a/b\""), (.variant(.string("x")), "\"x\""),
            (.strings(["a", "b"]), #"["a","b"]"#),
            (.structure([.byte(1), .string("a")]), #"[1,"a"]"#),
            (.named(["b": .byte(2), "a": .byte(1)]), #"{"a":1,"b":2}"#),
        ]
        for (value, text) in cases { #expect(JSON(value).text == text) }
        #expect(JSON(Value?.none).text == "null")
    }

    @Test("a document is one line with its version first")
    func document() {
        #expect(JSON.document([]) == "{\"version\":1}\n")
        #expect(JSON.document([("a", .array([.null]))]) == "{\"version\":1,\"a\":[null]}\n")
    }

    @Test("words with hyphens become one, at every depth of an object")
    func names() {
        let inner = JSON.object([("end-to-end", .number("1")), ("plain", .null)])
        let text = JSON.object([("frame-rate", inner)]).camelCased.text
        #expect(text == #"{"frameRate":{"endToEnd":1,"plain":null}}"#)
    }
}

@Suite("Templates of dualcamctl") struct TemplateTests {
    @Test(
        "of a daemon that is off give what they say for that",
        arguments: [
            ("", ""), ("plain", "plain"), ("{{state}}", "off"), ("{{ state }}!", "off!"),
            ("{{uc(state)}}", "OFF"), ("{{default(layout, \"none\")}}", "none"),
            ("{{choose(swapped, \"a\", \"b\")}}", "b"),
            ("{{choose(\"0\", \"a\", \"b\")}}", "b"), ("{{choose(\"2\", \"a\", \"b\")}}", "a"),
            ("{{trunc(state, 2)}}", "o…"),
            ("{{trunc(state, 3)}}", "off"), ("{{emoji(state)}}", "○"), ("{{layout}}", ""),
            ("{{json(layout)}}", "null"), ("a{{state}}b{{state}}c", "aoffboffc"),
        ]
    )
    func rendered(_ template: String, _ text: String) throws {
        #expect(try Template(template).rendered(nil) == text)
    }

    private static let camera: [String: [String: Value]] = [
        CameraInterface.name: [
            "Name": .string("Face <Cam> & 'co'"), "Mirror": .boolean(true),
            "Zoom": .double(1.7000000000000006),
        ]
    ]

    @Test(
        "of a daemon that runs give its values",
        arguments: [
            ("{{state}}{{main}}", "streamingback"),
            ("a {{ output.width }}x{{ output.height }} b", "a 1280x720 b"),
            ("{{ cameras.front.name }}", "Face <Cam> & 'co'"),
            ("{{ cameras.main.name }}|{{ cameras.inset.mirror }}", "Face <Cam> & 'co'|true"),
            ("{{ uc(main) }} {{ lc(\"ÄB\") }}", "BACK äb"),
            ("{{ trunc(cameras.main.name, 5) }}", "Face…"), ("{{ trunc(main, 9) }}", "back"),
            ("{{ default(statistics.none, \"none\") }}", "none"),
            ("{{ default(main, 1) }}", "back"),
            ("{{ choose(privacy, \"x\", \"y\") }}{{ choose(pro, \"P\", \"\") }}", "yP"),
            ("{{ emoji(state) }}{{ emoji(\"idle\") }}", "●○"),
            ("{{ markup_escape(cameras.main.name) }}", "Face &lt;Cam&gt; &amp; 'co'"),
            ("{{ shell_escape(cameras.main.name) }}", "'Face <Cam> & '\\''co'\\'''"),
            ("{{ json(cameras.main.name) }} {{ json(pro) }}", "\"Face <Cam> & 'co'\" true"),
            ("{{ problems }}", "one, two"), ("{{ \"{{\" }}", "{{"),
            ("{{ cameras.back.zoom }}", "1.7"),
        ]
    )
    func values(_ template: String, _ text: String) throws {
        let snapshot = Snapshot.usual(
            [
                StreamInterface.name: ["Problems": .strings(["one", "two"])],
                ProInterface.name: ["Enabled": .boolean(true)],
            ],
            front: Self.camera,
            back: Self.camera
        )
        #expect(try Template(template).rendered(snapshot) == text)
    }

    @Test(
        "that cannot be read are refused before anything is asked for",
        arguments: [
            ("{{", ""), ("{{state}", ""), ("{{nothing(state)}}", ""), ("{{lc()}}", ""),
            ("{{trunc(state)}}", ""),
            ("{{ mian }}", "There is no \"mian\"; expected one of state, "),
            ("{{ cameras.side.name }}", "expected one of cameras.back, cameras.front."),
            ("{{ state.x }}", "There is no \"state.x\"; expected state."),
            ("{{ state", "Expected }} at the end."), ("{{ state !", "Expected }} before \"!\"."),
            ("{{ }}", "Expected a name before"), ("{{ \"x }}", "Expected \" after"),
            ("{{ up(state) }}", "There is no function \"up\""),
            ("{{ uc(state }}", "Expected ) before"), ("{{ uc(state, main) }}", "uc takes 1, not 2"),
        ]
    )
    func mistakes(_ template: String, _ message: String) throws {
        let mistake = try #require(throws: ValidationError.self) { try Template(template) }
        #expect(message.isEmpty || mistake.message.contains(message), "\(mistake.message)")
    }

    @Test(arguments: ["uc(", "default(\"\", ", "((", "[", "{{ ", "\"", "a.", "statistics.a."])
    func `that are nested without end are refused, too`(_ part: String) {
        let template = "{{ " + String(repeating: part, count: 120_000 / part.count)
        #expect(throws: ValidationError.self) { try Template(template) }
    }
}
