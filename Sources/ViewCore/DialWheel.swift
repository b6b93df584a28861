/// A dial that a finger turns: up for more, faster for further, and soft at its ends.
package struct DialWheel: Hashable, Sendable {
    /// The distance between two stops for a slow hand, in units of the window.
    package static let spacing = 16.0
    /// The farthest that a scale follows beyond its end.
    package static let give = 7.0

    /// The dragged distance not yet turned into stops, in stops.
    private var rest = 0.0
    /// The pull beyond an end, in units of the window, up for more.
    private var pull = 0.0
    /// The end that the dial is at: 1 for the highest value, -1 for the lowest, 0 for none.
    private var end = 0

    package init() {}

    /// Turns the dial by a move of `distance` units, up for more, within `seconds`; returns the
    /// stops to go.
    ///
    /// A slow hand moves one stop each `spacing`; at 1000 units a second it moves four.
    package mutating func drag(_ distance: Double, seconds: Double) -> Int {
        guard distance.isFinite, distance != 0 else { return 0 }
        if end != 0 {
            if (distance > 0) == (end > 0) {
                pull += distance
                return 0
            }
            // The way back is as long as the way that was pulled.
            pull += distance
            if (pull > 0) == (end > 0), pull != 0 { return 0 }
            end = 0
            pull = 0
            rest = 0
        }
        let speed = abs(distance) / max(seconds, 0.001)
        let gain = 1 + min(3, max(0, speed - 150) / 280)
        rest += distance * gain / Self.spacing
        let stops = rest.rounded(.towardZero)
        rest -= stops
        return Int(max(-50, min(50, stops)))
    }

    /// The daemon says that the dial is at an end: the highest value if `isHigh`.
    package mutating func limit(isHigh: Bool) {
        end = isHigh ? 1 : -1
        rest = 0
    }

    /// The dial moved away from its end.
    package mutating func free() {
        end = 0
        pull = 0
    }

    /// The hand is lifted.
    package mutating func release() {
        rest = 0
        pull = 0
    }

    /// The distance of the scale from its rest, in units, up for more: it gives a little, and less
    /// the further it is pulled.
    package var offset: Double {
        guard end != 0 else { return 0 }
        let amount = abs(pull)
        let soft = Self.give * amount / (amount + 30)
        return pull < 0 ? -soft : soft
    }

    package var isAtEnd: Bool { end != 0 }
}
