import Glibc

/// A dial of Pro mode, and what it sets. The words are those of the D-Bus interface.
package enum Dial: String, CaseIterable, Hashable, Sendable {
    /// Sensitivity.
    case iso
    /// How long a frame is exposed.
    case shutter
    /// How far away what is sharp lies.
    case focus
    /// White balance.
    case whiteBalance = "wb"
}

/// The end of a dial. The words are those of the D-Bus interface.
package enum Bound: String, Hashable, Sendable {
    /// Nothing lower, shorter, nearer or warmer-lit.
    case minimum = "min"
    /// Nothing higher, longer, farther or cooler-lit.
    case maximum = "max"
}

/// The third stops of a photographer's dials, and how one moves along them.
package enum Stops {
    /// ISO, in third stops to 3200 and full ones from there.
    package static let iso = [
        100, 125, 160, 200, 250, 320, 400, 500, 640, 800, 1000, 1250, 1600, 2000, 2500, 3200, 6400,
        12800,
    ]

    /// Exposure times in microseconds, shortest first: 1/8000 to 1".
    package static let shutter =
        shutterFractions.map { Int((1e6 / Double($0)).rounded()) } + [
            300_000, 400_000, 500_000, 600_000, 800_000, 1_000_000,
        ]

    private static let shutterFractions = [
        8000, 6400, 5000, 4000, 3200, 2500, 2000, 1600, 1250, 1000, 800, 640, 500, 400, 320, 250,
        200, 160, 125, 100, 80, 60, 50, 40, 30, 25, 20, 15, 13, 10, 8, 6, 5, 4,
    ]

    /// How often a dial of focus clicks from near to infinity, where the device is that fine.
    package static let focusClicks = 20

    /// Kelvin of the white balance dial, in steps of `kelvinStep`.
    package static let kelvin = 2000...10000
    /// One click of the white balance dial, in Kelvin.
    package static let kelvinStep = 100

    /// What a person cannot tell from a stop: a sixth of a stop, half the way to the next one.
    static let tolerance = pow(2, 1.0 / 6)

    /// Whether `value` is as good as `stop`.
    package static func match(_ value: Double, _ stop: Double) -> Bool {
        guard value > 0, stop > 0 else { return value == stop }
        return max(value / stop, stop / value) < tolerance
    }

    /// The stop that `value` is as good as; `nil` between stops, and beyond them.
    package static func nearest(_ value: Int, in stops: [Int]) -> Int? {
        let near = stops.min {
            abs(log(Double($0) / Double(max(1, value))))
                < abs(log(Double($1) / Double(max(1, value))))
        }
        return near.flatMap { match(Double(value), Double($0)) ? $0 : nil }
    }

    /// What came of turning a dial.
    package struct Step<Value: Hashable & Sendable>: Hashable, Sendable {
        /// Where it stands now.
        package var value: Value
        /// Which end kept it from going as far as asked.
        package var limit: Bound?
    }

    /// `clicks` clicks from `value` along `stops`, which rise; `nil` where there are none.
    ///
    /// A value between stops goes to the next one in that direction; at an end it stays. A value
    /// beyond the end that it is turned towards stays, too. No click changes nothing.
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

    /// An exposure time as photographers write it: "1/250", "0.5\"", "1\"".
    ///
    /// That of the stop that it is as good as; else its own: "1/10000", "1.3\"".
    package static func shutterText(microseconds: Int) -> String {
        let time = max(1, nearest(microseconds, in: shutter) ?? microseconds)
        if let index = shutter.firstIndex(of: time), index < shutterFractions.count {
            return "1/\(shutterFractions[index])"
        }
        if time < 290_000 { return "1/\(Int((1e6 / Double(time)).rounded()))" }
        let tenths = (time + 50_000) / 100_000
        return tenths % 10 == 0 ? "\(tenths / 10)\"" : "\(tenths / 10).\(tenths % 10)\""
    }

    /// About how far away what is sharp lies when a lens stands at `position`, 0 near … 1 infinity:
    /// "0.3 m", "∞". As if it were focused from 0.1 m on and moved as the eye's do, in dioptres.
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
    /// The nearest of `limits`.
    func clamped(to limits: ClosedRange<Self>) -> Self {
        min(max(self, limits.lowerBound), limits.upperBound)
    }
}
