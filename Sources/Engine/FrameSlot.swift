package import DualCamCore
package import Frames
package import Imaging
package import Platform
import Synchronization

/// The place where a camera leaves its newest frame for the composite thread. The latest wins: a
/// frame that was not fetched is replaced. In the other direction it carries the size that the
/// picture is shown at, and the way to hide the room in it: then it takes no frame that shows that.
/// Safe on any thread; the lock is held only to exchange a few references.
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
        package var decode = Durations()
    }

    /// A picture, and its time of arrival.
    package struct Content: Sendable {
        /// The newest frame; `nil` also while nothing shows it, so that no old one is shown later.
        package var frame: Frame?
        /// `true` if the picture can be decoded larger: the camera is open, and gave it as a JPEG.
        package var isJPEG = false
        package var arrival = Timestamp.zero
    }

    /// A picture that stays while the camera goes on: the sharpest of the newest few.
    private struct Freeze {
        var frame: Frame?
        var sharpness = 0.0
        /// The time of the picture that was judged last.
        var judged: Timestamp?
        /// The number of pictures still to be judged.
        var count = FrameSlot.judgedCount
    }

    /// The number of pictures, from a freeze on, of which the sharpest is kept; and how much
    /// sharper than the one kept so far it has to be, since each change is seen.
    private static let (judgedCount, sharper) = (3, 1.1)

    /// The replaced pictures, to be released after the lock.
    private struct Held {
        let frame: Frame?
        let jpeg: JPEGFrame?
        let original: Frame?

        init(_ state: State) {
            (frame, jpeg, original) = (state.content.frame, state.jpeg, state.original)
        }
    }

    private struct State {
        var content = Content()
        var jpeg: JPEGFrame?
        /// The picture as the camera gave it, if the room is hidden in `content` and it is no JPEG.
        var original: Frame?
        var cover = RoomCover(showsRoom: true)
        /// The time by which a room that was shown has faded.
        var fadeEnd = Timestamp.zero
        var isFetched = true
        var counts = Counts()
        var extent = ShownExtent.whole
        /// Rung when the picture is wanted larger.
        var camera: Bell?
        var tap: (any FrameTap)?
        var freeze: Freeze?
        /// `true` if nothing replaces the picture until the camera is opened again.
        var isSettled = false
        /// The last time that another thread than the composite thread took the newest picture.
        var lastLook = Timestamp.zero
        /// The newest picture that was published, by its time, and how long that took.
        var published: (taken: Timestamp, delay: Timestamp)?

        /// Returns `true` if the room is hidden in `frame`, or is to be shown.
        func isCovered(_ frame: Frame?) -> Bool { cover.showsRoom || frame?.isRoomHidden ?? true }

        /// Returns `true` if `frame` may be shown. The last one of a fade stays until the camera's
        /// thread has caught up.
        func mayShow(_ frame: Frame?) -> Bool {
            isCovered(frame) || MonotonicClock.now < fadeEnd + FrameSlot.lag
        }

        /// Returns `frame` if its room is to be hidden by now, or its persons cut out, and are not.
        func unfinished(_ frame: Frame?, at time: Timestamp) -> Frame? {
            let isCovered = time < fadeEnd || isCovered(frame)
            return isCovered && (!extent.isCutOut || frame?.mask != nil) ? nil : frame
        }
    }
    /// The time after which the camera's thread sees what is wanted of it.
    private static let lag = Timestamp(seconds: 0.05)

    private let state = Mutex(State())
    /// Rung at each new frame.
    private let bell: Bell

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

    /// Makes `cover` hide the room in each picture from now on. Unless it fades, no picture is
    /// shown until the camera's thread has hidden the room in the newest; a frozen one is taken
    /// again.
    package func hideRoom(by cover: RoomCover) {
        let (camera, kept) = state.withLock { state in
            if state.cover.showsRoom {
                let fades = cover.fade > 0 && !state.extent.isHidden
                let end = MonotonicClock.now + Timestamp(seconds: cover.fade) + Self.lag
                state.fadeEnd = fades ? end : .zero
            }
            state.cover = cover
            let kept = state.freeze?.frame
            if kept != nil, !state.mayShow(kept) { state.freeze = Freeze() }
            return (state.camera, kept)
        }
        _ = consume kept
        camera?.ring()
    }

    /// The way to hide the room, or to show it.
    var cover: RoomCover { state.withLock { $0.cover } }

    /// Replaces the newest frame by what `finish` makes of it, if its room is still to be hidden,
    /// or its persons to be cut out; and a kept one by a copy of that. Returns the time at which a
    /// room has faded, when this is to be done again; `nil`: none fades.
    func catchUp(_ finish: (Frame) -> Frame?) -> Timestamp? {
        let now = MonotonicClock.now
        let (newest, kept, end) = state.withLock { state in
            (
                state.unfinished(state.content.frame, at: now).map { state.original ?? $0 },
                state.unfinished(state.freeze?.frame, at: now), state.fadeEnd
            )
        }
        if let frame = newest.flatMap(finish) { sharpen(frame) }
        if let kept, let frame = finish(kept)?.copy() { replace(kept, by: frame) }
        return now < end ? end : nil
    }

    private func replace(_ kept: Frame, by frame: Frame) {
        let replaced = state.withLock { state in
            guard state.freeze?.frame?.buffer === kept.buffer else { return Frame?.none }
            state.freeze?.frame = frame
            return kept
        }
        _ = consume replaced
        bell.ring()
    }

    /// Forgets the newest frame if the room that is to be hidden is seen in it.
    func dropUncovered() {
        let dropped = state.withLock { state in
            guard !state.mayShow(state.content.frame) else { return Frame?.none }
            defer { state.content.frame = nil }
            return state.content.frame
        }
        _ = consume dropped
    }

    /// Gives `tap` every picture from now on; `nil` stops that.
    package func tap(_ tap: (any FrameTap)?) {
        let camera = state.withLock { state in
            state.tap = tap
            return state.camera
        }
        camera?.ring()
    }

    /// The seconds for which pictures are wanted after one was looked at.
    private static let looking = 1.0

    /// `true` while the picture is shown, or somebody takes it.
    var isWanted: Bool {
        let now = MonotonicClock.now
        return state.withLock { state in
            state.tap != nil || !state.extent.isHidden
                || (now - state.lastLook).seconds < Self.looking
        }
    }

    /// `true` while there is a tap, which needs every picture.
    var isTapped: Bool { state.withLock { $0.tap != nil } }

    /// Tells the tap that the camera was closed or lost.
    func discontinue() { state.withLock { $0.tap }?.discontinue(at: MonotonicClock.now) }

    /// Leaves a new picture: its `frame`, which took `decoding` to decode, and the `jpeg` that it
    /// was made of, if any. `frame` is `nil` if nothing shows the picture, so that it was not
    /// decoded, or if the room in it should be hidden and is not. `original` is the frame before
    /// that. `lost` is the number of frames missing before it.
    package func put(
        _ frame: Frame?,
        of jpeg: JPEGFrame? = nil,
        original: Frame? = nil,
        lost: UInt64 = 0,
        decoding: Timestamp = .zero
    ) {
        let now = MonotonicClock.now
        // The replaced frame is released after the lock.
        let (replaced, tap) = state.withLock { state in
            state.counts.captured += 1
            state.counts.missing += lost
            if frame != nil { state.counts.decode.add(decoding.nanoseconds) }
            guard !state.isSettled else { return (Held?.none, state.tap) }
            state.counts.replaced += state.isFetched ? 0 : 1
            state.isFetched = frame == nil
            let replaced = Held(state)
            let shown = state.mayShow(frame) ? frame : nil
            state.content = Content(frame: shown, isJPEG: jpeg != nil, arrival: now)
            state.jpeg = jpeg
            // A JPEG is all that the camera gave.
            let isOther = shown?.buffer !== original?.buffer
            state.original = jpeg == nil && isOther ? original : nil
            return (replaced, state.tap)
        }
        _ = consume replaced
        bell.ring()
        if let jpeg {
            tap?.take(jpeg: jpeg.bytes, at: jpeg.timestamp)
        } else if let frame = original ?? frame {
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

    /// Replaces the newest frame with the same picture, larger, which is not counted again.
    func sharpen(_ frame: Frame) {
        let replaced = state.withLock { state -> Frame? in
            guard !state.isSettled, state.mayShow(frame) else { return frame }
            let replaced = state.content.frame
            state.content.frame = frame
            return replaced
        }
        _ = consume replaced
        bell.ring()
    }

    /// Replaces the newest frame by a copy if it is in a device's memory, which it would keep open.
    func keepCopy() {
        guard let frame = latest, frame.buffer.isBorrowed else { return }
        sharpen(frame.copy())
    }

    /// Keeps showing the newest picture, or the sharpest of the next few, until `thaw()`. The
    /// camera's thread leaves it with `judge()`.
    package func freeze() {
        let camera = state.withLock { state in
            if state.freeze == nil { state.freeze = Freeze() }
            return state.camera
        }
        camera?.ring()
    }

    /// Forgets the picture that was kept, and shows the newest one again.
    package func thaw() {
        let kept = state.withLock { state in
            defer { state.freeze = nil }
            return state.freeze?.frame
        }
        _ = consume kept
        bell.ring()
    }

    /// Makes the kept picture the last one: the camera is about to close, or to be replaced. No
    /// live picture takes its place until then. Without a kept picture it is as `thaw()`.
    package func settle() {
        let released = state.withLock { state in
            let kept = state.freeze?.frame
            state.freeze = nil
            guard let kept else { return Held?.none }
            let released = Held(state)
            state.content.frame = kept
            state.content.isJPEG = false
            (state.jpeg, state.original) = (nil, nil)
            state.isFetched = true
            state.isSettled = true
            return released
        }
        _ = consume released
        bell.ring()
    }

    /// Takes pictures again after `settle()`: the camera is about to be opened.
    func reopen() { state.withLock { $0.isSettled = false } }

    /// `true` while a picture to be kept is chosen, for which the newest one is needed whole.
    var isJudging: Bool { state.withLock { $0.freeze.map { $0.count > 0 } ?? false } }

    /// Judges the newest frame, and keeps a copy of it if it is the first since `freeze()`, or
    /// clearly sharper than the one kept.
    func judge() {
        let (frame, freeze) = state.withLock { ($0.content.frame, $0.freeze) }
        guard let frame, let freeze, freeze.count > 0, freeze.judged != frame.timestamp else {
            return
        }
        let sharpness = frame.sharpness
        let isKept = freeze.frame == nil || sharpness > Self.sharper * freeze.sharpness
        let copy = isKept ? frame.copy() : nil
        let replaced = state.withLock { state in
            // It may have ended meanwhile.
            guard state.freeze?.judged == freeze.judged, state.freeze != nil, state.mayShow(frame)
            else { return copy }
            state.freeze?.judged = frame.timestamp
            state.freeze?.count -= 1
            guard let copy else { return Frame?.none }
            let replaced = state.freeze?.frame
            state.freeze?.frame = copy
            state.freeze?.sharpness = sharpness
            return replaced
        }
        _ = consume replaced
        if isKept { bell.ring() }
    }

    /// The picture that stays while the camera goes on; `nil` if none does.
    package var frozen: Frame? { state.withLock { $0.freeze?.frame } }

    /// Gives the picture as the camera gave it back; the frame stays.
    func releaseOriginal() {
        let released = state.withLock { state in
            let released = Held(state)
            (state.jpeg, state.original) = (nil, nil)
            state.content.isJPEG = false
            return released
        }
        _ = consume released
    }

    /// Records that `frame` was published at `time`. Publishing a picture again does not count.
    func published(_ frame: Frame, at time: Timestamp) {
        state.withLock { state in
            guard state.published?.taken != frame.timestamp else { return }
            state.published = (frame.timestamp, time - frame.timestamp)
        }
    }

    /// The time from the newest published picture's capture to its publishing; `nil`: none shown.
    package var delay: Timestamp? {
        state.withLock { $0.content.frame == nil ? nil : $0.published?.delay }
    }

    /// Counts an opening of the camera, which took `duration` to its first frame.
    package func countOpening(_ duration: Timestamp) {
        state.withLock { $0.counts.opening.add(duration.nanoseconds) }
    }

    /// Counts an unusable frame; the one before it stays.
    package func countDropped() { state.withLock { $0.counts.damaged += 1 } }

    /// Counts a JPEG with noise that leaves its picture whole.
    func countNoisy() { state.withLock { $0.counts.noisy += 1 } }

    /// Forgets the frame, and a kept one: nothing shown after the camera closed may be older.
    package func clear() {
        let (replaced, kept) = state.withLock { state in
            let replaced = (Held(state), state.freeze?.frame)
            state.content.frame = nil
            state.freeze = nil
            state.published = nil
            state.content.isJPEG = false
            (state.jpeg, state.original) = (nil, nil)
            state.isFetched = true
            return replaced
        }
        _ = consume replaced
        _ = consume kept
    }

    /// The newest frame, which stays. It may be smaller than the camera's picture, or `nil`: see
    /// `Content`.
    package var latest: Frame? { state.withLock { $0.content.frame } }

    /// The newest picture, and what the camera gave for it: a JPEG, or a frame in which the room is
    /// not hidden. All stay, and do not count as shown. Pictures are wanted for a second more.
    /// Not for the composite thread, which must not be the last to hold a device's memory.
    package var newest: (content: Content, jpeg: JPEGFrame?, original: Frame?) {
        let now = MonotonicClock.now
        let (newest, camera) = state.withLock { state in
            let isLookedAt = (now - state.lastLook).seconds < Self.looking / 2
            if !isLookedAt { state.lastLook = now }
            return ((state.content, state.jpeg, state.original), isLookedAt ? nil : state.camera)
        }
        camera?.ring()
        return newest
    }

    /// Returns the picture that is shown, whole: the one that was kept, or the newest, decoded if
    /// need be, in which the room is not hidden. Not for the composite thread.
    package func still() -> Frame? {
        let (newest, kept) = (newest, frozen)
        return kept ?? newest.jpeg?.decoded() ?? newest.original ?? newest.content.frame
    }

    /// Returns the newest frame to be shown, or the one that was kept; it stays. There is none if
    /// the room that is to be hidden is seen in it.
    package func fetch() -> Content {
        state.withLock { state in
            state.isFetched = true
            var content = state.content
            if let kept = state.freeze?.frame { (content.frame, content.isJPEG) = (kept, false) }
            if !state.mayShow(content.frame) { content.frame = nil }
            return content
        }
    }

    package var counts: Counts { state.withLock { $0.counts } }
}
