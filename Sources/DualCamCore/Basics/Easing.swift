package import Frames

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

/// A value that takes the place of another one by and by.
package struct Crossfade<Value: Equatable & Sendable>: Sendable {
    private var value: Value
    private var former: Value?
    private var start = Timestamp.zero
    private var duration = 0.0

    /// A value that is there at once.
    package init(_ value: Value) { self.value = value }

    private func phase(at time: Timestamp) -> Double {
        duration > 0 ? max(0, (time - start).seconds) / duration : 1
    }

    /// Returns the value that still has a share at `time`, and that share, 0 … 1; `nil` if none.
    package func before(at time: Timestamp) -> (value: Value, share: Double)? {
        let phase = phase(at: time)
        return phase < 1 ? former.map { ($0, 1 - Easing.inOut(phase)) } : nil
    }

    /// Makes `value` the one to come, in `duration` seconds from `time`. On the way it comes in
    /// place of the one to come, or of the one before: whichever has the smaller share.
    package mutating func change(to value: Value, at time: Timestamp, duration: Double) {
        guard value != self.value else { return }
        let phase = phase(at: time)
        defer { self.value = value }
        if phase < 1, former == value {
            // The way back, from where it is.
            former = self.value
            start = time - Timestamp(seconds: (1 - phase) * self.duration)
        } else if phase >= 0.5 || former == nil {
            (former, start, self.duration) = (self.value, time, duration)
        }
    }
}
