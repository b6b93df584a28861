import Frames
import Glibc
import Platform
import Synchronization

/// A file of a recording that is done.
package struct Movie: Hashable, Sendable {
    /// Where it is.
    package var path: String
    /// How long it lasts.
    package var seconds: Double
    /// Pictures in it.
    package var frames: Int
    /// Pictures that are missing in it, since the disk or the encoder did not keep up.
    package var dropped: Int
    /// What codes its pictures: the camera itself, or a `VideoEncoder.Kind`.
    package var encoder: String
    /// Whether there is sound in it.
    package var hasSound: Bool
    /// Its length in bytes.
    package var byteCount: Int64
}

/// A Matroska file that a thread of its own writes, so that a slow disk keeps nobody waiting.
///
/// What is put here waits in memory, of which there is a limit, for half a second at most, unless the disk is slow. From
/// any thread.
final class MovieFile: Sendable {
    /// What the thread tells.
    enum Report: Sendable {
        /// The file is there.
        case began
        /// How much room there is; about once a second.
        case space(DiskSpace)
        /// It is done, or could not go on, and what can be played of it is as long as this. `dropped` is as it
        /// was told when it was to end.
        case ended(
            seconds: Double,
            frames: Int,
            dropped: Int?,
            byteCount: Int64,
            RecordingError?
        )
    }

    private struct State {
        var packets: Ring<(packet: Packet, track: Int)>
        var byteCount = 0
        /// When to end, once it is to.
        var end: Timestamp?
        var dropped: Int?
        /// It takes no more.
        var isOver = false
    }

    let path: String
    let tracks: [Track]
    private let start: Timestamp
    private let tags: [String: String]
    private let limit: Int
    private let state: Mutex<State>
    private let bell: Bell
    private let report: @Sendable (Report) -> Void
    private let thread = Mutex<Thread?>(nil)

    /// How many packets may wait.
    private static let capacity = 2048
    /// How long they wait. A crash takes no more with it.
    private static let interval = Timestamp(seconds: 0.5)
    /// How long the last picture of a camera that was lost is shown at most.
    private static let longestFrame = Timestamp(seconds: 1)

    /// A file at `path`, of which at most `limit` bytes wait in memory; see `MatroskaWriter`. The thread is
    /// called `name`, and calls `report`.
    ///
    /// Throws when the system has no thread or descriptor to give; all else is reported.
    init(
        _ path: String,
        name: String,
        tracks: [Track],
        start: Timestamp,
        tags: [String: String],
        limit: Int = 64 << 20,
        report: @escaping @Sendable (Report) -> Void
    ) throws(SystemError) {
        self.path = path
        self.tracks = tracks
        self.start = start
        self.tags = tags
        self.limit = limit
        self.report = report
        state = Mutex(State(packets: Ring(capacity: Self.capacity)))
        bell = try Bell()
        let started = try Thread(name: name) { [self] in run() }
        thread.withLock { $0 = started }
    }

    /// Whether there is no room for another packet: the disk does not keep up.
    var isFull: Bool {
        state.withLock { $0.byteCount >= limit || $0.packets.count >= Self.capacity }
    }

    /// Adds `packet` to track number `track`; false when there is no room, or it has ended.
    func put(_ packet: Packet, track: Int) -> Bool {
        let (isPut, isMuch) = state.withLock { state -> (Bool, Bool) in
            let size = packet.byteCount
            guard !state.isOver, state.end == nil, state.byteCount + size <= limit,
                state.packets.put((packet, track))
            else { return (false, false) }
            state.byteCount += size
            return (true, state.byteCount > limit / 8 || state.packets.count > Self.capacity / 4)
        }
        if isMuch { bell.ring() }
        return isPut
    }

    /// Ends the file; its last picture lasts until `time`, and `dropped` pictures are missing in it. Does not wait.
    func end(at time: Timestamp, dropped: Int? = nil) {
        state.withLock { state in
            guard state.end == nil else { return }
            state.end = time
            state.dropped = dropped
        }
        bell.ring()
    }

    /// Waits until the thread has ended, at most until `deadline`; whether it has. After `end(at:)`.
    func wait(until deadline: Timestamp) -> Bool { thread.join(until: deadline) }

    /// Lets the thread end by itself: its disk does not answer.
    func leave() { thread.leave() }

    // MARK: The thread's own

    /// What was written so far.
    private struct Progress {
        var frames = 0
        var end = Timestamp.zero
        /// The same as of when the file was last flushed; what came after that, a failure cuts off.
        var kept = (frames: 0, end: Timestamp.zero)
        /// The newest picture, which lasts until the next one.
        var held: (packet: Packet, track: Int)?
    }

    private func run() {
        var progress = Progress()
        var failure: RecordingError?
        var writer: MatroskaWriter?
        do throws(RecordingError) {
            let made = try MatroskaWriter(
                creating: path,
                tracks: tracks,
                start: start,
                tags: tags
            )
            writer = made
            report(.began)
            try write(with: made, &progress)
        } catch { failure = error }
        // Whatever waits is released.
        let dropped = state.withLock { state in
            state.isOver = true
            while state.packets.take() != nil {}
            state.byteCount = 0
            return state.dropped
        }
        let (frames, end) = progress.kept
        let byteCount = writer?.byteCount ?? 0
        // It is closed when it is said to be done.
        writer = nil
        report(
            .ended(
                seconds: frames == 0 ? 0 : (end - start).seconds,
                frames: frames,
                dropped: dropped,
                byteCount: byteCount,
                failure
            )
        )
    }

    private func write(
        with writer: MatroskaWriter,
        _ progress: inout Progress
    ) throws(RecordingError) {
        var due = MonotonicClock.now + Self.interval
        var isSecond = false
        while true {
            bell.wait(until: due)
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
                try writer.finish()
                progress.kept = (progress.frames, progress.end)
                return
            }
            guard MonotonicClock.now >= due else { continue }
            try writer.flush(durably: isSecond)
            progress.kept = (progress.frames, progress.end)
            if isSecond, let space = writer.space { report(.space(space)) }
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
    ) throws(RecordingError) {
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
