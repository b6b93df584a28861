import Engine
import Frames
import Platform

/// What a role's change of lens waits for.
@MainActor
final class LensTimers {
    /// Due when two pictures have crossed over.
    let crossed: EventLoop.Timer
    /// Due when lenses that failed may be tried again.
    let retry: EventLoop.Timer
    private let look: EventLoop.Timer
    private let light: EventLoop.Timer
    private var start = Timestamp.zero
    private var first: UInt64 = 0
    private var brightness: Double?

    /// Seconds between looks; at least so many of a lens, for its exposure to settle, and at most.
    private static let (interval, least, most) = (0.1, 0.3, 2.0)
    /// Seconds between looks at the light.
    private static let lightInterval = 0.5
    /// Pictures that it has to have delivered by then.
    private static let frames: UInt64 = 4
    /// By how much of itself the brightness of one that has settled differs from look to look.
    private static let tolerance = 0.03

    /// Timers that call these.
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

    /// Looks at a lens that begins to deliver now, now and then.
    func beginLooking() {
        start = MonotonicClock.now
        first = .max
        brightness = nil
        look.arm(after: Self.interval)
    }

    /// Whether the light is looked at in a while.
    private(set) var watchesLight = false

    /// Looks at the light in a while, or no more.
    func watchLight(_ isOn: Bool) {
        watchesLight = isOn
        if isOn { light.arm(after: Self.lightInterval) } else { light.disarm() }
    }

    /// Looks no more.
    func endLooking() { look.disarm() }

    /// Whether the pictures in `slot` are steady; looks again soon.
    func isSteady(_ slot: FrameSlot) -> Bool {
        look.arm(after: Self.interval)
        let count = slot.counts.captured
        if first == .max { first = count }
        let elapsed = (MonotonicClock.now - start).seconds
        let now = slot.latest?.brightness
        defer { brightness = now }
        guard count >= first + Self.frames, elapsed >= Self.least else { return false }
        guard elapsed < Self.most, let now, let before = brightness else {
            return elapsed >= Self.most
        }
        return abs(now - before) <= Self.tolerance * max(before, 16)
    }
}
