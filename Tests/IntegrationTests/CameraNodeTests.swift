import Control
import DBusKit
import Foundation
import Frames
import Glibc
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of cameras offered as nodes of their own, beside the stream.
    @Suite("Nodes of cameras", .timeLimit(.minutes(3)))
    struct CameraNodeTests {
        private static func configuration(
            back: Bool = true,
            front: Bool = true,
            backSource: String = "test:bars"
        ) -> String {
            """
            [cameras.back]
            source = "\(backSource)"
            node = \(back)
            [cameras.front]
            source = "test:ramp"
            mirror = true
            node = \(front)
            [scene]
            swap-duration-ms = 0
            """
        }

        private func states(_ daemon: Daemon) throws -> [String] {
            try [DualCam.backPath, DualCam.frontPath].map { try daemon.state(of: $0) }
        }

        private func viewers(_ daemon: Daemon) throws -> [[String: Value]] {
            try daemon.get("Viewers", of: .stream).array?.compactMap(\.named) ?? []
        }

        private func reader(_ name: String, _ daemon: Daemon) throws -> StreamReader {
            // A target that does not exist yet would be linked to another node.
            try eventually("the node \(name)", within: 20) {
                try Listed(name, in: daemon.session) != nil
            }
            return try StreamReader(name, in: daemon.session, copies: true)
        }

        private func eventuallyShows(
            _ reader: StreamReader,
            _ luma: Int,
            x: Int
        ) throws -> StreamPicture {
            try reader.picture("a luma of \(luma) at \(x)", within: 20) {
                abs($0[x, 600].y - luma) < 12
            }
        }

        @Test func eachIsACameraOfItsOwnAndOpensNoOther() throws {
            try Daemon.with(Self.configuration()) { daemon in
                let size = DaemonTests.size
                let names = ["dualcam", "dualcam.back", "dualcam.front"]
                var nodes: [Listed] = []
                try eventually("three cameras in PipeWire") {
                    nodes = try names.compactMap { try Listed($0, in: daemon.session) }
                    return nodes.count == 3
                }
                let descriptions = nodes.map { $0.properties["node.description"] }
                #expect(descriptions == ["DualCam", "DualCam Back", "DualCam Front"])
                for node in nodes {
                    #expect(NSArray(array: node.formats) == NSArray(array: nodes[0].formats))
                }
                let priorities = nodes.map { Int($0.properties["priority.session"] ?? "") ?? 0 }
                #expect(priorities[0] > priorities[1] && priorities[1] > 1000)
                let ids = try [DualCam.backPath, DualCam.frontPath].map {
                    try daemon.get("NodeId", of: .camera, at: $0)
                }
                #expect(ids == nodes.dropFirst().map { .uint32($0.id) })
                #expect(try states(daemon) == ["closed", "closed"])

                let back = try reader("dualcam.back", daemon)
                defer { back.close() }
                let alone = try eventuallyShows(back, 221, x: 1200)
                expect(alone, shows: .bars, in: Rect(size))
                #expect(try states(daemon) == ["streaming", "closed"])
                #expect(try daemon.stream.get(\.state) == "idle")
                #expect(try daemon.back.get(\.consumers) == 1)
                try eventually("a viewer", within: 20) {
                    let viewers = try viewers(daemon)
                    return viewers.map { $0["through"] } == [.string("dualcam.back")]
                        && viewers.map { $0["pid"] } == [.uint32(UInt32(getpid()))]
                        && (viewers[0]["since"]?.integer ?? 0) / 1_000_000 > 1_700_000_000
                }

                // Two readers on different nodes at once, each with its own picture.
                let front = try reader("dualcam.front", daemon)
                defer { front.close() }
                let mirrored = try eventuallyShows(front, 235, x: 10)
                expect(mirrored, shows: .ramp, in: Rect(size), turned: Transform(mirrored: true))
                #expect(try states(daemon) == ["streaming", "streaming"])
                expect(try back.picture(), shows: .bars, in: Rect(size))
                #expect(try daemon.stream.get(\.consumers) == 0)

                // The stream is the same as without these nodes.
                let stream = try daemon.reader()
                let inset = Rect(x: 934, y: 26, width: 320, height: 180)
                _ = try stream.picture("both in the stream", within: 20) {
                    $0[1200, 600].y > 200 && $0[950, 150].y > 200
                }
                expect(try stream.picture(), shows: .bars, in: Rect(size), besides: inset)
                stream.close()

                back.close()
                try eventually("the back camera's end", within: 20) {
                    try states(daemon) == ["closed", "streaming"]
                }
                expect(
                    try front.picture(),
                    shows: .ramp,
                    in: Rect(size),
                    turned: Transform(mirrored: true)
                )
                front.close()
                try eventually("both cameras' end", within: 20) {
                    try states(daemon) == ["closed", "closed"] && viewers(daemon).isEmpty
                }
                #expect(try daemon.problems == [])
            }
        }

        @Test func aReloadAddsAndRemovesItWhileTheStreamGoesOn() throws {
            try Daemon.with(Self.configuration(back: false, front: false)) { daemon in
                let stream = try daemon.reader()
                _ = try stream.next()
                #expect(try Listed("dualcam.back", in: daemon.session) == nil)
                let id = try daemon.get("NodeId", of: .stream)

                try daemon.reload(Self.configuration(back: true, front: false))
                let back = try reader("dualcam.back", daemon)
                defer { back.close() }
                _ = try eventuallyShows(back, 221, x: 1200)
                try daemon.reload(Self.configuration(back: false, front: false))
                try eventually("its end", within: 20) {
                    try Listed("dualcam.back", in: daemon.session) == nil
                }
                let frames = stream.drain() + [try stream.next()]
                #expect(frames.breaks == [])
                #expect(try daemon.get("NodeId", of: .stream) == id)
                #expect(stream.failure == nil)

                // A stop withdraws all nodes, and is complete once the cameras are closed.
                try daemon.reload(Self.configuration())
                let front = try reader("dualcam.front", daemon)
                defer { front.close() }
                _ = try eventuallyShows(front, 235, x: 10)
                try daemon.call("Stop", of: .stream)
                #expect(try states(daemon) == ["closed", "closed"])
                for name in ["dualcam", "dualcam.back", "dualcam.front"] {
                    #expect(try Listed(name, in: daemon.session) == nil)
                }
                // Readers that still wait would be linked again.
                for reader in [stream, back, front] { reader.close() }
                try daemon.call("Start", of: .stream)
                try eventually("their return", within: 20) {
                    try Listed("dualcam.front", in: daemon.session) != nil
                }
                #expect(try states(daemon) == ["closed", "closed"], "open for nobody")
            }
        }
    }
}
