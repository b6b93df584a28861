import Frames

/// Time curves over 0 … 1.
package enum Easing {
    /// Returns the cubic curve that is slow, fast and slow again.
    package static func inOut(_ t: Double) -> Double {
        t < 0.5 ? 4 * t * t * t : 1 - 4 * (1 - t) * (1 - t) * (1 - t)
    }

    /// Returns the cubic curve that is fast, then slow.
    package static func out(_ t: Double) -> Double { 1 - (1 - t) * (1 - t) * (1 - t) }
}

/// A value that eases from 0 to 1 or back, and can reverse on the way.
struct Fade: Hashable, Sendable {
    private var from = 0.0
    private(set) var isRising = false
    private var anchor = Timestamp.zero

    /// Returns the linear progress at `time`; `duration` is in seconds.
    private func phase(at time: Timestamp, duration: Double) -> Double {
        let step = max(0, (time - anchor).seconds) / max(duration, 1e-6)
        return isRising ? min(1, from + step) : max(0, from - step)
    }

    func value(at time: Timestamp, duration: Double) -> Double {
        Easing.inOut(phase(at: time, duration: duration))
    }

    /// Turns up or down in `duration` seconds (0: at once), after `delay` seconds from `time`.
    mutating func turn(up: Bool, at time: Timestamp, after delay: Double = 0, duration: Double) {
        guard up != isRising else { return }
        from = duration > 0 ? phase(at: time, duration: duration) : up ? 1 : 0
        anchor = time + Timestamp(seconds: delay)
        isRising = up
    }
}
