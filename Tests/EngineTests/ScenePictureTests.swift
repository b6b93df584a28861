import DualCamCore
import Engine
import Frames
import Testing

@Suite("Pictures of whole scenes")
struct ScenePictureTests {
    static let canvas = Size(width: 1280, height: 720)

    static func state(_ layout: Layout = .pip) -> SceneState {
        var style = SceneStyle()
        style.layout = layout
        return SceneState(canvas: canvas, style: style, present: PerRole(back: true, front: true))
    }

    @Test func rest() throws {
        let back = try photograph("back", size: Self.canvas)
        let front = try photograph("front", size: Self.canvas)
        let portrait = try photograph("portrait", size: Size(width: 360, height: 640))
        let compositor = Compositor(canvas: Self.canvas)
        for layout in Layout.allCases {
            let scene = Self.state(layout).scene(at: .zero)
            try Picture(
                scene,
                canvas: Self.canvas,
                back: back,
                front: front,
                compositor: compositor
            )
            .save("rest-\(layout.rawValue)")
            try Picture(
                scene,
                canvas: Self.canvas,
                back: portrait,
                front: back,
                compositor: compositor
            )
            .save("rest-portrait-\(layout.rawValue)")
        }
        var veiled = Self.state()
        veiled.setNotice(.busy, of: .front, at: .zero)
        veiled.setNotice(.unplugged, of: .back, at: .zero)
        for step in 0...3 {
            let scene = veiled.scene(at: Timestamp(seconds: 0.1 * Double(step)))
            try Picture(
                scene,
                canvas: Self.canvas,
                back: back,
                front: front,
                compositor: compositor
            )
            .save("veil-\(step)")
        }
        for transform in Transform.all {
            var turned = Self.state()
            turned.transforms.front = transform
            try Picture(
                turned.scene(at: .zero),
                canvas: Self.canvas,
                back: back,
                front: back,
                compositor: compositor
            )
            .save("turned-\(transform.isMirrored ? "m" : "")\(transform.quarterTurns)")
        }
    }

    @Test func swap() throws {
        let back = try photograph("back", size: Self.canvas)
        let front = try photograph("front", size: Self.canvas)
        var state = Self.state()
        state.setSwapped(true, at: .zero)
        let compositor = Compositor(canvas: Self.canvas)
        for percent in [0, 10, 15, 20, 30, 40, 45, 50, 55, 60, 70, 80, 85, 90, 100] {
            let scene = state.scene(at: Timestamp(seconds: 0.3 * Double(percent) / 100))
            try Picture(
                scene,
                canvas: Self.canvas,
                back: back,
                front: front,
                compositor: compositor
            )
            .save("swap-\(percent)")
        }
    }
}
