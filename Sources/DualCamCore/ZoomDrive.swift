package import Frames

/// What the zoom of a camera's own is to follow.
package struct ZoomRequest: Hashable, Sendable {
    /// What is to be seen, over time.
    package var framing: Framing
    /// How much the camera magnifies without its zoom.
    package var factor: Double
    /// Which request for its role it is: what is told of an earlier one is out of date.
    package var number: Int

    /// Has a camera that magnifies `factor` times without its zoom follow `framing`.
    package init(framing: Framing, factor: Double, number: Int) {
        self.framing = framing
        self.factor = factor
        self.number = number
    }
}

extension DeviceControl {
    /// What it magnifies, at most, relative to the least. V4L2_CID_ZOOM_ABSOLUTE counts as UVC does, in units of
    /// focal length; what begins at 0, or reaches farther than lenses do, counts something else.
    fileprivate var mostMagnification: Double? {
        guard range.lowerBound > 0 else { return nil }
        let most = Double(range.upperBound) / Double(range.lowerBound)
        return most <= 40 ? most : nil
    }

    /// The highest of its values up to `wanted`, or the least.
    fileprivate func value(upTo wanted: Double) -> Int {
        let wanted = min(max(wanted, Double(range.lowerBound)), Double(range.upperBound))
        let steps = (wanted - Double(range.lowerBound)) / Double(step)
        // 2.9999999 is 3.
        return range.lowerBound + Int(steps + 1e-6) * step
    }
}

extension CameraControls {
    /// The zoom of the camera's own, where its values say what it magnifies.
    package var zoomControl: DeviceControl? {
        control(for: .zoom).flatMap { $0.mostMagnification == nil ? nil : $0 }
    }

    /// How much it magnifies now; 1 where it has no zoom.
    package var magnification: Double {
        zoomControl.map { max(1, Double($0.value) / Double($0.range.lowerBound)) } ?? 1
    }

    /// How much it can.
    package var mostMagnification: Double { zoomControl?.mostMagnification ?? 1 }
}

/// Has a camera's own zoom follow what is seen, in small steps: what one of them does to the picture is cropped anew only when
/// it was read back. Pure; the times are those of `Framing`.
package struct ZoomDrive: Hashable, Sendable {
    /// What it follows; `nil`: nothing, the zoom stays where it was found.
    package private(set) var request: ZoomRequest?
    /// Where others left it.
    package private(set) var home: Int?
    /// What was written last; `nil` where others had the last word.
    private var asked: Int?
    private var seen: Int?
    /// How often in a row it was read as it was before.
    private var stillness = 0
    /// It takes nothing.
    private var isStuck = false

    /// Seconds from step to step.
    package static let pace = 0.04
    /// How much a step magnifies, at most.
    private static let stride = 1.05
    /// Reads of one value after which it does not follow what was written, for now; and after which it never will.
    private static let (stallLimit, rest) = (3, 10)

    /// Follows nothing.
    package init() {}

    /// Whether the zoom stands where others left it.
    package var isOthers: Bool { asked == nil }

    /// The camera was opened, its zoom being `control`.
    package mutating func begin(_ control: DeviceControl) {
        home = control.value
        seen = control.value
        asked = request == nil ? nil : control.value
        stillness = 0
        isStuck = false
    }

    /// The zoom is nobody's from now on.
    package mutating func end() {
        asked = nil
        home = nil
        seen = nil
    }

    /// Follows `request` from now on.
    package mutating func follow(_ request: ZoomRequest?) {
        self.request = request
        asked = request == nil ? nil : seen
        stillness = 0
        isStuck = false
    }

    /// It was read to be `value`. Devices round, and motors take their time; what moves once all is still, and not to
    /// what was written, was moved by another.
    package mutating func see(_ value: Int) {
        guard let seen else { return }
        self.seen = value
        guard value != seen else {
            stillness += 1
            return
        }
        let wasStill = stillness >= Self.stallLimit
        stillness = 0
        if let asked, !wasStill || (min(asked, seen)...max(asked, seen)).contains(value) { return }
        asked = nil
        home = value
    }

    /// It was told to be `value`.
    package mutating func write(_ value: Int) {
        asked = value
        stillness = 0
    }

    /// It takes nothing: it stays where it stands, until another request, and what is seen is cropped.
    package mutating func giveUp() {
        isStuck = true
        stillness = Self.stallLimit
    }

    /// What `control` is to be at `time`, in the end; `nil` where that is others' to say.
    package func goal(_ control: DeviceControl, at time: Timestamp) -> Int? {
        guard let request, asked != nil else { return nil }
        let most = request.framing.magnification(at: time, factor: request.factor)
        return control.value(upTo: most * Double(control.range.lowerBound))
    }

    /// What is to be written at `time` to get there, if anything.
    package func next(_ control: DeviceControl, at time: Timestamp) -> Int? {
        guard !isStuck, let asked, let goal = goal(control, at: time), goal != asked else {
            return nil
        }
        let isOnWay = (min(control.value, goal)...max(control.value, goal)).contains(asked)
        // A device that rounds, or tells of nothing, does not get any nearer.
        let from = isOnWay && stillness >= Self.stallLimit ? asked : control.value
        let next =
            goal > from
            ? min(goal, max(from + control.step, control.value(upTo: Double(from) * Self.stride)))
            : max(goal, min(from - control.step, control.value(upTo: Double(from) / Self.stride)))
        // What was written last and goes farther is waited for.
        return isOnWay && (min(control.value, asked)...max(control.value, asked)).contains(next)
            ? nil : next
    }

    /// Whether nothing is left to be done or to be seen at `time` and after it.
    package func isOver(_ control: DeviceControl, at time: Timestamp) -> Bool {
        guard !isStuck, let request, let asked, let goal = goal(control, at: time) else {
            return true
        }
        return !request.framing.isMoving(at: time) && asked == goal
            && stillness >= (seen == asked ? Self.stallLimit : Self.rest)
    }
}
