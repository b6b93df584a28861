package import DBusKit

/// The version of DualCam, and its names on the session bus.
package enum DualCam {
    /// The version of the daemon and the client, which are released together.
    package static let version = "0.2.0"
    /// The bus name of the daemon.
    package static let busName = "org.dualcam.DualCam1"
    /// The object with `Stream`, `Scene` and the ObjectManager of the cameras.
    package static let path: ObjectPath = "/org/dualcam/DualCam1"
    /// The object for systemd's `systemctl service-log-level`.
    package static let logPath: ObjectPath = "/org/freedesktop/LogControl1"
    /// The object of the camera called `back`.
    package static let backPath: ObjectPath = "/org/dualcam/DualCam1/cameras/back"
    /// The object of the camera called `front`.
    package static let frontPath: ObjectPath = "/org/dualcam/DualCam1/cameras/front"
}

/// The errors of DualCam's methods, besides the standard ones.
extension DBusError {
    /// There is no such camera.
    package static func noCamera(_ message: String) -> DBusError { own("NoCamera", message) }
    /// The resource is in use, and may be free later.
    package static func busy(_ message: String) -> DBusError { own("Busy", message) }
    /// The camera or this build does not support it at all.
    package static func notSupported(_ message: String) -> DBusError {
        own("NotSupported", message)
    }
    /// A value of the right type that is not allowed; the message lists those that are.
    package static func outOfRange(_ message: String) -> DBusError { own("OutOfRange", message) }
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

    private static func own(_ name: String, _ message: String) -> DBusError {
        DBusError("\(DualCam.busName).Error.\(name)", message)
    }
}
