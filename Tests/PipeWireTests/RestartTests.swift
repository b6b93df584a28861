import Frames
import Glibc
import PipeWire
import Platform
import TestSupport
import Testing

extension PipeWireNodeTests {
    @Suite("PipeWire goes and comes", .timeLimit(.minutes(5)))
    struct RestartTests {
        @Test(arguments: [SIGKILL, SIGTERM])
        func itComesBackWithPipeWire(signal: CInt) throws {
            try PrivateSession.with { session in
                let publisher = try Publisher(in: session)
                defer { publisher.close() }
                var before: Listed?
                var descriptors = 0
                for turn in 0..<4 {
                    let reader = try StreamReader("dualcam", in: session)
                    defer { reader.close() }
                    _ = try reader.next()
                    if turn == 0 {
                        before = try Listed("dualcam", in: session)
                        descriptors = openDescriptors()
                    }
                    session.signal(.pipewire, signal)
                    try eventually("the loss") { publisher.record.losses == turn + 1 }
                    #expect(!publisher.record.isStreaming && publisher.record.consumers == 0)
                    session.kill(.pipewire)
                    session.kill(.wireplumber)
                    reader.close()

                    try session.start(.pipewire)
                    try session.start(.wireplumber)
                    let other = try StreamReader("dualcam", in: session)
                    defer { other.close() }
                    _ = try other.next()
                    #expect(publisher.record.losses == turn + 1)
                    // The session keeps two logs open for each of two services in each turn.
                    if turn == 3 { try expectDescriptors(atMost: descriptors + 4 * 4) }
                }
                let after = try Listed("dualcam", in: session)
                #expect(after?.lasting == before?.lasting)
                #expect(after?.id == publisher.record.id)
            }
        }

        @Test func itStaysWhenWirePlumberGoes() throws {
            try PrivateSession.with { session in
                let publisher = try Publisher(in: session)
                defer { publisher.close() }
                let reader = try StreamReader("dualcam", in: session)
                defer { reader.close() }
                _ = try reader.next()
                let id = publisher.record.id
                session.kill(.wireplumber)
                try session.start(.wireplumber)
                let other = try StreamReader("dualcam", in: session)
                defer { other.close() }
                _ = try other.next()
                #expect(publisher.record.id == id)
                #expect(publisher.record.losses == 0)
            }
        }

        @Test func itComesBackWhenSomebodyDestroysIt() throws {
            try PrivateSession.with { session in
                let publisher = try Publisher(in: session)
                defer { publisher.close() }
                let id = try eventually("the node") { publisher.record.id }
                _ = try session.output("pw-cli", "destroy", "\(id)")
                try eventually("the node again") {
                    publisher.record.losses == 1 && publisher.record.id != nil
                }
                let reader = try StreamReader("dualcam", in: session)
                defer { reader.close() }
                _ = try reader.next()
            }
        }

        @Test(arguments: [true, false])
        func itMayBeClosedFromItsEvents(isPipeWireThere: Bool) throws {
            try PrivateSession.with(isPipeWireThere ? [.pipewire] : []) { session in
                let loop = try EventLoop()
                var events: [PipeWireNode.Event] = []
                var node: PipeWireNode?
                node = try PipeWireNode(
                    loop: loop,
                    settings: PipeWireNode.Settings(
                        name: "dualcam",
                        description: "DualCam",
                        size: Size(width: 320, height: 240),
                        rate: 30,
                        remote: session.socket
                    )
                ) { event in
                    events.append(event)
                    node?.close()
                    node = nil
                }
                let deadline = MonotonicClock.now + Timestamp(seconds: 5)
                while events.isEmpty, MonotonicClock.now < deadline {
                    loop.runOnce(milliseconds: 100)
                }
                for _ in 0..<5 { loop.runOnce(milliseconds: 50) }
                #expect(events.count == 1)
                if isPipeWireThere {
                    try eventually("no node") { try Listed("dualcam", in: session) == nil }
                }
            }
        }

        @Test func itGoesWhenItIsClosed() throws {
            try PrivateSession.with { session in
                let descriptors = openDescriptors()
                for _ in 0..<3 {
                    let publisher = try Publisher(in: session)
                    try eventually("the node") { publisher.record.id != nil }
                    let reader = try StreamReader("dualcam", in: session)
                    _ = try reader.next()
                    publisher.close()
                    try eventually("no node") { try Listed("dualcam", in: session) == nil }
                    reader.close()
                }
                try expectDescriptors(atMost: descriptors)
            }
        }
    }
}
