import Compositing
import DualCamCore
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
            try DrawnPicture(
                scene,
                canvas: Self.canvas,
                back: back,
                front: front,
                compositor: compositor
            )
            .save("rest-\(layout.rawValue)")
            try DrawnPicture(
                scene,
                canvas: Self.canvas,
                back: portrait,
                front: back,
                compositor: compositor
            )
            .save("rest-portrait-\(layout.rawValue)")
        }
        for transform in Transform.all {
            var turned = Self.state()
            turned.transforms.front = transform
            try DrawnPicture(
                turned.scene(at: .zero),
                canvas: Self.canvas,
                back: back,
                front: back,
                compositor: compositor
            )
            .save("turned-\(transform.isMirrored ? "m" : "")\(transform.quarterTurns)")
        }
    }

    @Test func interruption() throws {
        let back = try photograph("back", size: Self.canvas)
        let front = try photograph("front", size: Self.canvas)
        let labels = PerRole<NoticeLabels?>(
            back: NoticeLabels(Notice.unplugged.text(for: .back), canvas: Self.canvas),
            front: NoticeLabels(Notice.busy.text(for: .front), canvas: Self.canvas)
        )
        let compositor = Compositor(canvas: Self.canvas)
        for roles in [[Role.back], [.front], [.back, .front]] {
            var state = Self.state()
            if roles.contains(.back) { state.setNotice(.unplugged, of: .back, at: .zero) }
            if roles.contains(.front) { state.setNotice(.busy, of: .front, at: .zero) }
            let name = "veil-" + roles.map(\.rawValue).joined(separator: "-")
            func save(_ suffix: String, seconds: Double, back: Frame?) throws {
                try DrawnPicture(
                    state.scene(at: Timestamp(seconds: seconds)),
                    canvas: Self.canvas,
                    back: back,
                    front: front,
                    labels: labels,
                    compositor: compositor
                )
                .save("\(name)-\(suffix)")
            }
            for step in 1...3 {
                try save("\(step)", seconds: 0.1 * Double(step), back: back)
            }
            try save("without", seconds: 1, back: nil)
            state.setSwapped(true, at: Timestamp(seconds: 1))
            for percent in [45, 50, 55, 60, 70, 85, 100] {
                try save("swap-\(percent)", seconds: 1 + 0.003 * Double(percent), back: back)
            }
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
            try DrawnPicture(
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
