package import Frames

/// A request, or a report of what happened.
package enum Event: Hashable, Sendable {
    // Requests.
    /// Publishes the stream.
    case start
    /// Withdraws the stream.
    case stop
    /// Withdraws the stream and asks the user's own window to come back.
    case restore
    /// Swaps the main picture and the other one.
    case swap(instantly: Bool)
    /// Makes front the main picture, or back.
    case setSwapped(Bool, instantly: Bool)
    /// Returns to the scene of the start.
    case resetScene(SceneStyle, instantly: Bool)
    /// Changes the look.
    case setStyle(SceneStyle)
    /// Shows a camera mirrored, or not.
    case setMirror(Role, Bool)
    /// Sets the rotation of a mounted camera: 0, 90, 180 or 270 degrees clockwise.
    case setRotation(Role, Int)

    /// Zooms to a magnification within the role's range, over `duration` seconds. `middle` is the
    /// point of the lens's picture to show in the middle; `nil` keeps the present one.
    case setZoom(Role, Double, middle: NormalizedPoint?, duration: Double)

    /// Turns Pro mode on or off.
    case setPro(Bool)
    /// Selects the dial in use.
    case setDial(Dial)
    /// Sets when the HUD is shown.
    case setHud(HudMode)
    /// Sets the user's settings for a camera's controls, and its f-number.
    case setControls(Role, ControlSettings, aperture: Double)

    /// Keeps these cameras open for photographs, `full` of them in their largest mode; replaces the
    /// cameras of the request before.
    case photograph(Set<Role>, full: Set<Role> = [])
    /// Turns the short movies beside photographs on or off.
    case setLivePhoto(Bool)
    /// Sets the orientation whatever the sensor reports; `nil`: uses the sensor's.
    case setOrientation(DeviceOrientation?)
    /// Begins or ends a suspension, which keeps cameras closed.
    case suspend(Suspension, Bool)
    /// Changes the source of a role's pictures.
    case setSource(Role, SourceSpecification)
    /// Changes the size or the rate of the stream, which needs a new node.
    case setOutput(Size)

    /// Starts to record these pictures, with sound or without.
    case startRecording(Set<RecordedPicture>, sound: Bool)
    /// Ends the recording.
    case stopRecording

    // Reports.
    /// An orientation sensor appeared, or there is none.
    case sensorFound(Bool)
    /// The sensor reported which edge is up.
    case orientationSensed(DeviceOrientation)
    /// The microphone for the recording is open, or there is none.
    case microphone(Bool)
    /// A recording has waited long enough for cameras or sound.
    case recordingStartTimedOut
    /// Another second was recorded.
    case recordingTick
    /// All files of the recording are complete.
    case recordingEnded
    /// A camera of this name was found for the role; `nil`: there is none.
    case cameraAssigned(Role, name: String?)
    /// The identity of the role's camera from now on.
    case cameraIdentified(Role, String)
    /// The current controls of the device of this identity.
    case controlsRead(Role, identity: String, CameraControls)
    /// A dial of a camera was turned; `limit` is the end that it ran into.
    case dialTurned(Role, Dial, limit: Bound?)
    /// The role's camera was found at another place, or is gone from its place.
    case cameraMoved(Role)
    /// The lenses of the role's camera.
    case lensesFound(Role, [Lens])
    /// The incoming lens's device delivers this mode, for want of room on the bus in place of
    /// `insteadOf`.
    case lensStreaming(Role, CaptureMode, insteadOf: CaptureMode?)
    /// The incoming lens's pictures are steady, and their exposure has settled.
    case lensReady(Role)
    /// The incoming lens's pictures have replaced those before.
    case lensCrossed(Role)
    /// The incoming lens's device does not deliver.
    case lensInterrupted(Role, Interruption)
    /// The device in the pipeline that is not shown was closed.
    case lensClosed(Role)
    /// The mean luma of the picture shown.
    case lensLight(Role, Double)
    /// Devices that failed may be tried again.
    case lensRetry(Role)
    /// The reason that a role's source cannot be used; empty if it can.
    case cameraProblem(Role, String)
    /// A camera is being opened.
    case cameraOpening(Role)
    /// A camera is open and delivers this mode, for want of room on the bus in place of
    /// `insteadOf`.
    case cameraStreaming(Role, CaptureMode, insteadOf: CaptureMode?)
    /// An open camera delivers its largest mode, or its usual one, as requested.
    case cameraAdapted(Role, isFull: Bool)
    /// A camera that should deliver does not; `reason` is the system's message.
    case cameraInterrupted(Role, Interruption, reason: String)
    /// A camera was closed because it is not needed.
    case cameraClosed(Role)
    /// The node was published.
    case nodePublished(id: UInt32)
    /// The node is missing although it should exist, for this reason.
    case nodeLost(reason: String)
    /// The node was withdrawn as requested.
    case nodeWithdrawn
    /// The first consumer began to take frames, or the last one stopped.
    case consumed(Bool)
    /// The number of linked consumers.
    case consumers(Int)
    /// No consumer took frames during the grace period.
    case graceOver
    /// An event of a camera's own node.
    case cameraNode(Role, CameraNodeEvent)
}

/// An action for the daemon that follows from a change of state.
package enum Effect: Hashable, Sendable {
    /// A signal of the Stream interface.
    package enum Announcement: Hashable, Sendable {
        case willStart, didStart, willStop, didStop, restoreRequested
        case failedToStart(reason: String)
    }
    /// Publishes the node, and keeps it published.
    case publishNode
    /// Withdraws the node.
    case withdrawNode
    /// Opens this role's camera, and keeps it delivering.
    case openCamera(Role)
    /// Reopens the camera if another mode suits it better now that its picture fills another place.
    case adaptCamera(Role)
    /// Closes the camera. With `keepsPicture`, its last picture stays visible, veiled.
    case closeCamera(Role, keepsPicture: Bool)
    /// Opens the incoming lens's device, in the other pipeline.
    case openLens(Role)
    /// Closes the device in the other pipeline.
    case closeLens(Role)
    /// Sends `lensCrossed` after this many seconds.
    case startCrossing(Role, seconds: Double)
    /// Sends `lensRetry` after a while.
    case startLensRetry(Role)
    /// Sends `graceOver` unless a consumer takes frames within the grace period.
    case startGrace
    /// Cancels `startGrace`.
    case endGrace
    /// The same for the consumers of this camera's own node.
    case startCameraGrace(Role), endCameraGrace(Role)
    /// Opens the microphone if sound is wanted, and sends `recordingStartTimedOut` in time.
    case prepareRecording(sound: Bool)
    /// Begins to record.
    case beginRecording
    /// Completes all files, and then sends `recordingEnded`.
    case endRecording
    /// Emits a signal on D-Bus.
    case announce(Announcement)
}
