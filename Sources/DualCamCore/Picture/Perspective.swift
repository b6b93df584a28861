package import Frames

/// The four corners of something flat in a camera's picture, such as a page on a desk, which
/// becomes the whole picture. Fractions of the picture, clockwise from the corner that becomes the
/// top left one.
package struct Perspective: Hashable, Sendable {
    /// The corner that becomes the top left one.
    package var topLeft: NormalizedPoint
    package var topRight: NormalizedPoint
    package var bottomRight: NormalizedPoint
    package var bottomLeft: NormalizedPoint

    /// The corners of the picture itself, which change nothing.
    package static let none = Perspective(
        topLeft: NormalizedPoint(x: 0, y: 0),
        topRight: NormalizedPoint(x: 1, y: 0),
        bottomRight: NormalizedPoint(x: 1, y: 1),
        bottomLeft: NormalizedPoint(x: 0, y: 1)
    )

    /// Creates it from its corners, unchecked.
    package init(
        topLeft: NormalizedPoint,
        topRight: NormalizedPoint,
        bottomRight: NormalizedPoint,
        bottomLeft: NormalizedPoint
    ) {
        (self.topLeft, self.topRight) = (topLeft, topRight)
        (self.bottomRight, self.bottomLeft) = (bottomRight, bottomLeft)
    }

    /// Creates it from four points, clockwise from the top left. Throws `Invalid`, unless they are
    /// four, within the picture, in that order, and span a convex area large enough to be seen.
    package init(_ points: [NormalizedPoint]) throws(Invalid) {
        guard points.count == 4 else { throw .count(points.count) }
        for point in points where !(0...1).contains(point.x) || !(0...1).contains(point.y) {
            throw .outside(point)
        }
        self.init(
            topLeft: points[0],
            topRight: points[1],
            bottomRight: points[2],
            bottomLeft: points[3]
        )
        let areas = (0..<4).map { area(at: $0) }
        guard areas.allSatisfy({ $0 > 0 }) else {
            throw areas.allSatisfy { $0 < 0 } ? .anticlockwise : .notConvex
        }
        guard areas.allSatisfy({ $0 >= Self.smallestArea }) else { throw .tooSmall }
    }

    /// The least area of the triangle at each corner, as a fraction of the picture.
    private static let smallestArea = 0.005

    /// A reason why four points are no perspective.
    package enum Invalid: Error, Hashable, CustomStringConvertible {
        /// There are not four.
        case count(Int)
        /// One lies outside of the picture.
        case outside(NormalizedPoint)
        /// They go round the other way.
        case anticlockwise
        /// Lines cross, or a corner points inwards.
        case notConvex
        /// Too little of the picture would be left.
        case tooSmall

        /// "the corners go round the wrong way: clockwise from the top left, please".
        package var description: String {
            switch self {
            case .count(let count): "a perspective has four corners, not \(count)"
            case .outside(let point):
                "a corner is a place in the picture, 0 to 1 across and down, not "
                    + "\(point.x),\(point.y)"
            case .anticlockwise, .notConvex:
                "the corners must go round clockwise from the top left, without a dent"
            case .tooSmall: "these corners are too close together"
            }
        }
    }

    /// The corners, clockwise from the top left.
    package var points: [NormalizedPoint] { [topLeft, topRight, bottomRight, bottomLeft] }

    /// Returns corner `index`, clockwise from the top left, modulo 4.
    private func corner(_ index: Int) -> NormalizedPoint {
        switch index & 3 {
        case 0: topLeft
        case 1: topRight
        case 2: bottomRight
        default: bottomLeft
        }
    }

    /// Returns the area of the triangle at corner `index`; negative if it turns anticlockwise.
    private func area(at index: Int) -> Double {
        let (before, at, after) = (corner(index + 3), corner(index), corner(index + 1))
        return ((at.x - before.x) * (after.y - at.y) - (at.y - before.y) * (after.x - at.x)) / 2
    }

    /// Returns the corners at `fraction` of the way to `other`.
    package func interpolated(to other: Perspective, fraction: Double) -> Perspective {
        map(with: other) { $0.interpolated(to: $1, fraction: fraction) }
    }

    /// Returns the corners in the picture of a lens that magnifies `factor` times as much and looks
    /// in the same direction. They may lie outside of it.
    package func magnified(by factor: Double) -> Perspective {
        map { NormalizedPoint(x: 0.5 + ($0.x - 0.5) * factor, y: 0.5 + ($0.y - 0.5) * factor) }
    }

    /// Returns the corners in a picture that `transform` has turned: those of the same thing, with
    /// the top left one where the turned picture has it.
    package func turned(by transform: Transform) -> Perspective {
        let corners = Perspective.none.map { transform.inverse.apply(to: $0) }
        func place(_ corner: NormalizedPoint) -> NormalizedPoint {
            let index = 2 * Int(corner.y.rounded()) + Int(corner.x.rounded())
            let own = [topLeft, topRight, bottomLeft, bottomRight][index]
            return transform.apply(to: own)
        }
        return corners.map(place)
    }

    /// The corners to twelve decimals: 1 - (1 - 0.1) is 0.1 again.
    var rounded: Perspective {
        map {
            NormalizedPoint(x: ($0.x * 1e12).rounded() / 1e12, y: ($0.y * 1e12).rounded() / 1e12)
        }
    }

    /// The smallest rectangle around the corners.
    package var bounds: Rect {
        let (left, right) = (
            min(min(topLeft.x, topRight.x), min(bottomRight.x, bottomLeft.x)),
            max(max(topLeft.x, topRight.x), max(bottomRight.x, bottomLeft.x))
        )
        let (top, bottom) = (
            min(min(topLeft.y, topRight.y), min(bottomRight.y, bottomLeft.y)),
            max(max(topLeft.y, topRight.y), max(bottomRight.y, bottomLeft.y))
        )
        return Rect(x: left, y: top, width: right - left, height: bottom - top)
    }

    /// Returns the shape, width over height, that the thing itself has, as a usual camera whose
    /// whole picture has the shape `aspect` sees it.
    ///
    /// A camera's picture of a rectangle tells the rectangle's shape if the focal length is known
    /// (Zhang and He, "Whiteboard Scanning and Image Enhancement", 2003). Webcams see 70° to 80°
    /// from corner to corner; an error of a fifth is one of a few percent in the shape.
    package func aspect(in aspect: Double) -> Double {
        // From the middle, in units of the picture's height.
        func place(_ point: NormalizedPoint) -> SIMD3<Double> {
            SIMD3((point.x - 0.5) * aspect, point.y - 0.5, 1)
        }
        let (a, b, c, d) = (place(topLeft), place(topRight), place(bottomLeft), place(bottomRight))
        let (acrossShare, downShare) = (
            dot(cross(a, d), c) / dot(cross(b, d), c), dot(cross(a, d), b) / dot(cross(c, d), b)
        )
        let focal = Self.focalLength * (1 + aspect * aspect).squareRoot()
        func length(_ edge: SIMD3<Double>) -> Double {
            let scaled = SIMD3(edge.x / focal, edge.y / focal, edge.z)
            return dot(scaled, scaled).squareRoot()
        }
        let shape = length(acrossShare * b - a) / length(downShare * c - a)
        return shape.isFinite && shape > 0 ? min(max(shape, 0.1), 10) : aspect
    }

    /// The focal length of a usual webcam, in diagonals of its picture: it sees 75° across that.
    private static let focalLength = 0.65

    private func map(_ transform: (NormalizedPoint) -> NormalizedPoint) -> Perspective {
        Perspective(
            topLeft: transform(topLeft),
            topRight: transform(topRight),
            bottomRight: transform(bottomRight),
            bottomLeft: transform(bottomLeft)
        )
    }

    private func map(
        with other: Perspective,
        _ join: (NormalizedPoint, NormalizedPoint) -> NormalizedPoint
    ) -> Perspective {
        Perspective(
            topLeft: join(topLeft, other.topLeft),
            topRight: join(topRight, other.topRight),
            bottomRight: join(bottomRight, other.bottomRight),
            bottomLeft: join(bottomLeft, other.bottomLeft)
        )
    }
}

