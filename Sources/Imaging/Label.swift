package import Frames

/// White words on a dark pill, drawn once and laid on the canvas as often as they are shown.
package struct Label: Sendable {
    /// The family of the words, or the system's sans serif if it is missing.
    private static let family = "Inter,Sans"
    /// The opacity of the black pill. Over pure white it leaves the words a contrast of 5.7:1.
    private static let pillOpacity = 0.6

    /// The size in pixels. Its width is a multiple of 4, so the middle is the edge of a pixel pair.
    package var size: Size { overlay.size }
    /// The height of the type, in pixels.
    package let type: Double
    package let overlay: Overlay

    /// Creates a label with `text` on one line, in type of `type` pixels. Looks for fonts, as
    /// `Drawing` does.
    package init(_ text: String, type: Double) {
        let font = Drawing.Font(Self.family, type: type, weight: .medium)
        let words = font.measure(text)
        let size = Size(
            width: Int((words.width / 4 + type / 2).rounded(.up)) * 4,
            height: Int((1.17 * type).rounded()) * 2
        )
        self.type = type
        let drawing = Drawing(size)
        let radius = Double(size.height) / 2
        drawing.fill(Rect(size), radius: radius, .black(Self.pillOpacity))
        // On a whole row, with capitals in the middle: descenders have little weight.
        let baseline = (radius + words.capitals / 2).rounded()
        let left = (Double(size.width) - words.width) / 2
        drawing.write(text, font, x: left, y: baseline, .white())
        overlay = drawing.finish()
    }
}
