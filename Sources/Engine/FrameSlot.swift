package import DualCamCore
package import Frames
package import Platform
import Synchronization

/// Where a camera leaves its newest frame for the composite thread.
///
/// Latest wins: a frame that nobody fetched is replaced. The other way it tells how large the picture
/// is shown. From any thread; the lock is held for the exchange of a few references.
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

    /// A picture, and when it was left here.
    package struct Content: Sendable {
        /// The newest frame; `nil` also while nobody looks, so that no old one is shown afterwards.
        package var frame: Frame?
        /// Whether the same picture can be had larger: the camera is open, and gave it as a JPEG.
        package var isJPEG = false
        /// When it came.
        package var arrival = Timestamp.zero
    }

    /// What is replaced, to be released after the lock.
    private struct Held {
        let frame: Frame?
        let jpeg: JPEGFrame?
    }

    private struct State {
        var content = Content()
        var jpeg: JPEGFrame?
        var isFetched = true
        var counts = Counts()
        var extent = ShownExtent.whole
        /// Rung when the picture is to be larger.
        var camera: Bell?
        var tap: (any FrameTap)?
    }
    private let state = Mutex(State())
    /// Rung at each new frame.
    private let bell: Bell

    /// An empty slot that rings `bell` when it is filled.
    package init(bell: Bell) { self.bell = bell }

    /// Has `camera` rung when the picture is to be larger than it was.
    func attach(_ camera: Bell) { state.withLock { $0.camera = camera } }

    /// How large the picture is shown: as a whole, until somebody tells.
    package var extent: ShownExtent { state.withLock { $0.extent } }

    /// Has frames made as large as `extent` needs from now on; the newest one at once, where it is
    /// smaller and still there as a JPEG. Does not wait for it.
    package func show(at extent: ShownExtent) {
        let camera = state.withLock { state in
            guard extent != state.extent else { return Bell?.none }
            let isEnough = state.extent.union(extent) == state.extent
            state.extent = extent
            return isEnough ? nil : state.camera
        }
        camera?.ring()
    }

    /// Has `tap` given every picture from now on; `nil`: nobody.
    package func tap(_ tap: (any FrameTap)?) { state.withLock { $0.tap = tap } }

    /// The camera was closed, or is lost.
    func discontinue() { state.withLock { $0.tap }?.discontinue(at: MonotonicClock.now) }

    /// Leaves `frame`, which took `decoding` to decode, and counts `lost` frames between it and the
    /// one before. It was made of `jpeg`; or was not, since nobody looks.
    package func put(
        _ frame: Frame?,
        of jpeg: JPEGFrame? = nil,
        lost: UInt64 = 0,
        decoding: Timestamp = .zero
    ) {
        let now = MonotonicClock.now
        // What is replaced is released after the lock.
        let (replaced, tap) = state.withLock { state in
            state.counts.captured += 1
            state.counts.missing += lost
            state.counts.replaced += state.isFetched ? 0 : 1
            if frame != nil { state.counts.decode.add(decoding.nanoseconds) }
            state.isFetched = frame == nil
            let replaced = Held(frame: state.content.frame, jpeg: state.jpeg)
            state.content = Content(frame: frame, isJPEG: jpeg != nil, arrival: now)
            state.jpeg = jpeg
            return (replaced, state.tap)
        }
        _ = consume replaced
        bell.ring()
        if let jpeg {
            tap?.take(jpeg: jpeg.bytes, at: jpeg.timestamp)
        } else if let frame {
            tap?.take(copying: frame)
        }
    }

    /// Leaves the newest picture once more, larger: it is no other one, and is not counted.
    func sharpen(_ frame: Frame) {
        let replaced = state.withLock { state in
            let replaced = state.content.frame
            state.content.frame = frame
            return replaced
        }
        _ = consume replaced
        bell.ring()
    }

    /// Gives the JPEG back; the frame stays.
    func releaseJPEG() {
        let released = state.withLock { state in
            let released = state.jpeg
            state.jpeg = nil
            state.content.isJPEG = false
            return released
        }
        _ = consume released
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
            let replaced = Held(frame: state.content.frame, jpeg: state.jpeg)
            state.content.frame = nil
            state.content.isJPEG = false
            state.jpeg = nil
            state.isFetched = true
            return replaced
        }
        _ = consume replaced
    }

    /// The newest frame; it stays. It may be smaller than the camera's picture, or missing: see `Content`.
    package var latest: Frame? { state.withLock { $0.content.frame } }

    /// The newest picture as the camera gave it, where that is open and gives JPEGs. It stays; not for
    /// the composite thread, which is not to be the last to hold a device's memory.
    package var latestJPEG: JPEGFrame? { state.withLock { $0.jpeg } }

    /// The newest picture as it is, and the JPEG that the camera gave it as; both stay, and do not count as
    /// shown. Not for the composite thread.
    package var newest: (content: Content, jpeg: JPEGFrame?) {
        state.withLock { ($0.content, $0.jpeg) }
    }

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
