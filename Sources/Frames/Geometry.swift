/// The size of a picture, in whole pixels.
package struct Size: Hashable, Sendable, CustomStringConvertible {
    package var width: Int
    package var height: Int

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    package var transposed: Size { Size(width: height, height: width) }

    /// The width over the height; 1 for an empty size.
    package var aspect: Double { height > 0 ? Double(width) / Double(height) : 1 }
    package var area: Int { width * height }

    /// "1280x720".
    package var description: String { "\(width)x\(height)" }
}

/// A rectangle on a picture, in fractional pixels: x to the right, y down. The scene computes with
/// these; the compositor rounds them to `PixelRect` before it accesses memory.
package struct Rect: Hashable, Sendable {
    package var x: Double
    package var y: Double
    package var width: Double
    package var height: Double

    /// Creates a rectangle from its top left corner and size, in pixels.
    package init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    package init(_ size: Size) {
        self.init(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
    }

    package var maxX: Double { x + width }
    package var maxY: Double { y + height }
    package var midX: Double { x + width / 2 }
    package var midY: Double { y + height / 2 }

    /// Returns the rectangle `fraction` of the way from this one to `other` (0 here, 1 there).
    package func interpolated(to other: Rect, fraction: Double) -> Rect {
        Rect(
            x: x + (other.x - x) * fraction,
            y: y + (other.y - y) * fraction,
            width: width + (other.width - width) * fraction,
            height: height + (other.height - height) * fraction
        )
    }

    /// Returns the rectangle scaled by `factor` about its centre.
    package func scaled(by factor: Double) -> Rect {
        Rect(
            x: midX - width * factor / 2,
            y: midY - height * factor / 2,
            width: width * factor,
            height: height * factor
        )
    }

    /// Returns the rectangle with every edge moved inwards by `amount` pixels.
    package func inset(by amount: Double) -> Rect {
        Rect(
            x: x + amount,
            y: y + amount,
            width: width - 2 * amount,
            height: height - 2 * amount
        )
    }

    /// Returns the largest rectangle of `aspect` (width / height) inside this one, at its centre.
    package func fitting(aspect: Double) -> Rect {
        guard width > 0, height > 0, aspect > 0 else { return self }
        let size =
            width / height > aspect ? (height * aspect, height) : (width, width / aspect)
        return Rect(x: midX - size.0 / 2, y: midY - size.1 / 2, width: size.0, height: size.1)
    }

    /// Returns the smallest rectangle of `aspect` (width / height) around this one, at its centre.
    package func covering(aspect: Double) -> Rect {
        guard width > 0, height > 0, aspect > 0 else { return self }
        let size =
            width / height > aspect ? (width, width / aspect) : (height * aspect, height)
        return Rect(x: midX - size.0 / 2, y: midY - size.1 / 2, width: size.0, height: size.1)
    }
}

/// The radii of the rounded corners of a rectangle.
package struct CornerRadii: Hashable, Sendable {
    package var topLeft: Double
    package var topRight: Double
    package var bottomLeft: Double
    package var bottomRight: Double

    package init(_ radius: Double) {
        (topLeft, topRight, bottomLeft, bottomRight) = (radius, radius, radius, radius)
    }

    package var largest: Double { max(max(topLeft, topRight), max(bottomLeft, bottomRight)) }

    package static let none = CornerRadii(0)
}

extension Rect {
    /// Returns the part of this rectangle that `other` covers; empty if they do not meet.
    package func intersection(_ other: Rect) -> Rect {
        let (left, top) = (max(x, other.x), max(y, other.y))
        return Rect(
            x: left,
            y: top,
            width: max(0, min(maxX, other.maxX) - left),
            height: max(0, min(maxY, other.maxY) - top)
        )
    }

    /// The whole of a picture, in fractions of its size.
    package static let unit = Rect(x: 0, y: 0, width: 1, height: 1)

    /// Returns the part of this rectangle given by `fraction`, in fractions of its size.
    package func part(_ fraction: Rect) -> Rect {
        Rect(
            x: x + fraction.x * width,
            y: y + fraction.y * height,
            width: fraction.width * width,
            height: fraction.height * height
        )
    }
}

/// A rectangle of whole pixels, where the compositor reads or writes memory.
package struct PixelRect: Hashable, Sendable {
    package var x: Int
    package var y: Int
    package var width: Int
    package var height: Int

    /// Creates a rectangle from its top left corner and size, in pixels.
    package init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    package init(_ size: Size) {
        self.init(x: 0, y: 0, width: size.width, height: size.height)
    }

    package init(covering rect: Rect) {
        let (left, top) = (Int(rect.x.rounded(.down)), Int(rect.y.rounded(.down)))
        self.init(
            x: left,
            y: top,
            width: Int(rect.maxX.rounded(.up)) - left,
            height: Int(rect.maxY.rounded(.up)) - top
        )
    }

    /// The first column after the right edge.
    package var maxX: Int { x + width }
    /// The first row after the bottom edge.
    package var maxY: Int { y + height }
    package var isEmpty: Bool { width <= 0 || height <= 0 }
    package var size: Size { Size(width: width, height: height) }

    /// Returns the area that both rectangles cover; empty if they do not meet.
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

extension Size {
    /// A pixel of a picture 720 high, in pixels of this one.
    package var unit: Double { Double(height) / 720 }
}
