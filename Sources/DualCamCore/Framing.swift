package import Frames
import Glibc

/// A place in a picture, as a fraction of its extent: x to the right, y down, both 0 … 1.
package struct Place: Hashable, Sendable {
    /// Across.
    package var x: Double
    /// Down.
    package var y: Double

    /// The place `x` across and `y` down, both 0 … 1.
    package init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// The middle of the picture.
    package static let middle = Place(x: 0.5, y: 0.5)

    fileprivate func interpolated(to other: Place, fraction: Double) -> Place {
        Place(x: x + (other.x - x) * fraction, y: y + (other.y - y) * fraction)
    }
}

/// What part of a camera's picture is seen, over time.
///
/// A value, a function of the time as the scene is. Magnifications are relative to the lens "wide".
package struct Framing: Hashable, Sendable {
    /// What is being moved to.
    package private(set) var zoom = 1.0
    /// What is in the middle of what is seen, or as near to it as the picture's edges let it be.
    package private(set) var middle = Place.middle
    private var startZoom = 1.0
    private var startMiddle = Place.middle
    private var start = Timestamp.zero
    private var duration = 0.0

    /// The whole picture.
    package init() {}

    /// Moves to `zoom` about `middle` within `duration` seconds from `time` on, eased; at once for 0.
    package mutating func move(
        to zoom: Double,
        middle: Place,
        at time: Timestamp,
        duration: Double
    ) {
        let now = pose(at: time)
        (startZoom, startMiddle) = (now.zoom, now.middle)
        (self.zoom, self.middle) = (zoom, middle)
        start = time
        self.duration = duration
    }

    /// How it stands at `time`.
    package func pose(at time: Timestamp) -> (zoom: Double, middle: Place) {
        let elapsed = (time - start).seconds
        guard duration > 0, elapsed < duration else { return (zoom, middle) }
        let eased = Easing.inOut(max(0, elapsed) / duration)
        // By equal ratios in equal times, as a zoom moves. Where the middle is pulled from one place to another,
        // it goes with the part that is seen, so that it moves evenly on the screen.
        let now = exp(log(startZoom) + (log(zoom) - log(startZoom)) * eased)
        let (was, will) = (1 / startZoom, 1 / zoom)
        let moved = abs(was - will) > 1e-9 ? (was - 1 / now) / (was - will) : eased
        return (now, startMiddle.interpolated(to: middle, fraction: moved))
    }

    /// The part of the upright picture of a lens of `factor` that is seen at `time`, in fractions of its
    /// extent: the whole where the lens does not see as much as is wanted.
    package func part(at time: Timestamp, through factor: Double = 1) -> Rect {
        let pose = pose(at: time)
        let share = min(1, factor / pose.zoom)
        func edge(_ middle: Double) -> Double { min(max(0, middle - share / 2), 1 - share) }
        return Rect(x: edge(pose.middle.x), y: edge(pose.middle.y), width: share, height: share)
    }
}
