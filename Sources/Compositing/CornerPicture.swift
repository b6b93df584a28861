import DualCamCore
import Frames
import Imaging

/// A drawing in a corner of the canvas, such as a title or the mark of a recording.
struct CornerPicture: Sendable {
    /// The distance from the edges, in pixels of a canvas 720 high.
    private static let distance = 26.0
    private static let leastUnit = 0.8

    private let canvas: Size
    private let overlay: Overlay
    private let x: Int
    private let y: Int

    /// The pixels of `canvas` for one of a canvas 720 high; less where the canvas is narrow.
    static func unit(of canvas: Size) -> Double {
        min(max(canvas.unit, leastUnit), Double(canvas.width) / 480)
    }

    init(_ overlay: Overlay, in corner: Corner, of canvas: Size) {
        self.canvas = canvas
        self.overlay = overlay
        let distance = Int((Self.distance * Double(canvas.height) / 1440).rounded()) * 2
        let isLeft = corner == .topLeft || corner == .bottomLeft
        let isTop = corner == .topLeft || corner == .topRight
        x = isLeft ? distance : canvas.width - distance - overlay.size.width
        y = isTop ? distance : canvas.height - distance - overlay.size.height
    }

    /// Lays it over `output`, a canvas in rows of `stride` bytes. Does not allocate.
    func lay(over output: UnsafeMutablePointer<UInt8>, stride: Int, opacity: Double) {
        overlay.lay(
            over: output,
            stride: stride,
            x: x,
            y: y,
            clip: PixelRect(canvas),
            opacity: opacity
        )
    }
}
