package import DBusKit
package import DualCamCore

/// The version of DualCam, and its names on the session bus.
package enum DualCam {
    /// The version of the daemon and the client, which are released together.
    package static let version = "0.2.0"
    /// The beginning of the problem that nothing is remembered.
    package static let forgetting = "What you set will be forgotten: "
    package static let busName = "org.dualcam.DualCam1"
    /// The object with `Stream`, `Scene` and the ObjectManager of the cameras.
    package static let path: ObjectPath = "/org/dualcam/DualCam1"
    /// The object for systemd's `systemctl service-log-level`.
    package static let logPath: ObjectPath = "/org/freedesktop/LogControl1"
    package static let backPath: ObjectPath = "/org/dualcam/DualCam1/cameras/back"
    package static let frontPath: ObjectPath = "/org/dualcam/DualCam1/cameras/front"
}

extension Role {
    package var path: ObjectPath { self == .back ? DualCam.backPath : DualCam.frontPath }

    package init?(_ path: ObjectPath?) {
        guard let role = Role.allCases.first(where: { $0.path == path }) else { return nil }
        self = role
    }
}

extension DBusError {
    /// There is no such camera.
    package static func noCamera(_ message: String) -> DBusError { own("NoCamera", message) }
    /// There is no such scene; the message lists those that there are.
    package static func noScene(_ message: String) -> DBusError { own("NoScene", message) }
    /// The resource is in use, and may be free later.
    package static func busy(_ message: String) -> DBusError { own("Busy", message) }
    /// The camera or this build does not support it at all.
    package static func notSupported(_ message: String) -> DBusError {
        own("NotSupported", message)
    }
    /// A value of the right type that is not allowed; the message lists those that are.
    package static func outOfRange(_ message: String) -> DBusError { own("OutOfRange", message) }
    /// The caller, or somebody else, did not want it any more.
    package static func cancelled(_ message: String) -> DBusError { own("Cancelled", message) }
    /// The camera was lost.
    package static func cameraLost(_ message: String) -> DBusError { own("CameraLost", message) }
    /// The system denies access.
    package static func denied(_ message: String) -> DBusError { own("Denied", message) }
    /// There is no PipeWire to publish to.
    package static func pipeWireUnavailable(_ message: String) -> DBusError {
        own("PipeWireUnavailable", message)
    }

    /// A recording is already running.
    package static func alreadyRecording(_ message: String) -> DBusError {
        own("AlreadyRecording", message)
    }
    /// No recording is running.
    package static func notRecording(_ message: String) -> DBusError {
        own("NotRecording", message)
    }
    /// The disk is full.
    package static func noSpace(_ message: String) -> DBusError { own("NoSpace", message) }
    /// The configuration or the present state does not allow it.
    package static func locked(_ message: String) -> DBusError { own("Locked", message) }

    /// The value `word` of something is none of `words`.
    package static func outOfRange(
        _ name: String,
        _ word: String,
        expecting words: [String]
    ) -> DBusError {
        outOfRange("\(name) must be \(alternatives(words)), not “\(word.prefix(64))”.")
    }

    private static func own(_ name: String, _ message: String) -> DBusError {
        DBusError("\(DualCam.busName).Error.\(name)", message)
    }
}

/// Returns `number` if it lies in `range`. Throws `OutOfRange`, which says what `name` must be.
package func checked<Number: Comparable>(
    _ name: String,
    _ number: Number,
    in range: ClosedRange<Number>
) throws(DBusError) -> Number {
    guard range.contains(number) else {
        throw .outOfRange(outOfRangeText(name, range, not: number))
    }
    return number
}

/// Returns the choice that `word` names. Throws `OutOfRange`, which lists what `name` may be.
package func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ name: String,
    _ word: String
) throws(DBusError) -> Choice {
    guard let choice = Choice(rawValue: word) else {
        throw .outOfRange(name, word, expecting: Choice.allCases.map(\.rawValue))
    }
    return choice
}
