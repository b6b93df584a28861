import Control
import DBusKit
import Foundation
import TestSupport
import Testing

extension DaemonTests {
    @Suite("dualcamctl with the daemon", .timeLimit(.minutes(5)))
    struct ToolTests {
        @Test func itsVerbsChangeTheDaemon() throws {
            try Daemon.with(DaemonTests.still(back: "test", front: "test")) { daemon in
                let verbs: [(String, Interface, ObjectPath, String, Value)] = [
                    ("swap", .scene, DualCam.path, "Swapped", .boolean(true)),
                    (
                        "inset show --corner bottom-left --size 0.3", .scene, DualCam.path,
                        "InsetCorner", .string("bottom-left")
                    ),
                    (
                        "mirror on --camera back", .camera, DualCam.backPath, "Mirror",
                        .boolean(true)
                    ),
                    ("stop", .stream, DualCam.path, "Active", .boolean(false)),
                    ("start", .stream, DualCam.path, "Active", .boolean(true)),
                ]
                for (verb, interface, path, property, value) in verbs {
                    let child = try daemon.tool(verb)
                    #expect(child.exit == .status(0), "\(verb): \(child.errors)")
                    #expect(try daemon.get(property, of: interface, at: path) == value, "\(verb)")
                }
                #expect(try daemon.scene.get(\.insetSize) == 0.3)
                let status = try daemon.tool("status --format {{output.nodeId}}")
                let id = try Int(daemon.stream.get(\.nodeID))
                #expect(status.output.contains("\(id)"), "\(status.output)\(status.errors)")
            }
        }

        /// Ten programs at once, again and again, as a key does that is held.
        @Test func stepsOfManyProgramsAtOnceAreAllTaken() throws {
            try Daemon.with(DaemonTests.still(back: "test", front: "test")) { daemon in
                for (verb, value) in [
                    ("rotate +90", "back: 180°"), ("mirror toggle", "back: off"),
                    ("layout next", "stacked"), ("ev +0.1", "back: +1"),
                    ("zoom +0.1 --ramp 0", "back: 2×"), ("inset --size +0.01", "35 %"),
                    ("privacy toggle", "off"), ("pro toggle", "off"), ("hud next", "always"),
                ] {
                    let arguments = verb.split(separator: " ").map(String.init)
                    let children = try (0..<10).map { _ in
                        try daemon.session.run(Programs.path(of: "dualcamctl"), arguments)
                    }
                    for child in children {
                        #expect(try child.wait() == .status(0), "\(verb): \(child.errors)")
                    }
                    let now = try daemon.tool(arguments[0]).output
                    #expect(now.contains(value), "\(verb): \(now)")
                }
            }
        }

        @Test func afterAWaitThePictureIsTheNewOne() throws {
            let moving = DaemonTests.still(back: "test:back", front: "test:front")
                .replacing("duration-ms = 0", with: "duration-ms = 100")
            try Daemon.with(moving) { daemon in
                #expect(try daemon.tool("swap --wait").output == "front\n")
                #expect(try daemon.tool("zoom 2 --wait").output == "front: 2×\n")
                #expect(try daemon.scene.get(\.moving) == false)
                try daemon.settle()
                #expect(daemon.signals.contains { $0.member == "Settled" })
                #expect(try daemon.tool("layout single --wait").output == "single\n")
            }
        }

        /// The ten tasks of the page, run as a reader runs them.
        @Test func theTenLinesOfThePageRunAsWritten() throws {
            let page = repository.appending(path: "docs/use.md")
            let text = try String(contentsOf: page, encoding: .utf8)
            let parts = text.components(separatedBy: "## In ten lines\n")
            let part = try #require(parts.last?.components(separatedBy: "\n## ").first)
            let lines = part.split(separator: "\n").filter { $0.hasPrefix("    ") }.map(String.init)
            #expect(parts.count == 2 && lines.count == 10)
            try Daemon.with(DaemonTests.still(back: "test", front: "test")) { daemon in
                let path = "\(Programs.directory):/usr/bin:/bin"
                for line in lines {
                    let child = try daemon.session.run("sh", ["-c", line], adding: ["PATH": path])
                    #expect(try child.wait(within: 60) == .status(0), "\(line): \(child.errors)")
                }
            }
        }

