package import DualCamCore
package import Frames
package import Platform
import Synchronization

/// The place where a camera leaves its newest frame for the composite thread.
///
/// The latest wins: a frame that was not fetched is replaced. In the other direction it carries the
/// size that the picture is shown at. Safe on any thread; the lock is held only to exchange a few
/// references.
package final class FrameSlot: Sendable {
    /// Counts since the daemon started.
    package struct Counts: Sendable {
        /// The good frames that the camera delivered.
        package var captured: UInt64 = 0
        /// The frames that were damaged, or that no memory was free for.
        package var damaged: UInt64 = 0
        /// The good frames whose JPEGs have noise, such as stray bytes.
        package var noisy: UInt64 = 0
        /// The frames that are missing by the camera's own count.
        package var missing: UInt64 = 0
        /// The good frames that a newer one replaced before any output frame showed them.
        package var replaced: UInt64 = 0
        /// The time from opening the camera to its first frame.
        package var opening = Durations()
        /// The time that decoding frames took.
        package var decode = Durations()
    }

    /// A picture, and its time of arrival.
    package struct Content: Sendable {
        /// The newest frame; `nil` also while nothing shows it, so that no old one is shown later.
        package var frame: Frame?
        /// `true` if the picture can be decoded larger: the camera is open, and gave it as a JPEG.
        package var isJPEG = false
        /// The time when it came.
        package var arrival = Timestamp.zero
    }

    /// The replaced frame and JPEG, to be released after the lock.
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
        /// Rung when the picture is wanted larger.
        var camera: Bell?
        var tap: (any FrameTap)?
    }
    private let state = Mutex(State())
    /// Rung at each new frame.
    private let bell: Bell

    /// Creates an empty slot that rings `bell` when a frame comes.
    package init(bell: Bell) { self.bell = bell }

    /// Sets the bell to ring when the picture is wanted larger than it was.
    func attach(_ camera: Bell) { state.withLock { $0.camera = camera } }

    /// The size that the picture is shown at; the whole picture until `show(at:)` is called.
    package var extent: ShownExtent { state.withLock { $0.extent } }

    /// Requests frames as large as `extent` needs from now on, including the newest one if it is
    /// smaller and still available as a JPEG. Does not wait for it.
    package func show(at extent: ShownExtent) {
        let camera = state.withLock { state in
            guard extent != state.extent else { return Bell?.none }
            let isEnough = state.extent.union(extent) == state.extent
            state.extent = extent
            return isEnough ? nil : state.camera
        }
        camera?.ring()
    }

    /// Gives `tap` every picture from now on; `nil` stops that.
    package func tap(_ tap: (any FrameTap)?) { state.withLock { $0.tap = tap } }

    /// `true` while there is a tap, which needs every picture.
    var isTapped: Bool { state.withLock { $0.tap != nil } }

    /// Tells the tap that the camera was closed or lost.
    func discontinue() { state.withLock { $0.tap }?.discontinue(at: MonotonicClock.now) }

    /// Leaves a new picture: its `frame`, which took `decoding` to decode, and the `jpeg` that it
    /// was made of, if any.
    ///
    /// `frame` is `nil` if nothing shows the picture, so that it was not decoded. `lost` is the
    /// number of frames missing before it.
    package func put(
        _ frame: Frame?,
        of jpeg: JPEGFrame? = nil,
        lost: UInt64 = 0,
        decoding: Timestamp = .zero
    ) {
        let now = MonotonicClock.now
        // The replaced frame is released after the lock.
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

    /// Gives the tap a picture that is not shown, because the camera has a newer one: `frame`, or
    /// the `jpeg`, or neither if there is no tap. `lost` is the number of frames missing before it.
    func skip(_ frame: Frame?, _ jpeg: JPEGFrame?, lost: UInt64) {
        let tap = state.withLock { state in
            state.counts.captured += 1
            state.counts.missing += lost
            state.counts.replaced += state.extent.isHidden ? 0 : 1
            return state.tap
        }
        if let jpeg {
            tap?.take(jpeg: jpeg.bytes, at: jpeg.timestamp)
        } else if let frame {
            tap?.take(copying: frame)
        }
    }

    /// Replaces the newest frame with the same picture in a larger size, which is not counted
    /// again.
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

    /// Counts an unusable frame; the one before it stays.
    package func countDropped() { state.withLock { $0.counts.damaged += 1 } }

    /// Counts a JPEG with noise that leaves its picture whole.
    func countNoisy() { state.withLock { $0.counts.noisy += 1 } }

    /// Forgets the frame: nothing shown after the camera closed may be from before.
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

    /// The newest frame, which stays. It may be smaller than the camera's picture, or `nil`: see
    /// `Content`.
    package var latest: Frame? { state.withLock { $0.content.frame } }

    /// The newest picture as the camera gave it, while it is open and gives JPEGs. It stays. Not
    /// for the composite thread, which must not be the last to hold a device's memory.
    package var latestJPEG: JPEGFrame? { state.withLock { $0.jpeg } }

    /// The newest picture, and the JPEG that it was made of. Both stay, and do not count as shown.
    /// Not for the composite thread.
    package var newest: (content: Content, jpeg: JPEGFrame?) {
        state.withLock { ($0.content, $0.jpeg) }
    }

    /// Returns the newest frame to be shown; it stays.
    package func fetch() -> Content {
        state.withLock { state in
            state.isFetched = true
            return state.content
        }
    }

    /// The counts so far.
    package var counts: Counts { state.withLock { $0.counts } }
}
