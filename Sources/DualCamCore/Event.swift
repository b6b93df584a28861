package import Frames

/// Something that was asked for, or that happened.
package enum Event: Hashable, Sendable {
    // Asked for.
    /// Publish the stream.
    case start
    /// Withdraw it.
    case stop
    /// Withdraw it and ask the user's own window to come back.
    case restore
    /// The other picture is main now.
    case swap(instantly: Bool)
    /// Front is main, or not.
    case setSwapped(Bool, instantly: Bool)
    /// Back to the scene of the start.
    case resetScene(SceneStyle, instantly: Bool)
    /// A new look.
    case setStyle(SceneStyle)
    /// Show a camera mirrored or not.
    case setMirror(Role, Bool)
    /// A camera is mounted turned by 0, 90, 180 or 270 degrees clockwise.
    case setRotation(Role, Int)

    /// Magnify, within its range, with `middle` of its lens's picture in the middle where that is to be another
    /// place than before, within so many seconds.
    case setZoom(Role, Double, middle: NormalizedPoint?, duration: Double)

    /// Pro mode is on, or not.
    case setPro(Bool)
    /// This dial is in use.
    case setDial(Dial)
    /// When the HUD is shown.
    case setHud(HudMode)
    /// What the user has set of a camera's controls, and its f-number.
    case setControls(Role, ControlSettings, aperture: Double)

    /// Have these cameras open, and no others, for photographs; `full` of them in their largest mode.
    case photograph(Set<Role>, full: Set<Role> = [])
    /// Photographs have a short movie beside them, or not.
    case setLivePhoto(Bool)
    /// That edge of the device is up, whatever the sensor tells; nil: what it tells.
    case setOrientation(DeviceOrientation?)
    /// Keep cameras closed for a reason, or no longer.
    case suspend(Suspension, Bool)
    /// A role's pictures come from elsewhere.
    case setSource(Role, SourceSpecification)
    /// The stream has another size or rate: there is a new node to publish.
    case setOutput(Size)

    /// Record these pictures, with sound or without.
    case startRecording(Set<RecordedPicture>, sound: Bool)
    /// Record no longer.
    case stopRecording

    // Happened.
    /// There is a sensor for how the device is held, or there is none.
    case sensorFound(Bool)
    /// It tells which edge is up.
    case orientationSensed(DeviceOrientation)
    /// There is a microphone for the recording, or none.
    case microphone(Bool)
    /// A recording that waits for cameras or sound has waited long enough.
    case recordingStartTimedOut
    /// Another second was recorded.
    case recordingTick
    /// All files of the recording are done.
    case recordingEnded
    /// A camera was found for the role (its name), or there is none.
    case cameraAssigned(Role, name: String?)
    /// The role's camera is the one of this identity from now on.
    case cameraIdentified(Role, String)
    /// A camera's controls, as they are now.
    case controlsRead(Role, identity: String, CameraControls)
    /// A dial of a camera was turned, or tried to be beyond its end.
    case dialTurned(Role, Dial, limit: Bound?)
    /// The role's camera is found elsewhere than before, or no more where it was.
    case cameraMoved(Role)
    /// The role's camera has these lenses.
    case lensesFound(Role, [Lens])
    /// The device that is to be shown next delivers.
    case lensStreaming(Role, CaptureMode, insteadOf: CaptureMode?)
    /// Its pictures are steady, and exposed as they are going to be.
    case lensReady(Role)
    /// Its pictures have taken the place of those before.
    case lensCrossed(Role)
    /// It does not deliver.
    case lensInterrupted(Role, Interruption)
    /// The other device than the one that is shown was closed.
    case lensClosed(Role)
    /// The mean luma of the picture that is shown.
    case lensLight(Role, Double)
    /// Devices that failed may be tried again.
    case lensRetry(Role)
    /// A role's source cannot be used, and why; empty: it can.
    case cameraProblem(Role, String)
    /// A camera is being opened.
    case cameraOpening(Role)
    /// A camera is open and delivers in a mode, maybe one that is easier on the bus than another.
    case cameraStreaming(Role, CaptureMode, insteadOf: CaptureMode?)
    /// A camera that is open delivers what is wanted of it, its largest mode or not.
    case cameraAdapted(Role, isFull: Bool)
    /// A camera that should deliver does not, and what the system said.
    case cameraInterrupted(Role, Interruption, reason: String)
    /// A camera was closed because nobody needs it.
    case cameraClosed(Role)
    /// The node is there.
    case nodePublished(id: UInt32)
    /// There is no node though there should be one, and why.
    case nodeLost(reason: String)
    /// The node was taken away as asked.
    case nodeWithdrawn
    /// Consumers take frames, or none does any more.
    case consumed(Bool)
    /// So many consumers are linked.
    case consumers(Int)
    /// Nobody looked for as long as cameras are kept open.
    case graceOver
    /// What became of a camera's own node.
    case cameraNode(Role, CameraNodeEvent)
}

/// What the daemon is to do because of a change of state.
package enum Effect: Hashable, Sendable {
    /// A signal of the Stream interface.
    package enum Announcement: Hashable, Sendable {
        case willStart, didStart, willStop, didStop, restoreRequested
        case failedToStart(reason: String)
    }
    /// Put the node there, and see that it stays.
    case publishNode
    /// Take the node away.
    case withdrawNode
    /// Open this role's camera, and see that it delivers.
    case openCamera(Role)
    /// Open it anew if it would deliver something else than it does, now that its picture has
    /// another place to fill.
    case adaptCamera(Role)
    /// Close it. Its last picture stays in sight, veiled, when `keepsPicture`.
    case closeCamera(Role, keepsPicture: Bool)
    /// Open the device that is to be shown next, in the other pipeline.
    case openLens(Role)
    /// Close what the other pipeline has.
    case closeLens(Role)
    /// Send `lensCrossed` after so many seconds.
    case startCrossing(Role, seconds: Double)
    /// Send `lensRetry` after a while.
    case startLensRetry(Role)
    /// Send `graceOver` when nobody looks for a while.
    case startGrace
    /// Do not.
    case endGrace
    /// The same for who looks at this camera alone.
    case startCameraGrace(Role), endCameraGrace(Role)
    /// Open the microphone, where sound is wanted, and send `recordingStartTimedOut` in time.
    case prepareRecording(sound: Bool)
    /// Record from now on.
    case beginRecording
    /// End all files up to now, and send `recordingEnded`.
    case endRecording
    /// Signal on D-Bus.
    case announce(Announcement)
}
