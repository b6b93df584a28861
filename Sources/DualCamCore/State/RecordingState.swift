package import Frames

/// A picture that can be recorded. The words are those of D-Bus and of the command line.
package enum RecordedPicture: String, CaseIterable, Hashable, Sendable {
    /// The back camera's own picture.
    case back
    /// The front camera's own picture.
    case front
    /// The picture of the stream.
    case stream

    /// The role of the camera whose picture it is; `nil` for the stream.
    package var role: Role? { Role(rawValue: rawValue) }
}

/// The state of the present recording.
package struct RecordingState: Hashable, Sendable {
    /// The phase of a recording.
    package enum Phase: Hashable, Sendable {
        /// No recording.
        case off
        /// Cameras and microphone are being opened.
        case starting
        /// Recording.
        case running
        /// The files are being completed.
        case ending
    }
    /// The phase of the recording.
    package var phase = Phase.off
    /// The pictures being recorded.
    package var pictures: Set<RecordedPicture> = []
    /// `true` if there is sound; `nil` while that is unknown.
    package var hasSound: Bool?
    /// The time at which recording began.
    package var since = Timestamp.zero
    /// `true` if it begins with what is there, even if a camera is missing.
    var hasStartTimedOut = false

    /// Returns the length in whole seconds; `nil` while nothing is recorded.
    package func seconds(at time: Timestamp) -> Int? {
        phase == .running ? max(0, Int((time - since).seconds)) : nil
    }

    /// Returns `true` if `role`'s camera has to be open for the recording.
    package func needs(_ role: Role) -> Bool {
        guard phase == .starting || phase == .running else { return false }
        return pictures.contains { $0.role == role || $0 == .stream }
    }
}
