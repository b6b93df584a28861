import Frames

/// An event of a recording.
package enum RecordingEvent: Hashable, Sendable {
    /// Starts to record these pictures, with sound or without. Sound joins when it comes.
    case start(Set<RecordedPicture>, sound: Bool)
    case stop
    /// Pauses the recording, or goes on.
    case pause(Bool)
    /// The recording has waited long enough for cameras.
    case startTimedOut
    /// Another second was recorded.
    case tick
    /// All files of the recording are complete.
    case ended
}

extension State {
    mutating func handle(_ event: RecordingEvent, at time: Timestamp) -> [Effect] {
        switch event {
        case .start(let pictures, let sound):
            precondition(recording.phase == .off && !pictures.isEmpty)
            if !needsCameras { neededSince = time }
            recording = RecordingState()
            recording.phase = .starting
            recording.pictures = pictures
            return [.prepareRecording(sound: sound)]
        case .stop:
            guard recording.phase == .starting || recording.phase == .running else { break }
            recording.phase = .ending
            return [.endRecording]
        case .pause(let isOn):
            guard recording.phase == .running, isOn != recording.pauses.isOpen else { break }
            recording.pauses.turn(on: isOn, at: time)
            return [.pauseRecording(recording.pauses)]
        case .startTimedOut:
            guard recording.phase == .starting else { break }
            recording.hasStartTimedOut = true
        case .tick: break  // The HUD follows every event.
        case .ended: recording = RecordingState()
        }
        return []
    }

    /// Begins to record once everything is known that the recording waits for.
    mutating func beginRecording(at time: Timestamp) -> [Effect] {
        guard recording.phase == .starting, canRecord else { return [] }
        recording.phase = .running
        recording.since = time
        return [.beginRecording]
    }

    /// `true` while a consumer takes frames and for a while after, in a recording or a photograph,
    /// and before either, so that the cameras have found their exposure, and while a preview shows
    /// the camera of a role.
    package var isInUse: Bool {
        needsCameras || !photographed.isEmpty
            || recording.phase == .starting || recording.phase == .running || selfTimer != nil
            || Role.allCases.contains { cameras[$0].node.needsCamera || isPreviewed($0) }
    }

    /// `true` once everything is known that a recording waits for.
    var canRecord: Bool {
        recording.hasStartTimedOut
            || Role.allCases.allSatisfy { role in
                let phase = cameras[role].phase
                let isReady =
                    phase != .opening && phase != .closed && cameras[role].full == .off
                return !recording.needs(role) || isReady
            }
    }
}
