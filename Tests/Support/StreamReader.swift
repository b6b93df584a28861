import Dispatch
package import Frames
import Glibc
import PipeWire
import Platform
import Synchronization

/// A test's own consumer of a node in a private session. Like an application it takes frames on a
/// thread of its own.
package final class StreamReader: Sendable {
    /// A frame that arrived.
    package struct Frame: Sendable {
        /// The pixels, `stride` × height bytes; empty if the reader does not copy.
        package var bytes: [UInt8]
        /// The number of bytes from one row to the next.
        package var stride: Int
        /// The time of capture in the header; `nil` without a header.
        package var pts: Timestamp?
        /// The sequence number in the header.
        package var sequence: UInt64
        /// `true` if the frame is marked as discontinuous with the one before.
        package var isDiscontinuous: Bool
        /// The transform that a consumer should apply (0: none); `nil` without this metadata.
        package var transform: UInt32?
        /// The time of the graph's clock for the frame.
        package var clock: Timestamp
        /// The time of its arrival at the reader.
        package var arrival: Timestamp
    }

    /// The format that was negotiated.
    package struct Format: Hashable, Sendable {
        package var size: Size
        /// The frame rate in frames per second, as a fraction.
        package var rate: (numerator: Int, denominator: Int) { (Int(over), Int(under)) }
        /// The colour space; `nil` if none is given, or one other than BT.601 and BT.709.
        package var color: ColorSpace?
        fileprivate var over: UInt32
        fileprivate var under: UInt32

        fileprivate init(_ format: VideoFormat) {
            size = format.size
            if let matrix = format.matrix, let range = format.range {
                color = ColorSpace(matrix: matrix, range: range)
            }
            over = format.rate?.numerator ?? 0
            under = format.rate?.denominator ?? 0
        }
    }

    /// The way in which a reader treats its frames.
    package enum Manner: Hashable, Sendable {
        /// Returns each frame at once.
        case prompt
        /// Holds each frame for this many seconds.
        case slow(seconds: Double)
        /// Takes frames and never returns one.
        case hoarding
    }

    /// The kind of memory that a reader accepts.
    package enum Memory: Hashable, Sendable {
        case any
        /// Pointers alone, and from a list of formats, as OBS asks for them.
        case pointer
    }

    private struct State {
        var frames: [Frame] = []
        var count = 0
        var format: Format?
        var linkTime = Timestamp.zero
        var failure: String?
        var unreachable: SystemError?
        var mailbox: EventLoop.Mailbox?
        var isActive = true
        var isOver = false
        var manner: Manner
        var lastArrival: Timestamp?
        var longestWait = 0.0
    }

    private final class Shared: Sendable {
        let state: Mutex<State>
        let copies: Bool

        init(_ manner: Manner, copies: Bool) {
            state = Mutex(State(manner: manner))
            self.copies = copies
        }
    }

    private let shared: Shared
    private let thread = Mutex<Thread?>(nil)

    /// Creates a reader of the node called `target` (or with that serial number), which the
    /// session's WirePlumber links as soon as both are there.
    ///
    /// `size` is the only one that it accepts; `nil` stands for any. With `copies` it keeps the
    /// bytes of frames, not only their metadata. It accepts no other `memory`.
    ///
    /// - Throws: An error when there is no PipeWire to connect to.
    package init(
        _ target: String,
        in session: PrivateSession,
        size: Size? = nil,
        manner: Manner = .prompt,
        memory: Memory = .any,
        copies: Bool = false
    ) throws {
        shared = Shared(manner, copies: copies)
        let isReady = DispatchSemaphore(value: 0)
        let started = try Thread(name: "reader") { [shared] in
            var reading: Reading?
            do throws(SystemError) {
                reading = try Reading(target, in: session.socket, size, memory, shared)
            } catch {
                shared.state.withLock { $0.unreachable = error }
            }
            isReady.signal()
            reading?.run()
        }
        isReady.wait()
        if let error = shared.state.withLock({ $0.unreachable }) {
            started.join()
            throw error
        }
        thread.withLock { $0 = started }
    }

    deinit { close() }

    // MARK: Received frames

    /// The negotiated format; `nil` before.
    package var format: Format? { shared.state.withLock { $0.format } }

    /// The time of the first link, at which a format was negotiated; zero before.
    package var linkTime: Timestamp { shared.state.withLock { $0.linkTime } }

    /// The number of frames so far, whether taken by `next` or not.
    package var count: Int { shared.state.withLock { $0.count } }

    /// The reason why the connection or the link failed; `nil` if it did not.
    package var failure: String? { shared.state.withLock { $0.failure } }

    /// Returns the oldest frame not taken yet, and waits for one if there is none.
    ///
    /// - Throws: `TimedOut` when none comes.
    package func next(within seconds: Double = 20) throws -> Frame {
        try eventually("a frame\(trouble)", within: seconds) {
            shared.state.withLock { $0.frames.isEmpty ? nil : $0.frames.removeFirst() }
        }
    }

    /// Returns the next `count` frames, in order.
    ///
    /// - Throws: `TimedOut` when they take too long.
    package func frames(_ count: Int, within seconds: Double) throws -> [Frame] {
        try eventually(
            "\(count) frames, had \(shared.state.withLock { $0.frames.count })\(trouble)",
            within: seconds
        ) {
            shared.state.withLock { state in
                guard state.frames.count >= count else { return nil }
                defer { state.frames.removeFirst(count) }
                return Array(state.frames.prefix(count))
            }
        }
    }

    /// Returns the frames not taken yet, without waiting for more.
    package func drain() -> [Frame] {
        shared.state.withLock { state in
            defer { state.frames = [] }
            return state.frames
        }
    }

    /// Returns the longest time in seconds between the arrivals of two frames, or from the last one
    /// until now, since the first frame or the last call of this method.
    package func longestWait() -> Double {
        shared.state.withLock { state in
            let open = state.lastArrival.map { (MonotonicClock.now - $0).seconds } ?? 0
            defer { state.longestWait = 0 }
            return max(state.longestWait, open)
        }
    }

    /// Discards the frames not taken yet, so that the next one is new.
    package func flush() { shared.state.withLock { $0.frames = [] } }

    private var trouble: String { failure.map { "; \($0)" } ?? "" }

    // MARK: Behaviour

    /// Sets the manner for the frames to come.
    package func behave(_ manner: Manner) { shared.state.withLock { $0.manner = manner } }

    /// Stops or resumes reading without disconnecting, as a muted application does.
    package func setActive(_ isActive: Bool) { command { $0.isActive = isActive } }

    /// Disconnects. Harmless when called twice.
    package func close() {
        command { $0.isOver = true }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
        // It holds a descriptor.
        shared.state.withLock { $0.mailbox = nil }
    }

    private func command(_ change: (inout State) -> Void) {
        let mailbox = shared.state.withLock { state in
            change(&state)
            return state.mailbox
        }
        mailbox?.post {}
    }

    // MARK: PipeWire

    /// The reader's stream, on its thread.
    private final class Reading {
        private let shared: Shared
        private let loop: EventLoop
        private let connection: PipeWireConnection
        private let input: VideoInput
        private var watch: EventLoop.Watch?
        private var isActive = true

        init(
            _ target: String,
            in socket: String,
            _ size: Size?,
            _ memory: Memory,
            _ shared: Shared
        ) throws(SystemError) {
            self.shared = shared
            loop = try EventLoop()
            connection = try PipeWireConnection(remote: socket)
            input = try VideoInput(
                of: target,
                as: "reader",
                formats: (memory == .pointer ? [.bgra, .rgba, .bgrx] : []) + [.yuyv],
                size: size,
                memory: memory == .pointer ? .pointer : .any,
                reconnects: true,
                on: connection
            )
            shared.state.withLock { $0.mailbox = loop.mailbox }
        }

        deinit { watch?.cancel() }

        func run() {
            watch = try? loop.watch(connection.descriptor, for: .readable) { _ in }
            while true {
                connection.iterate()
                follow()
                let buffer = input.dequeue()
                if let buffer { take(buffer) }
                let (isActive, isOver) = shared.state.withLock { ($0.isActive, $0.isOver) }
                if isOver { return }
                if isActive != self.isActive {
                    self.isActive = isActive
                    input.setActive(isActive)
                }
                // More may have come meanwhile.
                loop.runOnce(milliseconds: buffer == nil ? -1 : 0)
            }
        }

        private func follow() {
            let format = input.format.map { Format($0) }
            let failure: String? =
                switch input.failure {
                case .disconnected(let reason)?: reason
                case .format(let reason)?: "\(reason)"
                case nil: nil
                }
            shared.state.withLock { state in
                state.failure = failure ?? state.failure
                guard let format else { return }
                state.format = format
                if state.linkTime == .zero { state.linkTime = MonotonicClock.now }
            }
        }

        private func take(_ buffer: VideoBuffer) {
            keep(buffer)
            switch shared.state.withLock({ $0.manner }) {
            case .prompt: break
            case .slow(let seconds): usleep(UInt32(seconds * 1_000_000))
            case .hoarding: return
            }
            input.queue(buffer)
        }

        private func keep(_ buffer: VideoBuffer) {
            guard let block = buffer.block(0) else {
                return shared.state.withLock {
                    $0.failure = "memory that is not of the kind that it wants"
                }
            }
            let header = buffer.header
            let frame = Frame(
                bytes: shared.copies ? bytes(of: block, in: buffer) : [],
                stride: block.stride,
                pts: header?.time,
                sequence: header?.sequence ?? 0,
                isDiscontinuous: header?.isDiscontinuous ?? false,
                transform: buffer.transform,
                clock: input.clock,
                arrival: MonotonicClock.now
            )
            shared.state.withLock {
                $0.frames.append(frame)
                $0.count += 1
                if let last = $0.lastArrival {
                    $0.longestWait = max($0.longestWait, (frame.arrival - last).seconds)
                }
                $0.lastArrival = frame.arrival
            }
        }

        private func bytes(of block: VideoBuffer.Block, in buffer: VideoBuffer) -> [UInt8] {
            [UInt8](unsafeUninitializedCapacity: block.count) { bytes, count in
                guard let start = bytes.baseAddress,
                    buffer.copy(
                        block,
                        at: 0,
                        stride: block.count,
                        rows: 1,
                        rowBytes: block.count,
                        to: start,
                        targetStride: block.count
                    )
                else { return }
                count = block.count
            }
        }
    }
}
