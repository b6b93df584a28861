package import DualCamCore
package import Frames
import Imaging

/// The words of one notice, in all sizes of type that a canvas may need.
package struct NoticeLabels: Sendable {
    /// The sizes of type in the main picture and in an inset; then those to try where these are too
    /// wide, all on a canvas 720 high; and the smallest readable size, in pixels.
    private static let (mainType, insetType) = (22.0, 14.0)
    private static let (others, readable) = ([18.0, 12, 10], 10.0)
    /// Widths of a layer as fractions of the canvas's: up to the first it has an inset's words, at
    /// the second no words, from the last on the main picture's. No layer rests in between.
    private static let (insetWidth, noWidth, mainWidth) = (0.5, 0.65, 0.85)
    /// The least distance of a label from the layer's edge, on a canvas 720 high.
    private static let distance = 6.0

    private let canvas: Size
    private let unit: Double
    /// The labels, largest first.
    private let labels: [Label]
    /// The second line, shown below the largest label alone, if there is one.
    private let hint: Label?
    /// The distance between the two, on a canvas 720 high.
    private static let gap = 10.0

    /// Draws one or two lines of `text` for this canvas. Looks for fonts, as `Label` does.
    package init(_ text: String, canvas: Size) {
        let lines = text.split(separator: "\n", maxSplits: 1).map(String.init)
        let text = lines.first ?? ""
        self.canvas = canvas
        let unit = canvas.unit
        self.unit = unit
        let types = ([Self.mainType, Self.insetType] + Self.others)
            .map { max(Self.readable, $0 * unit) }
        labels = Set(types).sorted(by: >).map { Label(text, type: $0) }
        hint = lines.dropFirst().first.map {
            Label($0, type: max(Self.readable, Self.insetType * unit))
        }
    }

    /// Draws the words in the middle of `layer`, as opaque as its veil, into `output`: a canvas in
    /// rows of `stride` bytes. While the layer grows from an inset to the main picture, one size of
    /// type fades out before the other fades in. Does not allocate.
    package func draw(in layer: Layer, into output: UnsafeMutablePointer<UInt8>, stride: Int) {
        let room = layer.rect.inset(by: layer.distance(atLeast: Self.distance * unit))
        let width = layer.rect.width / Double(canvas.width)
        let small = index(upTo: Self.insetType, in: room)
        let large = index(upTo: Self.mainType, in: room)
        if small == large {
            draw(small, 1, in: layer, into: output, stride: stride)
        } else if width < Self.noWidth {
            let share = (Self.noWidth - width) / (Self.noWidth - Self.insetWidth)
            draw(small, min(1, share), in: layer, into: output, stride: stride)
        } else {
            let share = (width - Self.noWidth) / (Self.mainWidth - Self.noWidth)
            draw(large, min(1, share), in: layer, into: output, stride: stride)
        }
    }

    /// Returns the index of the largest label up to `type` that fits in `room`, or their number.
    private func index(upTo type: Double, in room: Rect) -> Int {
        let type = max(Self.readable, type * unit)
        return labels.firstIndex {
            $0.type <= type && Double($0.size.width) <= room.width
                && Double($0.size.height) <= room.height
        } ?? labels.count
    }

    private func draw(
        _ index: Int,
        _ share: Double,
        in layer: Layer,
        into output: UnsafeMutablePointer<UInt8>,
        stride: Int
    ) {
        guard index < labels.count else { return }
        let room = layer.rect.inset(by: layer.distance(atLeast: Self.distance * unit))
        func lay(_ label: Label, middle: Double) {
            label.overlay.lay(
                over: output,
                stride: stride,
                x: Int(((layer.rect.midX - Double(label.size.width) / 2) / 2).rounded()) * 2,
                y: Int((middle - Double(label.size.height) / 2).rounded()),
                clip: layer.rect.outwards.intersection(PixelRect(canvas)),
                opacity: layer.opacity * layer.veil * share
            )
        }
        let first = Double(labels[index].size.height)
        let second = Double(hint?.size.height ?? 0)
        guard index == 0, let hint, Double(hint.size.width) <= room.width,
            first + Self.gap * unit + second <= room.height
        else { return lay(labels[index], middle: layer.rect.midY) }
        let top = layer.rect.midY - (first + Self.gap * unit + second) / 2
        lay(labels[index], middle: top + first / 2)
        lay(hint, middle: top + first + Self.gap * unit + second / 2)
    }
}
