package import Frames

/// A request for a camera's own zoom.
package struct ZoomRequest: Hashable, Sendable {
    /// The framing to follow, over time.
    package var framing: Framing
    /// The magnification of the camera without its zoom.
    package var factor: Double
    /// The number of the request within its role. Reports about earlier requests are out of date.
    package var number: Int
}

extension DeviceControl {
    /// The highest magnification relative to the lowest; `nil` if the values do not tell.
    /// V4L2_CID_ZOOM_ABSOLUTE counts in units of focal length, as in UVC. A range that begins at 0,
    /// or reaches farther than lenses do, counts something else.
    fileprivate var mostMagnification: Double? {
        guard range.lowerBound > 0 else { return nil }
        let most = Double(range.upperBound) / Double(range.lowerBound)
        return most <= 40 ? most : nil
    }

    /// Returns the highest possible value up to `wanted`, or the lowest one.
    fileprivate func value(upTo wanted: Double) -> Int {
        let wanted = min(max(wanted, Double(range.lowerBound)), Double(range.upperBound))
        let steps = (wanted - Double(range.lowerBound)) / Double(step)
        // Rounding errors may turn 3 into 2.9999999.
        return range.lowerBound + Int(steps + 1e-6) * step
    }
}

extension CameraControls {
    /// The camera's own zoom, if its values tell the magnification.
    package var zoomControl: DeviceControl? {
        control(for: .zoom).flatMap { $0.mostMagnification == nil ? nil : $0 }
    }

    /// The present magnification of the zoom; 1 without a zoom.
    package var magnification: Double {
        zoomControl.map { max(1, Double($0.value) / Double($0.range.lowerBound)) } ?? 1
    }

    /// The highest magnification of the zoom; 1 without a zoom.
    package var mostMagnification: Double { zoomControl?.mostMagnification ?? 1 }
}

/// The driver of a control that moves something, in small steps. A camera's own zoom follows the
/// framing: the picture is cropped to match a step only after it was read back. Pure; times are as
/// of `Framing`.
package struct ControlDrive: Hashable, Sendable {
    /// The values to take over time.
    package enum Course: Hashable, Sendable {
        case zoom(ZoomRequest)
        /// From a value to another one, eased, in so many seconds from a time on.
        case turn(from: Int, to: Int, at: Timestamp, seconds: Double)

        fileprivate func isMoving(at time: Timestamp) -> Bool {
            switch self {
            case .zoom(let request): request.framing.isMoving(at: time)
            case .turn(_, _, let start, let seconds): (time - start).seconds < seconds
            }
        }
    }

    /// The course to follow; `nil`: none, and the control stays as it was found.
    private var course: Course?
    /// The value at which others left the control.
    package private(set) var home: Int?
    /// The value written last; `nil` if others set the control after that.
    private var asked: Int?
    private var seen: Int?
    /// The number of reads in a row that gave the same value.
    private var stillness = 0
    /// `true` while the device accepts no values.
    private var isStuck = false

    /// The seconds from step to step.
    package static let pace = 0.04
    /// The factor of magnification in one step, at most.
    private static let stride = 1.05
    /// The number of equal reads after which the device is taken not to follow what was written for
    /// now, and the number after which it never will.
    private static let (stallLimit, rest) = (3, 10)

    package init() {}

    /// `true` while the control stands where others left it.
    package var isOthers: Bool { asked == nil }

    /// The number of the request that a zoom follows; `nil`: none.
    package var zoomNumber: Int? {
        if case .zoom(let request)? = course { request.number } else { nil }
    }

    /// Begins with the control of a camera just opened.
    package mutating func begin(_ control: DeviceControl) {
        home = control.value
        seen = control.value
        asked = course == nil ? nil : control.value
        stillness = 0
        isStuck = false
    }

    /// Forgets the control, because its camera is no longer open.
    package mutating func end() {
        asked = nil
        home = nil
        seen = nil
    }

    /// Follows `course` from now on; `nil`: nothing.
    package mutating func follow(_ course: Course?) {
        self.course = course
        asked = course == nil ? nil : seen
        stillness = 0
        isStuck = false
    }

    /// Takes the value read. Devices round, and motors take their time. A movement that begins
    /// after all was still, and does not go to the value written, was made by others.
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

    /// Notes that `value` was written.
    package mutating func write(_ value: Int) {
        asked = value
        stillness = 0
    }

    /// Notes that the device accepts no values. The control stays where it is until the next
    /// course; the picture is cropped in place of a zoom.
    package mutating func giveUp() {
        isStuck = true
        stillness = Self.stallLimit
    }

    /// Returns the value that `control` is to reach at `time`; `nil` while others decide it.
    package func goal(_ control: DeviceControl, at time: Timestamp) -> Int? {
        guard let course, asked != nil else { return nil }
        switch course {
        case .zoom(let request):
            let most = request.framing.magnification(at: time, factor: request.factor)
            return control.value(upTo: most * Double(control.range.lowerBound))
        case .turn(let from, let to, let start, let seconds):
            guard course.isMoving(at: time) else { return to }
            let eased = Easing.inOut(max(0, (time - start).seconds) / seconds)
            return control.nearest(to: Double(from) + eased * Double(to - from))
        }
    }

    /// Returns the value to write at `time` on the way to the goal, if any.
    package func next(_ control: DeviceControl, at time: Timestamp) -> Int? {
        guard !isStuck, let asked, let goal = goal(control, at: time), goal != asked else {
            return nil
        }
        if case .turn = course { return goal }
        let isOnWay = (min(control.value, goal)...max(control.value, goal)).contains(asked)
        // A device that rounds, or reports nothing, gets no nearer: go on from the value written.
        let from = isOnWay && stillness >= Self.stallLimit ? asked : control.value
        let next =
            goal > from
            ? min(goal, max(from + control.step, control.value(upTo: Double(from) * Self.stride)))
            : max(goal, min(from - control.step, control.value(upTo: Double(from) / Self.stride)))
        // Wait for the last value written if it goes farther than this step.
        return isOnWay && (min(control.value, asked)...max(control.value, asked)).contains(next)
            ? nil : next
    }

    /// Returns `true` if nothing is left to write or to read, at `time` and after.
    package func isOver(_ control: DeviceControl, at time: Timestamp) -> Bool {
        guard !isStuck, let course, let asked, let goal = goal(control, at: time) else {
            return true
        }
        return !course.isMoving(at: time) && asked == goal
            && stillness >= (seen == asked ? Self.stallLimit : Self.rest)
    }
}