private func dot(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double { (a * b).sum() }

private func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
    SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}

extension Transform {
    /// Returns the new place of `point`, in fractions of the picture.
    package func apply(to point: NormalizedPoint) -> NormalizedPoint {
        let place = apply(to: Rect(x: point.x, y: point.y, width: 0, height: 0))
        return NormalizedPoint(x: place.x, y: place.y)
    }
}

/// A role's perspective over time: it eases from one to the next.
package struct PerspectiveMove: Hashable, Sendable {
    /// The perspective that the move ends at, as corners in the picture of lens "wide" as its
    /// camera delivers it; `nil` if there is none.
    package private(set) var goal: Perspective?
    private var origin: Perspective?
    private var start = Timestamp.zero
    private var duration = 0.0

    package init() {}

    /// Moves to `goal` within `duration` seconds from `time`, eased; 0 moves at once.
    package mutating func move(to goal: Perspective?, at time: Timestamp, duration: Double) {
        guard goal != self.goal else { return }
        let left = duration - (time - start).seconds
        // Back on the way, it runs back from there at the same pace.
        let isWayBack =
            duration == self.duration && left > 0 && left < duration && goal == origin
        origin = isWayBack ? self.goal : pose(at: time)
        self.goal = goal
        start = isWayBack ? time - Timestamp(seconds: left) : time
        self.duration = duration
    }

    /// Returns the perspective at `time`; `nil` if there is none.
    package func pose(at time: Timestamp) -> Perspective? {
        let elapsed = (time - start).seconds
        guard duration > 0, elapsed < duration, origin != goal else { return goal }
        let eased = Easing.inOut(max(0, elapsed) / duration)
        return (origin ?? .none).interpolated(to: goal ?? .none, fraction: eased)
    }
}
