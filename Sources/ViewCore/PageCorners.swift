package import DualCamCore
package import Frames

/// The corners of a page over a whole picture of its camera, clockwise from the top left one, in
/// fractions of that picture.
package struct PageCorners: Hashable, Sendable {
    package private(set) var points: [NormalizedPoint]

    /// The corners of most of the picture, to begin with.
    package static let usual = PageCorners([(0.15, 0.15), (0.85, 0.15), (0.85, 0.85), (0.15, 0.85)])

    private init(_ points: [(Double, Double)]) {
        self.points = points.map { NormalizedPoint(x: $0, y: $1) }
    }

    /// Creates them from the property Perspective, in which the picture's own corners are `whole`;
    /// `nil` if these are no corners of a page.
    package init?(_ perspective: [NormalizedPoint], in whole: [NormalizedPoint]) {
        guard perspective.count == 4, let frame = Frame(whole) else { return nil }
        points = perspective.map(frame.inside)
        if frame.isMirrored { points = Self.reversed(points) }
    }

    /// Returns what the property Perspective has for them in a picture whose own corners are
    /// `whole` there; `nil` if nothing could be shown of that.
    package func perspective(in whole: [NormalizedPoint]) -> Perspective? {
        guard let frame = Frame(whole) else { return nil }
        let own = points.map(frame.outside)
        return try? Perspective(frame.isMirrored ? Self.reversed(own) : own)
    }

    /// Returns the corners in a mirrored picture, where left is right.
    private static func reversed(_ points: [NormalizedPoint]) -> [NormalizedPoint] {
        [points[1], points[0], points[3], points[2]]
    }

    /// The page, if it can be one.
    package var page: Perspective? { try? Perspective(points) }

    /// Moves a corner to a place within the picture.
    package mutating func move(_ index: Int, to point: NormalizedPoint) {
        points[index] = NormalizedPoint(x: min(max(point.x, 0), 1), y: min(max(point.y, 0), 1))
    }

    /// The corner nearest to a point of `picture`, at most `reach` away from it.
    package func nearest(x: Double, y: Double, in picture: Rect, reach: Double) -> Int? {
        func distance(_ index: Int) -> Double {
            let place = picture.place(points[index])
            return ((place.x - x) * (place.x - x) + (place.y - y) * (place.y - y)).squareRoot()
        }
        let nearest = points.indices.min { distance($0) < distance($1) }
        return nearest.flatMap { distance($0) <= reach ? $0 : nil }
    }

    /// A picture's place in the terms of a property: quarters of a turn, and mirrored or not.
    private struct Frame {
        let origin, across, down: NormalizedPoint
        let area: Double

        init?(_ corners: [NormalizedPoint]) {
            guard corners.count == 4 else { return nil }
            origin = corners[0]
            across = NormalizedPoint(x: corners[1].x - origin.x, y: corners[1].y - origin.y)
            down = NormalizedPoint(x: corners[3].x - origin.x, y: corners[3].y - origin.y)
            area = across.x * down.y - across.y * down.x
            guard abs(area) > 1e-6 else { return nil }
        }

        var isMirrored: Bool { area < 0 }

        func outside(_ point: NormalizedPoint) -> NormalizedPoint {
            NormalizedPoint(
                x: clamp(origin.x + point.x * across.x + point.y * down.x),
                y: clamp(origin.y + point.x * across.y + point.y * down.y)
            )
        }

        func inside(_ point: NormalizedPoint) -> NormalizedPoint {
            let (x, y) = (point.x - origin.x, point.y - origin.y)
            return NormalizedPoint(
                x: clamp((x * down.y - y * down.x) / area),
                y: clamp((y * across.x - x * across.y) / area)
            )
        }

        private func clamp(_ value: Double) -> Double { min(max(value, 0), 1) }
    }
}

extension Rect {
    /// Returns where a point is, in fractions of this.
    package func place(_ point: NormalizedPoint) -> (x: Double, y: Double) {
        (x + point.x * width, y + point.y * height)
    }
}
