import DualCamCore
import Frames

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
