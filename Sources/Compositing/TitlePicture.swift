package import DualCamCore
package import Frames
import Imaging

/// A title as drawn: one or two lines on a dark plate in a corner.
package struct TitlePicture: Sendable {
    // In pixels of a canvas 720 high.
    private static let (nameType, secondType, gap) = (28.0, 18.0, 9.0)
    private static let (across, along, radius) = (20.0, 16.0, 12.0)
    /// The largest share of the canvas's width, and how small type becomes before words are cut.
    private static let (mostWidth, leastShare) = (0.45, 0.7)
    private static let family = "Inter,Sans"

    private let picture: CornerPicture

    /// Returns `true` if no installed font has some character of `text`.
    package static func lacksFont(for text: String) -> Bool {
        Drawing.Font(family, type: nameType).lacks(text)
    }

    /// Draws `shown` for a canvas of this size. Looks for fonts, as `Drawing` does.
    package init(_ shown: ShownTitle, canvas: Size) {
        let unit = CornerPicture.unit(of: canvas)
        let room = Self.mostWidth * Double(canvas.width) - 2 * Self.across * unit
        func fit(
            _ text: String,
            _ type: Double,
            _ weight: Drawing.Font.Weight
        )
            -> (text: String, font: Drawing.Font, width: Double)
        {
            var font = Drawing.Font(Self.family, type: type * unit, weight: weight)
            let width = font.measure(text).width
            if width > room { font.type *= max(Self.leastShare, room / width) }
            let cut = Self.cut(text, to: room) { font.measure($0).width }
            return (cut, font, font.measure(cut).width)
        }
        let name = fit(shown.title.name, Self.nameType, .semibold)
        let second =
            shown.title.second.isEmpty
            ? nil : fit(shown.title.second, Self.secondType, .regular)
        let capitals = name.font.measure("H").capitals
        let below = second.map { Self.gap * unit + $0.font.measure("H").capitals } ?? 0
        let width = max(name.width, second?.width ?? 0) + 2 * Self.across * unit
        let size = Size(
            width: Int((width / 2).rounded(.up)) * 2,
            height: Int((2 * Self.along * unit + capitals + below).rounded(.up))
        )
        let drawing = Drawing(size)
        drawing.fill(Rect(size), radius: Self.radius * unit, .black(0.45))
        let left = Self.across * unit
        let baseline = (Self.along * unit + capitals).rounded()
        drawing.write(name.text, name.font, x: left, y: baseline, .white())
        if let second {
            let y = (baseline + below).rounded()
            drawing.write(second.text, second.font, x: left, y: y, .white(0.8))
        }
        picture = CornerPicture(
            drawing.finish(),
            in: shown.corner,
            of: canvas
        )
    }

    /// Returns as much of the beginning of `text` as fits, with an ellipsis for what is left out.
    static func cut(_ text: String, to room: Double, _ measure: (String) -> Double) -> String {
        var (text, width) = (text, measure(text))
        while width > room, text.count > 1 {
            // By the mean width of a character, and at least one.
            let most = min(text.count - 2, Int(Double(text.count) * room / width))
            text = most < 1 ? "…" : text.prefix(most) + "…"
            width = measure(text)
        }
        return text
    }

    /// Lays the title over `output`, a canvas in rows of `stride` bytes. Does not allocate.
    package func lay(
        over output: UnsafeMutablePointer<UInt8>,
        stride: Int,
        opacity: Double
    ) {
        picture.lay(over: output, stride: stride, opacity: opacity)
    }
}

/// The pictures of a title and of the one that fades out; `nil` while they are not drawn.
package struct TitlePictures: Sendable {
    package var wanted: TitlePicture?
    package var former: TitlePicture?

    package init() {}

    /// Lays both over `output`, a canvas in rows of `stride` bytes. Does not allocate.
    package func lay(
        _ opacities: (wanted: Double, former: Double),
        over output: UnsafeMutablePointer<UInt8>,
        stride: Int
    ) {
        former?.lay(over: output, stride: stride, opacity: opacities.former)
        wanted?.lay(over: output, stride: stride, opacity: opacities.wanted)
    }
}
