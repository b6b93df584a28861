/// A face in a picture, in fractions of the picture's size.
package struct Face: Hashable, Sendable {
    /// Its place: about from the eyebrows to the chin.
    package var box: Rect
    /// The height of its eyes, from the top of the picture.
    package var eyes: Double
    /// The mean luma of its middle, 0 black … 255 white.
    package var luma: Double

    package init(box: Rect, eyes: Double, luma: Double) {
        (self.box, self.eyes, self.luma) = (box, eyes, luma)
    }
}

extension Rect {
    /// Returns the share that is in both of what is in one of this rectangle and `other`, 0 … 1.
    package func overlap(with other: Rect) -> Double {
        let both = intersection(other)
        let area = both.width * both.height
        return area / max(width * height + other.width * other.height - area, .leastNormalMagnitude)
    }

    /// Returns the smallest rectangle around this one and `other`.
    package func union(_ other: Rect) -> Rect {
        let (left, top) = (min(x, other.x), min(y, other.y))
        return Rect(
            x: left,
            y: top,
            width: max(maxX, other.maxX) - left,
            height: max(maxY, other.maxY) - top
        )
    }
}
