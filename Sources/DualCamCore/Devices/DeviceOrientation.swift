import Frames

/// The orientation of the device, by the edge that is up. The words are those of iio-sensor-proxy.
package enum DeviceOrientation: String, CaseIterable, Hashable, Sendable {
    /// The top edge is up: the usual orientation.
    case normal
    /// The left edge, as seen by the user, is up: the device was turned clockwise.
    case leftUp = "left-up"
    case rightUp = "right-up"
    case bottomUp = "bottom-up"

    /// Returns the quarter turns clockwise, 0 to 3, that make a camera's picture upright. The back
    /// camera looks where the user looks: when the device turns clockwise, its picture turns the
    /// other way. The front camera looks back, and sees the device turn the other way.
    /// `Tests/VM/orientation.py` explains the words, and checks them with an accelerometer.
    package func quarterTurns(of role: Role) -> Int {
        switch (self, role) {
        case (.normal, _): 0
        case (.leftUp, .back), (.rightUp, .front): 1
        case (.bottomUp, _): 2
        case (.rightUp, .back), (.leftUp, .front): 3
        }
    }
}

/// The orientation of the device, and where it comes from.
package struct OrientationState: Hashable, Sendable {
    /// The orientation set by the user; `nil`: that of the sensor.
    package var mode: DeviceOrientation?
    var sensed = DeviceOrientation.normal
    package var hasSensor = false

    /// The orientation that pictures are turned for.
    package var current: DeviceOrientation { mode ?? sensed }
}

/// The turn of a picture: the turned picture fades in over the one that lay as before.
struct Turning: Hashable, Sendable {
    /// The transform before the turn.
    var before: Transform
    var start: Timestamp

    /// The duration of the fade, in seconds.
    static let duration = 0.3

    /// A turn from `before` to `transform` that begins at `time`. If `running` is the turn the
    /// other way and is not over, the fade starts from where that stands.
    init(before: Transform, start time: Timestamp, after running: Turning?, to transform: Transform)
    {
        self.before = before
        start = time
        guard let running, running.before == transform else { return }
        let left = Self.duration - (time - running.start).seconds
        if left > 0 { start = time - Timestamp(seconds: left) }
    }

    /// Returns the opacity of the turned picture at `time`, 0 … 1.
    func share(at time: Timestamp) -> Double {
        Easing.inOut(min(1, max(0, (time - start).seconds) / Self.duration))
    }
}
