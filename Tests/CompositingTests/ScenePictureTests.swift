import Compositing
import DualCamCore
import Frames
import Testing

@Suite("Pictures of whole scenes") struct ScenePictureTests {
    static let canvas = Size(width: 1280, height: 720)
    private let compositor = Compositor(canvas: canvas)

    private func drawn(
        _ scene: Scene,
        _ back: Frame,
        _ front: Frame
    ) -> DrawnPicture {
        DrawnPicture(scene, canvas: Self.canvas, back: back, front: front, compositor: compositor)
    }

    static func state(_ layout: Layout = .pip) -> SceneState {
        var style = SceneStyle()
        style.layout = layout
        return SceneState.both(canvas, style)
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
        let back = drawnFrame(size: canvas, isWarm: false)
        let front = drawnFrame(size: Size(width: 1280, height: 720), isWarm: true)
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
            let black = (0..<canvas.area).count { picture.bytes[2 * $0] == 16 }
            let gaps = layout == .sideBySide || layout == .stacked ? 2 : 0
            let gap = Double(canvas.height) / 720 * 10 * Double(max(canvas.width, canvas.height))
            #expect(Double(black) <= Double(gaps) * gap, "\(name): \(black)")
        }
    }

    @Test(arguments: [Layout.sideBySide, .stacked])
    func turnedAndPortraitPicturesFillTheHalvesToo(layout: Layout) throws {
        let portrait = drawnFrame(size: Size(width: 360, height: 640), isWarm: true)
        for transform in [Transform.identity, .clockwise90, Transform(mirrored: true)] {
            var state = Self.state(layout)
            state.transforms.front = transform
            let picture = drawn(
                state.scene(at: .zero),
                drawnFrame(size: Self.canvas, isWarm: false),
                portrait
            )
            let black = (0..<Self.canvas.area).count { picture.bytes[2 * $0] == 16 }
            #expect(black <= 10 * 1280, "\(transform)")
        }
    }

    /// A picture of another shape goes from a whole one to a half without a jump.
    @Test func aChangeOfLayoutIsSmoothForAPortraitPictureToo() throws {
        let portrait = drawnFrame(size: Size(width: 360, height: 640), isWarm: true)
        let back = drawnFrame(size: Self.canvas, isWarm: false)
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
            if let last {
                var sum = 0
                for index in stride(from: 0, to: picture.bytes.count, by: 62) {
                    sum += abs(Int(picture.bytes[index]) - Int(last.bytes[index]))
                }
                let mean = Double(sum) / Double(picture.bytes.count / 62)
                #expect(mean < 12, "at \(step): \(mean)")
            }
            last = picture
        }
    }
}
