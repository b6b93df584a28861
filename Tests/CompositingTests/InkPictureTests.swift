import Compositing
import DualCamCore
import Frames
import TestJPEGs
import Testing

@Suite("Paper in the stream") struct InkPictureTests {
    private static let canvas = Size(width: 640, height: 360)
    private static let inset = Rect(x: 448, y: 16, width: 160, height: 90)
    private static let perspective = Perspective(
        topLeft: NormalizedPoint(x: 0.2, y: 0.1),
        topRight: NormalizedPoint(x: 0.8, y: 0.15),
        bottomRight: NormalizedPoint(x: 0.95, y: 0.9),
        bottomLeft: NormalizedPoint(x: 0.05, y: 0.85)
    )

    /// A yellowish page whose light falls off by half from the left end of `bounds` to the right
    /// one, with lines of writing.
    private static func page(_ bounds: Rect) -> Frame {
        TestJPEGs.frame(size: canvas, format: .i420, color: .video) { plane, x, y in
            let width = Double(plane == 0 ? canvas.width : canvas.width / 2)
            let share = ((Double(x) + 0.5) / width - bounds.x) / bounds.width
            let light = 1 - 0.5 * min(max(share, 0), 1)
            switch plane {
            case 0:
                let isWriting = y % 24 > 18 && x % 8 < 3
                return UInt8(16 + (isWriting ? 50 : 200) * light)
            case 1: return UInt8(128 - 6 * light)
            default: return UInt8(128 + 5 * light)
            }
        }
    }

    private static let other = flatFrame(
        size: canvas,
        format: .i420,
        color: .video,
        [90, 100, 150]
    )

    private func scene(_ ink: Double, perspective: Perspective?, hasInset: Bool) -> Scene {
        var layer = Layer(role: .back, rect: Rect(Self.canvas))
        layer.fill = 1
        layer.ink = ink
        layer.source.perspective = perspective
        var scene = Scene()
        scene.append(layer)
        if hasInset {
            var inset = Layer(role: .front, rect: Self.inset)
            inset.corners = CornerRadii(8)
            inset.borderWidth = 2
            inset.borderOpacity = 0.85
            inset.shadowOpacity = 0.35
            scene.append(inset)
        }
        return scene
    }

    /// The difference between the lightest and the darkest piece of paper, as a share of the
    /// former's light; writing is the darker half of each piece, and no piece is near the inset.
    private func unevenness(_ picture: DrawnPicture, hasInset: Bool) -> Double {
        var pieces: [Double] = []
        for top in stride(from: 0, to: 360, by: 40) {
            for left in stride(from: 0, to: 640, by: 40) {
                if hasInset, left >= 400, top < 160 { continue }
                var lumas: [UInt8] = []
                for y in top..<top + 40 {
                    for x in left..<left + 40 { lumas.append(picture.pixel(x, y).y) }
                }
                let paper = lumas.sorted().suffix(lumas.count / 2)
                pieces.append(paper.reduce(0) { $0 + Double($1) - 16 } / Double(paper.count))
            }
        }
        let (least, most) = (pieces.min() ?? 0, pieces.max() ?? 0)
        return (most - least) / most
    }

    @Test(
        "is even within 5 % where the light falls off by half",
        arguments: [false, true],
        [false, true]
    )
    func evenness(isStraightened: Bool, hasInset: Bool) {
        let perspective = isStraightened ? Self.perspective : nil
        let page = Self.page(perspective?.bounds ?? .unit)
        func picture(_ ink: Double, _ compositor: Compositor? = nil) -> DrawnPicture {
            DrawnPicture(
                scene(ink, perspective: perspective, hasInset: hasInset),
                canvas: Self.canvas,
                back: page,
                front: Self.other,
                compositor: compositor
            )
        }
        let plain = picture(0)
        let compositor = Compositor(canvas: Self.canvas)
        let graded = picture(1, compositor)
        #expect(unevenness(plain, hasInset: hasInset) > 0.3)
        let spread = unevenness(graded, hasInset: hasInset)
        #expect(spread < 0.05, "\(spread)")
        // White, without the tint; and ink is dark.
        let paper = graded.pixel(60, 180)
        #expect(abs(Int(paper.u) - 128) < 4 && abs(Int(paper.v) - 128) < 4, "\(paper)")
        let lumas = (150..<190).flatMap { y in (40..<80).map { graded.pixel($0, y).y } }
        #expect((lumas.min() ?? 255) < 90 && (lumas.max() ?? 0) > 215)
        if hasInset {
            for (x, y) in [(470, 40), (520, 60), (600, 100)] {
                #expect(graded.pixel(x, y) == plain.pixel(x, y), "the inset is no paper")
            }
        }
        // Off again, nothing of it is left.
        #expect(picture(0, compositor).bytes == plain.bytes)
    }
}
