package import Frames

/// A request, or a report of what happened. Each subject's events and changes have a file.
package enum Event: Hashable, Sendable {
    case stream(StreamEvent)
    case scene(SceneEvent)
    case cameras(CamerasEvent)
    case camera(Role, CameraEvent)
    case lens(Role, LensEvent)
    case controls(Role, ControlsEvent)
    case pro(ProEvent)
    /// About the node that offers the camera of a role alone; `nil`: about the stream's node.
    case node(Role?, NodeEvent)
    case photographs(PhotographEvent)
    case recording(RecordingEvent)
    case selfTimer(SelfTimerEvent)
    case orientation(OrientationEvent)
    /// Sets what commands may set: `Event.set(\.cameras.back.mirror, true)`.
    case change(SettingsChange)
    /// About the user's session, and the sleep of the machine.
    case session(SessionEvent)
    case privacy(PrivacyEvent)
    /// About previews of cameras.
    case preview(PreviewEvent)
    case phone(PhoneEvent)
    case scenes(ScenesEvent)
    /// The configured values of all that commands change, anew.
    case configured(Settings)
    /// The copy of the stream on a loopback device is another one, or has other readers.
    case loopback(LoopbackState)
    /// Goes back to the configuration.
    case reset
    /// The reading of what the last run stored, with its problems, one sentence each, and the
    /// roles whose rooms it hid: no room may be seen because that was lost.
    case stored(problems: [String], hiddenRooms: Set<Role> = [])
}

/// An event of the stream as a whole.
package enum StreamEvent: Hashable, Sendable {
    case start
    case stop
    /// Withdraws the stream and asks the user's own window to come back.
    case restore
    /// Changes the size or the rate of the stream, which needs a new node.
    case setOutput(Size)
}

/// An event of the composition.
package enum SceneEvent: Hashable, Sendable {
    case swap(instantly: Bool)
    /// Makes front the main picture, or back.
    case setSwapped(Bool, instantly: Bool)
    case reset(SceneStyle, instantly: Bool)
    /// The picture in this file can be shown while the cameras are off.
    case awayRead(String)
}
