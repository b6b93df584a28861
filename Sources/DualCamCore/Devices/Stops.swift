import Glibc

/// A dial of Pro mode, by what it sets. The words are those of the D-Bus interface.
package enum Dial: String, CaseIterable, Hashable, Sendable {
    case iso
    case shutter
    case focus
    case whiteBalance = "wb"

    /// The name for people.
    package var title: String {
        switch self {
        case .iso: "ISO"
        case .shutter: "Shutter"
        case .focus: "Focus"
        case .whiteBalance: "White balance"
        }
    }
}

/// An end of a dial. The words are those of the D-Bus interface.
package enum Bound: String, Hashable, Sendable {
    /// The lowest, shortest, nearest or warmest value.
    case minimum = "min"
    /// The highest, longest, farthest or coolest value.
    case maximum = "max"
}

/// The third stops of a photographer's dials, and the steps between them.
package enum Stops {
    /// The stops of ISO: third stops up to 3200, full stops above.
    package static let iso = [
        100, 125, 160, 200, 250, 320, 400, 500, 640, 800, 1000, 1250, 1600, 2000, 2500, 3200, 6400,
        12800,
    ]

    /// The exposure times in microseconds, shortest first: 1/8000 s to 1 s.
    package static let shutter =
        shutterFractions.map { Int((1e6 / Double($0)).rounded()) } + [
            300_000, 400_000, 500_000, 600_000, 800_000, 1_000_000,
        ]

    private static let shutterFractions = [
        8000, 6400, 5000, 4000, 3200, 2500, 2000, 1600, 1250, 1000, 800, 640, 500, 400, 320, 250,
        200, 160, 125, 100, 80, 60, 50, 40, 30, 25, 20, 15, 13, 10, 8, 6, 5, 4,
    ]

    /// The clicks of the focus dial from near to infinity, if the device is that fine.
    package static let focusClicks = 20
    /// The distances in metres at the long marks of the focus dial, by click.
    package static let focusLabels = [0: "0.1", 10: "0.2", 13: "0.3", 16: "0.5", 18: "1", 20: "∞"]

    /// The range of the white balance dial, in Kelvin.
    package static let kelvin = 2000...10000
    /// One click of the white balance dial, in Kelvin.
    package static let kelvinStep = 100

    /// The factor that people cannot tell from 1: a sixth of a stop, half the way to the next stop.
    static let tolerance = pow(2, 1.0 / 6)

    /// Returns `true` if `value` is within `tolerance` of `stop`.
    package static func match(_ value: Double, _ stop: Double) -> Bool {
        guard value > 0, stop > 0 else { return value == stop }
        return max(value / stop, stop / value) < tolerance
    }

    /// Returns the stop that `value` matches; `nil` between stops and beyond them.
    package static func nearest(_ value: Int, in stops: [Int]) -> Int? {
        let near = stops.min {
            abs(log(Double($0) / Double(max(1, value))))
                < abs(log(Double($1) / Double(max(1, value))))
        }
        return near.flatMap { match(Double(value), Double($0)) ? $0 : nil }
    }

    /// The result of turning a dial.
    package struct Step<Value: Hashable & Sendable>: Hashable, Sendable {
        package var value: Value
        /// The end that kept the dial from turning as far as asked.
        package var limit: Bound?
    }

    /// Returns the value `clicks` clicks from `value` along `stops`, which rise; `nil` without
    /// stops. A value between stops goes to the next one in that direction; at an end it stays. A
    /// value already beyond that end stays, too. Zero clicks change nothing.
    package static func step<Value: Comparable & Hashable & Sendable>(
        _ value: Value,
        by clicks: Int,
        in stops: [Value]
    ) -> Step<Value>? {
        guard let first = stops.first, let last = stops.last else { return nil }
        if clicks > 0 {
            let above = stops.drop { $0 <= value }
            guard above.count < clicks else {
                return Step(value: above[above.startIndex + clicks - 1], limit: nil)
            }
            return Step(value: max(value, last), limit: .maximum)
        }
        if clicks < 0 {
            let below = stops.prefix { $0 < value }
            let wanted = -max(clicks, -stops.count - 1)
            guard below.count < wanted else {
                return Step(value: below[below.endIndex - wanted], limit: nil)
            }
            return Step(value: min(value, first), limit: .minimum)
        }
        return Step(value: value, limit: nil)
    }

    /// Returns an exposure time as photographers write it: "1/250", "0.5\"", "1\"". A time that
    /// matches a stop is written as that stop, any other as itself: "1/10000", "1.3\"".
    package static func shutterText(microseconds: Int) -> String {
        let time = max(1, nearest(microseconds, in: shutter) ?? microseconds)
        if let index = shutter.firstIndex(of: time), index < shutterFractions.count {
            return "1/\(shutterFractions[index])"
        }
        if time < 290_000 { return "1/\(Int((1e6 / Double(time)).rounded()))" }
        let tenths = time / 100_000 + (time % 100_000 + 50_000) / 100_000
        return tenths % 10 == 0 ? "\(tenths / 10)\"" : "\(tenths / 10).\(tenths % 10)\""
    }

    /// Returns an exposure time as dials show it: "250" for 1/250 s, `0.5"` for half a second.
    package static func shortText(microseconds: Int) -> String {
        let text = shutterText(microseconds: microseconds)
        return text.hasPrefix("1/") ? String(text.dropFirst(2)) : text
    }

    /// Returns the approximate focus distance at `position`, from 0 (near) to 1 (infinity): "0.3
    /// m", "∞". It assumes a nearest focus of 0.1 m, and positions proportional to dioptres.
    package static func focusText(_ position: Double) -> String {
        let dioptres = 10 * (1 - position)
        guard dioptres > 0.05 else { return "∞" }
        let distance = 1 / dioptres
        if distance >= 3 { return "\(Int(distance.rounded())) m" }
        let unit = distance < 0.3 ? 100 : 10
        let parts = Int((distance * Double(unit)).rounded())
        let decimals = parts % unit
        if decimals == 0 { return "\(parts / unit) m" }
        if unit == 10 { return "\(parts / 10).\(decimals) m" }
        let text =
            decimals % 10 == 0 ? "\(decimals / 10)" : (decimals < 10 ? "0" : "") + "\(decimals)"
        return "\(parts / unit).\(text) m"
    }
}

extension Comparable {
    func clamped(to limits: ClosedRange<Self>) -> Self {
        min(max(self, limits.lowerBound), limits.upperBound)
    }
}
