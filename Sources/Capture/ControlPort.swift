package import DualCamCore

/// Access to a camera's controls, apart from its pictures.
///
/// It is separate since a control of a USB camera takes some milliseconds, and seconds if its
/// firmware hangs, and neither frames nor the control side may wait for that. Drivers let a node be
/// opened twice; only the streaming needs it alone.
///
/// - Context: bound to one thread at a time. It closes what it opened when it is released.
package protocol ControlPort: AnyObject {
    /// Becomes urgent when `takeEvents` has events, and fails when the camera is gone; -1 if there
    /// is nothing to watch.
    var descriptor: CInt { get }
    /// Returns all controls with their current values, in the driver's order. Unreadable ones are
    /// left out.
    ///
    /// - Throws: a `ControlRefusal` if the camera is gone.
    func controls() throws(ControlRefusal) -> [DeviceControl]
    /// Updates flags and values of those `controls` for which `matters` returns `true`.
    ///
    /// - Throws: a `ControlRefusal` if the camera is gone.
    func update(
        _ controls: inout [DeviceControl],
        where matters: (DeviceControl) -> Bool
    ) throws(ControlRefusal)
    /// Writes one value, in a call of its own. Read it back to see the effect.
    ///
    /// - Throws: `notSupported` for a control that an automatic holds, `outOfRange`, or `failed`.
    func write(_ write: ControlWrite) throws(ControlRefusal)
    /// Subscribes to other programs' changes of `controls`.
    func subscribe(to controls: [DeviceControl])
    /// Takes the events so far. Returns `true` if there were any.
    func takeEvents() -> Bool
}

/// The port of a source without controls: everything is done in software.
final class NoControls: ControlPort {
    let descriptor: CInt = -1
    func controls() -> [DeviceControl] { [] }
    func update(_ controls: inout [DeviceControl], where matters: (DeviceControl) -> Bool) {}
    func write(_ write: ControlWrite) throws(ControlRefusal) {
        throw .notSupported("There is no control \(write.name).")
    }
    func subscribe(to controls: [DeviceControl]) {}
    func takeEvents() -> Bool { false }
}

extension CameraSource {
    /// Returns a port without controls: most sources have none.
    package func openControls() throws(CaptureError) -> any ControlPort { NoControls() }
}
