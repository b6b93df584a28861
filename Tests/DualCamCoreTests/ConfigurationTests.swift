import DualCamCore
import Foundation
import Frames
import TestSupport
import Testing

@Suite struct ConfigurationTests {
    private func parse(_ text: String) throws -> Configuration {
        let (configuration, warnings) = try Configuration.parse(text, file: "dualcam.toml")
        #expect(warnings.isEmpty)
        return configuration
    }

    private func problem(_ text: String) -> String {
        do {
            let (configuration, _) = try Configuration.parse(text, file: "dualcam.toml")
            return "none: \(configuration)"
        } catch { return error.description }
    }

    /// A document that sets every key to a value other than its default.
    static let full = """
        [output]
        width = 1920
        height = 1080
        frame-rate = 25
        node-name = "two.eyes-1"
        description = "Zwei \\"Äugen\\" \\\\ 👀"
        away = "~/away.png"

        [cameras.back]
        source = "v4l2:usb-Desk_Cam_1-video-index0"
        mirror = true
        rotation = 270
        capture = "1280x720@29.97/MJPG"
        aperture = 2          # whole numbers are numbers
        iso-range = [50, 6400]

        [[cameras.back.lenses]]
        name = "ultra-wide"
        factor = 0.5
        source = "test:bars"

        [[cameras.back.lenses]]
        name = "wide"
        factor = 1

        [cameras.front]
        source = "file:/tmp/a b#c.mkv"
        mirror = false
        rotation = 90
        capture = "640x480@7.5"
        aperture = 1.8
        iso-range = [100, 100]
        brightness = 140
        hue = -20

        [scene]
        layout = "side-by-side"
        inset-shape = "circle"
        inset-corner = "bottom-left"
        inset-position = [0.25, 1]
        inset-size = 0.31
        inset-margin = 0
        inset-border = 0
        inset-radius = 7
        gap = 3
        background = "crop"
        swap-duration-ms = 0
        swap-icon = false
        record-mark = false
        hud = "always"

        [capture]
        photo-directory = "~/Photos"
        video-directory = "/srv/video"
        live-photo = true
        audio = false
        microphone = "alsa_input.usb-1"
        record-cameras = false
        format = "mp4"
        file-mode = "0644"
        allow-swap-while-recording = false

        [state]
        remember = true

        [loopback]
        device = "/dev/video9"

        [desktop]
        hide-cameras = true
        close-at-lock = false
        """

