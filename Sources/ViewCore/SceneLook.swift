package import DualCamCore
import Frames

/// The look of a scene, as far as a small picture shows it.
package struct SceneLook: Hashable, Sendable {
    package var settings = Settings()
    /// `true` if the cameras are off.
    package var isPrivate = false

    package init() {}

    package var main: Role { settings.isSwapped ? .front : .back }

    /// Returns the look after a scene with these `values` was chosen; what they do not name stays,
    /// but for privacy and the title.
    package func applying(_ values: [String: Plain]) -> SceneLook {
        var look = self
        look.settings.title = nil
        for row in Settings.scenes {
            // Values of a later version have no effect.
            if let value = values[row.key] { try? row.read(value, &look.settings) }
        }
        look.isPrivate = values["privacy"]?.bool ?? false
        return look
    }

    /// Returns the places of the pictures in a stream of this shape.
    package func areas(aspect: Double) -> PictureAreas {
        let canvas = Size(width: Int(720 * aspect), height: 720)
        let both = PerRole(back: true, front: true)
        let scene = SceneState(canvas: canvas, style: settings.scene.style, present: both)
        let parts = scene.restingParts
        let other = parts.other.width > 0 ? parts.other : nil
        return PictureAreas(main: parts.main, other: other, room: parts.insetRoom)
    }
}
