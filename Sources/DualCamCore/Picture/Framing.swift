package import Frames
import Glibc

/// The visible part of a camera's picture, over time. A value and a function of time, as the scene
/// is. Magnifications are relative to the lens "wide", which has 1, and points to its picture. All
/// lenses look in one direction, so a lens that magnifies sees the middle of that picture.
package struct Framing: Hashable, Sendable {
    /// The magnification that the move ends at.
    package private(set) var zoom = 1.0
    /// The point in the middle of the visible part when the move ends.
    package private(set) var middle = NormalizedPoint.middle
    /// The point that was asked for in the middle, even if there is no room around it.
    private var place = NormalizedPoint.middle
    /// The magnification of the lens in each pipeline.
    private var factors = PerPipeline(a: 1.0, b: 1.0)
    /// The earlier magnifications of these lenses.
    private var before = PerPipeline(a: Magnifications(), b: Magnifications())
    /// The magnifications that count for the frozen pictures; `nil` while pictures are live.
    private var frozen: PerPipeline<Double>?
    /// The pipeline whose picture is shown, or will be after the crossing.
    private var pipeline = CapturePipeline.a
    /// The time at which the two pipelines' pictures begin to cross over, if they do.
    private var crossingStart: Timestamp?
    private var startZoom = 1.0
    private var startMiddle = NormalizedPoint.middle
    private var startPlace = NormalizedPoint.middle
    private var start = Timestamp.zero
    private var duration = 0.0

    /// The duration of a crossing between two lenses' pictures, in seconds.
    package static let crossing = 0.2

    /// The whole picture of pipeline A.
    package init() {}

    /// Moves to `zoom` about `middle` within `duration` seconds from `time`, eased; 0 moves at
    /// once. `middle` is limited so that the visible part at the end lies within the picture of a
    /// lens of `factor`, which is at most `zoom`.
    package mutating func move(
        to zoom: Double,
        middle: NormalizedPoint,
        inside factor: Double = 1,
        at time: Timestamp,
        duration: Double
    ) {
        let now = pose(at: time)
        let room = max(0, 0.5 / factor - 0.5 / zoom)
        func inside(_ place: Double) -> Double { min(max(place, 0.5 - room), 0.5 + room) }
        let goal = NormalizedPoint(x: inside(middle.x), y: inside(middle.y))
        let left = duration - (time - start).seconds
        // Back on the way, it runs back at the same pace: both halves of the curve are alike.
        let isWayBack =
            duration == self.duration && left > 0 && left < duration && zoom == startZoom
            && goal == startMiddle && middle == startPlace
        if isWayBack {
            (startZoom, startMiddle, startPlace) = (self.zoom, self.middle, place)
        } else {
            startPlace = place(at: time)
            (startZoom, startMiddle) = (now.zoom, now.middle)
        }
        self.zoom = zoom
        self.middle = goal
        place = middle
        start = isWayBack ? time - Timestamp(seconds: left) : time
        self.duration = duration
    }

    /// Shows the picture of `pipeline`, whose lens magnifies `factor` times, at once.
    package mutating func show(_ pipeline: CapturePipeline, factor: Double) {
        self.pipeline = pipeline
        set(pipeline, factor)
        crossingStart = nil
    }

    private mutating func set(_ pipeline: CapturePipeline, _ factor: Double) {
        factors[pipeline] = factor
        before[pipeline] = Magnifications()
    }

    /// Sets the magnification of the lens in `pipeline` from `time` on. Pictures taken earlier are
    /// still shown by the magnification they were taken with.
    package mutating func magnify(_ pipeline: CapturePipeline, _ factor: Double, at time: Timestamp)
    {
        guard factor != factors[pipeline] else { return }
        before[pipeline].add(factors[pipeline], until: time)
        factors[pipeline] = factor
    }

    /// Shows pictures by the lenses' present magnifications from now on, whatever these become,
    /// since the pictures are frozen; or by those they were taken with again.
    mutating func freeze(_ isFrozen: Bool) { frozen = isFrozen ? factors : nil }

    /// Returns how much a lens of `factor` may zoom in by itself, at least 1, with the visible part
    /// at `time` still within its picture. The lens keeps the middle of its picture.
    package func magnification(at time: Timestamp, factor: Double) -> Double {
        let (zoom, middle) = pose(at: time)
        let distance = max(abs(middle.x - 0.5), abs(middle.y - 0.5))
        return max(1, 0.5 / (distance + 0.5 / zoom) / factor)
    }

    /// Crosses over to the picture of the other pipeline, whose lens magnifies `factor` times, from
    /// `time` on or after the zoom under way. Returns the end of the crossing.
    package mutating func cross(toFactor factor: Double, at time: Timestamp) -> Timestamp {
        let end = start + Timestamp(seconds: duration)
        let begin = max(time, end)
        pipeline = pipeline.other
        set(pipeline, factor)
        crossingStart = begin
        return begin + Timestamp(seconds: Self.crossing)
    }

    /// Returns the magnification of the lens in `pipeline`.
    package func factor(of pipeline: CapturePipeline) -> Double { factors[pipeline] }

    /// Returns `true` while the move is under way at `time`.
    package func isMoving(at time: Timestamp) -> Bool { (time - start).seconds < duration }

    /// Returns the pipeline whose picture is shown at `time`; during a crossing, the lower one.
    package func pipeline(at time: Timestamp) -> CapturePipeline {
        guard let crossingStart else { return pipeline }
        return (time - crossingStart).seconds < Self.crossing ? pipeline.other : pipeline
    }

    /// Returns the opacity at `time`, 0 … 1, of the picture that crosses in.
    package func share(at time: Timestamp) -> Double {
        guard let crossingStart else { return 0 }
        let elapsed = (time - crossingStart).seconds
        return elapsed < Self.crossing ? Easing.inOut(max(0, elapsed) / Self.crossing) : 0
    }

    /// Returns the magnification, and the point in the middle, at `time`.
    package func pose(at time: Timestamp) -> (zoom: Double, middle: NormalizedPoint) {
        let elapsed = (time - start).seconds
        guard duration > 0, elapsed < duration else { return (zoom, middle) }
        let eased = Easing.inOut(max(0, elapsed) / duration)
        // A zoom looks steady if equal times give equal ratios. The middle moves as the edges do,
        // so that the visible part stays within any picture that it is within at both ends.
        let now = exp(log(startZoom) + (log(zoom) - log(startZoom)) * eased)
        let (was, will) = (1 / startZoom, 1 / zoom)
        let moved = abs(was - will) > 1e-9 ? (was - 1 / now) / (was - will) : eased
        return (now, startMiddle.interpolated(to: middle, fraction: moved))
    }

    private func place(at time: Timestamp) -> NormalizedPoint {
        let elapsed = (time - start).seconds
        guard duration > 0, elapsed < duration else { return place }
        return startPlace.interpolated(
            to: place,
            fraction: Easing.inOut(max(0, elapsed) / duration)
        )
    }

    /// Returns the point that is wanted in the middle at `time`, in fractions of the upright
    /// picture of the lens in `pipeline`. A part of another shape is cropped about it.
    package func place(at time: Timestamp, of pipeline: CapturePipeline) -> NormalizedPoint {
        let (place, factor) = (place(at: time), factors[pipeline])
        return NormalizedPoint(x: 0.5 + (place.x - 0.5) * factor, y: 0.5 + (place.y - 0.5) * factor)
    }

    /// Returns the part of the upright picture of the lens in `pipeline` that is visible at `time`,
    /// in fractions of its size; the whole picture if the lens sees less than is wanted. A picture
    /// that was `taken` before the lens's last change of magnification is cropped by the
    /// magnification it was taken with.
    package func part(
        at time: Timestamp,
        of pipeline: CapturePipeline = .a,
        taken: Timestamp? = nil
    ) -> Rect {
        part(at: time, factor: factor(of: pipeline, taken: taken))
    }

    /// Returns the factor of the lens in `pipeline` when a picture was `taken`; `nil`: the present.
    func factor(of pipeline: CapturePipeline, taken: Timestamp?) -> Double {
        frozen?[pipeline] ?? taken.flatMap { before[pipeline].factor(at: $0) } ?? factors[pipeline]
    }

    /// Returns the part that is visible at `time` of a picture that magnifies `factor` times.
    func part(at time: Timestamp, factor: Double) -> Rect {
        let (zoom, middle) = pose(at: time)
        let share = min(1, factor / zoom)
        func edge(_ place: Double) -> Double {
            let own = 0.5 + (place - 0.5) * factor
            return min(max(0, own - share / 2), 1 - share)
        }
        return Rect(x: edge(middle.x), y: edge(middle.y), width: share, height: share)
    }
}

/// The earlier magnifications of a lens, and their ends: the steps of half a second, for pictures
/// may come that late. Stored inline, so that no thread frees memory with a scene.
private struct Magnifications: Hashable {
    private struct Step: Hashable {
        var factor = 1.0
        var until = Timestamp.zero
    }

    /// The steps, latest first.
    private var steps = InlineArray<16, Step>(repeating: Step())

    /// Notes that the magnification was `factor` until `time`.
    mutating func add(_ factor: Double, until time: Timestamp) {
        for index in steps.indices.dropFirst().reversed() { steps[index] = steps[index - 1] }
        steps[0] = Step(factor: factor, until: time)
    }

    /// Returns the magnification at `time`; `nil` if it is the present one.
    func factor(at time: Timestamp) -> Double? {
        var factor: Double?
        for index in steps.indices {
            guard time < steps[index].until else { return factor }
            factor = steps[index].factor
        }
        return factor
    }

    static func == (a: Self, b: Self) -> Bool {
        a.steps.indices.allSatisfy { a.steps[$0] == b.steps[$0] }
    }

    func hash(into hasher: inout Hasher) {
        for index in steps.indices { hasher.combine(steps[index]) }
    }
}
