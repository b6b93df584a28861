import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Photos
import Platform
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of previews, of cameras that only PipeWire has.
    @Suite("Previews", .timeLimit(.minutes(2)))
    struct OpenPreviewTests {
        /// The camera "desk" is the back one, and "phone" none; a consumer need not come.
        private func with(_ body: (Daemon) throws -> Void) throws {
            let configuration = DaemonTests.still(back: "pipewire:desk", front: "test")
            try Daemon.with(configuration) { daemon in
                let picture = "\(daemon.session.directory)/red.jpg"
                try ffmpeg(["-f", "lavfi", "-i", "color=red:s=640x360", "-frames:v", "1", picture])
                let node = Programs.path(of: "jpeg-node")
                for name in ["desk", "phone"] {
                    _ = try daemon.session.run(node, [name, "640", "360", picture])
                }
                try eventually("both cameras", within: 20) {
                    let devices = try daemon.get("Devices", of: .stream).array ?? []
                    let ids = devices.compactMap { $0.named?["id"]?.string }
                    return ids.contains("pipewire:desk") && ids.contains("pipewire:phone")
                }
                try body(daemon)
            }
        }

        private func open(_ device: String, _ daemon: Daemon) throws -> PreviewReader {
            PreviewReader(try daemon.stream.call(\.openPreview, device))
        }

        private func isShowing(_ daemon: Daemon) -> Bool {
            Holdings(of: daemon).names["thread preview"] != nil
        }

        @Test("a camera that has no role is shown in small pictures, as long as somebody looks")
        func shown() throws {
            try with { daemon in
                let before = try Holdings.atRest(daemon)
                for _ in 1...2 {
                    let reader = try open("pipewire:phone", daemon)
                    for _ in 1...3 {
                        let picture = try #require(try reader.picture())
                        let size = try JPEGCodec.decode(picture).picture.size
                        #expect(size == Size(width: 320, height: 180))
                    }
                    #expect(isShowing(daemon))
                    reader.close()
                    try eventually("its end", within: 10) { !isShowing(daemon) }
                }
                func excess() -> [String] { Holdings(of: daemon).excess(over: before) }
                try eventually("the descriptors of before; there are more: \(excess())") {
                    Holdings(of: daemon).descriptors <= before.descriptors
                }
            }
        }

        @Test func `That of a role's camera opens it, and shows it as the stream would`() throws {
            try with { daemon in
                try daemon.back.set(\.rotation, 90)
                let readers = [try open("back", daemon), try open("pipewire:desk", daemon)]
                for reader in readers {
                    let picture = try #require(try reader.picture())
                    let size = try JPEGCodec.decode(picture).picture.size
                    #expect(size == Size(width: 180, height: 320))
                }
                #expect(try daemon.back.get(\.state) == "streaming")
                #expect(try daemon.stream.get(\.consumers) == 0)
                for reader in readers { reader.close() }
                try daemon.back.wait(for: \.state, "closed")
                #expect(try open("front", daemon).picture() != nil)
            }
        }
    }
}
