import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of Pro mode as a consumer sees it, on pictures in which nothing moves. These have no
    /// controls, so all values are applied in software; the tests in the virtual machine cover
    /// devices.
    @Suite("Pro mode", .timeLimit(.minutes(2)))
    struct ProTests {
        private func withStill(
            _ more: String = "",
            _ body: (Daemon, StreamReader) throws -> Void
        ) throws {
            try PrivateSession.with { session in
                let file = "\(session.directory)/a.y4m"
                try writeMovie([110], size: Size(width: 320, height: 180), to: file)
                let configuration =
                    DaemonTests.still(back: "file:\(file)", front: "file:\(file)") + more
                let daemon = try Daemon(configuration, in: session)
                let reader = try daemon.reader()
                _ = try reader.picture("the picture") { $0[640, 400].y == 110 }
                try body(daemon, reader)
            }
        }

        @discardableResult
        private func controls(
            _ daemon: Daemon,
            _ member: String,
            _ arguments: [Value] = []
        ) throws -> [Value] {
            try daemon.send(
                member,
                of: Interface.controls.name,
                at: DualCam.backPath,
                arguments + [.named([:])]
            )
        }

        /// Returns the letters of the HUD's values.
        private func letters(_ picture: StreamPicture) -> [Bool] {
            (680..<700).flatMap { picture.luma(row: $0)[400..<880].map { $0 > 180 } }
        }

        @Test("is drawn by the stream again once the consumer that drew it itself is gone")
        func claimed() throws {
            try withStill { daemon, reader in
                try daemon.pro.set(\.enabled, true)
                _ = try reader.picture("the HUD") { $0[640, 675].y < 60 }
                let address = daemon.session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
                let loop = try EventLoop()
                var other: BusConnection? = try BusConnection(to: .address(address), loop: loop)
                try Remote<SceneInterface>(#require(other)).call(\.claimHud)
                _ = try reader.picture("no HUD") { $0[640, 675] == .gray(110) }
                #expect(try daemon.scene.get(\.hudConsumer) == (other?.uniqueName ?? ""))
                #expect(try daemon.scene.get(\.hud) == "pro")
                other = nil
                _ = try reader.picture("the HUD again") { $0[640, 675].y < 60 }
                #expect(try daemon.scene.get(\.hudConsumer) == "")
                // Whoever claims and releases has it back, too.
                try daemon.call("ClaimHud", of: .scene)
                _ = try reader.picture("no HUD again") { $0[640, 675] == .gray(110) }
                try daemon.call("ReleaseHud", of: .scene)
                _ = try reader.picture("the HUD at last") { $0[640, 675].y < 60 }
            }
        }

        @Test("shows the new value in the next frame, and leaves with what it did")
        func shown() throws {
            try withStill { daemon, reader in
                let plain = try reader.stillPicture()
                #expect(plain[640, 690] == .gray(110))
                try daemon.pro.set(\.enabled, true)
                let on = try reader.picture("the HUD") { $0[640, 675].y < 60 }
                #expect(on[640, 400] == .gray(110))
                for (member, arguments) in [
                    ("SetWhiteBalance", [Value.string("shade")]), ("SetKelvin", [.uint32(3000)]),
                    ("StepKelvin", [.int32(1)]),
                ] {
                    let before = letters(try reader.picture())
                    try controls(daemon, member, arguments)
                    // A frame composed before the reply may still be under way.
                    reader.flush()
                    _ = try reader.next()
                    let after = StreamPicture(try reader.next(), size: DaemonTests.size)
                    #expect(letters(after) != before, "\(member)")
                    let (u, v) = (after[640, 400].u, after[640, 400].v)
                    #expect(member == "SetWhiteBalance" ? v > 130 && u < 126 : v < 126 && u > 130)
                    #expect(abs(after[640, 400].y - 110) <= 1)
                }
                #expect(try daemon.backControls.get(\.kelvin) == 3100)
                let software = try daemon.get("Software", of: .controls, at: DualCam.backPath)
                #expect(software == .strings(["white-balance"]))
                try daemon.pro.set(\.enabled, false)
                #expect(try daemon.backControls.get(\.kelvin) == 0)
                _ = try reader.picture("what was before") { !$0.differs(from: plain) }
            }
        }

        @Test("refuses what the source cannot do, and says what could be")
        func refused() throws {
            try withStill { daemon, _ in
                func error(_ member: String, _ arguments: Value...) -> String? {
                    refusal { try controls(daemon, member, arguments) }
                }
                #expect(error("SetIso", .uint32(400)) == "NotSupported")
                #expect(error("SetAuto", .strings(["iso"])) == nil, "it is automatic anyway")
                #expect(error("SetAuto", .strings(["moon"])) == "OutOfRange")
                #expect(error("SetWhiteBalance", .string("moon")) == "OutOfRange")
                #expect(error("SetRaw", .string("gain"), .int32(1)) == "NotSupported")
                #expect(try controls(daemon, "ListRaw").first?.array == [])
                #expect(refusal { try daemon.pro.set(\.dial, "iso") } == "NotSupported")
                try daemon.pro.set(\.dial, "wb")
                try daemon.forgetSignals()
                let answer = try daemon.backControls.call(\.stepKelvin, 99)
                #expect(answer == (10000, true))
                try daemon.settle()
                let limit = daemon.signals.first { $0.member == "LimitReached" }
                #expect(limit?.arguments == [.string("wb"), .string("max")])
            }
        }

        @Test("keeps the rate while a dial is turned from end to end")
        func steady() throws {
            try PrivateSession.with { session in
                let configuration = """
                    [output]
                    frame-rate = 60
                    [cameras.back]
                    source = "test"
                    [cameras.front]
                    source = "test"
                    """
                let daemon = try Daemon(configuration, in: session)
                let first = try daemon.reader()
                try daemon.pro.set(\.enabled, true)
                try daemon.pro.set(\.dial, "wb")
                _ = try first.picture("the dial") { $0[640, 675].y < 60 }
                // Its frames' times alone, since 120 pictures are much memory.
                let reader = try daemon.reader(copies: false)
                _ = try reader.next()
                first.close()
                try daemon.backControls.call(\.setKelvin, 2000)
                reader.flush()
                for step in 1...80 {
                    let (value, isLimited) = try daemon.pro.call(\.stepDial, 1)
                    #expect(value == "\(2000 + 100 * step) K" && !isLimited)
                    // As fast as a hand turns a knob.
                    usleep(25_000)
                }
                let frames = reader.drain()
                #expect(frames.breaks == [])
                #expect(frames.count > 40)
                let stamps = try frames.map { try #require($0.pts) }
                let steps = zip(stamps, stamps.dropFirst()).map { ($1 - $0).seconds }.sorted()
                // Were it too slow, it would leave pictures of the camera out.
                #expect(abs(steps[steps.count / 2] * 60 - 1) < 0.1)
            }
        }

        @Test("is shown and set by applications through PipeWire")
        func properties() throws {
            try withStill { daemon, reader in
                let node = try #require(daemon.get("NodeId", of: .stream).integer)
                try eventually("the property") {
                    try daemon.session.output("pw-cli", "enum-params", "\(node)", "PropInfo")
                        .contains("White balance (K)")
                }
                let write = "{ \"16777217\": 3200 }"
                _ = try daemon.session.output("pw-cli", "set-param", "\(node)", "Props", write)
                try daemon.backControls.wait(for: \.kelvin, 3200)
                let shown = try daemon.session.output("pw-cli", "enum-params", "\(node)", "Props")
                #expect(shown.contains("3200"))
            }
        }
    }
}
