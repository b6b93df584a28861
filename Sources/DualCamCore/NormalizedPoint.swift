/// A point in a picture, as a fraction of its extent: x to the right, y down, both 0 … 1.
package struct NormalizedPoint: Hashable, Sendable {
    /// Across.
    package var x: Double
    /// Down.
    package var y: Double

    /// The point `x` across and `y` down, both 0 … 1.
    package init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// The middle of the picture.
    package static let middle = NormalizedPoint(x: 0.5, y: 0.5)

    /// The point at `fraction` of the way to `other`.
    func interpolated(to other: NormalizedPoint, fraction: Double) -> NormalizedPoint {
        NormalizedPoint(x: x + (other.x - x) * fraction, y: y + (other.y - y) * fraction)
    }
}