        @Test func theDoctorFindsAllWellAndWhatIsNot() throws {
            try Daemon.with(DaemonTests.still(back: "test", front: "test")) { daemon in
                // The browsers of this machine have never been started in this session's home.
                let fixed = try daemon.tool("doctor --fix --yes")
                #expect(fixed.exit == .status(0), "\(fixed.output)\(fixed.errors)")
                let well = try daemon.tool("doctor")
                #expect(well.exit == .status(0), "\(well.output)")
                #expect(!well.output.contains("✗") && well.errors.isEmpty)
                let node = try Int(daemon.stream.get(\.nodeID))
                #expect(well.output.contains("PipeWire node \(node)\n"))

                try daemon.reload("[output]\nbitrate = 5\n[cameras.back]\nsource = \"test\"\n")
                #expect(try daemon.complains(of: "dualcam.toml:2: output.bitrate is unknown"))
                let unknown = try daemon.tool("doctor")
                #expect(unknown.exit == .status(1))
                #expect(unknown.output.contains("✗ configuration"))
                #expect(unknown.output.contains("✓ stream"), "told twice: \(unknown.output)")

                daemon.session.kill(.wireplumber)
                daemon.session.kill(.pipewire)
                try eventually("the loss") { try daemon.complains(of: "PipeWire") }
                let lost = try daemon.tool("doctor")
                #expect(lost.exit == .status(1))
                for line in ["✗ pipewire", "? wireplumber", "? node", "✓ stream"] {
                    #expect(lost.output.contains(line), "\(lost.output)")
                }
            }
        }

        /// What people read: no name of a Swift value, a call or an errno. Paths may be anything.
        private static func leaks(in text: String) -> [String] {
            let words = text.replacing(/\S*\/\S*/, with: "a path")
            let patterns: [Regex<Substring>] = [
                /[a-z]+\([a-z0-9]+:/, /(?i)errno/, /\bE(?!XIF\b)[A-Z]{3,}\b/, /_ctx_/, /\.swift/,
                /Optional\(/, /VIDIOC\w*/, /\b(?:av|avformat|avcodec|sws|swr|pw|dbus|sd)_\w+/,
                /org\.freedesktop\.DBus\.Error\S*/, /\b[a-z]+[A-Z][a-z]+\b/, /\.\./, /[;:] ?$/,
            ]
            return words.split(separator: "\n").flatMap { line in
                patterns.filter { line.contains($0) }.map { _ in String(line) }
            }
        }

        /// Sets of cameras and directories that fail in their own ways.
        private static let failures = [
            ("devices that are not there", "v4l2:usb-none-video-index0", "file:/nope.jpg", ""),
            (
                "sources that are not there", "test:nope", "pipewire:nope",
                "[loopback]\ndevice = \"auto\"\n"
            ),
            (
                "files that cannot be written", "test", "test",
                """
                [capture]
                photo-directory = "/proc/none"
                video-directory = "/proc/none"
                [loopback]
                device = "/dev/video99"
                """
            ),
        ]

        @Test(arguments: failures.map(\.0))
        func whatFailsIsToldInWords(_ name: String) throws {
            let (_, back, front, more) = try #require(Self.failures.first { $0.0 == name })
            let configuration = """
                [output]
                width = 320
                height = 180
                [cameras.back]
                source = "\(back)"
                [cameras.front]
                source = "\(front)"
                \(more)
                """
            try Daemon.with(configuration) { daemon in
                let text = "\(daemon.session.directory)/text.jpg"
                try put("no picture", at: text)
                let broken = "\(daemon.session.directory)/broken.toml"
                try put("[output\nwidth = \n", at: broken)
                for command in [
                    "status", "cameras", "doctor", "config check", "config check \(broken)",
                    "config show /nope.toml", "photo", "photo --of back", "photo -o /nope/x.jpg",
                    "record start", "record start --encoder vaapi --of back", "record start",
                    "record stop", "record stop", "iso 99", "iso +1", "shutter 1/3", "focus 0.5",
                    "wb 99K", "ev 5", "ev =-9", "zoom 99", "zoom 0.1", "lens nope", "torch on",
                    "controls", "controls --set x=1", "dial focus", "dial up", "swap", "restore",
                    "media list", "media thumbnail /nope.jpg", "orient /nope.jpg", "orient \(text)",
                    "privacy on", "status", "photo", "record start", "record status", "record stop",
                    "privacy off", "stop", "status", "photo", "start",
                ] {
                    let child = try daemon.tool(command)
                    let lines = child.output + child.errors
                    #expect(Self.leaks(in: lines) == [], "\(command)")
                    #expect(child.exit != nil)
                }
                let log = daemon.program.errors.split(separator: "\n")
                    .filter { !$0.contains(" info ") && !$0.contains(" debug ") }
                #expect(Self.leaks(in: log.joined(separator: "\n")) == [])
            }
        }
    }
}
