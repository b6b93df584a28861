import Frames
import Glibc
import PipeWire
import Platform
import Synchronization
import TestSupport

/// A node on a thread of its own, which publishes a frame at each interval while it streams; or, if
/// it follows a reader, at intervals by which that has taken the frame before.
///
/// Each picture has its sequence number in its first and its last eight bytes.
final class Publisher {
    struct Record {
        var events: [PipeWireNode.Event] = []
        var id: UInt32?
        var isStreaming = false
        var consumers = 0
        var published = 0
        var dropped = 0
        let start = MonotonicClock.now

        var losses: Int { events.count { if case .lost = $0 { true } else { false } } }
        var age: Double { (MonotonicClock.now - start).seconds }
    }

    private final class Shared: Sendable {
        let record = Mutex(Record())
        let mailbox = Mutex<EventLoop.Mailbox?>(nil)
        let reader = Mutex<StreamReader?>(nil)
        let isEnding = Atomic(false)
    }

    let rate: Int
    private let shared = Shared()
    private let thread: Thread
    private var isClosed = false

    /// Creates a node in `session`, whose PipeWire may start later.
    init(
        in session: PrivateSession,
        size: Size = Size(width: 1280, height: 720),
        rate: Int = 30
    ) throws {
        let settings = PipeWireNode.Settings(
            name: "dualcam",
            description: "DualCam",
            size: size,
            rate: rate,
            remote: session.socket
        )
        self.rate = rate
        let shared = shared
        thread = try Thread(name: "composite") {
            do { try Self.run(settings, shared) } catch { print("publisher: \(error)") }
        }
        try eventually("the publisher to run") { shared.mailbox.withLock { $0 != nil } }
    }

    deinit { close() }

    var record: Record { shared.record.withLock { $0 } }

    /// Publishes no frame while `reader` has yet to take one: however late any thread is, PipeWire
    /// then has no reason to drop one. One that is lost all the same is followed by another.
    func follow(_ reader: StreamReader) { shared.reader.withLock { $0 = reader } }

    /// Withdraws the node and ends the thread. Harmless when called twice.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        shared.isEnding.store(true, ordering: .relaxed)
        shared.mailbox.withLock { $0 }?.post {}
        thread.join()
    }

    private static func run(_ settings: PipeWireNode.Settings, _ shared: Shared) throws {
        let loop = try EventLoop()
        let node = try PipeWireNode(loop: loop, settings: settings) { event in
            shared.record.withLock { record in
                record.events.append(event)
                switch event {
                case .published(let id): record.id = id
                case .lost: record.id = nil
                case .streaming(let isStreaming): record.isStreaming = isStreaming
                case .consumers(let count): record.consumers = count
                case .written: break
                }
            }
        }
        let interval = Timestamp(nanoseconds: 1_000_000_000 / Int64(settings.rate))
        let byteCount = settings.size.width * 2 * settings.size.height
        var due = MonotonicClock.now
        var sequence: UInt64 = 0
        // How many frames the reader that is followed had when one was published, and at the last
        // look; and for how many intervals it has been waited for.
        var (followed, before, last, waits): (StreamReader?, Int, Int, Int) = (nil, -1, -1, 0)
        var timer: EventLoop.Timer?
        timer = try loop.timer {
            defer {
                // A frame that is late by an interval is skipped: of two at once PipeWire's graph
                // would drop one itself.
                repeat { due = due + interval } while due + interval < MonotonicClock.now
                timer?.arm(at: due)
            }
            guard node.isStreaming else { return }
            let reader = shared.reader.withLock { $0 }
            if reader !== followed { (followed, before, last) = (reader, -1, -1) }
            let taken = reader?.count ?? -1
            defer { last = taken }
            waits += 1
            // The graph is done a little later than the reader. A reader may miss what is published
            // while it is being linked.
            guard reader == nil || taken != before && taken == last || waits > settings.rate else {
                return
            }
            waits = 0
            let isPublished = node.publish(
                pts: due,
                sequence: sequence,
                discontinuity: sequence == 0
            ) { base, stride in
                precondition(stride == settings.size.width * 2)
                let bytes = UnsafeMutableRawPointer(base)
                memset(base, 0x80, byteCount)
                bytes.storeBytes(of: sequence, as: UInt64.self)
                bytes.storeBytes(of: sequence, toByteOffset: byteCount - 8, as: UInt64.self)
            }
            sequence += isPublished ? 1 : 0
            if isPublished { before = taken }
            shared.record.withLock {
                $0.published += isPublished ? 1 : 0
                $0.dropped += isPublished ? 0 : 1
            }
        }
        timer?.arm(at: due)
        shared.mailbox.withLock { $0 = loop.mailbox }
        while !shared.isEnding.load(ordering: .relaxed) { loop.runOnce(milliseconds: -1) }
        node.close()
        timer = nil
    }
}
