import DualCamCore
import Frames
import Imaging
import Platform

/// Hides the room in the pictures of one camera, and cuts out persons, as long as its slot asks for
/// it. Bound to the camera's thread.
final class RoomStage {
    private let slot: FrameSlot
    private let report: (RoomPace.Step) -> Void
    private var filter: RoomFilter?
    private var pace = RoomPace()
    private var isSecond = false
    /// The way in which the room is shown, and the former one; `nil` while nothing shows it.
    private var ways: Crossfade<RoomCover>?

    /// Creates a stage for the camera of `slot`. `report` gets how often persons are looked for,
    /// when that changes.
    init(_ slot: FrameSlot, report: @escaping (RoomPace.Step) -> Void) {
        (self.slot, self.report) = (slot, report)
    }

    /// Hides the room in a picture, which took `decoding` so far and has `interval` seconds until
    /// the next one; makes it `nil` if nothing shows it. Returns `false` if no memory is free.
    func hideRoom(in picture: inout Frame?, decoding: Timestamp, interval: Double) -> Bool {
        let isHidden = slot.extent.isHidden
        // What is shown next was not seen before.
        if picture == nil || isHidden { ways = nil }
        guard let frame = picture, slot.cover.showsRoom || !isHidden else {
            picture = nil
            return true
        }
        let start = MonotonicClock.now
        picture = hidden(frame)
        let now = MonotonicClock.now
        if filter != nil, pace.note(decoding + (now - start), interval: interval, at: now) {
            report(pace.step)
        }
        return picture != nil
    }

    /// Follows what the slot asks for, and returns what is to be seen no more but still is, with
    /// its share.
    @discardableResult
    func follow() -> (value: RoomCover, share: Double)? {
        let (cover, now) = (slot.cover, MonotonicClock.now)
        var ways = ways ?? Crossfade(cover)
        ways.change(to: cover, at: now, duration: cover.fade)
        self.ways = ways
        var before = ways.before(at: now)
        before?.value.transform = cover.transform
        return before
    }

    /// Returns `frame` as it may be shown; `nil` if no memory is free for that.
    func hidden(_ frame: Frame) -> Frame? {
        var (cover, cutsOut) = (slot.cover, slot.extent.isCutOut)
        let before = follow()
        guard !cover.showsRoom || cutsOut || before != nil else {
            if filter != nil {
                (filter, pace) = (nil, RoomPace())
                report(pace.step)
            }
            return frame
        }
        // What an earlier stage has reported holds no longer.
        if self.filter == nil { report(pace.step) }
        let filter = filter ?? RoomFilter()
        self.filter = filter
        isSecond.toggle()
        cover.hidesAll = cover.hidesAll || pace.step == .none
        return filter.hide(
            frame,
            by: cover,
            after: before.map { ($0.value, $0.share) },
            cutsOut: cutsOut,
            reusing: pace.step == .everySecond && isSecond
        )
    }
}