    @Test(arguments: [
        ("true", Configuration.Memory.all), ("false", .nothing), ("\"settings\"", .settings),
    ])
    func rememberIsAWordOrABoolean(text: String, memory: Configuration.Memory) throws {
        let configuration = try parse("[state]\nremember = \(text)\n")
        #expect(configuration.memory == memory)
        #expect(try parse(configuration.rendered) == configuration)
        #expect(
            problem("[state]\nremember = \"all\"").contains("expected \"settings\", true or false")
        )
    }

    @Test func everyKeyIsRead() throws {
        let configuration = try parse(Self.full)
        #expect(configuration.output.size == Size(width: 1920, height: 1080))
        #expect(configuration.output.frameRate == 25)
        #expect(configuration.output.nodeName == "two.eyes-1")
        #expect(configuration.output.description == "Zwei \"Äugen\" \\ 👀")
        let back = configuration.cameras.back
        #expect(back.source == .v4l2("usb-Desk_Cam_1-video-index0"))
        #expect(back.mirror && back.rotation == 270 && back.aperture == 2)
        #expect(
            back.capture == .mode(size: Size(width: 1280, height: 720), rate: 29.97, format: .mjpg)
        )
        #expect(back.isoRange == 50...6400)
        #expect(
            back.lenses == [
                Configuration.LensSettings(name: "ultra-wide", factor: 0.5, source: .test("bars")),
                Configuration.LensSettings(name: "wide", factor: 1, source: nil),
            ]
        )
        let front = configuration.cameras.front
        #expect(front.source == .file("/tmp/a b#c.mkv"))
        #expect(!front.mirror && front.rotation == 90 && front.aperture == 1.8)
        #expect(front.isoRange == 100...100 && front.lenses.isEmpty)
        for image in ["brightness = 140", "hue = -20"] {
            #expect(configuration.rendered.contains(image))
        }
        let style = configuration.scene.style
        #expect(style.layout == .sideBySide && style.insetCorner == .bottomLeft)
        #expect(style.insetPosition == NormalizedPoint(x: 0.25, y: 1))
        #expect(style.insetShape == .circle && style.insetSize == 0.31 && style.insetMargin == 0)
        #expect(style.insetBorder == 0 && style.insetRadius == 7 && style.gap == 3)
        #expect(style.background == .crop && !style.recordMark)
        #expect(style.swapDuration == 0 && !style.swapIcon)
        #expect(configuration.scene.hud == .always)
        #expect(configuration.output.away == "~/away.png")
        #expect(configuration.capture.photoDirectory == "~/Photos")
        #expect(configuration.capture.videoDirectory == "/srv/video")
        #expect(configuration.capture.takesLivePhotos && !configuration.capture.recordsAudio)
        #expect(!configuration.capture.allowsSwapWhileRecording)
        #expect(configuration.capture.fileMode.bits == 0o644)
        #expect(configuration.memory == .all)
        #expect(configuration.loopback == .path("/dev/video9"))
        #expect(configuration.hidesCameras)
    }

    @Test func whatIsRenderedReadsBackTheSame() throws {
        for configuration in [Configuration(), try parse(Self.full)] {
            let text = configuration.rendered
            #expect(try parse(text) == configuration, "\(text)")
            #expect(text.split(separator: "\n").allSatisfy { !$0.hasSuffix(" ") })
        }
    }

    /// The example is the file that is installed.
    @Test func theExampleFileIsTheDefaults() throws {
        let example = try String(
            contentsOf: repository.appending(path: "docs/dualcam.toml"),
            encoding: .utf8
        )
        #expect(
            example == Configuration().rendered,
            "write docs/dualcam.toml anew, as CONTRIBUTING.md says"
        )
        #expect(try parse("") == Configuration())
    }

    /// A table, a key in it, its value, and what was expected.
    private static let wrongValues = [
        ("output", "width", "1281", "a multiple of 4 from 160 to 7680"),
        ("output", "width", "0", "a multiple of 4 from 160 to 7680"),
        ("output", "height", "-720", "an even number from 120 to 4320"),
        ("output", "width", "1280.0", "a multiple"),
        ("output", "node-name", #""a b""#, "1 to 64 letters"),
        ("output", "description", "\"\"", "1 to 64 printing"),
        ("output", "description", "\"a\\nb\"", "1 to"),
        ("output", "description", "\"a\\u202eb\"", "1 to 64 printing"),
        ("cameras.back", "source", #""vl42:x""#, "auto, v4l2:"),
        ("cameras.back", "source", "0", "a string"),
        ("cameras.back", "source", "\"file:/a\\u0007\"", "no"),
        ("cameras.back", "credentials", "5", "a path"),
        ("cameras.back", "credentials", #""password""#, "a path"),
        ("cameras.back", "perspective", "5", "four corners"),
        ("cameras.back", "torch", "5", "a name from /sys/class/leds"),
        ("capture", "video-directory", "true", "a path"),
        ("loopback", "device", "5", "auto,"),
        ("cameras.front", "rotation", "45", "0, 90, 180 or 270"),
        ("cameras.front", "mirror", "1", "true or false"),
        ("cameras.front", "capture", #""720p""#, "auto, or a mode"),
        ("cameras.front", "aperture", "nan", "a number from 0 to 64"),
        ("cameras.front", "aperture", "-inf", "a number"),
        ("cameras.front", "iso-range", "[3200, 100]", "two whole"),
        ("cameras.front", "iso-range", "[100]", "two whole"),
        ("scene", "layout", #""PIP""#, "pip, side-by-side, stacked or single"),
        ("scene", "inset-size", "0.51", "a number from 0.1 to 0.5"),
        ("capture", "photo-directory", #""Pictures""#, "a path"),
        ("capture", "file-mode", #""777""#, "permissions such as 600, 640 or 644"),
        ("capture", "file-mode", #""440""#, "permissions such as 600, 640 or 644"),
        ("capture", "file-mode", "600", "a string"),
        ("loopback", "device", #""/dev/video300""#, "auto,"),
        ("loopback", "device", #""/dev/sda""#, "auto,"),
        ("cameras", "ignore", #""usb-1""#, "at most 64 names"),
        ("desktop", "hide-cameras", "1", "true or false"),
    ]

    @Test(arguments: wrongValues)
    func aValueThatCannotBeIsNamed(table: String, key: String, value: String, expected: String) {
        let problem = problem("[\(table)]\n\(key) = \(value)")
        let words = "dualcam.toml:2: \(table).\(key) is \(value), expected \(expected)"
        #expect(problem.hasPrefix(words), "\(problem)")
    }

    @Test(arguments: [
        ("[output]\nwidth = 9223372036854775807", "2: output.width is 9223372036854775807,"),
        (
            "[output]\n\n# rate\nframe-rate = 0",
            "4: output.frame-rate is 0, expected a whole number from 1"
        ),
        ("output = 5", "1: output is 5, expected a table, headed [output]"),
        (
            "\n[cameras]\nback = true",
            "3: cameras.back is true, expected a table, headed [cameras.back]"
        ),
        ("cameras = []", "1: cameras is [], expected a table, headed [cameras]"),
        (
            "[cameras.front]\niso-range = [1, 2, 3, 4, 5]",
            "2: cameras.front.iso-range is an array, expected"
        ),
        ("[scene]\ninset-size = 1e300", "2: scene.inset-size is 1e+300, expected"),
        (
            "[scene]\nbackground = 1979-05-27",
            "2: scene.background is a date, expected auto, blur, black or crop"
        ),
        ("[scene]\nhud = {}", "2: scene.hud is a table, expected off, pro or always"),
        ("[cameras]\nignore = [1]", "2: cameras.ignore is "),
        ("[cameras]\nignore = [\"v4l2:\"]", "2: cameras.ignore is "),
    ])
    func aValueThatCannotBeIsNamedWithItsLineAndWhatWasExpected(text: String, expected: String) {
        let problem = problem(text)
        #expect(problem.hasPrefix("dualcam.toml:" + expected), "\(problem)")
    }

    @Test func ignoredDevicesAreNamedAsASourceNamesThem() throws {
        let text =
            "[cameras]\nignore = [\"v4l2:usb-Face\", \"/dev/video2\"]\n"
            + "[cameras.back]\nnode = true"
        let (configuration, warnings) = try Configuration.parse(text, file: "dualcam.toml")
        #expect(configuration.ignoredCameras == ["usb-Face", "/dev/video2"])
        #expect(configuration.cameras.back.isOffered && warnings.isEmpty)
        let again = try Configuration.parse(configuration.rendered, file: "dualcam.toml").0
        #expect(again == configuration)
    }

    @Test(arguments: [
        ("[[cameras.back.lenses]]\nfactor = 2", "1: cameras.back.lenses[0].name is missing"),
        (
            "[[cameras.back.lenses]]\nname = \"a\"\nfactor = 1\n[[cameras.back.lenses]]\nname = \"b\"",
            "4: cameras.back.lenses[1].factor is missing"
        ),
        (
            "[[cameras.front.lenses]]\nname = \"a\"\nfactor = 1\n[[cameras.front.lenses]]\n"
                + "name = \"b\"\n\nfactor = 0",
            "7: cameras.front.lenses[1].factor is 0, expected a number from 0.1 to 100"
        ),
        (
            "[[cameras.back.lenses]]\nname = \"a\"\nfactor = 1\n[[cameras.back.lenses]]\n"
                + "name = \"a\"\nfactor = 2",
            "5: cameras.back.lenses[1].name is \"a\", the name of another lens"
        ),
        (
            "[[cameras.back.lenses]]\nname = \"a\"\nfactor = 1\nsource = \"auto\"",
            "4: cameras.back.lenses[0].source is \"auto\", expected one certain device"
        ),
        (
            "[cameras.back]\nlenses = \"wide\"",
            "2: cameras.back.lenses is \"wide\", expected tables, each headed [[cameras.back.lenses]]"
        ),
    ])
    func aLensThatCannotBeIsNamed(text: String, expected: String) {
        #expect(problem(text) == "dualcam.toml:" + expected)
    }

    @Test(arguments: [
        ("[output", 1), ("[output]\nwidth = ", 2), ("[output]\nwidth = 4\nwidth = 8", 3),
        ("[output]\nwidth = 640\n[output]\nheight = 480", 3), ("a = \"b", 1), ("\n\n= 1", 3),
        ("[a]\nb = [1, 2", 2), ("[a]\n[=b]", 2), ("[[#]]", 1), ("a = [\n[+1]]\n[ \n]", 3),
        ("[]", 1),
        ("[ [a] ]", 1), ("[\rb]", 1), ("a = [\n}", 2), ("a = [ 1, { b = [}] } ]", 1),
    ])
    func whatIsNoTOMLIsRefusedWithItsLine(text: String, line: Int) throws {
        let error = try #require(throws: ConfigurationError.self) {
            try Configuration.parse(text, file: "x")
        }
        #expect(error.line == line, "\(error)")
        #expect(error.problem.count > 10)
    }

    @Test(arguments: [
        ("source = test", #"text needs straight quotes, as in source = "test""#),
        ("source = “test”", #"text needs straight quotes, as in source = "test""#),
        ("source = ‘test’  # mine", #"text needs straight quotes, as in source = "test""#),
        ("layout = pip", #"text needs straight quotes, as in layout = "pip""#),
        ("source = front", #"text needs straight quotes, as in source = "front""#),
        ("source = nothing # x", #"text needs straight quotes, as in source = "nothing""#),
        ("source = /dev/video0", #"text needs straight quotes, as in source = "/dev/video0""#),
        ("source = url:https://me:word@x", #"text needs straight quotes, as in source = "…""#),
        ("capture = 1280x720", #"text needs straight quotes, as in capture = "1280x720""#),
        ("ignore = [“a”]", #"text needs straight quotes, as in ignore = ["…"]"#),
        ("source =", "source has no value after ="),
        ("source = # none", "source has no value after ="),
        ("source = \"test", #"the text needs a " at its end too, as in source = "test""#),
        ("source = 'test\"", #"the text needs a ' at its end too, as in source = "test""#),
        ("source = \"file:C:\\pictures\"", #"write \\ for each \ in text, or put the text"#),
        ("source \"test\"", #"= is missing, as in source = "test""#),
        ("source: \"test\"", #"= is missing, as in source = "test""#),
        ("gap: 8", "= is missing, as in gap = 8"),
        ("source", "source has no value; expected source = and a value"),
        ("= \"test\"", "a key must come before =, as in source = \"test\""),
        ("[scene", "write a heading in brackets, as in [scene]"),
        ("[scene]]", "write a heading in brackets, as in [scene]"),
        ("scene]", "write a heading in brackets, as in [scene]"),
        ("cameras.back]", "write a heading in brackets, as in [cameras.back]"),
        ("[cameras back]", "write a heading in brackets, as in [cameras.back]"),
        ("[[cameras.back.lenses]", "write a heading in brackets, as in [[cameras.back.lenses]]"),
        ("[first]", "[first] appears twice; put all its keys under the first one"),
        ("here = true", "here is set already, further up; keep one of the two lines"),
        ("mirror = yes", "expected true or false in small letters, as in mirror = true"),
        ("mirror = True", "expected true or false in small letters, as in mirror = true"),
        ("mirror = off # x", "expected true or false in small letters, as in mirror = false"),
        ("inset-size = 0,3", "a number has a point, not a comma, as in inset-size = 0.3"),
        ("inset-size = .3", "expected a digit before the point, as in inset-size = 0.3"),
        ("inset-size = 30%", "a number has no % after it, as in inset-size = 0.3"),
        ("gap = 08", "a number has no zeros before it, as in gap = 8"),
        ("gap = 8 px", "a number has no unit after it, as in gap = 8"),
        ("layout = \"pip\" gap = 3", "each key needs a line of its own"),
        ("layout = \"pip\";", "only a comment, which begins with #, can come after the value"),
        ("iso-range = [50 64]", "a list needs [ and ], with commas between the values"),
        ("// mine", "a comment begins with #"), ("; mine", "a comment begins with #"),
    ])
    func aMistakeInTOMLIsNamedInPlainWords(line: String, words: String) {
        let problem = problem("[first]\nhere = false\n\(line)\n")
        #expect(problem.hasPrefix("dualcam.toml:3: " + words), "\(problem)")
    }

    /// What is none of the usual mistakes keeps the words of the parser.
    @Test(arguments: ["a = [1, 2", "a.\"b\".c d = 1", "[a] b", "a = \"\"\"", "a = {b = 1", "é = 1"])
    func anyOtherMistakeHasALineToo(line: String) {
        #expect(problem(line).hasPrefix("dualcam.toml:"))
    }

    @Test func aPerspectiveThatCannotBeIsExplained() {
        let points = "[[0, 0], [0, 1], [1, 1], [1, 0]]"
        #expect(
            problem("[cameras.back]\nperspective = \(points)")
                == "dualcam.toml:2: cameras.back.perspective cannot be: the corners must go round "
                + "clockwise from the top left, without a dent"
        )
    }

    @Test func aCheckFindsAllErrors() {
        let text = """
            [output]
            width = 1281
            height = tall
            [scene]
            layout = pip
            hud = 1\r
            gpa = 2
            gap = 3
            gap = 4
            [cameras.back]
            source = “test”
            mirror = 1
            """
        let (configuration, errors, warnings) = Configuration.check(text, file: "x")
        #expect(errors.map(\.line) == [2, 3, 5, 6, 9, 11, 12], "\(errors)")
        #expect(warnings.map(\.line) == [7])
        #expect(configuration.scene.style.gap == 3)
        #expect(Configuration.check("[output]\nwidth = 640\n", file: "x").errors.isEmpty)
    }

    /// One mistake must not count as several.
    @Test(arguments: [
        "[a\nb = 1\nc = 2", "a = [1, 2\nb = 3\nc = 4", "a = \"\"\"\nb = c\nd = e",
        "a = {b = 1\nc = 2",
        "a = \"b\nc = 1", "a = \"\0\"\nb = 1",
    ])
    func aMistakeThatGoesOnIsOneError(text: String) {
        let errors = Configuration.check(text, file: "x").errors
        #expect(errors.count == 1, "\(errors)")
    }

    @Test func aCheckEndsWithAnyNumberOfErrors() {
        let text = String(repeating: "a = b\n", count: 4000)
        #expect(Configuration.check(text, file: "x").errors.count == 16)
    }

    @Test func theFirstOfSeveralErrorsIsTold() {
        let text = "[scene]\nhud = 1\nlayout = 1\n[output]\nwidth = 1"
        #expect(problem(text).hasPrefix("dualcam.toml:2: scene.hud is 1"))
    }

    @Test(arguments: [
        ("output.width = 1", 1),
        ("\n\"output\" . 'width' = 1", 2),
        ("x = \"\"\"\n[output]\n\"\"\"\noutput = { height = 480, width = 1 }", 4),
        ("x = '''\n'''\n[output] # [scene]\nwidth = 1", 4),
        ("# [output]\n[ output ]\r\n\r\n\twidth\t=\t1\r\n", 4),
        ("x = [ # ]\n  \"]\", ']', [ 1,\n 2 ] , { y = \"}\" } ]\noutput.width=1", 4),
        ("x = 1979-05-27 07:32:00Z # width = 1\noutput.height = 480\noutput.width = 1", 3),
        ("x = \"\\\"#\\\\\" # \"\noutput.width = 1", 2),
        ("x = \"\"\"\"\"two\"\"\"\"\"\noutput.width = 1", 2),
        ("[[x]]\n[[x]]\nwidth = 1\n[x.output]\nwidth = 1\n[output]\nwidth = 1", 7),
        ("\u{feff}# mark\n[output]\nwidth = 1", 3),
    ])
    func aKeyIsFoundHoweverItIsWritten(text: String, line: Int) {
        #expect(
            problem(text).hasPrefix("dualcam.toml:\(line): output.width is 1,"),
            "\(problem(text))"
        )
    }

    @Test func lensesInOneLineAreFoundToo() {
        let text = """
            [cameras.back]
            lenses = [
              { name = "wide", factor = 1 },
              { name = "tele", factor = -2 },
            ]
            """
        #expect(problem(text).hasPrefix("dualcam.toml:4: cameras.back.lenses[1].factor is -2,"))
    }

    @Test(arguments: [
        (
            "[output]\nwidht = 5",
            "2: output.widht is unknown and has no effect; did you mean width?"
        ),
        (
            "[output]\nframe_rate = 5",
            "2: output.frame_rate is unknown and has no effect; did you mean frame-rate?"
        ),
        ("[outptu]\nwidth = 5", "1: outptu is unknown and has no effect; did you mean output?"),
        ("[cameras.side]\nsource = 5", "1: cameras.side is unknown and has no effect"),
        ("[output]\nbitrate = 5", "2: output.bitrate is unknown and has no effect"),
        (
            "[[cameras.back.lenses]]\nname = \"wide\"\nfactor = 1\nzoom = 1",
            "4: cameras.back.lenses[0].zoom is unknown and has no effect"
        ),
    ])
    func anUnknownKeyIsWarnedAboutByName(text: String, expected: String) throws {
        let (configuration, warnings) = try Configuration.parse(text, file: "dualcam.toml")
        #expect(warnings.map(\.description) == ["dualcam.toml:" + expected])
        #expect(configuration.output == Configuration().output)
    }

    @Test func whatIsWrittenHasNoCharacterThatATerminalObeys() throws {
        let text = #"[capture]\nphoto-directory = "/a\u202Eb\u200E\U000E0001ü""#
        let configuration = try parse(text.replacing(#"\n"#, with: "\n"))
        let written = configuration.rendered
        #expect(written.contains(#""/a\u202eb\u200e\U000e0001ü""#))
        #expect(try parse(written) == configuration)
    }

    @Test func `a camera has so many lenses, and no more`() {
        let lenses = (1...33).map { "[[cameras.back.lenses]]\nname = \"l\($0)\"\nfactor = 1\n" }
        #expect(
            problem(lenses.joined())
                == "dualcam.toml:1: cameras.back.lenses has 33 lenses, expected at most 32"
        )
    }

    @Test func `of many unknown keys the first are named, and the others counted`() throws {
        let keys = (1...25_000).map { "k\($0)=1" }
        for text in ["", "[output]\n"].map({ $0 + keys.joined(separator: "\n") }) {
            let warnings = try Configuration.parse(text, file: "x").warnings
            #expect(warnings.count == 20)
            let line = text.hasPrefix("[") ? 21 : 20
            let key = text.hasPrefix("[") ? "output.k20" : "k20"
            #expect(
                warnings.last?.description
                    == "x:\(line): \(key) and 24980 more after it are unknown and have no effect"
            )
            #expect(warnings.first?.description.hasSuffix("is unknown and has no effect") == true)
        }
    }

    @Test func extremesAreRefusedBeforeTheyAreParsed() {
        #expect(problem("a = 1\nb = \"\0\"\n") == "dualcam.toml:2: a NUL character")
        #expect(
            problem("a = 1\n" + String(repeating: "a.", count: 100_000))
                == "dualcam.toml:2: more than 4096 bytes in one line"
        )
        #expect(
            problem("a = 1\r\nb = 2\rc = 3\n")
                == "dualcam.toml:2: a line end of old systems (CR); save it with those of Linux (LF)"
        )
        #expect(
            problem(String(repeating: "# dualcam\n", count: 30_000))
                == "dualcam.toml:26215: more than 256 KiB of text"
        )
        let deepest = String(repeating: "a.", count: 2046) + "a"
        #expect(problem("[\(deepest)]\n\(deepest.dropLast(4)) = 1\n?").hasPrefix("dualcam.toml:3:"))
        for time in ["T*7:32:00Z", "T:", "t x:1", " :00", "T7:00 Z"] {
            #expect(
                problem("a = [ { d = 1979-05-27\(time) } ]")
                    == "dualcam.toml:1: a date without a time after it"
            )
        }
        for time in ["", "T07:32:00Z", "t07:32:00", " 07:32:00.5+01:00", " 07:32:00 \r"] {
            #expect(throws: Never.self) {
                try Configuration.parse("a = 1979-05-27\(time)\nb = 'T:'\n", file: "x")
            }
        }
        for (open, line) in [("[", 1), ("[\n", 65), ("{\na = ", 65)] {
            #expect(
                problem("a = " + String(repeating: open, count: open == "[" ? 4000 : 40_000))
                    == "dualcam.toml:\(line): values nested more than 64 deep"
            )
        }
    }

    @Test func aDocumentIsFreedOnceItIsRead() async {
        await #expect(processExitsWith: .success) {
            func pages() throws -> Int {
                let words = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
                let fields = words.split(separator: " ").compactMap { Int($0) }
                // Without pages of files, which come and go.
                return fields[1] - fields[2]
            }
            let values = "[ \"\", 1, 0.5, true, 1979-05-27T07:32:00Z, { a = [] } ],\n"
            let text = "a = [\n" + String(repeating: values, count: 2000) + "]\n"
            _ = try Configuration.parse(text, file: "x")
            let before = try pages()
            for _ in 0..<10 {
                _ = try Configuration.parse(text, file: "x")
                _ = try? Configuration.parse(text + "[", file: "x")
            }
            // Of 4 KiB; what one document takes is ten times as much.
            let after = try pages()
            precondition(after < before + 250)
        }
    }

    /// Mutations of a full document: each is accepted, or refused with a line of the document.
    @Test(.timeLimit(.minutes(5)), arguments: 0..<8)
    func anyMutationIsReadOrRefusedAtALineOfTheText(seed: UInt64) throws {
        var random = Chance(seed: seed)
        let original = Array(Self.full.utf8)
        let pieces = Self.full.split(separator: "\n").map { Array($0.utf8) + [10] }
        for _ in 0..<150 {
            var bytes = original
            for _ in 0...Int.random(in: 0..<6, using: &random) {
                let at = Int.random(in: 0..<max(1, bytes.count), using: &random)
                let end = min(bytes.count, at + Int.random(in: 0..<12, using: &random))
                switch Int.random(in: 0..<5, using: &random) {
                case 0: bytes.removeSubrange(at..<end)
                case 1: bytes.insert(contentsOf: bytes[at..<end], at: at)
                case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: at)
                case 3:
                    let marks = Array("[]{}\"'=.,#\n\\-09e".utf8)
                    bytes.insert(marks.randomElement(using: &random) ?? 0, at: at)
                default: bytes += pieces.randomElement(using: &random) ?? []
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let lineCount = text.utf8.count { $0 == 10 } + 1
            do {
                let (configuration, warnings) = try Configuration.parse(text, file: "x")
                #expect(warnings.allSatisfy { (1...lineCount).contains($0.line) })
                // An accepted configuration is in range, so it can be written and accepted again.
                let (again, none) = try Configuration.parse(configuration.rendered, file: "y")
                #expect(again == configuration && none.isEmpty)
            } catch {
                #expect(error.file == "x")
                let line = try #require(error.line)
                #expect((1...lineCount).contains(line), "\(error) of\n\(text)")
            }
        }
    }
}
