import Frames
import Glibc
import Platform
import TestSupport
import Testing

@testable import PipeWire

extension PipeWireNodeTests {
    @Suite("Buffers", .timeLimit(.minutes(2)))
    struct BufferTests {
        /// A node that counts itself among a buffer's readers for ever has none left after eight
        /// frames.
        @Test func buffersComeBackForEver() throws {
            try PrivateSession.with { session in
                let publisher = try Publisher(in: session, size: Size(width: 64, height: 48))
                defer { publisher.close() }
                let reader = try StreamReader("dualcam", in: session)
                defer { reader.close() }
                try expectEveryFrame(reader, of: publisher, count: 30)
            }
        }

        @Test func aBreakIsMarkedOnceAndOnlyThen() throws {
            try PrivateSession.with { session in
                let publisher = try Publisher(in: session, size: Size(width: 64, height: 48))
                defer { publisher.close() }
                let reader = try StreamReader("dualcam", in: session)
                defer { reader.close() }
                let frames = try reader.frames(20, within: 20)
                for frame in frames {
                    #expect(frame.isDiscontinuous == (frame.sequence == 0), "\(frame.sequence)")
                }
            }
        }
    }

    @Suite("Properties of the node")
    struct PropertyTests {
        @Test func noTwoShareAKey() {
            let names = NodeProperty.Name.allCases
            #expect(Set(names.map(\.id)).count == names.count)
            #expect(Set(names.map(\.title)).count == names.count)
        }
    }
}
