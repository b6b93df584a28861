import Control
import DBusKit
import Foundation
import TestSupport
import Testing

extension DaemonTests {
    @Suite("dualcamctl with the daemon", .timeLimit(.minutes(5)))
    struct ToolTests {
        private func run(_ session: PrivateSession, _ arguments: String) throws -> Child {
            let child = try session.run(
                Programs.path(of: "dualcamctl"),
                arguments.split(separator: " ").map(String.init)
            )
            try child.wait()
            return child
        }

        @Test func itsVerbsChangeTheDaemon() throws {
            try Daemon.with(DaemonTests.still(back: "test", front: "test")) { daemon in
                let verbs: [(String, Interface, ObjectPath, String, Value)] = [
                    ("swap", .scene, DualCam.path, "Swapped", .boolean(true)),
                    ("swap --instant", .scene, DualCam.path, "Swapped", .boolean(false)),
                    ("layout stacked", .scene, DualCam.path, "Layout", .string("stacked")),
                    ("inset hide", .scene, DualCam.path, "InsetVisible", .boolean(false)),
                    (
                        "inset show --corner bottom-left --size 0.3", .scene, DualCam.path,
                        "InsetCorner", .string("bottom-left")
                    ),
                    ("mirror off", .camera, DualCam.frontPath, "Mirror", .boolean(false)),
                    (
                        "mirror on --camera back", .camera, DualCam.backPath, "Mirror",
                        .boolean(true)
                    ),
                    (
                        "rotate 90 --camera front", .camera, DualCam.frontPath, "Rotation",
                        .uint32(90)
                    ),
                    ("stop", .stream, DualCam.path, "Active", .boolean(false)),
                    ("start", .stream, DualCam.path, "Active", .boolean(true)),
                ]
                for (verb, interface, path, property, value) in verbs {
                    let child = try run(daemon.session, verb)
                    #expect(child.exit == .status(0), "\(verb): \(child.errors)")
                    #expect(try daemon.get(property, of: interface, at: path) == value, "\(verb)")
                }
                #expect(try daemon.get("InsetSize", of: .scene) == .double(0.3))
                let wrong = try run(daemon.session, "layout diagonal")
                #expect(wrong.exit == .status(2) && !wrong.errors.isEmpty)
            }
        }

        @Test func statusShowsTheDaemon() throws {
            try Daemon.with(DaemonTests.still(back: "test", front: "test")) { daemon in
                let reader = try daemon.reader()
                defer { reader.close() }
                try eventually("open cameras", within: 25) {
                    try daemon.state(of: DualCam.backPath) == "streaming"
                        && daemon.state(of: DualCam.frontPath) == "streaming"
                }
                let child = try run(daemon.session, "status --json")
                #expect(child.exit == .status(0))
                let object = try JSONSerialization.jsonObject(with: Data(child.output.utf8))
                let status = try #require(object as? [String: Any])
                let keys = Set(status.keys)
                #expect(
                    keys.isSuperset(of: [
                        "version", "state", "swapped", "layout", "insetVisible", "consumers",
                        "output", "main", "inset", "cameras",
                    ])
                )
                #expect(status["state"] as? String == "streaming")
                #expect(status["consumers"] as? Int == 1)
                let output = try #require(status["output"] as? [String: Any])
                #expect(
                    output["width"] as? Int == 1280 && output["pixelFormat"] as? String == "YUY2"
                )
                let id = try daemon.get("NodeId", of: .stream).integer
                #expect(output["nodeId"] as? Int == id)
                let cameras = try #require(status["cameras"] as? [String: [String: Any]])
                #expect(Set(cameras.keys) == ["back", "front"])
                #expect(cameras["back"]?["state"] as? String == "streaming")
                #expect(cameras["back"]?["source"] as? String == "test")
            }
        }

        @Test func theDoctorFindsAllWellAndWhatIsNot() throws {
            try Daemon.with(DaemonTests.still(back: "test", front: "test")) { daemon in
                // The browsers of this machine have never been started in this session's home.
                let fixed = try run(daemon.session, "doctor --fix --yes")
                #expect(fixed.exit == .status(0), "\(fixed.output)\(fixed.errors)")
                let well = try run(daemon.session, "doctor")
                #expect(well.exit == .status(0), "\(well.output)")
                #expect(!well.output.contains("✗") && well.errors.isEmpty)
                let node = try daemon.get("NodeId", of: .stream).integer ?? 0
                #expect(well.output.contains("PipeWire node \(node)\n"))

                try daemon.reload("[output]\nbitrate = 5\n[cameras.back]\nsource = \"test\"\n")
                #expect(try daemon.complains(of: "dualcam.toml:2: output.bitrate is unknown"))
                let unknown = try run(daemon.session, "doctor")
                #expect(unknown.exit == .status(1))
                #expect(unknown.output.contains("✗ configuration"))
                #expect(unknown.output.contains("✓ stream"), "told twice: \(unknown.output)")

                daemon.session.kill(.wireplumber)
                daemon.session.kill(.pipewire)
                try eventually("the loss") { try daemon.complains(of: "PipeWire") }
                let lost = try run(daemon.session, "doctor")
                #expect(lost.exit == .status(1))
                for line in ["✗ pipewire", "? wireplumber", "? node", "✓ stream"] {
                    #expect(lost.output.contains(line), "\(lost.output)")
                }
            }
        }

        @Test func withoutADaemonItSaysSo() throws {
            try PrivateSession.with([.bus]) { session in
                for verb in ["status", "swap", "stop"] {
                    let child = try run(session, verb)
                    #expect(child.exit == .status(8), "\(verb)")
                    #expect(!child.errors.isEmpty && child.output.isEmpty)
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
                try "no picture".write(toFile: text, atomically: true, encoding: .utf8)
                let broken = "\(daemon.session.directory)/broken.toml"
                try "[output\nwidth = \n".write(toFile: broken, atomically: true, encoding: .utf8)
                var said = ""
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
                    let child = try run(daemon.session, command)
                    let lines = child.output + child.errors
                    #expect(Self.leaks(in: lines) == [], "\(command)")
                    #expect(child.exit != nil)
                    said += "$ dualcamctl \(command)\n\(lines)"
                }
                let log = daemon.program.errors.split(separator: "\n")
                    .filter { !$0.contains(" info ") && !$0.contains(" debug ") }
                #expect(Self.leaks(in: log.joined(separator: "\n")) == [])
                if let file = ProcessInfo.processInfo.environment["DUALCAM_SAID"] {
                    let before = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
                    try (before + said + log.joined(separator: "\n") + "\n").write(
                        toFile: file,
                        atomically: true,
                        encoding: .utf8
                    )
                }
            }
        }
    }
}
