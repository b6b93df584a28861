package import Frames

/// An action for the daemon that follows from a change of state.
package enum Effect: Hashable, Sendable {
    /// A signal of the Stream interface.
    package enum Announcement: Hashable, Sendable {
        case willStart, didStart, willStop, didStop, restoreRequested
        case failedToStart(reason: String)
    }
    /// Publishes the node, and keeps it published.
    case publishNode
    case withdrawNode
    /// Opens this role's camera, and keeps it delivering.
    case openCamera(Role)
    /// Reopens the camera if another mode suits it better now that its picture fills another place.
    case adaptCamera(Role)
    /// Closes the camera. With `keepsPicture`, its last picture stays visible, veiled.
    case closeCamera(Role, keepsPicture: Bool)
    /// Tries a camera that failed again now, since it may be back.
    case retryCamera(Role)
    /// Finds out if there is a file at this path, and sends `CamerasEvent.file`.
    case lookForFile(String)
    /// Opens the incoming lens's device, in the other pipeline.
    case openLens(Role)
    /// Closes the device in the other pipeline.
    case closeLens(Role)
    /// Closes the device of this preview, and then sends `PreviewEvent.closed`.
    case endPreview(number: Int)
    /// Sends `LensEvent.crossed` after this many seconds.
    case startCrossing(Role, seconds: Double)
    /// Sends `LensEvent.retry` after a while.
    case startLensRetry(Role)
    /// Sends `graceOver` unless a consumer takes frames within the grace period.
    case startGrace
    case endGrace
    /// The same for the consumers of this camera's own node.
    case startCameraGrace(Role), endCameraGrace(Role)
    /// Opens the microphone if sound is wanted, and sends `startTimedOut` after a while.
    case prepareRecording(sound: Bool)
    case beginRecording
    /// Leaves these times out of the recording.
    case pauseRecording(Pauses)
    /// Completes all files, and then sends `RecordingEvent.ended`.
    case endRecording
    /// Stores on the disk whether privacy is on. Sends `PrivacyEvent.stored` when that is done or
    /// has failed, and `timedOut` after `PrivacyState.timeout`.
    case storePrivacy(Bool, number: Int)
    /// Asks logind for the state of the session after this many seconds; replaces an earlier one.
    case askLogin(after: Double)
    /// Sends `outdated` after `SessionLock.memory`.
    case startLoginMemory
    case endLoginMemory
    /// Sends `SelfTimerEvent.tick` after this many seconds; replaces an earlier one.
    case startTick(after: Double)
    /// Does what the self timer was for, if it `isOver`, or tells that it will not be done.
    case endSelfTimer(isOver: Bool)
    /// Sends these commands to the controls of a camera, for the scene of this name, and
    /// `refusedLate` with those that it refuses.
    case setControls(Role, [SceneCommand], of: String)
    /// Sends `settled` after this many seconds; replaces an earlier one.
    case startSettling(Role, seconds: Double)
    case announce(Announcement)
}
