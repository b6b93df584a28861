/// Why a camera that should deliver pictures does not. The words are those of the D-Bus interface.
package enum Interruption: String, CaseIterable, Hashable, Sendable {
    /// It does, or nobody wants it to.
    case none
    /// There is no such device, or it was pulled out.
    case unplugged
    /// Another program streams from it.
    case busy
    /// We may not open it.
    case denied
    /// The USB bus has no room for it.
    case bandwidth
    /// It is there, but sends nothing that is of use.
    case stalled
    /// The machine is going to sleep.
    case asleep
    /// The session is locked or not the active one.
    case locked
    /// The user asked for privacy.
    case privacy
}
