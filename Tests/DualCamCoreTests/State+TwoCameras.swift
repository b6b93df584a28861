import Frames

@testable import DualCamCore

extension State {
    /// Returns the state before anything has started, with a camera per role that was not found
    /// yet.
    static func withTwoCameras(
        on canvas: Size = Size(width: 1280, height: 720),
        mirrored: PerRole<Bool> = PerRole(back: false, front: true)
    ) -> State {
        State(
            canvas: canvas,
            style: SceneStyle(),
            cameras: PerRole(
                back: CameraState(source: .auto, mirror: mirrored.back, rotation: 0),
                front: CameraState(source: .auto, mirror: mirrored.front, rotation: 0)
            )
        )
    }
}

extension Event {
    /// The event that begins or ends the suspension `why`, and has no further effect.
    static func suspension(_ why: Suspension, _ isOn: Bool) -> Event {
        switch why {
        case .privacy: .privacy(isOn ? .reading : .read(false))
        case .locked: .session(.covered(isOn))
        case .asleep: .session(.sleeping(isOn))
        }
    }
}
