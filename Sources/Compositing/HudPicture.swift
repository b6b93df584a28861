package import DualCamCore
package import Frames
import Imaging

/// The HUD as drawn: a pill with the values, and over it a dial that slides under its needle.
package struct HudPicture: Sendable {
    // In pixels of a canvas 720 high.
    private static let (pillHeight, pillMiddle, pillPadding) = (40.0, 30.0, 24.0)
    private static let (dialWidth, dialHeight, dialRadius, dialGap) = (620.0, 78.0, 18.0, 10.0)
    /// The range of the distance between full stops, and the width over which the ends fade.
    private static let (stops, endFade) = (46.0...92, 56.0)
    /// The middles of the labels and of the caption, from the top of the dial.
    private static let (labelMiddle, captionMiddle) = (43.0, 63.0)
    private static let (valueType, labelType, currentType, nameType) = (20.0, 15.0, 18.0, 16.0)
    private static let bump = 7.0
    /// The size of a lens's disc, and the distance to the next; the height of the pill around them,
    /// and its gap to what is below.
    private static let (lensDisc, lensStep, lensHeight, lensGap) = (34.0, 42.0, 46.0, 7.0)
    private static let (lensType, lensRing) = (13.0, 2.0)
    /// The least unit, where 1 is that of a canvas 720 high: type gets no smaller.
    private static let leastUnit = 0.8
    /// The opacity of the black surfaces: over pure white it leaves amber a contrast of 4.8:1, and
    /// white more.
    private static let darkness = 0.67

    private static let amber = Drawing.Color(255, 204, 64)
    private static let red = Drawing.Color(255, 89, 77)
    private static let mono = "JetBrains Mono,Monospace"
    private static let sans = "Inter,Sans"

    /// A drawing and its place on the canvas.
    private struct Element: Sendable {
        var overlay = Overlay()
        var x = 0
        var y = 0

        func lay(
            over output: UnsafeMutablePointer<UInt8>,
            stride: Int,
            clip: PixelRect,
            opacity: Double
        ) {
            overlay.lay(over: output, stride: stride, x: x, y: y, clip: clip, opacity: opacity)
        }
    }

    /// The room for the HUD beside the inset: at the foot of the canvas, or over the inset.
    private struct Room {
        /// The middle and the width, in pixels.
        var middle: Double
        var width: Double
        var foot: Double

        /// Finds the room for a pill of `width`: centred while that is wide enough, else centred in
        /// the space beside the inset, and over the inset if neither is wide enough.
        init(beside inset: Rect?, canvas: Size, for width: Double, unit: Double) {
            let whole = Double(canvas.width)
            middle = whole / 2
            self.width = whole * 0.94
            foot = Double(canvas.height)
            guard let inset else { return }
            let gap = HudPicture.dialGap * unit
            let isLeft = inset.x + inset.width / 2 < middle
            let left = isLeft ? inset.maxX + gap : 0.03 * whole
            let right = isLeft ? 0.97 * whole : inset.x - gap
            let centred = 2 * min(middle - left, right - middle)
            // A dial that is much narrower shows too little of its scale.
            if centred >= max(width, 0.8 * HudPicture.dialWidth * unit) {
                self.width = centred
            } else if right - left >= width {
                middle = (left + right) / 2
                self.width = right - left
            } else {
                foot = inset.y
            }
        }
    }

    private let canvas: Size
    private let unit: Double
    private let room: Room
    private let pill: Element
    private var lenses = Element()
    /// The value in use, amber while its dial is open and white otherwise.
    private var plainValue = Element()
    private var usedValue = Element()
    private var panel = Element()
    private var strip = Element()
    private var needle = Element()
    private var hotNeedle = Element()
    /// The middle of the dial; then position 0 on the strip, and the width of a third stop.
    private var middle = 0
    private var origin = 0.0
    private var third = 0.0
    /// The position shown while the value is unknown.
    private var idlePosition: Double?
    private var scaleClip = PixelRect(x: 0, y: 0, width: 0, height: 0)
    private var hasDial = false

    /// Draws `content` for a canvas of this size. Looks for fonts, as `Drawing` does.
    package init(_ content: HudContent, canvas: Size) {
        self.canvas = canvas
        // Each value has a place of its own, so that none moves for another.
        let characters =
            content.fields.reduce(0) { $0 + $1.room } + 3 * max(0, content.fields.count - 1)
        let whole = Drawing.Font(Self.mono, type: Self.valueType).measure("0").width
        let widest = max(640, Double(characters) * whole + 2 * Self.pillPadding)
        let unit = min(
            max(canvas.unit, Self.leastUnit),
            Double(canvas.width) / (widest + 20)
        )
        self.unit = unit

        let font = Drawing.Font(Self.mono, type: Self.valueType * unit)
        let (advance, capitals) = font.measure("0")
        let gap = 3 * advance
        let widths = content.fields.map { Double($0.room) * advance }
        let inner = Double(characters) * advance
        let width = Self.even(inner + 2 * Self.pillPadding * unit)
        let height = Int((Self.pillHeight * unit).rounded())
        let size = Size(width: width, height: height)
        room = Room(beside: content.inset, canvas: canvas, for: Double(width), unit: unit)
        let x = Self.even(room.middle - Double(width) / 2)
        let y = Int(room.foot) - Int((Self.pillMiddle * unit).rounded()) - height / 2
        let baseline = (Double(height) / 2 + capitals / 2).rounded()
        let drawing = Drawing(size)
        if !content.fields.isEmpty {
            drawing.fill(Rect(size), radius: Double(height) / 2, .black(Self.darkness))
        }
        var left = (Double(width) - inner) / 2
        var used: (text: String, left: Double)?
        for (field, width) in zip(content.fields, widths) {
            if let dial = content.scale?.dial, field.dial == dial {
                used = (field.text, left)
            } else {
                drawing.write(field.text, font, x: left, y: baseline, .white())
            }
            left += width + gap
        }
        pill = Element(overlay: drawing.finish(), x: x, y: y)
        if let used {
            func element(_ color: Drawing.Color) -> Element {
                let drawing = Drawing(size)
                drawing.write(used.text, font, x: used.left, y: baseline, color)
                return Element(overlay: drawing.finish(), x: x, y: y)
            }
            plainValue = element(.white())
            usedValue = element(Self.amber)
        }
        if let scale = content.scale { draw(scale, above: y) }
        draw(content.lenses, above: content.scale == nil ? y : panel.y)
    }

    private mutating func draw(_ marks: [HudContent.LensMark], above bottom: Int) {
        guard !marks.isEmpty else { return }
        let disc = Self.lensDisc * unit
        let step = min(Self.lensStep * unit, room.width / Double(marks.count))
        let size = Size(
            width: Self.even(step * Double(marks.count - 1) + Self.lensHeight * unit),
            height: Int((Self.lensHeight * unit).rounded())
        )
        let drawing = Drawing(size)
        drawing.fill(Rect(size), radius: Double(size.height) / 2, .black(Self.darkness))
        let font = Drawing.Font(Self.sans, type: Self.lensType * unit, weight: .bold)
        let capitals = font.measure("0").capitals
        let middle = Double(size.height) / 2
        for (index, mark) in marks.enumerated() {
            let x = middle + step * Double(index)
            func circle(_ width: Double, _ color: Drawing.Color) {
                drawing.fill(
                    Rect(x: x - width / 2, y: middle - width / 2, width: width, height: width),
                    radius: width / 2,
                    color
                )
            }
            // The lens that stands in for the selected one has a ring.
            if mark.standsIn { circle(disc, Self.amber) }
            circle(mark.standsIn ? disc - 2 * Self.lensRing * unit : disc, .black(1))
            drawing.write(
                mark.text,
                font,
                middle: x,
                y: (middle + capitals / 2).rounded(),
                mark.isSelected ? Self.amber : .white()
            )
        }
        lenses = Element(
            overlay: drawing.finish(),
            x: Self.even(room.middle - Double(size.width) / 2),
            y: bottom - Int((Self.lensGap * unit).rounded()) - size.height
        )
    }

    private static func even(_ value: Double) -> Int { Int((value / 2).rounded()) * 2 }

    private mutating func draw(_ scale: HudContent.Scale, above bottom: Int) {
        hasDial = true
        let size = Size(
            // The middle falls on the edge of a pair of pixels.
            width: 2 * Self.even(min(Self.dialWidth * unit, room.width) / 2),
            height: Int((Self.dialHeight * unit).rounded())
        )
        let x = Self.even(room.middle - Double(size.width) / 2)
        let y = bottom - Int((Self.dialGap * unit).rounded()) - size.height
        middle = x + size.width / 2

        let drawing = Drawing(size)
        drawing.fill(Rect(size), radius: Self.dialRadius * unit, .black(Self.darkness))
        drawCaption(scale, on: drawing, middle: Double(size.width) / 2)
        panel = Element(overlay: drawing.finish(), x: x, y: y)
        let margin = Self.even(8 * unit)
        scaleClip = PixelRect(
            x: x + margin,
            y: y,
            width: size.width - 2 * margin,
            height: size.height
        )
        drawStrip(scale, size, y: y)
        guard scale.position != nil else { return }
        needle = drawNeedle(Self.amber, height: size.height, y: y)
        hotNeedle = drawNeedle(Self.red, height: size.height, y: y)
    }

    /// Writes the dial's name, its value and what else there is to say, about `middle`.
    private func drawCaption(
        _ scale: HudContent.Scale,
        on drawing: borrowing Drawing,
        middle: Double
    ) {
        var font = Drawing.Font(Self.sans, type: Self.nameType * unit, weight: .medium)
        let baseline = (Self.captionMiddle * unit + font.measure("H").capitals / 2).rounded()
        var words = [
            (scale.name, Drawing.Color.white(0.85)), (scale.value, Self.amber),
            (scale.note, .white(0.85)),
        ].filter { !$0.0.isEmpty }
        // Hebrew, Arabic and their like begin at the right.
        let isFromRight = scale.name.unicodeScalars.contains { (0x590..<0x900).contains($0.value) }
        if isFromRight { words.reverse() }
        let gap = 9 * unit
        let gaps = gap * Double(max(0, words.count - 1))
        func widths() -> [Double] { words.map { font.measure($0.0).width } }
        // Some languages need more room than there is.
        let room = 2 * (middle - Self.dialRadius * unit) - gaps
        font.type *= min(1, room / max(1, widths().reduce(0, +)))
        let widths = widths()
        var x = middle - (widths.reduce(0, +) + gaps) / 2
        for (word, width) in zip(words, widths) {
            drawing.write(word.0, font, x: x, y: baseline, word.1)
            x += width + gap
        }
    }

    /// Draws the marks and their labels in one row, of which a part is visible at a time. `size` is
    /// that of the dial: a short scale is spread over it.
    private mutating func drawStrip(_ scale: HudContent.Scale, _ size: Size, y: Int) {
        let marks = scale.marks.map { Double($0.position) }
        let (least, most) = (marks.first ?? 0, marks.last ?? 0)
        let (first, last) = (min(least, scale.position ?? least), max(most, scale.position ?? most))
        let room = Double(size.width) - 80 * unit
        let stop = min(
            max(3 * room / max(1, last - first), Self.stops.lowerBound * unit),
            Self.stops.upperBound * unit
        )
        third = stop / 3
        let margin = 50 * unit
        // The mark at the needle at rest lies on a whole pixel.
        let current = scale.position ?? ((first + last) / 2).rounded()
        idlePosition = scale.position == nil ? current : nil
        let start = Double(Self.even(margin + (current - first) * third))
        origin = start - current * third
        let drawing = Drawing(
            Size(width: Self.even(start + (last - current) * third + margin), height: size.height)
        )
        func place(_ position: Double) -> Double { origin + position * third }

        for mark in scale.marks {
            let x = place(Double(mark.position))
            let width = ((mark.label == nil ? 1.2 : 2) * unit).rounded(.up)
            drawing.fill(
                Rect(
                    x: (x - width / 2).rounded(),
                    y: 11 * unit,
                    width: width,
                    height: (mark.label == nil ? 8 : 16) * unit
                ),
                radius: 0,
                .white(mark.label == nil ? 0.6 : 1)
            )
        }
        let font = Drawing.Font(Self.mono, type: Self.labelType * unit)
        let large = Drawing.Font(Self.mono, type: Self.currentType * unit, weight: .medium)
        let baseline = (Self.labelMiddle * unit + large.measure("0").capitals / 2).rounded()
        // The label at the needle first: where two would touch, the later one is left out.
        let labels = scale.marks.filter { $0.label != nil }
        let isCurrent = { (mark: HudContent.Mark) in Double(mark.position) == scale.position }
        var written: [(middle: Double, reach: Double)] = []
        for mark in labels.filter(isCurrent) + labels.filter({ !isCurrent($0) }) {
            let type = isCurrent(mark) ? large : font
            let (label, x) = (mark.label ?? "", place(Double(mark.position)))
            let reach = type.measure(label).width / 2
            guard written.allSatisfy({ abs(x - $0.middle) >= reach + $0.reach + 4 * unit }) else {
                continue
            }
            written.append((x, reach))
            let color = isCurrent(mark) ? Self.amber : Drawing.Color.white(0.92)
            drawing.write(label, type, middle: x, y: baseline, color)
        }
        strip = Element(overlay: drawing.finish(), x: 0, y: y)
    }

    private func drawNeedle(_ color: Drawing.Color, height: Int, y: Int) -> Element {
        let width = Self.even(6 * unit)
        let drawing = Drawing(Size(width: 2 * width, height: height))
        let thickness = (3 * unit).rounded()
        drawing.fill(
            Rect(
                x: Double(width) - (thickness / 2).rounded(.down),
                y: 6 * unit,
                width: thickness,
                height: 25 * unit
            ),
            radius: thickness / 2,
            color
        )
        return Element(overlay: drawing.finish(), x: middle - width, y: y)
    }

    /// Lays the HUD over `output`, rows of `stride` bytes, as `pose` says. Does not allocate.
    package func lay(_ pose: HudState.Pose, over output: UnsafeMutablePointer<UInt8>, stride: Int) {
        let whole = PixelRect(canvas)
        pill.lay(over: output, stride: stride, clip: whole, opacity: pose.opacity)
        let use = min(pose.attention, pose.dialOpacity)
        plainValue.lay(over: output, stride: stride, clip: whole, opacity: pose.opacity * (1 - use))
        usedValue.lay(over: output, stride: stride, clip: whole, opacity: pose.opacity * use)
        lenses.lay(over: output, stride: stride, clip: whole, opacity: pose.opacity)
        guard hasDial else { return }
        let opacity = pose.opacity * pose.dialOpacity
        panel.lay(over: output, stride: stride, clip: whole, opacity: opacity)
        let pushed = pose.push * Self.bump * unit
        let x = Double(middle) - origin - (idlePosition ?? pose.position) * third - pushed
        strip.overlay.lay(
            over: output,
            stride: stride,
            x: Int((x / 2).rounded()) * 2,
            y: strip.y,
            clip: scaleClip,
            opacity: opacity,
            fade: Int(Self.endFade * unit)
        )
        needle.lay(over: output, stride: stride, clip: whole, opacity: opacity * (1 - pose.heat))
        hotNeedle.lay(over: output, stride: stride, clip: whole, opacity: opacity * pose.heat)
    }
}
