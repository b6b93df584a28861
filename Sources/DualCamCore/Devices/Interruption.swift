/// The reason that a camera does not deliver although it should: the one list of what can be wrong
/// with a camera. Errors of devices (`CaptureError`) and suspensions become one of these; the raw
/// values are the words of the D-Bus interface.
package enum Interruption: String, CaseIterable, Hashable, Sendable {
    /// It delivers, or is not needed.
    case none
    case unplugged
    /// It does not answer on the network.
    case unreachable
    /// There is no such device or file, and was none since the daemon started.
    case notFound = "not-found"
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
    /// Nothing is connected to its input, or what is sends no picture.
    case noSignal = "no-signal"
    /// A phone's page is in the background, or its screen is off.
    case hidden
    /// A phone has not allowed its camera.
    case refused
    /// Its pictures were stopped on the phone.
    case stopped
    /// A phone's page does not answer.
    case away
    /// The machine is going to sleep.
    case asleep
    /// The session is locked, or is not the active one.
    case locked
    case privacy
}

extension Interruption {
    /// Returns the words for the picture of the camera with this role; empty for `.none`.
    package func text(for role: Role) -> String {
        let camera = role == .back ? "Back camera" : "Front camera"
        return switch self {
        case .none: ""
        case .unplugged: "\(camera) unplugged"
        case .unreachable: "\(camera) not reachable"
        case .notFound: "\(camera) not found"
        case .busy: "In use by another program"
        case .denied: "No permission for the camera"
        case .bandwidth: "Too little USB bandwidth"
        case .stalled: "\(camera) sends no pictures"
        case .unsupported: "\(camera) sends no usable video"
        case .noSignal: "No signal"
        case .hidden: "The phone's page is in the background"
        case .refused: "The phone does not allow its camera"
        case .stopped: "Stopped on the phone"
        case .away: "The phone does not answer"
        case .asleep: "Camera asleep"
        case .locked: "Camera paused while locked"
        case .privacy: "Camera turned off"
        }
    }
}
