package import Frames
import Synchronization

/// The last moments of one picture and its sound, encoded: the beginning of a live photo's movie.
///
/// Held in memory, up to a limit.
///
/// - Context: Any thread. Locks are held only for an exchange.
package final class PreRollBuffer: Sendable {
    /// The length of a movie before its photograph, and again after it.
    package static let span = Timestamp(seconds: 1.5)
    /// The longest time that pictures may be held, in seconds: the two spans, and the time to write
    /// them.
    static let longest = 6.0
    /// The most bytes of pictures; older ones are dropped.
    static let mostBytes = 48 << 20

    private struct State: ~Copyable {
        var queue = PacketQueue()
        var clips: [LivePhotoClip] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Adds `picture`, a key picture later than those before.
    package func add(_ picture: Packet) {
        state.withLock { state in
            state.queue.add(picture)
            state.queue.keep(Self.span)
            state.clips.removeAll { !$0.add(picture) }
        }
    }

    /// Adds encoded sound.
    package func add(sound: Packet) {
        state.withLock { state in
            state.queue.add(sound: sound)
            state.clips.removeAll { !$0.add(sound: sound) }
        }
    }

    /// Marks a discontinuity: empties the buffer and ends the movies that have begun.
    package func flush() {
        state.withLock { state in
            state.queue = PacketQueue()
            state.clips.removeAll { !$0.flush() }
        }
    }

    /// Returns the movie of a photograph about to be taken. It begins with the content of the
    /// buffer.
    package func clip(_ plan: LivePhotoClip.Plan) -> LivePhotoClip {
        state.withLock { state in
            let clip = LivePhotoClip(state.queue, plan)
            state.clips.append(clip)
            return clip
        }
    }

    /// The duration of the pictures in seconds, and their size in bytes.
    package var length: (seconds: Double, byteCount: Int) {
        state.withLock { state in
            let pictures = state.queue.pictures
            guard let first = pictures.first, let last = pictures.last else { return (0, 0) }
            return ((last.time - first.time).seconds, state.queue.byteCount)
        }
    }
}

/// Encoded pictures and sound, each in order of time.
struct PacketQueue {
    private(set) var pictures: [Packet] = []
    private(set) var sound: [Packet] = []
    private(set) var byteCount = 0

    mutating func add(_ picture: Packet) {
        pictures.append(picture)
        byteCount += picture.byteCount
    }

    /// Drops pictures that are older than the newest by more than `span` or exceed the byte limit,
    /// and the sound before the rest.
    mutating func keep(_ span: Timestamp) {
        guard let newest = pictures.last?.time else { return }
        var count = 0
        while count < pictures.count - 1,
            pictures[count].time + span < newest || byteCount > PreRollBuffer.mostBytes
        {
            byteCount -= pictures[count].byteCount
            count += 1
        }
        guard count > 0 else { return }
        pictures.removeFirst(count)
        let start = pictures[0].time
        sound.removeAll { $0.time < start }
    }

    mutating func add(sound packet: Packet) {
        // Sound without pictures is of no use.
        if !pictures.isEmpty { sound.append(packet) }
    }
}
