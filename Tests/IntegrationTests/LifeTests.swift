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
                let whole = Rect(DaemonTests.size)
                let inset = Rect(x: 934, y: 26, width: 320, height: 180)
                let before = try reader.picture("both cameras") {
                    $0[80, 400] == .gray(235) && $0[940, 100].y > 200
                }
                expect(before, shows: .bars, in: whole, besides: inset)

                try daemon.reload("[scene]\nlayout = \"single\"\ninset-size = 7\n")
                #expect(try daemon.complains(of: "dualcam.toml:3: scene.inset-size"))
                #expect(try daemon.scene.get(\.layout) == "pip")
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
                #expect(try daemon.scene.get(\.layout) == "single")
                #expect(try daemon.back.get(\.source) == "test:ramp")
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
                try daemon.stream.wait(for: \.nodeID, node.id)
                #expect(try daemon.stream.get(\.width) == 640)
                #expect(try daemon.stream.get(\.frameRate) == 15)
                let other = try StreamReader("dualcam", in: daemon.session)
                defer { other.close() }
                let frames = try other.frames(31, within: 25)
                #expect(other.format?.size == Size(width: 640, height: 480))
                let stamps = try frames.map { try #require($0.pts) }
                let steps = zip(stamps, stamps.dropFirst()).map { ($1 - $0).seconds }.sorted()
                #expect((14...16).contains(1 / steps[15]))
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
                #expect(try daemon.stream.get(\.width) == 1280)
                try disk.wait(0)
                try daemon.stream.wait(for: \.width, 640)
                #expect(try !daemon.complains(of: "has not been read yet"))
                #expect(try daemon.back.get(\.source) == "test")
                #expect(try daemon.end().exit == .status(0))
            }
        }

        @Test("a file that does not answer holds up no look for another one")
        func silentFile() throws {
            try PrivateSession.with([.bus]) { session in
                let slow = "\(session.directory)/slow"
                let disk = try SlowDisk(slow, in: session)
                try disk.wait(25_000)
                let daemon = try Daemon(
                    DaemonTests.still(back: "file:\(slow)/a.jpg", front: "test"),
                    in: session,
                    node: false,
                    adding: disk.environment
                )
                try daemon.reload(DaemonTests.still(back: "file:/no/such.jpg", front: "test"))
                try daemon.back.wait(for: \.interruption, "not-found")
                try disk.wait(0)
                #expect(try daemon.end().exit == .status(0))
            }
        }

        @Test("a signal ends it even while it waits for a bus that never answers")
        func deafBus() throws {
            try PrivateSession.with([.bus]) { session in
                let path = "\(session.directory)/deaf"
                let bus = try SilentSocket(path)
                let daemon = try session.run(
                    Programs.path(of: "dualcamd"),
                    [],
                    adding: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(path)"]
                )
                try eventually("its connection", within: 60) { bus.hasCaller }
                daemon.signal(SIGTERM)
                #expect(try daemon.wait(within: 30) == .status(0))
            }
        }

        @Test func withoutPipeWireItWaitsForIt() throws {
            try Daemon.with(Self.configuration, services: [.bus], node: false) { daemon in
                try eventually("the loss") { try daemon.complains(of: "PipeWire") }
                #expect(try daemon.stream.get(\.state) == "interrupted")
                #expect(try daemon.stream.get(\.possible) == false)
                #expect(try daemon.stream.get(\.nodeID) == .max)
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
                try daemon.stream.wait(for: \.active, true)
                try daemon.settle()
                #expect(daemon.signals(of: .stream) == ["DidStart"])
                #expect(try daemon.problems == [])
                let reader = try daemon.reader()
                _ = try reader.next()
            }
        }

        /// `auto` finds the machine's own cameras, so most of this needs a machine without any.
        @Test func withoutACameraThereIsACalmPicture() throws {
            let cameras = CameraDirectory().cameras()
            try Daemon.with("") { daemon in
                #expect(try daemon.stream.get(\.possible) == !cameras.isEmpty)
                guard cameras.isEmpty else { return }
                #expect(try daemon.complains(of: "no camera"))
                #expect(try daemon.state(of: DualCam.backPath) == "unavailable")
                #expect {
                    try daemon.call("Swap", of: .scene)
                } throws: {
                    ($0 as? DBusKit.DBusError)?.name == "org.dualcam.DualCam1.Error.NoCamera"
                }
                let reader = try daemon.reader()
                let frames = try reader.frames(15, within: 25)
                // Dark and of low contrast: the text on it is small.
                let picture = StreamPicture(frames[14], size: DaemonTests.size)
                let luma = picture.mean(PixelRect(x: 0, y: 0, width: 1280, height: 720))
                #expect((16...64).contains(luma), "mean luma \(luma)")
                #expect(picture[20, 20].distance(to: picture[1260, 700]) <= 8)
                try daemon.stream.wait(for: \.state, "interrupted")
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

        @Test(arguments: [false, true])
        func itEndsWhenToldTo(isStreaming: Bool) throws {
            try Daemon.with(Self.configuration) { daemon in
                let reader = isStreaming ? try daemon.reader() : nil
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
                _ = try reader?.next()
                session.kill(.bus)
                // A failure, so that systemd starts it again.
                #expect(try daemon.program.wait() == .status(1))
                #expect(try Listed("dualcam", in: session) == nil)
            }
        }
    }
}
