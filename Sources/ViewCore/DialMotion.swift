import DualCamCore

/// The motion of a dial that comes to rest, fades and bumps, by the seconds since it was touched.
package enum DialMotion {
    /// The time after the last touch until the dial fades, in seconds.
    package static let stay = 3.0
    /// The time that a bump takes, there and back, in seconds.
    package static let bump = 0.18

    /// Returns how far the scale is pushed beyond its end `seconds` after it was reached, in units
    /// of the window; `nil` once it is back.
    package static func push(after seconds: Double) -> Double? {
        guard seconds <= bump else { return nil }
        return DialWheel.give * max(0, 1 - abs(2 * seconds / bump - 1))
    }
}
