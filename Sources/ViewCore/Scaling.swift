import Frames
import Glibc

/// A thing whose size a wheel or two fingers change.
package enum Grip: Hashable, Sendable {
    case inset
    /// The main picture, which is zoomed about this point, in fractions of it.
    case main(x: Double, y: Double)
}

extension PictureAreas {
    /// Returns what has a size at a point of the stream, in fractions; `nil` if nothing has: beside
    /// the pictures, and on the other one where that is no inset.
    package func grip(x: Double, y: Double) -> Grip? {
        if let other, other.contains(x: x, y: y) { return hasInset ? .inset : nil }
        guard main.contains(x: x, y: y) else { return nil }
        return .main(
            x: (x - main.x) / max(0.01, main.width),
            y: (y - main.y) / max(0.01, main.height)
        )
    }
}

/// The size of the inset, or the zoom of the main picture, that a wheel or two fingers change.
package struct Scaling: Hashable, Sendable {
    package let grip: Grip
    private let start: Double
    private let range: ClosedRange<Double>

    /// Creates the scaling of `grip`, whose size or zoom is `start` now, and stays within `range`.
    package init(of grip: Grip, from start: Double, in range: ClosedRange<Double>) {
        (self.grip, self.start, self.range) = (grip, start, range)
    }

    /// Returns the value after `clicks` of a wheel, up for larger, or nearer.
    package func value(clicks: Double) -> Double {
        clamp(grip == .inset ? start - clicks * 0.02 : start * pow(1.1, -clicks))
    }

    /// Returns the value when two fingers are `scale` as far apart as when the second one touched.
    package func value(scale: Double) -> Double { clamp(start * scale) }

    private func clamp(_ value: Double) -> Double {
        guard value.isFinite else { return range.lowerBound }
        return min(max(value, range.lowerBound), range.upperBound)
    }
}
