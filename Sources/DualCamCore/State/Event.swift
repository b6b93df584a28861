package import Frames

/// A request, or a report of what happened. The events of each subject, and what they change, are
/// in a file of the subject's own.
package enum Event: Hashable, Sendable {
    /// About the stream as a whole.
    case stream(StreamEvent)
    /// About the composition.
    case scene(SceneEvent)
    /// About the camera of a role.
    case camera(Role, CameraEvent)
    /// About the lenses of a role's camera.
    case lens(Role, LensEvent)
    /// About the controls of a role's camera.
    case controls(Role, ControlsEvent)
    /// About Pro mode.
    case pro(ProEvent)
    /// About the node that offers the camera of a role alone; `nil`: about the stream's node.
    case node(Role?, NodeEvent)
    /// About photographs.
    case photographs(PhotographEvent)
    /// About a recording.
    case recording(RecordingEvent)
    /// About the orientation of the device.
    case orientation(OrientationEvent)
    /// About the user's session, and the sleep of the machine.
    case session(SessionEvent)
    /// About privacy.
    case privacy(PrivacyEvent)
    /// About previews of cameras that no role uses.
    case preview(PreviewEvent)
    /// About saved scenes, and the title.
    case scenes(ScenesEvent)
    /// The configured values of all that commands change, anew.
    case configured(ConfiguredSettings)
    /// The copy of the stream on a loopback device is another one, or has other readers.
    case loopback(LoopbackState)
    /// Goes back to the configuration.
    case reset
    /// The reading of what the last run stored, with its problems, one sentence each.
    case stored(problems: [String])
}

/// An event of the stream as a whole.
package enum StreamEvent: Hashable, Sendable {
    /// Publishes the stream.
    case start
    /// Withdraws the stream.
    case stop
    /// Withdraws the stream and asks the user's own window to come back.
    case restore
    /// Changes the size or the rate of the stream, which needs a new node.
    case setOutput(Size)
}

/// An event of the composition.
package enum SceneEvent: Hashable, Sendable {
    /// Swaps the main picture and the other one.
    case swap(instantly: Bool)
    /// Makes front the main picture, or back.
    case setSwapped(Bool, instantly: Bool)
    /// Returns to the scene of the start.
    case reset(SceneStyle, instantly: Bool)
    /// Changes the look.
    case setStyle(SceneStyle)
}
