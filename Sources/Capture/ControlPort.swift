package import DualCamCore

/// The way to a camera's controls, apart from its pictures.
///
/// Apart, since a control of a USB camera takes some milliseconds, and seconds where its firmware
/// hangs: neither a frame nor the control side may wait for that. Drivers let a node be open twice, and
/// only who streams needs to be alone.
///
/// - Context: bound to one thread at a time. What it opened closes when it is released.
package protocol ControlPort: AnyObject {
    /// Becomes urgent when `takeEvents` has something to take, and fails when the camera is gone; -1:
    /// there is nothing to be watched.
    var descriptor: CInt { get }
    /// All controls as they are now, in the driver's order. What cannot be read is left out.
    func controls() throws(ControlRefusal) -> [DeviceControl]
    /// Brings flags and values of those of `controls` up to date that `matter`.
    func update(
        _ controls: inout [DeviceControl],
        where matters: (DeviceControl) -> Bool
    ) throws(ControlRefusal)
    /// Writes one value, in a call of its own; what came of it is to be read back.
    ///
    /// Throws `notSupported` for one that an automatic has, `outOfRange`, and `failed`.
    func write(_ write: ControlWrite) throws(ControlRefusal)
    /// Has another program's changes of `controls` told.
    func subscribe(to controls: [DeviceControl])
    /// Takes what was told since; whether there was anything.
    func takeEvents() -> Bool
}

/// The controls of a source that has none: all that there is, is done in software.
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
    /// Most have no controls.
    package func openControls() throws(CaptureError) -> any ControlPort { NoControls() }
}
