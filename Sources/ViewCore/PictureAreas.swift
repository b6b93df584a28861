package import DualCamCore
package import Frames

/// The places of the two pictures in the stream at rest, in fractions of it.
package struct PictureAreas: Hashable, Sendable {
    package var main: Rect
    /// The other one; `nil` while it is not shown.
    package var other: Rect?

    /// Creates areas from what the daemon tells, as x, y, width and height; `nil` if it tells none,
    /// or none that a stream could have.
    package init?(main: [Double], other: [Double]) {
        let all = [main, other]
        guard all.allSatisfy({ $0.count == 4 && $0.allSatisfy { abs($0) <= 16 } }),
            all.allSatisfy({ $0[2] >= 0 && $0[3] >= 0 })
        else { return nil }
        let rects = all.map { Rect(x: $0[0], y: $0[1], width: $0[2], height: $0[3]) }
        self.init(main: rects[0], other: rects[1].width > 0 ? rects[1] : nil)
    }

    package init(main: Rect, other: Rect?) {
        self.main = main
        self.other = other
    }

    /// Creates the areas of a scene in a stream of `aspect`, for a daemon that does not tell them.
    package init(layout: Layout, corner: Corner, size: Double, isVisible: Bool, aspect: Double) {
        main = .unit
        switch layout {
        case .pip where isVisible: other = Self.inset(corner, size: size, aspect: aspect)
        case .pip, .single: other = nil
        case .sideBySide:
            main = Rect(x: 0, y: 0, width: 0.5, height: 1)
            other = Rect(x: 0.5, y: 0, width: 0.5, height: 1)
        case .stacked:
            main = Rect(x: 0, y: 0, width: 1, height: 0.5)
            other = Rect(x: 0, y: 0.5, width: 1, height: 0.5)
        }
    }

    /// Returns the area of an inset in `corner`, `size` of the stream's width wide.
    package static func inset(_ corner: Corner, size: Double, aspect: Double) -> Rect {
        let size = (0...1).contains(size) ? size : 0.25
        let margin = (x: 0.02, y: 0.02 * aspect)
        let isLeft = corner == .topLeft || corner == .bottomLeft
        let isTop = corner == .topLeft || corner == .topRight
        return Rect(
            x: isLeft ? margin.x : 1 - margin.x - size,
            y: isTop ? margin.y : 1 - margin.y - size,
            width: size,
            height: size
        )
    }

    /// The area of the other picture if it was moved into `corner`.
    package func other(in corner: Corner) -> Rect? {
        guard let other else { return nil }
        let x = min(other.x, 1 - other.maxX)
        let y = min(other.y, 1 - other.maxY)
        let isLeft = corner == .topLeft || corner == .bottomLeft
        let isTop = corner == .topLeft || corner == .topRight
        return Rect(
            x: isLeft ? x : 1 - x - other.width,
            y: isTop ? y : 1 - y - other.height,
            width: other.width,
            height: other.height
        )
    }

    /// Returns `true` if the other picture is an inset over the main one.
    package var hasInset: Bool {
        guard let other else { return false }
        return other.x >= main.x && other.y >= main.y && other.maxX <= main.maxX
            && other.maxY <= main.maxY
    }
}

extension Rect {
    /// Returns `true` if the point lies within.
    package func contains(x: Double, y: Double) -> Bool {
        x >= self.x && x < maxX && y >= self.y && y < maxY
    }
}

extension Corner {
    package var words: String { rawValue.replacing("-", with: " ") }
}

/// The stream's place in a window: all of it, and black beside it where the shapes differ.
package struct Viewport: Hashable, Sendable {
    /// The whole stream in units of the window; it may reach a little beyond the window's edges.
    package let shown: Rect
    /// `true` if the stream covers the window, whose shape is the stream's but for a rounding.
    package let covers: Bool

    /// Returns the shape of a stream of this size, width over height; 16:9 while it has none.
    package static func aspect(width: UInt32, height: UInt32) -> Double {
        guard width > 0, height > 0 else { return 16.0 / 9 }
        return min(max(Double(width) / Double(height), 0.1), 10)
    }

    package init(aspect: Double, size: Size) {
        let covering = Rect(size).covering(aspect: aspect)
        covers =
            covering.width - Double(size.width) <= 2 && covering.height - Double(size.height) <= 2
        shown = covers ? covering : Rect(size).fitting(aspect: aspect)
    }

    /// Returns the place in the window of an area of the stream, in fractions.
    package func place(_ area: Rect) -> Rect { shown.part(area) }

    /// Returns the point of the stream, in fractions, at a point of the window.
    package func point(x: Double, y: Double) -> (x: Double, y: Double) {
        (
            (x - shown.x) / max(1, shown.width),
            (y - shown.y) / max(1, shown.height)
        )
    }
}
