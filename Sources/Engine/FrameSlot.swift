package import DualCamCore
package import Frames
package import Platform
import Synchronization

/// Where a camera leaves its newest frame for the composite thread.
///
/// Latest wins: a frame that nobody fetched is replaced. From any thread; the lock is held for the
/// exchange of two references.
package final class FrameSlot: Sendable {
    /// What a slot has seen since the daemon started.
    package struct Counts: Sendable {
        /// Good frames that the camera delivered.
        package var captured: UInt64 = 0
        /// Frames that were damaged, or that no memory was free for.
        package var damaged: UInt64 = 0
        /// Frames that the camera's own count says are missing.
        package var missing: UInt64 = 0
        /// Good frames that a newer one replaced before any output frame showed them.
        package var replaced: UInt64 = 0
        /// From when the camera was being opened to its first frame.
        package var opening = Durations()
        /// How long frames took to decode.
        package var decode = Durations()
    }

    /// A frame, and when it was left here.
    package struct Content: Sendable {
        /// The newest frame.
        package var frame: Frame?
        /// When it came.
        package var arrival = Timestamp.zero
    }

    private struct State {
        var content = Content()
        var isFetched = true
        var counts = Counts()
    }
    private let state = Mutex(State())
    /// Rung at each new frame.
    private let bell: Bell

    /// An empty slot that rings `bell` when it is filled.
    package init(bell: Bell) { self.bell = bell }

    /// Leaves `frame`, which took `decoding` to decode, and counts `lost` frames between it and the
    /// one before.
    package func put(_ frame: Frame, lost: UInt64 = 0, decoding: Timestamp = .zero) {
        let now = MonotonicClock.now
        // The frame that is replaced is released after the lock.
        let replaced = state.withLock { state in
            state.counts.captured += 1
            state.counts.missing += lost
            state.counts.replaced += state.isFetched ? 0 : 1
            state.counts.decode.add(decoding.nanoseconds)
            state.isFetched = false
            let replaced = state.content.frame
            state.content = Content(frame: frame, arrival: now)
            return replaced
        }
        _ = consume replaced
        bell.ring()
    }

    /// Counts an opening of the camera, which took `duration` to its first frame.
    package func countOpening(_ duration: Timestamp) {
        state.withLock { $0.counts.opening.add(duration.nanoseconds) }
    }

    /// Counts a frame that was no good; the one before it stays.
    package func countDropped() { state.withLock { $0.counts.damaged += 1 } }

    /// Forgets the frame: what was seen before the camera closed is nobody's business after.
    package func clear() {
        let replaced = state.withLock { state in
            let replaced = state.content.frame
            state.content.frame = nil
            state.isFetched = true
            return replaced
        }
        _ = consume replaced
    }

    /// The newest frame; it stays.
    package var latest: Frame? { state.withLock { $0.content.frame } }

    /// The newest frame, to be shown; it stays.
    package func fetch() -> Content {
        state.withLock { state in
            state.isFetched = true
            return state.content
        }
    }

    /// The counts so far.
    package var counts: Counts { state.withLock { $0.counts } }
}
