package import DualCamCore
package import Frames

/// The places of the two pictures in the stream at rest, in fractions of it.
package struct PictureAreas: Hashable, Sendable {
    package var main: Rect
    /// The other one; `nil` while it is not shown.
    package var other: Rect?
    /// The room that an inset has.
    private var room: Rect

    /// The distance from an edge of its room within which an inset goes there, in units of the
    /// window.
    private static let reach = 24.0

    /// Creates areas from what the daemon tells, as x, y, width and height; `nil` if it tells none,
    /// or none that a stream could have.
    package init?(main: [Double], other: [Double], room: [Double]) {
        let all = [main, other, room]
        guard all.allSatisfy({ $0.count == 4 && $0.allSatisfy { abs($0) <= 16 } }),
            all.allSatisfy({ $0[2] >= 0 && $0[3] >= 0 })
        else { return nil }
        let rects = all.map { Rect(x: $0[0], y: $0[1], width: $0[2], height: $0[3]) }
        self.init(main: rects[0], other: rects[1].width > 0 ? rects[1] : nil, room: rects[2])
    }

    package init(main: Rect, other: Rect?, room: Rect = .unit) {
        (self.main, self.other, self.room) = (main, other, room)
    }

    /// Returns the area of the inset at `place`, a point of its room.
    package func inset(at place: NormalizedPoint) -> Rect? {
        other.map { other in
            Rect(
                x: room.x + place.x * (room.width - other.width),
                y: room.y + place.y * (room.height - other.height),
                width: other.width,
                height: other.height
            )
        }
    }

    /// Returns the place in its room of the inset moved so far from `start`, or from where it is,
    /// in units of the window; at an edge that is near, if `snapping`.
    package func place(
        from start: NormalizedPoint? = nil,
        movedBy x: Double,
        _ y: Double,
        in viewport: Viewport,
        snapping: Bool
    ) -> NormalizedPoint? {
        guard let inset = start.flatMap(inset) ?? other else { return nil }
        /// Returns where in `free`, both in units of the window, `distance` is.
        func part(_ distance: Double, of free: Double) -> Double {
            guard free > 0.5 else { return 0 }
            if snapping, distance < Self.reach { return 0 }
            if snapping, free - distance < Self.reach { return 1 }
            return min(max(distance / free, 0), 1)
        }
        let (width, height) = (viewport.shown.width, viewport.shown.height)
        return NormalizedPoint(
            x: part((inset.x - room.x) * width + x, of: (room.width - inset.width) * width),
            y: part((inset.y - room.y) * height + y, of: (room.height - inset.height) * height)
        )
    }

    /// The lines of the stream's edges, in fractions of it, that an inset at `place` is near to.
    package func guides(at place: NormalizedPoint) -> [Rect] {
        var guides: [Rect] = []
        if [0, 1].contains(place.x) {
            let x = room.x + place.x * room.width
            guides.append(Rect(x: x, y: 0, width: 0, height: 1))
        }
        if [0, 1].contains(place.y) {
            let y = room.y + place.y * room.height
            guides.append(Rect(x: 0, y: y, width: 1, height: 0))
        }
        return guides
    }

    /// Returns `true` if the other picture is an inset over the main one.
    package var hasInset: Bool {
        other.map { main.contains(x: $0.midX, y: $0.midY) } ?? false
    }
}

extension Rect {
    /// Returns `true` if the point lies within.
    package func contains(x: Double, y: Double) -> Bool {
        x >= self.x && x < maxX && y >= self.y && y < maxY
    }
}

extension Corner {
    /// The corner of a room at `place`; `nil` if that is none.
    package init?(at place: NormalizedPoint) {
        guard let corner = Self.allCases.first(where: { $0.point == place }) else { return nil }
        self = corner
    }
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
        ((x - shown.x) / max(1, shown.width), (y - shown.y) / max(1, shown.height))
    }
}
