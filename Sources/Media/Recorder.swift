package import Frames
import Glibc
import Imaging
package import Platform
import Synchronization

/// Records one picture to a series of files, or to a `PreRollBuffer`, which keeps only the last
/// moments. A new file begins when a lost camera comes back, and when a file may not grow or was
/// removed.
///
/// JPEGs are kept as they are, but for unusual ones; raw pictures are encoded on a thread of its
/// own, `record-…` or `live-…`. No caller waits: pictures without room are dropped and counted.
package final class Recorder: FrameTap {
    /// The source and destination of a recording.
    package struct Plan: Sendable {
        /// The name of the picture, such as "back".
        package var picture: String
        /// The path of the first file without ".mkv"; further files end in "-2", "-3", ….
        package var stem: String
        /// The start of the recording, which players show as 0.
        package var start: Timestamp
        /// The approximate frame rate, in pictures per second.
        package var rate: Double
        /// The rotation for display, in degrees clockwise.
        package var rotation = 0
        /// The sound track, or `nil` without sound.
        package var sound: Track?
        /// The encoder for raw pictures, or `nil` for the first that works.
        package var encoder: VideoEncoder.Kind?
        /// The tags of each file.
        package var tags: [String: String] = [:]
        /// Returns the path of the first file, without ".mkv", from the time of its first picture;
        /// `nil`: it is `stem`.
        package var name: (@Sendable (Timestamp) -> String)?
        /// The access rights of the files.
        package var mode: UInt32 = 0o600
        /// The destination in place of files.
        package var preRoll: PreRollBuffer?

        /// Creates a plan to record `picture` from `start` on.
        package init(_ picture: String, stem: String, start: Timestamp, rate: Double) {
            self.picture = picture
            self.stem = stem
            self.start = start
            self.rate = rate
        }

        /// Creates a plan to record `picture` from `start` on, to files whose first `name` names.
        package init(
            _ picture: String,
            name: @escaping @Sendable (Timestamp) -> String,
            start: Timestamp,
            rate: Double
        ) {
            self.init(picture, stem: "", start: start, rate: rate)
            self.name = name
        }

        /// Creates a plan to fill `preRoll` from now on. Raw pictures are encoded as JPEGs, so that
        /// each is a key picture.
        package init(_ picture: String, on preRoll: PreRollBuffer, rate: Double) {
            self.init(picture, stem: "", start: .zero, rate: rate)
            self.preRoll = preRoll
            encoder = .mjpeg
        }

        /// The name of the thread. Those of its files have "write" in place of "record".
        fileprivate var threadName: String { "\(preRoll == nil ? "record" : "live")-\(picture)" }

        /// The number of JPEGs to allocate memory for.
        fileprivate var jpegCount: Int {
            let seconds = preRoll == nil ? Recorder.queueDuration : PreRollBuffer.longest
            // A rate that no camera has fails when the file is created.
            let believed = Track.rates.contains(rate) ? rate : 0
            return Int((max(10, believed) * seconds).rounded())
        }
    }

    /// An event of the threads.
    package enum Report: Hashable, Sendable {
        /// A file was created; `encoder` as in `Movie`.
        case began(path: String, encoder: String)
        /// The room on the disk, about once a second.
        case space(DiskSpace)
        /// The file that began at this path has ended. It may have been moved meanwhile. If it may
        /// not grow, or was removed, the recording goes on in another; if it failed, it does not.
        case finished(Movie, began: String, MovieFile.Ending)
        /// The recording failed before there was a file, or in between.
        case failed(MediaError)
        /// All files are finished; the thread ends.
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
        /// The number of raw pictures that wait.
        var raw = 0
        var dropped = 0
        var pool = FramePool([])
        var poolSize = 0
        var copies = GrowingPool(count: Recorder.mostRaw + 1)
        var pauses = Pauses()
        /// The end of the recording, once `end(at:)` was called.
        var end: Timestamp?

        var hasRoom: Bool { samples.count < Recorder.capacity - Recorder.reserve }
    }

    private let plan: Plan
    private let state = Mutex(State())
    private let report: @Sendable (Report) -> Void
    private let worker: Worker

    /// The most samples of all kinds that may wait; a reserve is for those that must not be lost.
    private static let capacity = 512
    private static let reserve = 32
    /// The most raw pictures that may wait.
    private static let mostRaw = 16
    /// The longest time that JPEGs may wait, in seconds.
    private static let queueDuration = 4.0

    /// Starts the thread. `report` is called on it and on the threads of its files.
    ///
    /// - Throws: `SystemError` when the system has no thread or descriptor left.
    package init(
        _ plan: Plan,
        report: @escaping @Sendable (Report) -> Void
    ) throws(SystemError) {
        self.plan = plan
        self.report = report
        worker = try Worker(name: plan.threadName)
        try worker.start { [self] in run() }
    }

    // MARK: From any thread

    /// Takes a raw picture and retains it until it is encoded.
    ///
    /// Neither waits nor allocates.
    package func take(_ frame: Frame) {
        guard let place = place(of: frame.timestamp) else { return }
        var frame = frame
        frame.timestamp = place
        let isTaken = state.withLock { [frame] state in
            guard state.raw < Self.mostRaw, state.hasRoom, state.samples.put(.frame(frame)) else {
                state.dropped += 1
                return false
            }
            state.raw += 1
            return true
        }
        if isTaken { worker.wake() }
    }

    /// Takes a copy of a raw picture.
    ///
    /// Does not wait. Allocates for the first picture, and for one larger than all before.
    package func take(copying frame: Frame) {
        guard place(of: frame.timestamp) != nil else { return }
        let size = frame.layout.byteCount
        let copy = state.withLock { state -> FrameBuffer? in
            state.copies.draw(byteCount: size)
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

    /// Counts a picture that could not be taken, unless it is left out anyway.
    package func drop() { state.withLock { if !$0.pauses.isOpen { $0.dropped += 1 } } }

    /// Takes a copy of a JPEG taken at `time`.
    ///
    /// Does not wait. Allocates for the first JPEG, and for one much larger than those before.
    package func take(jpeg bytes: UnsafeRawBufferPointer, at time: Timestamp) {
        guard let time = place(of: time), let base = bytes.baseAddress else { return }
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
        worker.wake()
    }

    /// Takes a packet of encoded sound, whose time is without pauses.
    package func take(sound packet: Packet) {
        let isTaken = state.withLock { $0.hasRoom && $0.samples.put(.sound(packet)) }
        if isTaken { worker.wake() }
    }

    /// Sets the rotation for display, in degrees clockwise, from the next file on.
    package func turn(by degrees: Int) { put(.turn(degrees)) }

    /// Marks a discontinuity: the file ends at `time`, and the next picture begins another.
    package func discontinue(at time: Timestamp) {
        put(.discontinuity(state.withLock { $0.pauses.place(of: time) }))
    }

    /// Leaves these times out, all but the last of which are over. Each file has a chapter mark
    /// where it goes on. Nothing is encoded or written meanwhile.
    package func leaveOut(_ pauses: Pauses) { state.withLock { $0.pauses = pauses } }

    /// Ends the recording at `time`, after the samples taken so far. Does not wait. The first call
    /// counts.
    package func end(at time: Timestamp) {
        state.withLock { $0.end = $0.end ?? $0.pauses.place(of: time) }
        worker.wake()
    }

    /// Waits until all files are on the disk, at most until `deadline`, and returns `true` if they
    /// are. To be called after `end(at:)`.
    package func wait(until deadline: Timestamp) -> Bool { worker.join(until: deadline) }

    /// Lets the thread end by itself, for a disk that does not answer. To be called after
    /// `end(at:)`.
    package func leave() { worker.leave() }

    /// The number of pictures dropped so far.
    package var dropped: Int { state.withLock { $0.dropped } }

    /// `true` while there is room for another picture.
    var hasRoom: Bool { state.withLock { $0.raw < Self.mostRaw && $0.hasRoom } }

    /// Returns the time without pauses of a picture taken at `time`; `nil` if it is left out.
    private func place(of time: Timestamp) -> Timestamp? {
        guard time >= plan.start else { return nil }
        return state.withLock { $0.pauses.contains(time) ? nil : $0.pauses.place(of: time) }
    }

    private func put(_ sample: Sample) {
        // Without room even in the reserve, the thread has been stuck for seconds.
        let isPut = state.withLock { $0.samples.put(sample) }
        if isPut { worker.wake() }
    }

    // MARK: On the thread

    private func run() {
        let writing = Writing(self)
        while true {
            worker.bell.wait(until: nil)
            while let sample = state.withLock({ state in
                let sample = state.samples.take()
                if case .frame = sample { state.raw -= 1 }
                return sample
            }) {
                writing.take(sample)
            }
            // Samples that arrive after `end(at:)` are left out.
            if let end = state.withLock({ $0.end }) { return writing.end(at: end) }
        }
    }

    /// The state of the thread, bound to it.
    private final class Writing {
        private let shared: Recorder
        private let plan: Plan
        private var rotation: Int
        private var encoder: VideoEncoder?
        private let decoder = try? JPEGDecoder()
        /// The open file, and the layout of its pictures.
        private var file: MovieFile?
        private var layout: FrameLayout?
        /// The number of files so far, and the path of the first without ".mkv".
        private var count = 0
        private var stem: String
        /// The files that are being finished.
        private var ending: [MovieFile] = []
        /// Sound that arrived before the first picture.
        private var early: [Packet] = []
        /// The number of dropped pictures at the end of the last file.
        private var droppedBefore = 0
        private var isBroken = false

        /// The number of files that may begin because the format changed, at any time and for each
        /// further interval, in seconds.
        private static let (freeChanges, changeInterval) = (10.0, 10.0)
        /// The most sound packets kept before the first picture.
        private static let mostEarly = 250

        init(_ shared: Recorder) {
            self.shared = shared
            plan = shared.plan
            rotation = plan.rotation
            stem = plan.stem
        }

        /// Handles `sample`.
        func take(_ sample: Sample) {
            attempt { () throws(MediaError) in
                switch sample {
                case .jpeg(let buffer, let count, let time) where !isBroken:
                    let jpeg = UnsafeMutableRawBufferPointer(rebasing: buffer.bytes[..<count])
                    guard let left = JPEGMetadata.remove(from: jpeg) else { return drop() }
                    try take(
                        JPEGFrame(buffer: buffer, byteCount: left, timestamp: time, sequence: 0)
                    )
                case .frame(let frame) where !isBroken: try take(frame)
                case .sound(let packet) where !isBroken: add(sound: packet)
                case .turn(let degrees): rotation = degrees
                case .discontinuity(let time): try close(at: time)
                default: break
                }
            }
        }

        /// Ends the file, and waits until all files are on the disk.
        func end(at time: Timestamp) {
            attempt { () throws(MediaError) in try close(at: time) }
            for file in ending { _ = file.wait(until: Timestamp(nanoseconds: .max)) }
            shared.report(.ended)
        }

        private func attempt(_ body: () throws(MediaError) -> Void) {
            do throws(MediaError) {
                try body()
            } catch {
                isBroken = true
                shared.report(.failed(error))
            }
        }

        private func take(_ jpeg: JPEGFrame) throws(MediaError) {
            // Players could not show a damaged JPEG either.
            guard let header = try? decoder?.header(of: jpeg.bytes) else { return drop() }
            // Nor would most of them show these.
            guard header.isPlain else {
                guard let frame = jpeg.decoded() else { return drop() }
                return try take(frame)
            }
            guard let content = content(of: jpeg, header) else { return drop() }
            let layout = FrameLayout(size: header.size, format: header.format)
            let isOther = layout != self.layout || encoder != nil
            if isOther, !mayChange(at: jpeg.timestamp) { return drop() }
            if isOther
                || file?.hasToEnd(before: jpeg.timestamp, byteCount: jpeg.byteCount) ?? false
            {
                try close(at: jpeg.timestamp)
                self.layout = layout
            }
            if file == nil, plan.preRoll == nil {
                let track = Track.jpeg(size: header.size, rate: plan.rate, rotation: rotation)
                try open(track, encoder: "camera", at: jpeg.timestamp)
            }
            put(Packet(content, at: jpeg.timestamp))
        }

        /// Returns `jpeg` in a form that every player reads; `nil` if it is found to be damaged.
        private func content(
            of jpeg: JPEGFrame,
            _ header: JPEGDecoder.Header
        ) -> Packet.Content? {
            let plain = Packet.Content.pooled(jpeg.buffer, count: jpeg.byteCount)
            // Stray bytes do no harm before the end marker, and are before restart markers else.
            if !header.hasRestarts, jpeg.bytes.suffix(2).elementsEqual([0xFF, 0xD9]) {
                return plain
            }
            do throws(JPEGError) {
                return try decoder?.withoutNoise(jpeg.bytes, header: header).map { .bytes($0) }
                    ?? plain
            } catch { return nil }
        }

        private func take(_ frame: Frame) throws(MediaError) {
            let isOther = frame.layout != layout || encoder == nil
            if isOther, !mayChange(at: frame.timestamp) { return drop() }
            if isOther || file?.hasToEnd(before: frame.timestamp) ?? false {
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
            // A picture can only be left out before it is encoded: dropping its packet would leave
            // a visible gap.
            if file?.isFull ?? false { return drop() }
            for packet in try encoder.encode(frame) { put(packet) }
        }

        /// Returns `false` if a picture of another format at `time` is to be left out: a camera
        /// that changes its format all the time would leave countless files.
        private func mayChange(at time: Timestamp) -> Bool {
            let seconds = (time - plan.start).seconds
            return file == nil || Double(count) < Self.freeChanges + seconds / Self.changeInterval
        }

        private func add(sound packet: Packet) {
            if let preRoll = plan.preRoll { return preRoll.add(sound: packet) }
            guard plan.sound != nil else { return }
            guard let file else {
                if count == 0, early.count < Self.mostEarly { early.append(packet) }
                return
            }
            // When there is no room, pictures are missing too.
            _ = file.put(packet, track: 1)
        }

        private func put(_ packet: Packet) {
            if let preRoll = plan.preRoll { return preRoll.add(packet) }
            guard let file, file.put(packet, track: 0) else { return drop() }
        }

        private func drop() { shared.state.withLock { $0.dropped += 1 } }

        private func open(
            _ track: Track,
            encoder: String,
            at time: Timestamp
        ) throws(MediaError) {
            count += 1
            let pauses = shared.state.withLock { $0.pauses }
            if count == 1, let name = plan.name { stem = name(pauses.time(at: time)) }
            let path = stem + (count == 1 ? "" : "-\(count)") + ".mkv"
            let start = count == 1 ? plan.start : time
            let report = shared.report
            let tracks = [track] + (plan.sound.map { [$0] } ?? [])
            let before = droppedBefore
            do throws(SystemError) {
                file = try MovieFile(
                    path,
                    name: "write-\(plan.picture)",
                    tracks: tracks,
                    start: start,
                    tags: tags(from: start, pauses),
                    mode: plan.mode
                ) { [shared] told in
                    switch told {
                    case .began: report(.began(path: path, encoder: encoder))
                    case .space(let space): report(.space(space))
                    case .ended(var movie, let isCounted, let ending):
                        movie.encoder = encoder
                        // A file that fails on its own was not given the count.
                        if !isCounted { movie.dropped += shared.dropped - before }
                        report(.finished(movie, began: path, ending))
                    }
                }
            } catch {
                throw MediaError(.system, error.operation, error.subject, errno: error.errno)
            }
            for packet in early { add(sound: packet) }
            early = []
        }

        /// Returns the tags of a file that begins at `start`.
        private func tags(from start: Timestamp, _ pauses: Pauses) -> [String: String] {
            var tags = plan.tags
            let moment = WallTime(pauses.time(at: start))
            tags["creation_time"] = moment.utc
            if plan.rate >= 1, Track.rates.contains(plan.rate) {
                tags["timecode"] = moment.timecode(rate: plan.rate)
            }
            // For tools that align the files of one recording.
            tags["DUALCAM_OFFSET"] = "\((start - plan.start).nanoseconds / 1_000_000) ms"
            return tags
        }

        /// Ends the file at `time`.
        private func close(at time: Timestamp) throws(MediaError) {
            defer {
                encoder = nil
                layout = nil
                plan.preRoll?.flush()
                if let file {
                    let (dropped, pauses) = shared.state.withLock { ($0.dropped, $0.pauses) }
                    file.end(at: time, dropped: dropped - droppedBefore, marks: pauses.places)
                    droppedBefore = dropped
                }
                file = nil
            }
            guard file != nil || plan.preRoll != nil else { return }
            if let file {
                // Finished files are released now: a camera with a loose cable may leave many.
                ending.removeAll { $0.wait(until: .zero) }
                ending.append(file)
            }
            if let encoder { for packet in try encoder.finish() { put(packet) } }
        }
    }
}
