package import Frames
import Synchronization

/// The last moments of one picture and its sound, coded, from which the movie of a live photo begins.
///
/// In memory, of which there is a limit. From any thread; locks are held for an exchange.
package final class PreRollBuffer: Sendable {
    /// How long a movie is before its photograph, and after it.
    package static let span = Timestamp(seconds: 1.5)
    /// For how many seconds pictures may be held: the two spans, and what a disk takes to write them.
    static let longest = 6.0
    /// How many bytes of pictures there are at most; what is older goes.
    static let mostBytes = 48 << 20

    private struct State: ~Copyable {
        var queue = PacketQueue()
        var clips: [LivePhotoClip] = []
    }

    private let state = Mutex(State())

    /// Nothing yet.
    package init() {}

    /// Adds `picture`, which stands alone and is later than those before.
    package func add(_ picture: Packet) {
        state.withLock { state in
            state.queue.add(picture)
            state.queue.keep(Self.span)
            state.clips.removeAll { !$0.add(picture) }
        }
    }

    /// Adds coded sound.
    package func add(sound: Packet) {
        state.withLock { state in
            state.queue.add(sound: sound)
            state.clips.removeAll { !$0.add(sound: sound) }
        }
    }

    /// What comes next does not continue what there is: that is forgotten, and movies end there.
    package func flush() {
        state.withLock { state in
            state.queue = PacketQueue()
            state.clips.removeAll { !$0.flush() }
        }
    }

    /// The movie of a photograph that is about to be taken. It begins with what there is.
    package func clip(_ plan: LivePhotoClip.Plan) -> LivePhotoClip {
        state.withLock { state in
            let clip = LivePhotoClip(state.queue, plan)
            state.clips.append(clip)
            return clip
        }
    }

    /// For how many seconds there are pictures, and how many bytes they have.
    package var length: (seconds: Double, byteCount: Int) {
        state.withLock { state in
            let pictures = state.queue.pictures
            guard let first = pictures.first, let last = pictures.last else { return (0, 0) }
            return ((last.time - first.time).seconds, state.queue.byteCount)
        }
    }
}

/// Coded pictures and sound, each in order.
struct PacketQueue {
    private(set) var pictures: [Packet] = []
    private(set) var sound: [Packet] = []
    private(set) var byteCount = 0

    mutating func add(_ picture: Packet) {
        pictures.append(picture)
        byteCount += picture.byteCount
    }

    /// Forgets what is older than the newest picture by more than `span`, or too much.
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
        // Without pictures it is of no use.
        if !pictures.isEmpty { sound.append(packet) }
    }
}
