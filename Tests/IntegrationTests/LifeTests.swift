import Capture
import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import TestSupport
import Testing

extension DaemonTests {
    @Suite("What befalls it", .timeLimit(.minutes(5)))
    struct LifeTests {
        private static let configuration = DaemonTests.still(back: "test", front: "test")

        @Test(arguments: [
            ("[output]\nwidth = 1281\n", ":2: output.width"),
            ("\n\n[scene]\ninset-size = nan\n", ":4: scene.inset-size"),
            ("[scene\n", ":1:"),
        ])
        func aBrokenConfigurationIsToldAndSurvived(text: String, place: String) throws {
            try Daemon.with(text) { daemon in
                #expect(try daemon.complains(of: "dualcam.toml\(place)"))
                let reader = try daemon.reader()
                defer { reader.close() }
                _ = try reader.next()
                #expect(try #require(reader.format).size == DaemonTests.size)
                let status = daemon.notifications.lines.last { $0.hasPrefix("STATUS=") }
                #expect(status?.contains("dualcam.toml\(place)") == true)
                #expect(try daemon.end().exit == .status(0))
            }
        }

        @Test func reloadingTakesOverWhatIsRightAndNothingElse() throws {
            try Daemon.with(DaemonTests.still(back: "test:bars", front: "test:ramp")) { daemon in
                let reader = try daemon.reader()
                defer { reader.close() }
                let whole = Rect(DaemonTests.size)
                let inset = Rect(x: 934, y: 26, width: 320, height: 180)
                let before = try reader.picture("both cameras") {
                    $0[80, 400] == .gray(235) && $0[940, 100].y > 200
                }
                expect(before, shows: .bars, in: whole, besides: inset)

                try daemon.reload("[scene]\nlayout = \"single\"\ninset-size = 7\n")
                #expect(try daemon.complains(of: "dualcam.toml:3: scene.inset-size"))
                #expect(try daemon.get("Layout", of: .scene) == .string("pip"))
                expect(try reader.picture(), shows: .bars, in: whole, besides: inset)

                // Another scene and other sources, in the same stream.
                try daemon.reload(
                    DaemonTests.still(
                        back: "test:ramp",
                        front: "test:bars",
                        scene: "layout = \"single\""
                    )
                )
                #expect(try daemon.problems == [])
                #expect(try daemon.get("Layout", of: .scene) == .string("single"))
                let source = try daemon.get("Source", of: .camera, at: DualCam.backPath)
                #expect(source == .string("test:ramp"))
                let changed = try reader.picture("the ramp") {
                    $0[1200, 300].distance(to: .gray(221)) <= 1 && $0[80, 300].y < 60
                }
                expect(changed, shows: .ramp, in: whole)
                #expect(reader.failure == nil)

                // Another size needs another node.
                try daemon.reload(
                    "[output]\nwidth = 640\nheight = 480\nframe-rate = 15\n"
                        + DaemonTests.still(back: "test:bars", front: "test:ramp")
                )
                let size = ["width": 640, "height": 480]
                let node = try eventually("the new node") {
                    let node = try Listed("dualcam", in: daemon.session)
                    return node?.formats.first?["size"] as? [String: Int] == size ? node : nil
                }
                try eventually("its number") {
                    try daemon.get("NodeId", of: .stream) == .uint32(node.id)
                }
                #expect(try daemon.get("Width", of: .stream) == .uint32(640))
                #expect(try daemon.get("FrameRate", of: .stream) == .uint32(15))
                let other = try StreamReader("dualcam", in: daemon.session)
                defer { other.close() }
                let frames = try other.frames(31, within: 25)
                #expect(other.format?.size == Size(width: 640, height: 480))
                let stamps = try frames.map { try #require($0.pts) }
                let steps = zip(stamps, stamps.dropFirst()).map { ($1 - $0).seconds }.sorted()
                #expect((14...16).contains(1 / steps[15]))
            }
        }

        @Test("a configuration on a disk that hangs holds nobody up, and counts once read")
        func slowConfiguration() throws {
            try PrivateSession.with([.bus]) { session in
                let disk = try SlowDisk("\(session.directory)/dualcam.toml", in: session)
                let daemon = try Daemon(
                    Self.configuration,
                    in: session,
                    node: false,
                    adding: disk.environment
                )
                let text = DaemonTests.still(back: "test", front: "test", scene: "colour = 5")
                try text.write(
                    toFile: "\(session.directory)/dualcam.toml",
                    atomically: true,
                    encoding: .utf8
                )
                try disk.wait(25_000)
                // The second comes while the first is being read, and so do all that follow.
                for _ in 0..<50 {
                    daemon.program.signal(SIGHUP)
                    #expect(try !daemon.complains(of: "colour"))
                }
                try disk.wait(0)
                try eventually("the new configuration") { try daemon.complains(of: "colour") }
                #expect(try daemon.end().exit == .status(0))
            }
        }

        @Test("a configuration that does not answer holds up no start, and counts once read")
        func silentConfiguration() throws {
            try PrivateSession.with([.bus]) { session in
                let disk = try SlowDisk("\(session.directory)/dualcam.toml", in: session)
                try disk.wait(25_000)
                let daemon = try Daemon(
                    "[output]\nwidth = 640\nheight = 360\n" + Self.configuration,
                    in: session,
                    node: false,
                    adding: disk.environment
                )
                #expect(try daemon.complains(of: "has not been read yet"))
                #expect(try daemon.get("Width", of: .stream) == .uint32(1280))
                try disk.wait(0)
                try eventually("the configuration") {
                    try daemon.get("Width", of: .stream) == .uint32(640)
                }
                #expect(try !daemon.complains(of: "has not been read yet"))
                let source = try daemon.get("Source", of: .camera, at: DualCam.backPath)
                #expect(source == .string("test"))
                #expect(try daemon.end().exit == .status(0))
            }
        }

        @Test func withoutPipeWireItWaitsForIt() throws {
            try Daemon.with(Self.configuration, services: [.bus], node: false) { daemon in
                try eventually("the loss") { try daemon.complains(of: "PipeWire") }
                #expect(try daemon.get("State", of: .stream) == .string("interrupted"))
                #expect(try daemon.get("Possible", of: .stream) == .boolean(false))
                #expect(try daemon.get("NodeId", of: .stream) == .uint32(.max))
                #expect {
                    try daemon.call("Start", of: .stream)
                } throws: {
                    ($0 as? DBusKit.DBusError)?.name
                        == "org.dualcam.DualCam1.Error.PipeWireUnavailable"
                }
                try daemon.forgetSignals()
                try daemon.call("Stop", of: .stream)
                #expect(throws: DBusKit.DBusError.self) { try daemon.call("Start", of: .stream) }
                try daemon.settle()
                #expect(
                    daemon.signals(of: .stream)
                        == ["WillStop", "DidStop", "WillStart", "FailedToStart"]
                )

                try daemon.forgetSignals()
                try daemon.session.start(.pipewire)
                try daemon.session.start(.wireplumber)
                try eventually("the node") {
                    try daemon.get("Active", of: .stream) == .boolean(true)
                }
                try daemon.settle()
                #expect(daemon.signals(of: .stream) == ["DidStart"])
                #expect(try daemon.problems == [])
                let reader = try daemon.reader()
                defer { reader.close() }
                _ = try reader.next()
            }
        }

