import Frames

/// How the device is held: which of its edges is up. The words are those of iio-sensor-proxy.
package enum DeviceOrientation: String, CaseIterable, Hashable, Sendable {
    /// The top edge, as it is meant to be held.
    case normal
    /// The left one, of who looks at the screen: it was turned clockwise.
    case leftUp = "left-up"
    /// The right one.
    case rightUp = "right-up"
    /// The bottom edge.
    case bottomUp = "bottom-up"

    /// By how many quarter turns clockwise a camera's picture has to be turned to be upright.
    ///
    /// The back camera looks as the user does: a device turned clockwise has its picture turned the other way.
    /// The front camera looks back, and sees the device turn the other way. `Tests/VM/orientation.py` says where the
    /// words are from, and tries it with an accelerometer.
    package func quarterTurns(of role: Role) -> Int {
        switch (self, role) {
        case (.normal, _): 0
        case (.leftUp, .back), (.rightUp, .front): 1
        case (.bottomUp, _): 2
        case (.rightUp, .back), (.leftUp, .front): 3
        }
    }
}

/// How the device is held, and what says so.
package struct OrientationState: Hashable, Sendable {
    /// What the user has decided; nil: the sensor says.
    package var mode: DeviceOrientation?
    /// What the sensor said last.
    var sensed = DeviceOrientation.normal
    /// Whether there is a sensor.
    package var hasSensor = false

    /// What pictures are turned for.
    package var current: DeviceOrientation { mode ?? sensed }
}

/// A picture that turns: it fades over the one that lay as before.
struct Turning: Hashable, Sendable {
    /// How it lay.
    var before: Transform
    var start: Timestamp

    /// How long it takes, in seconds.
    static let duration = 0.3

    /// From `before` to `transform`, begun at `time`; where that is back to where `running` came from, from where it
    /// is now.
    init(before: Transform, start time: Timestamp, after running: Turning?, to transform: Transform)
    {
        self.before = before
        start = time
        guard let running, running.before == transform else { return }
        let left = Self.duration - (time - running.start).seconds
        if left > 0 { start = time - Timestamp(seconds: left) }
    }

    /// How much of it is seen as it lies now, 0 … 1.
    func share(at time: Timestamp) -> Double {
        Easing.inOut(min(1, max(0, (time - start).seconds) / Self.duration))
    }
}
