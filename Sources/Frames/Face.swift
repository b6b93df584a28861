/// A face in a picture.
package struct Face: Hashable, Sendable {
    /// Its place, about from the eyebrows to the chin, in fractions of the picture's size.
    package var box: Rect
    /// The luma of its middle, 0 black … 255 white.
    package var luma: Double

    package init(box: Rect, luma: Double) { (self.box, self.luma) = (box, luma) }

    /// The height of its eyes.
    package var eyes: Double { box.y + 0.28 * box.height }
}

extension Rect {
    /// Returns the share that is in both of what is in one of this rectangle and `other`, 0 … 1.
    package func overlap(with other: Rect) -> Double {
        let both = intersection(other)
        let area = both.width * both.height
        return area / max(width * height + other.width * other.height - area, .leastNormalMagnitude)
    }

    /// Returns the smallest rectangle around all of `rects`, of which there is one.
    package static func around(_ rects: [Rect]) -> Rect {
        rects.dropFirst().reduce(rects[0]) { one, other in
            let (left, top) = (min(one.x, other.x), min(one.y, other.y))
            let (right, bottom) = (max(one.maxX, other.maxX), max(one.maxY, other.maxY))
            return Rect(x: left, y: top, width: right - left, height: bottom - top)
        }
    }

    /// Returns the mean of rectangles by their weights, whose sum is more than 0.
    package static func mean(_ rects: [(rect: Rect, weight: Double)]) -> Rect {
        let sum = rects.reduce(0) { $0 + $1.weight }
        func mean(_ value: (Rect) -> Double) -> Double {
            rects.reduce(0) { $0 + $1.weight * value($1.rect) } / sum
        }
        return Rect(x: mean(\.x), y: mean(\.y), width: mean(\.width), height: mean(\.height))
    }

    /// Returns this rectangle in fractions of `whole`: what `whole.part` makes this one.
    package func fraction(of whole: Rect) -> Rect {
        Rect(
            x: (x - whole.x) / whole.width,
            y: (y - whole.y) / whole.height,
            width: width / whole.width,
            height: height / whole.height
        )
    }
}
