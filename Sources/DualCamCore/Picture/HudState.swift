package import Frames
import Glibc

/// The HUD over time: its visibility, and the position of its dial. A value: it goes to the
/// composite thread with the drawn content, and everything that moves is a function of it and the
/// time.
package struct HudState: Hashable, Sendable {
    /// The look of the HUD at one moment.
    package struct Pose: Hashable, Sendable {
        /// The opacity of the line of values, 0 … 1.
        package var opacity: Double
        /// The opacity of the dial, 0 … 1. As it falls, the value in use turns from amber to white.
        package var dialOpacity: Double
        /// The attention that the dial draws: 1 in use, 0 left alone.
        package var attention: Double
        /// The scale's position at the needle, in third stops.
        package var position: Double
        /// The push of the scale beyond its end, -1 … 1.
        package var push: Double
        /// The redness of the needle, 0 … 1.
        package var heat: Double
    }

    /// The content shown, or last shown.
    package private(set) var content: HudContent?
    private var shown = Fade()
    private var dialShown = Fade()
    private var lastCommand = Timestamp(seconds: -1e6)
    private var dial: Dial?
    private var from = 0.0
    private var to = 0.0
    private var slideStart = Timestamp.zero
    private var slideDuration = 0.0
    private var bumpTime = Timestamp(seconds: -1e6)
    private var bumpDirection = 0.0

    /// Seconds: to appear and disappear; alone until the dial fades, and to fade; to slide one
    /// stop, and the longest slide; a push beyond the end, and the needle's return from red.
    private static let (coming, timeout, fading) = (0.3, 3.0, 0.3)
    private static let (stopSlide, longestSlide, bumping, cooling) = (0.12, 0.36, 0.18, 0.5)
    /// The opacity of a dial that was left alone.
    private static let idleOpacity = 0.3

    package init() {}

    /// Shows `content` from `time` on; for `nil` the HUD fades with its last content.
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

    /// Notes a command given at `time`, and the end that it ran into, if any.
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

    /// Returns `true` if the values and the dial neither come nor go at `time`, nor later.
    func isStill(at time: Timestamp) -> Bool {
        [shown, dialShown].allSatisfy {
            $0.value(at: time, duration: Self.coming) == ($0.isRising ? 1 : 0)
        }
    }

    /// Returns the look at `time`, or `nil` while nothing is visible. Does not allocate.
    package func pose(at time: Timestamp) -> Pose? {
        let opacity = shown.value(at: time, duration: Self.coming)
        guard opacity > 0, content != nil else { return nil }
        let alone = (time - lastCommand).seconds - Self.timeout
        let sleep = Easing.inOut(max(0, min(1, alone / Self.fading)))
        let bumped = (time - bumpTime).seconds
        // Fast out and slowly back, as if the end gave way.
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
