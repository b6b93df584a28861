import Control
import DBusKit
import Frames
import TestSupport
import Testing

extension DaemonTests {
    @Suite("A frozen picture", .timeLimit(.minutes(5)))
    struct FrozenStreamTests {
        private static let size = Size(width: 1280, height: 720)

        /// Returns the frame counter in the stream's newest picture.
        private func counter(_ reader: StreamReader) throws -> Int? {
            StreamPicture(try reader.next(), size: Self.size)
                .counter(of: Self.size, in: Rect(Self.size))
        }

        @Test func `An own picture is shown while privacy is on, and one that is none is told of`()
            throws
        {
            try Daemon.with("[cameras.back]\nsource = \"test:bars\"") { daemon in
                let file = "\(daemon.session.directory)/own.png"
                try ffmpeg(["-f", "lavfi", "-i", "color=lime:s=640x640", "-frames:v", "1", file])
                let reader = try daemon.reader()
                func isOwn() throws -> Bool {
                    let picture = StreamPicture(try reader.next(), size: Self.size)
                    let (middle, edge) = (picture[640, 360], picture[20, 360])
                    // Whole, and dark beside it: 640 by 640 is no shape of the stream's.
                    return middle.y > 130 && middle.u < 80 && middle.v < 80
                        && edge.u < 110 && edge.y < middle.y
                }
                try daemon.scene.set(\.away, file)
                #expect(try !isOwn())
                try daemon.privacy.set(\.enabled, true)
                try eventually("the own picture") { try isOwn() }
                try daemon.privacy.set(\.enabled, false)
                try eventually("the camera") { try !isOwn() }
                try daemon.scene.set(\.away, "/dev/null")
                try daemon.privacy.set(\.enabled, true)
                try eventually("a problem") {
                    try daemon.stream.get(\.problems).contains {
                        $0.hasPrefix("The picture for when the cameras are off is not shown")
                    }
                }
                #expect(try !isOwn())
            }
        }

        @Test("stays while its camera goes on, is live again at once, and ends with privacy")
        func freezing() throws {
            let configuration = """
                [scene]
                layout = "single"
                [cameras.back]
                source = "test:ramp"
                [cameras.front]
                source = "test:bars"
                """
            try Daemon.with(configuration) { daemon in
                func set(_ isFrozen: Bool) throws { try daemon.back.set(\.frozen, isFrozen) }
                func frozen() throws -> Bool { try daemon.back.get(\.frozen) }
                let refusal = #expect(throws: DBusError.self) { try set(true) }
                #expect(refusal?.message.contains("It opens once an app shows") == true)
                let reader = try daemon.reader()
                try eventually("the picture") { try counter(reader) != nil }
                try set(true)
                #expect(try frozen())
                // Of the newest three pictures one is kept; then the counter stands still.
                for _ in 0..<10 { _ = try reader.next() }
                let kept = try #require(try counter(reader))
                let captured = try daemon.captured[0]
                for _ in 0..<20 { #expect(try counter(reader) == kept) }
                #expect(try daemon.captured[0] > captured, "the camera stopped")
                try set(false)
                try eventually("live pictures") {
                    try counter(reader).map { $0 > kept + 20 } ?? false
                }
                try set(true)
                try daemon.privacy.set(\.enabled, true)
                #expect(try !frozen())
                try daemon.privacy.set(\.enabled, false)
                try eventually("pictures that move") {
                    guard let one = try counter(reader) else { return false }
                    _ = try reader.next()
                    return try counter(reader).map { $0 != one } ?? false
                }
                #expect(try !frozen())
            }
        }
    }
}
