import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of a camera that is a PipeWire node.
    @Suite("PipeWire sources", .timeLimit(.minutes(2)))
    struct PipeWireSourceTests {
        private static let configuration = DaemonTests.still(back: "pipewire:phone", front: "test")

        /// Starts a camera of one colour that another program publishes.
        private func phone(
            _ session: PrivateSession,
            _ format: String,
            width: Int = 640,
            pattern: String = "pattern=solid-color",
            color: String = "0xffffffff"
        ) throws -> Child {
            try session.run(
                "gst-launch-1.0",
                "-q",
                "videotestsrc",
                "is-live=true",
                pattern,
                "foreground-color=\(color)",
                "!",
                "video/x-raw,format=\(format),width=\(width),height=360,framerate=30/1",
                "!",
                "pipewiresink",
                "mode=provide",
                "stream-properties=props,media.class=Video/Source,media.role=Camera,node.name=phone"
            )
        }

        @Test(arguments: ["YUY2", "UYVY", "NV12", "I420"])
        func aNodeIsACamera(_ format: String) throws {
            try Daemon.with(Self.configuration) { daemon in
                let phone = try phone(daemon.session, format, color: "0xffffffff")
                let reader = try daemon.reader()
                defer { reader.close() }
                try eventually("its picture; it wrote: \(phone.errors)", within: 30) {
                    try daemon.state(of: DualCam.backPath) == "streaming"
                }
                #expect(try daemon.get("Width", of: .camera, at: DualCam.backPath) == .uint32(640))
                try eventually("white", within: 15) {
                    let frame = try reader.next()
                    // In the middle, and without colour.
                    let at = 360 * frame.stride + 640 * 2
                    return frame.bytes[at] > 225 && (126...130).contains(frame.bytes[at + 1])
                        && (126...130).contains(frame.bytes[at + 3])
                }
            }
        }

        /// One width whose row length GStreamer rounds up, and one whose it does not.
        @Test(arguments: ["I420", "NV12", "YUY2"], [642, 644])
        func coloursLieWhereTheyBelongAtAnyWidth(_ format: String, _ width: Int) throws {
            let configuration =
                "[output]\nwidth = 640\nheight = 360\n" + Self.configuration
                + "layout = \"single\"\nbackground = \"crop\"\n"
            try Daemon.with(configuration) { daemon in
                let phone = try phone(
                    daemon.session,
                    format,
                    width: width,
                    pattern: "pattern=smpte"
                )
                let reader = try daemon.reader()
                defer { reader.close() }
                try eventually("its picture; it wrote: \(phone.errors)", within: 30) {
                    try daemon.state(of: DualCam.backPath) == "streaming"
                }
                // Seven bars, of which the second is yellow and the sixth red.
                let (yellow, red) = (Color(210, 16, 146), Color(81, 90, 240))
                let picture = try reader.picture("yellow", within: 20) {
                    $0[137, 20].distance(to: yellow) < 8
                }
                for row in stride(from: 4, to: 220, by: 12) {
                    #expect(picture[137, row].distance(to: yellow) < 8, "row \(row)")
                    #expect(picture[502, row].distance(to: red) < 8, "row \(row)")
                }
            }
        }

        @Test func aPipeWireThatSaysNothingHoldsNothingUp() throws {
            try PrivateSession.with([.bus]) { session in
                let silent = try SilentSocket("\(session.directory)/silent")
                let daemon = try Daemon(
                    Self.configuration,
                    in: session,
                    node: false,
                    adding: ["PIPEWIRE_REMOTE": silent.path]
                )
                _ = try session.run(
                    Programs.path(of: "dualcamctl"),
                    ["photo", "--of", "back", "-o", "\(session.directory)/photo.jpg"]
                )
                try eventually("the camera's opening", within: 20) {
                    try daemon.state(of: DualCam.backPath) == "opening"
                }
                #expect(try daemon.end().exit == .status(0))
                #expect(!daemon.program.errors.contains("does not close"))
            }
        }

        @Test func itGoesAndComesAgain() throws {
            try Daemon.with(Self.configuration) { daemon in
                let reader = try daemon.reader()
                defer { reader.close() }
                func becomes(_ state: String) throws {
                    try eventually("the camera to be \(state)", within: 30) {
                        try daemon.state(of: DualCam.backPath) == state
                    }
                }
                try becomes("interrupted")
                for _ in 0..<2 {
                    let phone = try phone(daemon.session, "NV12", color: "0xffffffff")
                    try becomes("streaming")
                    phone.end()
                    try becomes("interrupted")
                }
            }
        }

        @Test func itIsNeverOurOwn() throws {
            try Daemon.with(DaemonTests.still(back: "pipewire:dualcam", front: "test")) { daemon in
                let reader = try daemon.reader()
                defer { reader.close() }
                try eventually("the refusal", within: 20) {
                    try daemon.state(of: DualCam.backPath) == "interrupted"
                }
                try eventually("its reason in the log", within: 10) {
                    daemon.program.errors.contains("it is our own")
                }
            }
        }
    }
}

/// A socket that accepts connections and never sends anything.
final class SilentSocket {
    let path: String
    private let socket: Descriptor

    init(_ path: String) throws {
        self.path = path
        let number = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        guard number >= 0 else { throw SystemError.last("socket") }
        socket = Descriptor(owning: number)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0, listen(number, 8) == 0 else { throw SystemError.last("bind", path) }
    }
}
