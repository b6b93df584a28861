package import Frames
import Glibc

/// The HUD over time: whether it is seen, and where its dial stands.
///
/// A value: it goes to the composite thread with what was drawn for it, and all that moves is a function of it and
/// the time.
package struct HudState: Hashable, Sendable {
    /// How it looks at one moment.
    package struct Pose: Hashable, Sendable {
        /// Of the line of values, 0 … 1.
        package var opacity: Double
        /// Of the dial, 0 … 1; beside it, the value in use is white, not amber, by as much as this is less
        /// than 1.
        package var dialOpacity: Double
        /// How far the dial is awake: 1 in use, 0 left alone.
        package var attention: Double
        /// What of its scale is at the needle, in third stops.
        package var position: Double
        /// How far the scale is pushed beyond its end, -1 … 1.
        package var push: Double
        /// How red the needle is, 0 … 1.
        package var heat: Double
    }

    /// What it says.
    package private(set) var content: HudContent?
    private var shown = Fade()
    private var dialShown = Fade()
    private var lastCommand = Timestamp(seconds: -1e6)
    private var wakeAnchor = Timestamp(seconds: -1e6)
    private var dial: Dial?
    private var from = 0.0
    private var to = 0.0
    private var slideStart = Timestamp.zero
    private var slideDuration = 0.0
    private var bumpTime = Timestamp(seconds: -1e6)
    private var bumpDirection = 0.0

    /// Seconds: to come and go; alone until the dial fades, and to fade; a stop's slide, and the longest
    /// one; a bump.
    private static let (coming, timeout, fading) = (0.3, 3.0, 0.3)
    private static let (stopSlide, longestSlide, bumping, cooling) = (0.12, 0.36, 0.18, 0.5)
    /// What is left of a dial that was left alone.
    private static let idleOpacity = 0.3

    /// None is seen.
    package init() {}

    /// Says `content` from `time` on, or nothing; what was said last stays while it goes.
    mutating func show(_ content: HudContent?, at time: Timestamp) {
        if let content { self.content = content }
        shown.turn(up: content != nil, at: time, duration: Self.coming)
        let scale = content?.scale
        dialShown.turn(up: scale != nil, at: time, duration: Self.coming)
        guard let scale else { return }
        let target = scale.position ?? to
        if dial != scale.dial {
            dial = scale.dial
            (from, to) = (target, target)
            slideDuration = 0
        } else if target != to {
            from = self.position(at: time)
            to = target
            slideStart = time
            slideDuration = min(Self.longestSlide, Self.stopSlide * max(1, abs(to - from)))
        }
    }

    /// A command was given at `time`, which ran into an end or not.
    mutating func touch(at time: Timestamp, limit: Bound?, rising: Bool) {
        lastCommand = time
        guard limit != nil else { return }
        bumpTime = time
        bumpDirection = rising ? 1 : -1
    }

    private func position(at time: Timestamp) -> Double {
        let elapsed = (time - slideStart).seconds
        guard slideDuration > 0, elapsed < slideDuration else { return to }
        return from + (to - from) * Easing.out(max(0, elapsed) / slideDuration)
    }

    /// How it looks at `time`; `nil` where nothing of it is seen. Does not allocate.
    package func pose(at time: Timestamp) -> Pose? {
        let opacity = shown.value(at: time, duration: Self.coming)
        guard opacity > 0, content != nil else { return nil }
        let alone = (time - lastCommand).seconds - Self.timeout
        let sleep = Easing.inOut(max(0, min(1, alone / Self.fading)))
        let bumped = (time - bumpTime).seconds
        // Out fast and back slowly, as something that gives way.
        let phase = max(0, min(1, bumped / Self.bumping))
        let push = phase < 0.3 ? Easing.out(phase / 0.3) : 1 - Easing.inOut((phase - 0.3) / 0.7)
        let cooled = max(0, min(1, (bumped - Self.bumping) / Self.cooling))
        return Pose(
            opacity: opacity,
            dialOpacity: dialShown.value(at: time, duration: Self.coming)
                * (1 - (1 - Self.idleOpacity) * sleep),
            attention: 1 - sleep,
            position: position(at: time),
            push: bumped < 0 ? 0 : push * bumpDirection,
            heat: bumped < 0 ? 0 : 1 - Easing.inOut(cooled)
        )
    }
}
