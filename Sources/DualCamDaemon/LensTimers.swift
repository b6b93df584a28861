import Engine
import Frames
import Platform

/// The timers of a role's change of lens.
@MainActor
final class LensTimers {
    /// The timer that is due at the end of the cross-fade.
    let crossed: EventLoop.Timer
    /// The timer that is due when failed lenses may be retried.
    let retry: EventLoop.Timer
    private let look: EventLoop.Timer
    private let light: EventLoop.Timer
    private var start = Timestamp.zero
    private var first: UInt64 = 0
    private var brightness: Double?

    /// The seconds between checks of a lens, and the least and most for its exposure to settle.
    private static let (interval, least, most) = (0.1, 0.3, 2.0)
    /// The interval between measurements of the brightness, in seconds.
    private static let lightInterval = 0.5
    /// The number of frames that a lens must have delivered until then.
    private static let frames: UInt64 = 4
    /// The relative difference between two checks up to which the brightness counts as settled.
    private static let tolerance = 0.03

    init(
        loop: EventLoop,
        crossed: @escaping @MainActor () -> Void,
        retry: @escaping @MainActor () -> Void,
        look: @escaping @MainActor () -> Void,
        light: @escaping @MainActor () -> Void
    ) throws(SystemError) {
        self.crossed = try loop.timer { MainActor.assumeIsolated { crossed() } }
        self.retry = try loop.timer { MainActor.assumeIsolated { retry() } }
        self.look = try loop.timer { MainActor.assumeIsolated { look() } }
        self.light = try loop.timer { MainActor.assumeIsolated { light() } }
    }

    /// Begins to check a lens that has started to deliver, at regular intervals.
    func beginLooking(at time: Timestamp = MonotonicClock.now) {
        start = time
        first = .max
        brightness = nil
        look.arm(after: Self.interval)
    }

    /// `true` while the brightness is measured at regular intervals.
    private(set) var watchesLight = false

    /// Begins or ends the measurements of the brightness.
    func watchLight(_ isOn: Bool) {
        watchesLight = isOn
        if isOn { light.arm(after: Self.lightInterval) } else { light.disarm() }
    }

    func endLooking() { look.disarm() }

    /// Returns `true` if the brightness in `slot` is steady, and schedules the next check.
    func isSteady(_ slot: FrameSlot, at time: Timestamp = MonotonicClock.now) -> Bool {
        look.arm(after: Self.interval)
        let count = slot.counts.captured
        if first == .max { first = count }
        let elapsed = (time - start).seconds
        let now = slot.latest?.brightness
        defer { brightness = now }
        guard count >= first + Self.frames, elapsed >= Self.least else { return false }
        guard elapsed < Self.most, let now, let before = brightness else {
            return elapsed >= Self.most
        }
        return Self.isSteady(now, after: before)
    }

    /// Returns `true` if the brightness `now`, 0 … 255, is that of the check `before`, as far as
    /// the noise of a dark picture lets it be told.
    static func isSteady(_ now: Double, after before: Double) -> Bool {
        abs(now - before) <= Self.tolerance * max(before, 16)
    }
}
