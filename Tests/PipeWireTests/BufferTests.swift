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
                _ = try reader.frames(10, within: 20)
                let lateness = Lateness(session)
                let start = MonotonicClock.now
                let before = publisher.record
                _ = try reader.frames(60, within: 30)
                let after = publisher.record
                let lost = after.dropped - before.dropped
                // A reader that had no processor held its frames for as long.
                #expect(Double(lost) <= 30 * lateness.seconds(from: start))
                #expect(after.published - before.published >= 50)
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
