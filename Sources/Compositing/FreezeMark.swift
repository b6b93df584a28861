import DualCamCore
import Frames
import Imaging

/// The mark of a frozen picture: two bars on a dark disc, in the bottom left corner.
struct FreezeMark: Sendable {
    // In pixels of a canvas 720 high: the disc's diameter and its distance from the edges; the
    // bars' width, height and gap.
    private static let (diameter, distance) = (30.0, 10.0)
    private static let (bar, height, gap) = (4.0, 12.0, 4.0)
    /// On smaller canvases the disc keeps a size at which the bars can be told apart.
    private static let leastUnit = 0.5

    private let canvas: Size
    private let overlay: Overlay
    private let unit: Double

    init(canvas: Size) {
        self.canvas = canvas
        unit = max(canvas.unit, Self.leastUnit)
        let side = Int((Self.diameter * unit / 2).rounded()) * 2
        let drawing = Drawing(Size(width: side, height: side))
        let middle = Double(side) / 2
        drawing.fill(Rect(Size(width: side, height: side)), radius: middle, .black(0.55))
        let bar = max(1, (Self.bar * unit).rounded())
        let gap = max(2, (Self.gap * unit / 2).rounded() * 2)
        let height = (Self.height * unit / 2).rounded() * 2
        for left in [middle - gap / 2 - bar, middle + gap / 2] {
            drawing.fill(
                Rect(x: left, y: middle - height / 2, width: bar, height: height),
                radius: 0,
                .white(0.9)
            )
        }
        overlay = drawing.finish()
    }

    /// Draws the mark in the corner of `layer`, as opaque as the layer has it, into `output`: a
    /// canvas in rows of `stride` bytes. Does not allocate.
    func draw(in layer: Layer, into output: UnsafeMutablePointer<UInt8>, stride: Int) {
        let opacity = layer.frozenOpacity * layer.opacity * (1 - layer.veil)
        guard opacity > 0 else { return }
        let distance = layer.distance(atLeast: Self.distance * unit)
        overlay.lay(
            over: output,
            stride: stride,
            x: Int(((layer.rect.x + distance) / 2).rounded()) * 2,
            y: Int((layer.rect.maxY - distance).rounded()) - overlay.size.height,
            clip: layer.rect.outwards.intersection(PixelRect(canvas)),
            opacity: opacity
        )
    }
}
