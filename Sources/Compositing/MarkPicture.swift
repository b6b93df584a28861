package import DualCamCore
package import Frames
import Imaging

/// The mark of a recording as drawn: a pill with a red dot, or two bars in a pause, and the time.
package struct MarkPicture: Sendable {
    // In pixels of a canvas 720 high.
    private static let (height, padding) = (38.0, 15.0)
    private static let (type, dot, gap) = (18.0, 11.0, 9.0)
    private static let red = Drawing.Color(255, 59, 48)

    private let picture: CornerPicture

    /// Draws `mark` for a canvas of this size. Looks for fonts, as `Drawing` does.
    package init(_ mark: RecordMark, canvas: Size) {
        let unit = CornerPicture.unit(of: canvas)
        let font = Drawing.Font("JetBrains Mono,Monospace", type: Self.type * unit)
        let (advance, capitals) = font.measure("0")
        let text = Double(mark.text.count) * advance
        let inner = (Self.dot + Self.gap) * unit + text
        let size = Size(
            width: Int(((inner + 2 * Self.padding * unit) / 2).rounded(.up)) * 2,
            height: Int((Self.height * unit).rounded())
        )
        let drawing = Drawing(size)
        let middle = Double(size.height) / 2
        drawing.fill(Rect(size), radius: middle, .black(0.67))
        let dot = Self.dot * unit
        let left = (Double(size.width) - inner) / 2
        let part = mark.isPaused ? 0.36 : 1
        for x in mark.isPaused ? [0, 1 - part] : [0] {
            drawing.fill(
                Rect(x: left + x * dot, y: middle - dot / 2, width: part * dot, height: dot),
                radius: mark.isPaused ? 0 : dot / 2,
                mark.isPaused ? .white() : Self.red
            )
        }
        drawing.write(
            mark.text,
            font,
            x: left + (Self.dot + Self.gap) * unit,
            y: (middle + capitals / 2).rounded(),
            .white()
        )
        picture = CornerPicture(
            drawing.finish(),
            in: mark.isRight ? .topRight : .topLeft,
            of: canvas
        )
    }

    /// Lays the mark over `output`, a canvas in rows of `stride` bytes. Does not allocate.
    package func lay(
        over output: UnsafeMutablePointer<UInt8>,
        stride: Int,
        opacity: Double
    ) {
        picture.lay(over: output, stride: stride, opacity: opacity)
    }
}
