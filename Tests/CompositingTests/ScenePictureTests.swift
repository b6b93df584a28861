import Compositing
import DualCamCore
import Foundation
import Frames
import Testing

@Suite("Pictures of whole scenes") struct ScenePictureTests {
    static let canvas = Size(width: 1280, height: 720)
    private let compositor = Compositor(canvas: canvas)

    /// Returns what is drawn of `scene`, by one compositor.
    private func drawn(
        _ scene: Scene,
        _ back: Frame?,
        _ front: Frame?,
        labels: PerRole<NoticeLabels?> = PerRole(back: nil, front: nil)
    ) -> DrawnPicture {
        DrawnPicture(
            scene,
            canvas: Self.canvas,
            back: back,
            front: front,
            labels: labels,
            compositor: compositor
        )
    }

    static func state(_ layout: Layout = .pip) -> SceneState {
        var style = SceneStyle()
        style.layout = layout
        return SceneState.both(canvas, style)
    }

    @Test func rest() throws {
        let back = try photograph("back", size: Self.canvas)
        let front = try photograph("front", size: Self.canvas)
        let portrait = try photograph("portrait", size: Size(width: 360, height: 640))
        for layout in Layout.allCases {
            let scene = Self.state(layout).scene(at: .zero)
            try drawn(scene, back, front).save("rest-\(layout.rawValue)")
            try drawn(scene, portrait, back).save("rest-portrait-\(layout.rawValue)")
        }
        for transform in Transform.all {
            var turned = Self.state()
            turned.transforms.front = transform
            try drawn(turned.scene(at: .zero), back, back).save(
                "turned-\(transform.isMirrored ? "m" : "")\(transform.quarterTurns)"
            )
        }
    }

    /// Every layout at rest and on its way through a swap, at sizes that apps ask for.
    @Test(
        arguments: Layout.allCases,
        [
            Size(width: 640, height: 480), Size(width: 1280, height: 720),
            Size(width: 1920, height: 1080), Size(width: 720, height: 1280),
        ]
    )
    func nothingOfALayoutIsBlackButTheGapAllThroughASwap(layout: Layout, canvas: Size) throws {
        let back = try photograph("back", size: canvas)
        let front = try photograph("front", size: Size(width: 1280, height: 720))
        let compositor = Compositor(canvas: canvas)
        var style = SceneStyle()
        style.layout = layout
        var state = SceneState.both(canvas, style)
        state.setSwapped(true, at: .zero)
        for seconds in [0, 0.1, 0.15, 0.2, 0.3] {
            let picture = DrawnPicture(
                state.scene(at: Timestamp(seconds: seconds)),
                canvas: canvas,
                back: back,
                front: front,
                compositor: compositor
            )
            let name = "\(layout.rawValue)-\(canvas.width)-\(Int(seconds * 1000))"
            try picture.save("layout-\(name)")
            guard !isPhotograph else { continue }
            let black = (0..<canvas.area).count { picture.bytes[2 * $0] == 16 }
            let gaps = layout == .sideBySide || layout == .stacked ? 2 : 0
            let gap = Double(canvas.height) / 720 * 10 * Double(max(canvas.width, canvas.height))
            #expect(Double(black) <= Double(gaps) * gap, "\(name): \(black)")
        }
    }

    @Test(arguments: [Layout.sideBySide, .stacked])
    func turnedAndPortraitPicturesFillTheHalvesToo(layout: Layout) throws {
        let portrait = try photograph("portrait", size: Size(width: 360, height: 640))
        for transform in [Transform.identity, .clockwise90, Transform(mirrored: true)] {
            var state = Self.state(layout)
            state.transforms.front = transform
            let picture = drawn(
                state.scene(at: .zero),
                try photograph("back", size: Self.canvas),
                portrait
            )
            let turns = "\(transform.isMirrored ? "m" : "")\(transform.quarterTurns)"
            try picture.save("turned-\(layout.rawValue)-\(turns)")
            guard !isPhotograph else { continue }
            let black = (0..<Self.canvas.area).count { picture.bytes[2 * $0] == 16 }
            #expect(black <= 10 * 1280)
        }
    }

    /// A picture of another shape goes from a whole one to a half without a jump.
    @Test func aChangeOfLayoutIsSmoothForAPortraitPictureToo() throws {
        let portrait = try photograph("portrait", size: Size(width: 360, height: 640))
        let back = try photograph("back", size: Self.canvas)
        var state = Self.state()
        var style = state.style
        style.layout = .sideBySide
        state.setStyle(style, at: .zero)
        var last: DrawnPicture?
        for step in 0...100 {
            let picture = drawn(
                state.scene(at: Timestamp(seconds: 0.003 * Double(step))),
                portrait,
                back
            )
            if step % 25 == 0 { try picture.save("to-halves-\(step)") }
            if let last {
                var sum = 0
                for index in stride(from: 0, to: picture.bytes.count, by: 62) {
                    sum += abs(Int(picture.bytes[index]) - Int(last.bytes[index]))
                }
                let mean = Double(sum) / Double(picture.bytes.count / 62)
                #expect(mean < 12 || isPhotograph, "at \(step): \(mean)")
            }
            last = picture
        }
    }

    /// `true` if photographs are drawn, in which anything may be black.
    private var isPhotograph: Bool {
        ProcessInfo.processInfo.environment["DUALCAM_PHOTOGRAPHS"] != nil
    }

    @Test func interruption() throws {
        let back = try photograph("back", size: Self.canvas)
        let front = try photograph("front", size: Self.canvas)
        let labels = PerRole<NoticeLabels?>(
            back: NoticeLabels(Interruption.unplugged.text(for: .back), canvas: Self.canvas),
            front: NoticeLabels(Interruption.busy.text(for: .front), canvas: Self.canvas)
        )
        for roles in [[Role.back], [.front], [.back, .front]] {
            var state = Self.state()
            if roles.contains(.back) {
                state.setNotice(.interrupted(.unplugged), of: .back, at: .zero)
            }
            if roles.contains(.front) {
                state.setNotice(.interrupted(.busy), of: .front, at: .zero)
            }
            let name = "veil-" + roles.map(\.rawValue).joined(separator: "-")
            func save(_ suffix: String, seconds: Double, back: Frame?) throws {
                try drawn(state.scene(at: Timestamp(seconds: seconds)), back, front, labels: labels)
                    .save("\(name)-\(suffix)")
            }
            for step in 1...3 { try save("\(step)", seconds: 0.1 * Double(step), back: back) }
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
        for percent in [0, 10, 15, 20, 30, 40, 45, 50, 55, 60, 70, 80, 85, 90, 100] {
            let scene = state.scene(at: Timestamp(seconds: 0.3 * Double(percent) / 100))
            try drawn(scene, back, front).save("swap-\(percent)")
        }
    }
}