        @Test func itComesBackWithPipeWire() throws {
            try Daemon.with(Self.configuration) { daemon in
                let session = daemon.session
                for _ in 0..<2 {
                    let reader = try daemon.reader()
                    defer { reader.close() }
                    _ = try reader.next()
                    try daemon.forgetSignals()
                    session.kill(.pipewire)
                    try eventually("the loss") {
                        try daemon.get("State", of: .stream) == .string("interrupted")
                    }
                    session.kill(.wireplumber)
                    reader.close()
                    try session.start(.pipewire)
                    try eventually("the node") {
                        try daemon.get("Active", of: .stream) == .boolean(true)
                    }
                    try session.start(.wireplumber)
                    let other = try daemon.reader()
                    defer { other.close() }
                    _ = try other.next()
                    try daemon.settle()
                    // The stream was wanted all the time, and neither started nor stopped.
                    #expect(daemon.signals(of: .stream) == [])
                }
            }
        }

        /// `auto` finds the machine's own cameras, so most of this needs a machine without any.
        @Test func withoutACameraThereIsACalmPicture() throws {
            let cameras = CameraDirectory().cameras()
            try Daemon.with("") { daemon in
                let isPossible = try daemon.get("Possible", of: .stream)
                #expect(isPossible == .boolean(!cameras.isEmpty))
                guard cameras.isEmpty else { return }
                #expect(try daemon.complains(of: "no camera"))
                #expect(try daemon.state(of: DualCam.backPath) == "unavailable")
                #expect {
                    try daemon.call("Swap", of: .scene)
                } throws: {
                    ($0 as? DBusKit.DBusError)?.name == "org.dualcam.DualCam1.Error.NoCamera"
                }
                try expectCalmPicture(daemon)
                let reader = try daemon.reader()
                defer { reader.close() }
                // Two lines in the middle: that there is none, and what would help.
                _ = try reader.picture("the words", within: 20) { picture in
                    [345, 375].allSatisfy { row in
                        (480..<800).contains { x in
                            (row - 12..<row + 12).contains { picture[x, $0].y > 180 }
                        }
                    }
                }
            }
        }

        @Test func aFileUnlikeAnyThatIsThereIsNotFoundInOneSentence() throws {
            let file = "file:/5b1f7a0c2e"
            try Daemon.with(DaemonTests.still(back: file, front: "test")) { daemon in
                try eventually("not found") { try daemon.complains(of: file) }
                #expect(try daemon.problems == ["The back camera was not found: \(file)."])
            }
        }

        @Test func whatWasNeverThereIsNotFoundEvenUnwatched() throws {
            let configuration = DaemonTests.still(
                back: "v4l2:usb-no-such-camera",
                front: "file:/no/such.jpg"
            )
            try Daemon.with(configuration) { daemon in
                for camera in [DualCam.backPath, DualCam.frontPath] {
                    try eventually("not found") {
                        try daemon.get("Interruption", of: .camera, at: camera)
                            == .string("not-found")
                    }
                    #expect(try daemon.state(of: camera) == "unavailable")
                }
                #expect(
                    try daemon.complains(of: "The back camera usb-no-such-camera was not found.")
                )
                try eventually("the directory") {
                    try daemon.complains(
                        of: "The front camera was not found: file:/no/such.jpg. There is no "
                            + "directory /no."
                    )
                }
                #expect(try !daemon.complains(of: "There is no camera."))
                #expect(try daemon.get("Possible", of: .stream) == .boolean(false))
                let tool = Programs.path(of: "dualcamctl")
                let status = try daemon.session.output(tool, "status")
                #expect(
                    status.split(separator: "\n").count {
                        $0.hasSuffix("not found") || $0.contains("not found ·")
                    } == 2,
                    "\(status)"
                )
                let file = "\(daemon.session.directory)/dualcam.toml"
                let check = try daemon.session.run(tool, "config", "check", file)
                #expect(try check.wait() == .status(0))
                #expect(
                    check.errors.contains("cameras.back.source: usb-no-such-camera was not found.")
                )
                #expect(
                    check.errors.contains(
                        "cameras.front.source: the file /no/such.jpg was not found. There is no "
                            + "directory /no.\n"
                    )
                )
                #expect(check.output.hasSuffix(" has no mistakes, but 2 sources were not found\n"))
                let doctor = try daemon.session.run(tool, "doctor")
                #expect(try doctor.wait(within: 30) == .status(1))
                // Each by its own line, and none again among what the daemon reports.
                for role in ["back", "front"] {
                    #expect(
                        doctor.output.contains("✗ cameras        cameras.\(role).source: "),
                        "\(doctor.output)"
                    )
                    #expect(doctor.output.contains("→ dualcamctl use \(role) auto\n"))
                }
                #expect(doctor.output.contains("✓ stream "))
            }
        }

        @Test func camerasThatAreMissingAreWaitedFor() throws {
            let configuration = DaemonTests.still(
                back: "v4l2:/dev/no-such-camera",
                front: "v4l2:/dev/no-such-camera-either"
            )
            try Daemon.with(configuration) { daemon in
                try expectCalmPicture(daemon) {
                    #expect(try daemon.complains(of: "/dev/no-such-camera"))
                    #expect(try daemon.complains(of: "/dev/no-such-camera-either"))
                    let camera = DualCam.backPath
                    let interruption = try daemon.get("Interruption", of: .camera, at: camera)
                    #expect(interruption == .string("not-found"))
                }
            }
        }

        /// Expects a dark picture of low contrast; any text on it is small.
        private func expectCalmPicture(
            _ daemon: Daemon,
            _ body: () throws -> Void = {}
        ) throws {
            let reader = try daemon.reader()
            defer { reader.close() }
            let frames = try reader.frames(15, within: 25)
            let picture = StreamPicture(frames[14], size: DaemonTests.size)
            let luma = picture.mean(PixelRect(x: 0, y: 0, width: 1280, height: 720))
            #expect((16...64).contains(luma), "mean luma \(luma)")
            #expect(picture[20, 20].distance(to: picture[1260, 700]) <= 8)
            try eventually("the state") {
                try daemon.get("State", of: .stream) == .string("interrupted")
            }
            try body()
        }

        @Test func sourcesThatAreNoCamerasAreToldByName() throws {
            let configuration = DaemonTests.still(
                back: "file:/no/such/file.mkv",
                front: "test:moon"
            )
            try Daemon.with(configuration) { daemon in
                #expect(try daemon.complains(of: "moon"))
                let reader = try daemon.reader()
                defer { reader.close() }
                _ = try reader.next(within: 25)
                try eventually("what is wrong with the file") {
                    try daemon.state(of: DualCam.backPath) == "interrupted"
                }
                #expect(try daemon.complains(of: "back"))
            }
        }

        @Test func filesAreSourcesAndNoFrameOfThemIsTorn() throws {
            try PrivateSession.with { session in
                let (movie, still) = ("\(session.directory)/a.y4m", "\(session.directory)/b.jpg")
                let levels = (0..<90).map { UInt8(20 + 2 * $0) }
                try writeMovie(levels, size: Size(width: 640, height: 360), to: movie)
                try writeJPEG(size: Size(width: 640, height: 360), to: still) { _ in 128 }
                let daemon = try Daemon(
                    DaemonTests.still(
                        back: "file:\(movie)",
                        front: "file:\(still)",
                        scene: "swap-icon = false"
                    ),
                    in: session
                )
                let reader = try daemon.reader()
                defer { reader.close() }
                // Full range 128 is 16 + 219 × 128 / 255 in the stream.
                _ = try reader.picture("both pictures") {
                    abs($0[1090, 115].y - 126) <= 2 && $0[640, 400].y != 32
                }
                var seen: Set<Int> = []
                for _ in 0..<100 {
                    let picture = StreamPicture(try reader.next(), size: DaemonTests.size)
                    let level = picture[640, 719].y
                    seen.insert(level)
                    for y in 0..<720 {
                        for x in [2, 640] where picture[x, y] != .gray(level) {
                            Issue.record("torn at \(x), \(y): \(picture[x, y]), not \(level)")
                            return
                        }
                    }
                    #expect(picture[1090, 115].distance(to: .gray(126)) <= 2)
                }
                #expect(seen.isSubset(of: Set(levels.map(Int.init))))
                #expect(seen.count > 80)
                let name = try daemon.get("Name", of: .camera, at: DualCam.backPath)
                #expect(name == .string("a.y4m"))
            }
        }

        @Test(arguments: [false, true])
        func itEndsWhenToldTo(isStreaming: Bool) throws {
            try Daemon.with(Self.configuration) { daemon in
                let reader = isStreaming ? try daemon.reader() : nil
                defer { reader?.close() }
                _ = try reader?.next()
                let (exit, seconds) = try daemon.end()
                print("ended in \(milliseconds(seconds)), streaming: \(isStreaming)")
                #expect(exit == .status(0))
                #expect(daemon.notifications.lines.contains("STOPPING=1"))
                #expect(try Listed("dualcam", in: daemon.session) == nil)
                #expect {
                    try daemon.get("State", of: .stream)
                } throws: {
                    ($0 as? DBusKit.DBusError)?.name == "org.freedesktop.DBus.Error.NameHasNoOwner"
                }
            }
        }

        @Test(arguments: [false, true])
        func itEndsWithTheBus(isStreaming: Bool) throws {
            try PrivateSession.with { session in
                let daemon = try Daemon(Self.configuration, in: session)
                let reader = isStreaming ? try daemon.reader() : nil
                defer { reader?.close() }
                _ = try reader?.next()
                session.kill(.bus)
                // A failure, so that systemd starts it again.
                #expect(try daemon.program.wait() == .status(1))
                #expect(try Listed("dualcam", in: session) == nil)
            }
        }

        @Test func aSecondOneGivesWay() throws {
            try Daemon.with(Self.configuration) { daemon in
                let other = try daemon.session.run(Programs.path(of: "dualcamd"))
                #expect(try other.wait() != .status(0))
                #expect(other.errors.contains("org.dualcam.DualCam1"))
                #expect(try daemon.get("Active", of: .stream) == .boolean(true))
            }
        }
    }
}
