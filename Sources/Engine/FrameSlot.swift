package import Frames
package import Platform
import Synchronization

/// Where a camera leaves its newest frame for the composite thread.
///
/// Latest wins: a frame that nobody fetched is replaced. From any thread; the lock is held for the
/// exchange of two references.
package final class FrameSlot: Sendable {
    /// What a slot has seen since the daemon started.
    package struct Counts: Hashable, Sendable {
        /// Good frames that the camera delivered.
        package var captured: UInt64 = 0
        /// Frames that were damaged, or that the camera's own count says are missing.
        package var dropped: UInt64 = 0
    }

    private struct Content {
        var frame: Frame?
        var counts = Counts()
    }
    private let content = Mutex(Content())
    /// Rung at each new frame.
    private let bell: Bell

    /// An empty slot that rings `bell` when it is filled.
    package init(bell: Bell) { self.bell = bell }

    /// Leaves `frame`, and counts `lost` frames between it and the one before.
    package func put(_ frame: Frame, lost: UInt64 = 0) {
        // The frame that is replaced is released after the lock.
        let replaced = content.withLock { content in
            content.counts.captured += 1
            content.counts.dropped += lost
            let replaced = content.frame
            content.frame = frame
            return replaced
        }
        _ = consume replaced
        bell.ring()
    }

    /// Counts a frame that was no good; the one before it stays.
    package func countDropped() { content.withLock { $0.counts.dropped += 1 } }

    /// Forgets the frame: what was seen before the camera closed is nobody's business after.
    package func clear() {
        let replaced = content.withLock { content in
            let replaced = content.frame
            content.frame = nil
            return replaced
        }
        _ = consume replaced
    }

    /// The newest frame; it stays.
    package var latest: Frame? { content.withLock { $0.frame } }

    /// The counts so far.
    package var counts: Counts { content.withLock { $0.counts } }
}
