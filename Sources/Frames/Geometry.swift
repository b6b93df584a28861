/// A picture's extent in whole pixels.
package struct Size: Hashable, Sendable, CustomStringConvertible {
    /// Pixels a row.
    package var width: Int
    /// Rows.
    package var height: Int

    /// A size of `width` × `height` pixels.
    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The same picture lying on its side.
    package var transposed: Size { Size(width: height, height: width) }

    /// Width over height; 1 for an empty size.
    package var aspect: Double { height > 0 ? Double(width) / Double(height) : 1 }

    /// Pixels in all.
    package var area: Int { width * height }

    /// "1280x720".
    package var description: String { "\(width)x\(height)" }
}

/// A rectangle on a picture, in pixels with fractions: x to the right, y down.
///
/// The scene computes with these; the compositor rounds them to `PixelRect` where memory begins.
package struct Rect: Hashable, Sendable {
    /// Left edge.
    package var x: Double
    /// Top edge.
    package var y: Double
    /// Extent to the right.
    package var width: Double
    /// Extent downwards.
    package var height: Double

    /// A rectangle from its top left corner and extent, in pixels.
    package init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// The whole of a picture of `size`.
    package init(_ size: Size) {
        self.init(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
    }

    /// Right edge.
    package var maxX: Double { x + width }
    /// Bottom edge.
    package var maxY: Double { y + height }
    /// Horizontal middle.
    package var midX: Double { x + width / 2 }
    /// Vertical middle.
    package var midY: Double { y + height / 2 }

    /// The rectangle `fraction` of the way from this one to `other` (0 here, 1 there).
    package func interpolated(to other: Rect, fraction: Double) -> Rect {
        Rect(
            x: x + (other.x - x) * fraction,
            y: y + (other.y - y) * fraction,
            width: width + (other.width - width) * fraction,
            height: height + (other.height - height) * fraction
        )
    }

    /// The rectangle grown by `factor` about its middle.
    package func scaled(by factor: Double) -> Rect {
        Rect(
            x: midX - width * factor / 2,
            y: midY - height * factor / 2,
            width: width * factor,
            height: height * factor
        )
    }

    /// The rectangle with every edge moved inwards by `amount` pixels.
    package func inset(by amount: Double) -> Rect {
        Rect(
            x: x + amount,
            y: y + amount,
            width: width - 2 * amount,
            height: height - 2 * amount
        )
    }

    /// The largest rectangle of `aspect` (width over height) inside this one, in its middle.
    package func fitting(aspect: Double) -> Rect {
        guard width > 0, height > 0, aspect > 0 else { return self }
        let size =
            width / height > aspect ? (height * aspect, height) : (width, width / aspect)
        return Rect(x: midX - size.0 / 2, y: midY - size.1 / 2, width: size.0, height: size.1)
    }

    /// The smallest rectangle of `aspect` (width over height) around this one, about its middle.
    package func covering(aspect: Double) -> Rect {
        guard width > 0, height > 0, aspect > 0 else { return self }
        let size =
            width / height > aspect ? (width, width / aspect) : (height * aspect, height)
        return Rect(x: midX - size.0 / 2, y: midY - size.1 / 2, width: size.0, height: size.1)
    }
}

extension Rect {
    /// All of a picture, where parts of it are fractions of its extent.
    package static let unit = Rect(x: 0, y: 0, width: 1, height: 1)

    /// The part of this rectangle that is `fraction` of it, in fractions of its extent.
    package func part(_ fraction: Rect) -> Rect {
        Rect(
            x: x + fraction.x * width,
            y: y + fraction.y * height,
            width: fraction.width * width,
            height: fraction.height * height
        )
    }
}

/// A rectangle of whole pixels: where the compositor reads or writes memory.
package struct PixelRect: Hashable, Sendable {
    /// Left edge.
    package var x: Int
    /// Top edge.
    package var y: Int
    /// Pixels a row.
    package var width: Int
    /// Rows.
    package var height: Int

    /// A rectangle from its top left corner and extent, in pixels.
    package init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// The whole of a picture of `size`.
    package init(_ size: Size) {
        self.init(x: 0, y: 0, width: size.width, height: size.height)
    }

    /// The smallest around `rect`.
    package init(covering rect: Rect) {
        let (left, top) = (Int(rect.x.rounded(.down)), Int(rect.y.rounded(.down)))
        self.init(
            x: left,
            y: top,
            width: Int(rect.maxX.rounded(.up)) - left,
            height: Int(rect.maxY.rounded(.up)) - top
        )
    }

    /// One past the right edge.
    package var maxX: Int { x + width }
    /// One past the bottom edge.
    package var maxY: Int { y + height }
    /// True where there is no pixel.
    package var isEmpty: Bool { width <= 0 || height <= 0 }
    /// Its extent.
    package var size: Size { Size(width: width, height: height) }

    /// What both rectangles cover; empty where they do not meet.
    package func intersection(_ other: PixelRect) -> PixelRect {
        let left = max(x, other.x)
        let top = max(y, other.y)
        return PixelRect(
            x: left,
            y: top,
            width: max(0, min(maxX, other.maxX) - left),
            height: max(0, min(maxY, other.maxY) - top)
        )
    }
}
