package import Frames

/// What can be recorded. The words are those of D-Bus and of the command line.
package enum RecordedPicture: String, CaseIterable, Hashable, Sendable {
    /// The back camera's own picture.
    case back
    /// The front camera's own picture.
    case front
    /// What the stream shows.
    case stream

    /// The camera whose picture it is; `nil` for the stream.
    package var role: Role? { Role(rawValue: rawValue) }
}

/// What is known of the recording that is made now.
package struct RecordingState: Hashable, Sendable {
    /// How far it is.
    package enum Phase: Hashable, Sendable {
        /// There is none.
        case off
        /// Cameras and microphone are being opened.
        case starting
        /// It is being recorded.
        case running
        /// Its files are being ended.
        case ending
    }
    /// How far it is.
    package var phase = Phase.off
    /// What is recorded.
    package var pictures: Set<RecordedPicture> = []
    /// Whether there is sound; `nil` while that is not known.
    package var hasSound: Bool?
    /// Since when it runs.
    package var since = Timestamp.zero
    /// Whether it begins with what there is, cameras or not.
    var hasStartTimedOut = false

    /// For how many whole seconds it runs; `nil` where it does not.
    package func seconds(at time: Timestamp) -> Int? {
        phase == .running ? max(0, Int((time - since).seconds)) : nil
    }

    /// Whether `role`'s camera has to be open for it.
    package func needs(_ role: Role) -> Bool {
        guard phase == .starting || phase == .running else { return false }
        return pictures.contains { $0.role == role || $0 == .stream }
    }
}

extension State {
    /// Whether somebody looks, did until a moment ago, or records.
    package var isInUse: Bool {
        needsCameras || recording.phase == .starting || recording.phase == .running
            || cameras.back.node.needsCamera || cameras.front.node.needsCamera
    }

    /// Whether all is known that a recording waits for before it begins.
    var canRecord: Bool {
        recording.hasStartTimedOut
            || recording.hasSound != nil
                && Role.allCases.allSatisfy { role in
                    let phase = cameras[role].phase
                    let isReady =
                        phase != .opening && phase != .closed && cameras[role].full == .off
                    return !recording.needs(role) || isReady
                }
    }
}
