/// A point in a picture, as a fraction of its size: x to the right, y down, both 0 … 1.
package struct NormalizedPoint: Hashable, Sendable {
    /// The position across, 0 (left) … 1 (right).
    package var x: Double
    /// The position down, 0 (top) … 1 (bottom).
    package var y: Double

    package init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    package init?(_ numbers: [Double]) {
        guard numbers.count == 2 else { return nil }
        self.init(x: numbers[0], y: numbers[1])
    }

    package static let middle = NormalizedPoint(x: 0.5, y: 0.5)

    func interpolated(to other: NormalizedPoint, fraction: Double) -> NormalizedPoint {
        NormalizedPoint(x: x + (other.x - x) * fraction, y: y + (other.y - y) * fraction)
    }
}
