import DualCamCore
import Engine
import Frames
import Testing

@Suite("The compositor")
struct CompositorTests {
    static let canvas = Size(width: 64, height: 48)

    @Test func aFlatPictureFillsTheCanvasInTheStreamsRange() {
        var scene = Scene()
        scene.append(Layer(role: .back, rect: Rect(Self.canvas)))
        let back = flatFrame(size: Size(width: 32, height: 24), format: .i420, [255, 128, 128])
        let picture = Picture(scene, canvas: Self.canvas, back: back)
        for y in 0..<48 {
            for x in 0..<64 { #expect(picture.pixel(x, y) == Pixel(y: 235, u: 128, v: 128)) }
        }
    }
}
