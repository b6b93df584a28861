package import Frames
import Glibc
import Imaging
package import Platform
import Synchronization

/// Records one picture, into one file after the other: a camera that was lost and came back begins another. Or onto a
/// `PreRollBuffer`, which keeps the last moments alone.
///
/// JPEGs are kept as they are, all else is coded by a thread of its own, called `record-…`. Nobody who gives it
/// something waits: what there is no room for is dropped, and counted.
package final class Recorder: Sendable {
    /// What is recorded, and where to.
    package struct Plan: Sendable {
        /// The picture's word: "back".
        package var picture: String
        /// Path of the first file without ".mkv"; others end in "-2", "-3", ….
        package var stem: String
        /// The moment from which on it is recorded, that players show as 0.
        package var start: Timestamp
        /// About how many pictures a second there are.
        package var rate: Double
        /// By how many degrees clockwise a picture is to be turned when it is shown.
        package var rotation = 0
        /// The sound that goes with it, where there is any.
        package var sound: Track?
        /// What codes raw pictures; `nil`: what there is.
        package var encoder: VideoEncoder.Kind?
        /// Words about the whole, for the file.
        package var tags: [String: String] = [:]
        /// Where it is kept in place of files.
        package var preRoll: PreRollBuffer?

        /// A recording of `picture` from `start` on.
        package init(_ picture: String, stem: String, start: Timestamp, rate: Double) {
            self.picture = picture
            self.stem = stem
            self.start = start
            self.rate = rate
        }

        /// What goes into `preRoll` from now on, raw pictures as JPEGs, each of which stands alone.
        package init(_ picture: String, on preRoll: PreRollBuffer, rate: Double) {
            self.init(picture, stem: "", start: .zero, rate: rate)
            self.preRoll = preRoll
            encoder = .mjpeg
        }

        /// What its thread is called, as are those of its files with "write" in place of "record".
        fileprivate var threadName: String { "\(preRoll == nil ? "record" : "live")-\(picture)" }

        /// How many JPEGs there is memory for.
        fileprivate var jpegCount: Int {
            let seconds = preRoll == nil ? Recorder.queueDuration : PreRollBuffer.longest
            return Int((max(10, rate) * seconds).rounded())
        }
    }

    /// What the threads tell.
    package enum Report: Hashable, Sendable {
        /// A file is there; `encoder` as in `Movie`.
        case began(path: String, encoder: String)
        /// How much room there is; about once a second.
        case space(DiskSpace)
        /// A file is done.
        case saved(Movie)
        /// It cannot go on; what can be played of the file is this, where there is any.
        case failed(RecordingError, Movie?)
        /// All files are done; the thread ends.
        case ended
    }

    private enum Sample: Sendable {
        case jpeg(FrameBuffer, count: Int, Timestamp)
        case frame(Frame)
        case sound(Packet)
        case turn(Int)
        case discontinuity(Timestamp)
    }

    private struct State: ~Copyable {
        var samples = Ring<Sample>(capacity: Recorder.capacity)
        /// How many raw pictures wait.
        var raw = 0
        var dropped = 0
        var pool = FramePool([])
        var poolSize = 0
        var copies = FramePool([])
        var copySize = 0
        /// When to end, once it is to.
        var end: Timestamp?

        var hasRoom: Bool { samples.count < Recorder.capacity - Recorder.reserve }
    }

    private let plan: Plan
    private let state = Mutex(State())
    private let bell: Bell
    private let report: @Sendable (Report) -> Void
    private let thread = Mutex<Thread?>(nil)

    /// How many samples of all kinds there is room for, some of it for what must not be lost.
    private static let capacity = 512
    private static let reserve = 32
    /// How many raw pictures may wait.
    private static let mostRaw = 16
    /// For how many seconds JPEGs may wait.
    private static let queueDuration = 4.0

    /// Starts the thread. Throws when the system has none to give. `report` is called by it and by those of its
    /// files.
    package init(
        _ plan: Plan,
        report: @escaping @Sendable (Report) -> Void
    ) throws(SystemError) {
        self.plan = plan
        self.report = report
        bell = try Bell()
        let started = try Thread(name: plan.threadName) { [self] in run() }
        thread.withLock { $0 = started }
    }

    // MARK: From any thread

    /// Takes a raw picture, and holds it until it is coded.
    ///
    /// Neither waits nor allocates.
    package func take(_ frame: Frame) {
        guard frame.timestamp >= plan.start else { return }
        let isTaken = state.withLock { state in
            guard state.raw < Self.mostRaw, state.hasRoom, state.samples.put(.frame(frame)) else {
                state.dropped += 1
                return false
            }
            state.raw += 1
            return true
        }
        if isTaken { bell.ring() }
    }

    /// Takes a copy of a raw picture.
    ///
    /// Does not wait. Allocates for the first, and for one that is larger than those before.
    package func take(copying frame: Frame) {
        guard frame.timestamp >= plan.start else { return }
        let size = frame.layout.byteCount
        let copy = state.withLock { state -> FrameBuffer? in
            if state.copySize < size {
                state.copySize = size
                state.copies = FramePool(count: Self.mostRaw + 1, byteCount: size)
            }
            return state.copies.draw()
        }
        guard let copy else { return drop() }
        copy.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: frame.buffer.bytes[..<size]))
        take(
            Frame(
                buffer: copy,
                layout: frame.layout,
                color: frame.color,
                timestamp: frame.timestamp,
                sequence: frame.sequence
            )
        )
    }

    /// Counts a picture that there was no room for.
    package func drop() { state.withLock { $0.dropped += 1 } }

    /// Takes a copy of a JPEG that was taken at `time`.
    ///
    /// Does not wait. Allocates for the first, and for one that is much larger than those before.
    package func take(jpeg bytes: UnsafeRawBufferPointer, at time: Timestamp) {
        guard time >= plan.start, let base = bytes.baseAddress else { return }
        let buffer = state.withLock { state -> FrameBuffer? in
            if state.poolSize < bytes.count {
                state.poolSize = max(4 * bytes.count, 1 << 20)
                state.pool = FramePool(count: plan.jpegCount, byteCount: state.poolSize)
            }
            return state.pool.draw()
        }
        if let buffer { buffer.bytes.baseAddress?.copyMemory(from: base, byteCount: bytes.count) }
        state.withLock { state in
            guard let buffer, state.hasRoom,
                state.samples.put(.jpeg(buffer, count: bytes.count, time))
            else {
                state.dropped += 1
                return
            }
        }
        bell.ring()
    }

    /// Takes coded sound.
    package func take(sound packet: Packet) {
        let isTaken = state.withLock { $0.hasRoom && $0.samples.put(.sound(packet)) }
        if isTaken { bell.ring() }
    }

    /// The camera is mounted in another way from its next file on.
    package func turn(by degrees: Int) { put(.turn(degrees)) }

    /// A discontinuity: there will be no more pictures for a while, the file ends, and the next picture begins another.
    package func discontinue(at time: Timestamp) { put(.discontinuity(time)) }

    /// Records what it has up to `time`, and ends. Does not wait. Once.
    package func end(at time: Timestamp) {
        state.withLock { $0.end = $0.end ?? time }
        bell.ring()
    }

    /// Waits until all is on the disk, at most until `deadline`; whether it is. After `end(at:)`.
    package func wait(until deadline: Timestamp) -> Bool { thread.join(until: deadline) }

    /// Lets the thread end by itself, whose disk does not answer. After `end(at:)`.
    package func leave() { thread.leave() }

    /// Pictures that were dropped so far.
    package var dropped: Int { state.withLock { $0.dropped } }

    /// Whether there is room for another picture.
    var hasRoom: Bool { state.withLock { $0.raw < Self.mostRaw && $0.hasRoom } }

    private func put(_ sample: Sample) {
        // Where even the reserve is used up, the thread has been stuck for seconds.
        let isPut = state.withLock { $0.samples.put(sample) }
        if isPut { bell.ring() }
    }

    // MARK: The thread's own

    private func run() {
        let worker = Worker(self)
        while true {
            bell.wait(until: nil)
            while let sample = state.withLock({ state in
                let sample = state.samples.take()
                if case .frame = sample { state.raw -= 1 }
                return sample
            }) {
                worker.take(sample)
            }
            // What came after the end was told is left out.
            if let end = state.withLock({ $0.end }) { return worker.end(at: end) }
        }
    }

    /// What the thread holds. Bound to it.
    private final class Worker {
        private let shared: Recorder
        private let plan: Plan
        private var rotation: Int
        private var encoder: VideoEncoder?
        private let decoder = try? JPEGDecoder()
        /// The file that is being written, and what its pictures are like.
        private var file: MovieFile?
        private var layout: FrameLayout?
        /// How many files there were.
        private var count = 0
        /// Files that are being ended.
        private var ending: [MovieFile] = []
        /// Sound that came before the first picture.
        private var early: [Packet] = []
        /// What had been dropped when the last file ended.
        private var droppedBefore = 0
        private var isBroken = false

        /// How much sound may come before the first picture.
        private static let mostEarly = 250

        init(_ shared: Recorder) {
            self.shared = shared
            plan = shared.plan
            rotation = plan.rotation
        }

        /// Sees to `sample`.
        func take(_ sample: Sample) {
            attempt { () throws(RecordingError) in
                switch sample {
                case .jpeg(let buffer, let count, let time) where !isBroken:
                    try take(Packet(.pooled(buffer, count: count), at: time))
                case .frame(let frame) where !isBroken: try take(frame)
                case .sound(let packet) where !isBroken: add(sound: packet)
                case .turn(let degrees): rotation = degrees
                case .discontinuity(let time): try close(at: time)
                default: break
                }
            }
        }

        /// Ends the file, and waits until all of them are on the disk.
        func end(at time: Timestamp) {
            attempt { () throws(RecordingError) in try close(at: time) }
            for file in ending { _ = file.wait(until: Timestamp(nanoseconds: .max)) }
            shared.report(.ended)
        }

        private func attempt(_ body: () throws(RecordingError) -> Void) {
            do throws(RecordingError) {
                try body()
            } catch {
                isBroken = true
                shared.report(.failed(error, nil))
            }
        }

        private func take(_ packet: Packet) throws(RecordingError) {
            let header = packet.withBytes { try? decoder?.header(of: $0) }
            // A damaged one would be no picture for a player, either.
            guard let header else { return drop() }
            let layout = FrameLayout(size: header.size, format: header.format)
            if layout != self.layout || encoder != nil {
                try close(at: packet.time)
                self.layout = layout
            }
            if file == nil, plan.preRoll == nil {
                let track = Track.jpeg(size: header.size, rate: plan.rate, rotation: rotation)
                try open(track, encoder: "camera", at: packet.time)
            }
            put(packet)
        }

        private func take(_ frame: Frame) throws(RecordingError) {
            if frame.layout != layout || encoder == nil {
                try close(at: frame.timestamp)
                layout = frame.layout
            }
            if encoder == nil {
                encoder = try VideoEncoder(
                    size: frame.layout.size,
                    rate: plan.rate,
                    color: frame.color,
                    rotation: rotation,
                    wanted: plan.encoder
                )
            }
            guard let encoder else { return }
            if file == nil, plan.preRoll == nil {
                try open(encoder.track, encoder: encoder.kind.rawValue, at: frame.timestamp)
            }
            // What is coded cannot be left out without a gap that is seen; what is not yet, can.
            if file?.isFull ?? false { return drop() }
            for packet in try encoder.encode(frame) { put(packet) }
        }

        private func add(sound packet: Packet) {
            if let preRoll = plan.preRoll { return preRoll.add(sound: packet) }
            guard plan.sound != nil else { return }
            guard let file else {
                if count == 0, early.count < Self.mostEarly { early.append(packet) }
                return
            }
            // Without room the pictures are missing, too.
            _ = file.put(packet, track: 1)
        }

        private func put(_ packet: Packet) {
            if let preRoll = plan.preRoll { return preRoll.add(packet) }
            guard let file, file.put(packet, track: 0) else { return drop() }
        }

        private func drop() { shared.drop() }

        private func open(
            _ track: Track,
            encoder: String,
            at time: Timestamp
        ) throws(RecordingError) {
            count += 1
            let path = plan.stem + (count == 1 ? "" : "-\(count)") + ".mkv"
            let start = count == 1 ? plan.start : time
            let report = shared.report
            let tracks = [track] + (plan.sound.map { [$0] } ?? [])
            var tags = plan.tags
            // For who lays the files of one recording side by side.
            tags["DUALCAM_OFFSET"] = "\((start - plan.start).nanoseconds / 1_000_000) ms"
            let before = droppedBefore
            do throws(SystemError) {
                file = try MovieFile(
                    path,
                    name: "write-\(plan.picture)",
                    tracks: tracks,
                    start: start,
                    tags: tags
                ) { [shared] told in
                    switch told {
                    case .began: report(.began(path: path, encoder: encoder))
                    case .space(let space): report(.space(space))
                    case .ended(let seconds, let frames, let dropped, let byteCount, let error):
                        let movie = Movie(
                            path: path,
                            seconds: seconds,
                            frames: frames,
                            // One that fails has not been told.
                            dropped: dropped ?? shared.dropped - before,
                            encoder: encoder,
                            hasSound: tracks.count > 1,
                            byteCount: byteCount
                        )
                        if let error {
                            report(.failed(error, frames > 0 ? movie : nil))
                        } else {
                            report(.saved(movie))
                        }
                    }
                }
            } catch {
                throw RecordingError(.system, error.operation, error.subject, errno: error.errno)
            }
            for packet in early { add(sound: packet) }
            early = []
        }

        /// Ends the file, which lasts until `time`.
        private func close(at time: Timestamp) throws(RecordingError) {
            defer {
                encoder = nil
                layout = nil
                plan.preRoll?.flush()
                if let file {
                    let dropped = shared.dropped
                    file.end(at: time, dropped: dropped - droppedBefore)
                    droppedBefore = dropped
                }
                file = nil
            }
            guard file != nil || plan.preRoll != nil else { return }
            if let file {
                // Those that are done are not kept for the end: there may be many, of a camera with a loose cable.
                ending.removeAll { $0.wait(until: .zero) }
                ending.append(file)
            }
            if let encoder { for packet in try encoder.finish() { put(packet) } }
        }
    }
}
