import Control
import DBusKit
import Foundation
import Frames
import TestSupport
import Testing

extension DaemonTests {
    /// A camera that is a node of PipeWire.
    @Suite("PipeWire sources", .timeLimit(.minutes(2)))
    struct PipeWireSourceTests {
        private static let configuration = DaemonTests.still(back: "pipewire:phone", front: "test")

        /// A camera of one colour, as another program publishes it.
        private func phone(
            _ session: PrivateSession,
            _ format: String,
            color: String
        ) throws -> Child {
            try session.run(
                "gst-launch-1.0",
                "-q",
                "videotestsrc",
                "is-live=true",
                "pattern=solid-color",
                "foreground-color=\(color)",
                "!",
                "video/x-raw,format=\(format),width=640,height=360,framerate=30/1",
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
