import Frames
import Glibc
import Platform
import Synchronization

/// A finished file of a recording.
package struct Movie: Hashable, Sendable {
    package var path: String
    package var seconds = 0.0
    package var frames = 0
    /// The number of pictures that are missing because the disk or the encoder was too slow.
    package var dropped = 0
    /// The encoder of the pictures: "camera", or the raw value of a `VideoEncoder.Kind`.
    package var encoder = ""
    /// `true` if the file has sound.
    package var hasSound = false
    package var byteCount: Int64 = 0
}

/// A Matroska file with a thread of its own that writes it, so that no caller waits for a slow
/// disk.
///
/// Packets wait in memory, up to a limit, for half a second at most unless the disk is slow.
///
/// - Context: Any thread.
package final class MovieFile: Sendable {
    enum Report: Sendable {
        /// The file was created.
        case began
        /// The room on the disk, about once a second.
        case space(DiskSpace)
        /// The file is finished, or failed. The movie is the playable part, at its place now;
        /// unless it `isCounted`, the count for `end(at:dropped:)` is missing in it.
        case ended(Movie, isCounted: Bool, Ending)
    }

    /// The end of a file.
    package enum Ending: Hashable, Sendable {
        /// It is finished.
        case whole
        /// It may not grow, so that it lacks its index: the recording can go on in another one.
        case cut
        /// It was removed: the recording can go on in another one.
        case removed
        /// It failed, and lacks its index.
        case failed(MediaError)
    }

    private struct State {
        var packets: Ring<(packet: Packet, track: Int)>
        var byteCount = 0
        /// The end of the last picture, once `end(at:dropped:)` was called.
        var end: Timestamp?
        var dropped: Int?
        /// The begins of chapters.
        var marks: [Timestamp] = []
        /// `true` once the file takes no more packets.
        var isOver = false
        /// `true` once it has ended so that the recording has to go on in another file.
        var isFollowed = false
        /// The bytes taken so far, with what the file needs around them.
        var taken = 0
        /// The bytes of the largest packet so far.
        var largest = 0
        /// The number of pictures taken so far.
        var frames = 0
        /// The most bytes that the file may have, once it is known.
        var sizeLimit = Int64.max
    }

    let path: String
    let tracks: [Track]
    private let start: Timestamp
    private let tags: [String: String]
    private let mode: UInt32
    private let limit: Int
    private let state: Mutex<State>
    private let report: @Sendable (Report) -> Void
    private let worker: Worker

    /// The most packets that may wait.
    private static let capacity = 2048
    /// The longest time that packets wait, and so the most that a crash can lose.
    private static let interval = Timestamp(seconds: 0.5)
    /// The least length, in seconds, of a file that others may follow because it may not grow.
    private static let leastLength = 0.5
    /// The bytes that a packet takes beside its own: a head, and a place in the index.
    private static let packetOverhead = 64
    /// The longest time that a picture is shown, such as the last one of a lost camera.
    private static let longestFrame = Timestamp(seconds: 1)

    /// Starts the thread `name`, which creates the file at `path` and calls `report`.
    ///
    /// At most `limit` bytes wait in memory; for the rest see `MatroskaWriter`. All later errors
    /// are reported.
    ///
    /// - Throws: `SystemError` when the system has no thread or descriptor left.
    init(
        _ path: String,
        name: String,
        tracks: [Track],
        start: Timestamp,
        tags: [String: String],
        mode: UInt32 = 0o600,
        limit: Int = 64 << 20,
        report: @escaping @Sendable (Report) -> Void
    ) throws(SystemError) {
        self.path = path
        self.tracks = tracks
        self.start = start
        self.tags = tags
        self.mode = mode
        self.limit = limit
        self.report = report
        state = Mutex(State(packets: Ring(capacity: Self.capacity)))
        worker = try Worker(name: name)
        try worker.start { [self] in run() }
    }

    /// `true` while there is no room for another packet, because the disk is too slow.
    var isFull: Bool {
        state.withLock { $0.byteCount >= limit || $0.packets.count >= Self.capacity }
    }

    /// `true` if the recording has to go on in another file with the picture at `time`, which has
    /// `byteCount` bytes or is like those before: this one may not grow so far, or has ended.
    func hasToEnd(before time: Timestamp, byteCount: Int = 0) -> Bool {
        state.withLock { state in
            // An encoder holds some pictures back.
            let end = 6 * max(state.largest, byteCount) + 1 << 16
            return state.isFollowed
                || Int64(state.taken + end) > state.sizeLimit
                    && (time - start).seconds >= Self.leastLength
        }
    }

    /// Adds `packet` to the track with index `track`. Returns `false` without room, or after the
    /// end.
    func put(_ packet: Packet, track: Int) -> Bool {
        let (isPut, isMuch) = state.withLock { state -> (Bool, Bool) in
            let size = packet.byteCount
            guard !state.isOver, state.end == nil, state.byteCount + size <= limit,
                state.packets.put((packet, track))
            else { return (false, false) }
            state.byteCount += size
            state.taken += size + Self.packetOverhead
            state.largest = max(state.largest, size)
            if tracks[track].isVideo { state.frames += 1 }
            return (true, state.byteCount > limit / 8 || state.packets.count > Self.capacity / 4)
        }
        if isMuch { worker.wake() }
        return isPut
    }

    /// Ends the file. The last picture lasts until `time`; `dropped` pictures are missing; those of
    /// `marks` that are within begin chapters. Does not wait.
    func end(at time: Timestamp, dropped: Int? = nil, marks: [Timestamp] = []) {
        state.withLock { state in
            guard state.end == nil else { return }
            state.end = time
            state.dropped = dropped
            state.marks = marks
        }
        worker.wake()
    }

    /// Waits until the thread has ended, at most until `deadline`, and returns `true` if it has. To
    /// be called after `end(at:)`.
    func wait(until deadline: Timestamp) -> Bool { worker.join(until: deadline) }

    // MARK: On the thread

    /// The part written so far.
    private struct Progress {
        var frames = 0
        var end = Timestamp.zero
        /// The same at the last flush; a failure cuts off the rest.
        var kept = (frames: 0, end: Timestamp.zero)
        /// The newest picture, whose duration is known when the next one arrives.
        var held: (packet: Packet, track: Int)?
    }

    private func run() {
        var progress = Progress()
        var (movie, ending) = (Movie(path: path), Ending.whole)
        var writer: MatroskaWriter?
        do throws(MediaError) {
            let made = try MatroskaWriter(
                creating: path,
                tracks: tracks,
                start: start,
                tags: tags,
                mode: mode
            )
            writer = made
            report(.began)
            let place = try write(with: made, &progress)
            movie.path = place ?? path
            if place == nil { ending = .removed }
        } catch {
            ending = .failed(error)
            movie.path = writer?.place ?? path
        }
        movie.frames = progress.kept.frames
        movie.seconds = movie.frames == 0 ? 0 : (progress.kept.end - start).seconds
        movie.byteCount = writer?.byteCount ?? 0
        movie.hasSound = tracks.indices.contains { index in
            !tracks[index].isVideo && writer?.isUsed(index) ?? false
        }
        // Files that take next to nothing would become too many.
        if case .failed(let error) = ending, error.errno == EFBIG,
            movie.seconds >= Self.leastLength
        {
            ending = .cut
        }
        let isCounted = state.withLock { state in
            state.isOver = true
            state.isFollowed = ending == .cut || ending == .removed
            // Releases the waiting packets.
            while state.packets.take() != nil {}
            state.byteCount = 0
            movie.dropped = (state.dropped ?? 0) + state.frames - movie.frames
            return state.dropped != nil
        }
        // Closes the file before it is reported as finished.
        writer = nil
        report(.ended(movie, isCounted: isCounted, ending))
    }

    /// Writes the file to its end, and returns its place; `nil` once it was removed.
    private func write(
        with writer: MatroskaWriter,
        _ progress: inout Progress
    ) throws(MediaError) -> String? {
        var due = MonotonicClock.now + Self.interval
        var isSecond = false
        while true {
            let sizeLimit = writer.sizeLimit
            state.withLock { $0.sizeLimit = sizeLimit }
            worker.bell.wait(until: due)
            let end = state.withLock { $0.end }
            while let (packet, track) = take() {
                if tracks[track].isVideo {
                    try writeHeld(until: packet.time, with: writer, &progress)
                    progress.held = (packet, track)
                } else {
                    try writer.write(packet, track: track)
                }
            }
            if let end {
                try writeHeld(until: end, with: writer, &progress)
                // The pictures stay even if there is no room for the index.
                try writer.flush(durably: false)
                progress.kept = (progress.frames, progress.end)
                let marks = state.withLock { $0.marks }.filter { start < $0 && $0 < end }
                try writer.finish(chapters: marks.isEmpty ? [] : [start] + marks + [end])
                return writer.place
            }
            guard MonotonicClock.now >= due else { continue }
            try writer.flush(durably: isSecond)
            progress.kept = (progress.frames, progress.end)
            if isSecond {
                guard writer.place != nil else { return nil }
                if let space = writer.space { report(.space(space)) }
            }
            isSecond.toggle()
            due = MonotonicClock.now + Self.interval
        }
    }

    private func take() -> (packet: Packet, track: Int)? {
        state.withLock { state in
            guard let next = state.packets.take() else { return nil }
            state.byteCount -= next.packet.byteCount
            return next
        }
    }

    private func writeHeld(
        until end: Timestamp,
        with writer: MatroskaWriter,
        _ progress: inout Progress
    ) throws(MediaError) {
        guard let (held, track) = progress.held else { return }
        var packet = held
        let least = Timestamp(nanoseconds: 1_000_000)
        packet.duration = min(max(end - packet.time, least), Self.longestFrame)
        progress.held = nil
        try writer.write(packet, track: track)
        progress.frames += 1
        progress.end = packet.time + packet.duration
    }
}
