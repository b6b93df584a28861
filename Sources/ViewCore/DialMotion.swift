import DualCamCore

/// The motion of a dial that comes to rest, fades and bumps, by the seconds since it was touched.
package enum DialMotion {
    /// The time after which what is not touched fades, in seconds, and how long that takes.
    package static let (stay, fading) = (3.0, 0.3)
    /// The opacity of what has faded.
    package static let faint = 0.3
    /// The time that a bump takes, there and back, in seconds.
    package static let bump = 0.18

    /// Returns the opacity `seconds` after the last touch.
    package static func opacity(after seconds: Double) -> Double {
        let phase = min(1, max(0, (seconds - stay) / fading))
        return 1 - (1 - faint) * Easing.inOut(phase)
    }

    /// Returns how far the scale is pushed beyond its end `seconds` after it was reached, in units
    /// of the window; `nil` once it is back.
    package static func push(after seconds: Double) -> Double? {
        guard seconds <= bump else { return nil }
        return DialWheel.give * max(0, 1 - abs(2 * seconds / bump - 1))
    }
}
