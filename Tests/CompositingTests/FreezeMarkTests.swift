import Compositing
import DualCamCore
import Frames
import TestJPEGs
import Testing

@Suite("The mark of a frozen picture") struct FreezeMarkTests {
    private static let canvas = Size(width: 1280, height: 720)
    private static let gray = flatFrame(
        size: canvas,
        format: .i420,
        color: .video,
        [150, 128, 128]
    )

    private func picture(_ opacity: Double, veil: Double = 0) -> DrawnPicture {
        var layer = Layer(role: .back, rect: Rect(Self.canvas))
        layer.frozenOpacity = opacity
        layer.veil = veil
        var scene = Scene()
        scene.append(layer)
        return DrawnPicture(scene, canvas: Self.canvas, back: Self.gray)
    }

    @Test func `is in the bottom left corner, small, and nothing else changes`() {
        let (without, with) = (picture(0), picture(1))
        let changed = (0..<Self.canvas.area).filter { with.bytes[2 * $0] != without.bytes[2 * $0] }
        let columns = changed.map { $0 % Self.canvas.width }
        let rows = changed.map { $0 / Self.canvas.width }
        #expect(columns.min() == 10 && (38...40).contains(columns.max() ?? 0))
        #expect(rows.max() == 709 && (679...681).contains(rows.min() ?? 0))
        // Two light bars on a dark disc.
        let middle = (14..<38).map { with.pixel($0, 695).y }
        #expect(middle.contains { $0 > 200 } && middle.contains { $0 < 90 })
    }

    @Test func `fades, and gives way to the reason that a camera has stopped`() {
        let (half, whole) = (picture(0.5), picture(1))
        #expect(half.pixel(14, 695).y > whole.pixel(14, 695).y)
        #expect(picture(1, veil: 1).bytes == picture(0, veil: 1).bytes)
    }
}
