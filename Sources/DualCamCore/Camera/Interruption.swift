/// The reason that a camera does not deliver although it should. The words are those of the D-Bus
/// interface.
package enum Interruption: String, CaseIterable, Hashable, Sendable {
    /// It delivers, or is not needed.
    case none
    /// The device does not exist, or was unplugged.
    case unplugged
    /// Another program streams from it.
    case busy
    /// DualCam has no permission to open it.
    case denied
    /// The USB bus has no room for it.
    case bandwidth
    /// It is there, but sends nothing usable.
    case stalled
    /// It has no mode that DualCam reads, or not the configured one.
    case unsupported
    /// The machine is going to sleep.
    case asleep
    /// The session is locked, or is not the active one.
    case locked
    /// The user asked for privacy.
    case privacy
}
