package import Frames
import Glibc

/// What part of a camera's picture is seen, over time.
///
/// A value, a function of the time as the scene is. Magnifications are relative to the lens "wide", which does
/// 1, and places to its picture: all lenses look in one direction, so that one that magnifies sees the middle of it.
package struct Framing: Hashable, Sendable {
    /// What is being moved to.
    package private(set) var zoom = 1.0
    /// What is in the middle of what is seen.
    package private(set) var middle = NormalizedPoint.middle
    /// What the lens in each pipeline magnifies.
    private var factors = PerPipeline(a: 1.0, b: 1.0)
    /// What they magnified before.
    private var before = PerPipeline(a: Magnifications(), b: Magnifications())
    /// Whose picture is shown, or will be once the crossing is over.
    private var pipeline = CapturePipeline.a
    /// When the pictures of the two pipelines begin to cross over, if they do.
    private var crossingStart: Timestamp?
    private var startZoom = 1.0
    private var startMiddle = NormalizedPoint.middle
    private var start = Timestamp.zero
    private var duration = 0.0

    /// Seconds that the pictures of two lenses take to cross over.
    package static let crossing = 0.2

    /// The whole picture of pipeline A.
    package init() {}

    /// Moves to `zoom` about `middle` within `duration` seconds from `time` on, eased; at once for 0.
    ///
    /// What is seen then is all in the picture of a lens of `factor`, which magnifies no more than `zoom`.
    package mutating func move(
        to zoom: Double,
        middle: NormalizedPoint,
        inside factor: Double = 1,
        at time: Timestamp,
        duration: Double
    ) {
        let now = pose(at: time)
        (startZoom, startMiddle) = (now.zoom, now.middle)
        let room = max(0, 0.5 / factor - 0.5 / zoom)
        func inside(_ place: Double) -> Double { min(max(place, 0.5 - room), 0.5 + room) }
        self.zoom = zoom
        self.middle = NormalizedPoint(x: inside(middle.x), y: inside(middle.y))
        start = time
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

    /// The lens in `pipeline` magnifies `factor` times from `time` on: pictures that were taken before are shown as they are.
    package mutating func magnify(_ pipeline: CapturePipeline, _ factor: Double, at time: Timestamp)
    {
        guard factor != factors[pipeline] else { return }
        before[pipeline].add(factors[pipeline], until: time)
        factors[pipeline] = factor
    }

    /// How much a lens that magnifies `factor` times may zoom in by itself with all that is to be seen at `time` in its
    /// picture, whose middle it keeps; at least 1.
    package func magnification(at time: Timestamp, factor: Double) -> Double {
        let (zoom, middle) = pose(at: time)
        let distance = max(abs(middle.x - 0.5), abs(middle.y - 0.5))
        return max(1, 0.5 / (distance + 0.5 / zoom) / factor)
    }

    /// Has the picture of the other pipeline, whose lens magnifies `factor` times, take the place of the one that is
    /// shown, from `time` on or from when the zoom under way has ended. When that will be over.
    package mutating func cross(toFactor factor: Double, at time: Timestamp) -> Timestamp {
        let end = start + Timestamp(seconds: duration)
        let begin = max(time, end)
        pipeline = pipeline.other
        set(pipeline, factor)
        crossingStart = begin
        return begin + Timestamp(seconds: Self.crossing)
    }

    /// How much the lens in `pipeline` magnifies.
    package func factor(of pipeline: CapturePipeline) -> Double { factors[pipeline] }

    /// Whether it is still on its way at `time`.
    package func isMoving(at time: Timestamp) -> Bool { (time - start).seconds < duration }

    /// Whose picture is shown at `time`; beneath the other pipeline's while they cross over.
    package func pipeline(at time: Timestamp) -> CapturePipeline {
        guard let crossingStart else { return pipeline }
        return (time - crossingStart).seconds < Self.crossing ? pipeline.other : pipeline
    }

    /// How much of the picture of the other pipeline than `pipeline(at:)` is seen over it, 0 … 1.
    package func share(at time: Timestamp) -> Double {
        guard let crossingStart else { return 0 }
        let elapsed = (time - crossingStart).seconds
        return elapsed < Self.crossing ? Easing.inOut(max(0, elapsed) / Self.crossing) : 0
    }

    /// How it stands at `time`.
    package func pose(at time: Timestamp) -> (zoom: Double, middle: NormalizedPoint) {
        let elapsed = (time - start).seconds
        guard duration > 0, elapsed < duration else { return (zoom, middle) }
        let eased = Easing.inOut(max(0, elapsed) / duration)
        // By equal ratios in equal times, as a zoom moves. The middle goes as the edges do, so that what is seen
        // stays inside a picture that it is inside of at both ends.
        let now = exp(log(startZoom) + (log(zoom) - log(startZoom)) * eased)
        let (was, will) = (1 / startZoom, 1 / zoom)
        let moved = abs(was - will) > 1e-9 ? (was - 1 / now) / (was - will) : eased
        return (now, startMiddle.interpolated(to: middle, fraction: moved))
    }

    /// The part of the upright picture of the lens in `pipeline` that is seen at `time`, in fractions of its
    /// extent: the whole where the lens does not see as much as is wanted. A picture that was `taken` before the lens
    /// magnified as it does now is taken for what it is.
    package func part(
        at time: Timestamp,
        of pipeline: CapturePipeline = .a,
        taken: Timestamp? = nil
    ) -> Rect {
        let (zoom, middle) = pose(at: time)
        var factor = factors[pipeline]
        if let taken { factor = before[pipeline].factor(at: taken) ?? factor }
        let share = min(1, factor / zoom)
        func edge(_ place: Double) -> Double {
            let own = 0.5 + (place - 0.5) * factor
            return min(max(0, own - share / 2), 1 - share)
        }
        return Rect(x: edge(middle.x), y: edge(middle.y), width: share, height: share)
    }
}

/// What a lens magnified, and until when: the steps of half a second, which pictures on their way may be behind. In place, so that
/// no thread frees anything with a scene.
private struct Magnifications: Hashable {
    private struct Step: Hashable {
        var factor = 1.0
        var until = Timestamp.zero
    }

    /// The latest first.
    private var steps = InlineArray<16, Step>(repeating: Step())

    /// It was `factor` until `time`.
    mutating func add(_ factor: Double, until time: Timestamp) {
        for index in steps.indices.dropFirst().reversed() { steps[index] = steps[index - 1] }
        steps[0] = Step(factor: factor, until: time)
    }

    /// What it was at `time`; `nil`: what it is.
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
