package import DualCamCore

import Frames

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

/// Two fingers that change a size, from when the second one touches until one is lifted.
package struct Pinch: Hashable, Sendable {
    package let grip: Grip
    private let start: Double
    private let zooms: ClosedRange<Double>
    private let shape: InsetShape

    /// Creates a pinch of `grip`, whose size or zoom is `start` now. A zoom stays within `zooms`,
    /// and a size within those of `shape`.
    package init(
        of grip: Grip,
        start: Double,
        zooms: ClosedRange<Double>,
        _ shape: InsetShape = .rectangle
    ) {
        self.grip = grip
        self.start = start
        self.zooms = zooms
        self.shape = shape
    }

    /// Returns the size or zoom when the fingers are `scale` as far apart as at the beginning.
    package func value(scale: Double) -> Double {
        switch grip {
        case .inset: Scaling.inset(start, pinch: scale, shape)
        case .main: Scaling.zoom(start, pinch: scale, in: zooms)
        }
    }
}
