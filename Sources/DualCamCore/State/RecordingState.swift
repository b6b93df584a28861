package import Frames

/// A picture that can be recorded. The words are those of D-Bus and of the command line.
package enum RecordedPicture: String, CaseIterable, Hashable, Sendable {
    /// The back camera's own picture.
    case back
    case front
    case stream

    /// The role of the camera whose picture it is; `nil` for the stream.
    package var role: Role? { Role(rawValue: rawValue) }
}

/// The state of the present recording.
package struct RecordingState: Hashable, Sendable {
    /// The phase of a recording.
    package enum Phase: Hashable, Sendable {
        case off
        /// Cameras are being opened.
        case starting
        case running
        /// The files are being completed.
        case ending
    }
    package var phase = Phase.off
    package var pictures: Set<RecordedPicture> = []
    package var since = Timestamp.zero
    package internal(set) var pauses = Pauses()
    /// `true` if it begins with what is there, even if a camera is missing.
    var hasStartTimedOut = false

    /// Returns the length without pauses, in whole seconds; `nil` while nothing is recorded.
    package func seconds(at time: Timestamp) -> Int? {
        phase == .running ? max(0, Int((pauses.place(of: time) - since).seconds)) : nil
    }

    package var isPaused: Bool { phase == .running && pauses.isOpen }

    /// Returns `true` if `role`'s camera has to be open for the recording.
    package func needs(_ role: Role) -> Bool {
        guard phase == .starting || phase == .running else { return false }
        return pictures.contains { $0.role == role || $0 == .stream }
    }
}

/// The error of a recording of a camera that is not there.
package struct MissingCamera: Error, Hashable {
    /// The camera; `nil` if there is none at all.
    package let role: Role?
}

extension State {
    /// Returns the pictures that a recording of those `named` has; for `nil`, of the cameras that
    /// are there, and the stream's. Throws `MissingCamera` if one named, or any, is not there.
    package func pictures(
        toRecord named: Set<RecordedPicture>?
    ) throws(MissingCamera) -> Set<RecordedPicture> {
        let present = Role.allCases.filter { cameras[$0].phase != .unavailable }
        guard !present.isEmpty else { throw MissingCamera(role: nil) }
        guard let named else {
            return Set(RecordedPicture.allCases.filter { $0.role.map(present.contains) ?? true })
        }
        let missing = Role.allCases.first { role in
            !present.contains(role) && named.contains { $0.role == role }
        }
        if let missing { throw MissingCamera(role: missing) }
        return named
    }
}
