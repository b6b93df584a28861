package import Frames
import Glibc

/// The shape of a picture on the canvas and its ornaments, in canvas pixels with fractions.
package struct Shape: Hashable, Sendable {
    package var rect: Rect
    package var corners = CornerRadii.none
    /// The width of the white border inside its edge.
    package var borderWidth = 0.0
    /// The opacity of the border, 0 … 1.
    package var borderOpacity = 0.0
    /// The opacity of the black shadow, 0 … 1.
    package var shadowOpacity = 0.0
    /// The standard deviation of the shadow's blur.
    package var shadowBlur = 0.0
    package var shadowDrop = 0.0
    /// The opacity of the whole, 0 … 1.
    package var opacity = 1.0

    package init(rect: Rect) { self.rect = rect }
}

/// The weights that lay a picture of a given shape on the canvas: anti-aliased edges, rounded
/// corners, border and shadow, in luma and chroma. Only rows and columns that differ are kept:
/// between the corners they are all the same. So a shape costs the same at any size, and can change
/// with every frame. Bound to one thread.
package struct Decoration: ~Copyable {
    /// A row of the canvas as the shape covers it.
    package struct Row {
        /// The pixels where the picture hides everything, both ends even; may be empty.
        package let opaque: Range<Int>
        /// The weights from the left edge of the bounds to the start of `opaque`.
        package let left: WeightRow
        /// The weights from the end of `opaque` to the right edge of the bounds.
        package let right: WeightRow
    }

    private static let white: Float = 235
    private static let black: Float = 16

    private let canvas: Size
    private var shape: Shape?
    private var weights = Scratch()
    private var expanded = Scratch()
    private var numbers = FloatScratch()
    private var spans: [Range<Int>] = []
    private var columns = Slices()
    private var rows = Slices()
    private var expandedRow = -1

    /// The part of the canvas that the shape touches; x and width are even.
    package private(set) var bounds = PixelRect(x: 0, y: 0, width: 0, height: 0)
    /// The part of the canvas that the shape hides completely; x and width are even.
    package private(set) var interior = PixelRect(x: 0, y: 0, width: 0, height: 0)

    /// Creates weights for a canvas of this size, whose width is even.
    package init(canvas: Size) { self.canvas = canvas }

    /// Computes the weights of `shape`, unless it is the same as before. Allocates only if the
    /// border, the shadow or the corners are larger than all before.
    package mutating func update(_ shape: Shape) {
        guard shape != self.shape else { return }
        self.shape = shape
        expandedRow = -1
        let reach = shape.shadowOpacity > 0 ? 3 * shape.shadowBlur : 0
        let depth = max(shape.corners.largest, shape.borderWidth, reach) + 2
        let rect = shape.rect
        columns = Slices(
            from: min(rect.x - reach, rect.x),
            to: rect.maxX + reach,
            varyingTo: rect.x + depth,
            varyingFrom: rect.maxX - depth,
            limit: canvas.width,
            step: 2
        )
        let drop = shape.shadowOpacity > 0 ? shape.shadowDrop : 0
        rows = Slices(
            from: min(rect.y, rect.y + drop - reach),
            to: max(rect.maxY, rect.maxY + drop + reach),
            varyingTo: rect.y + depth + max(0, drop),
            varyingFrom: rect.maxY - depth + min(0, drop),
            limit: canvas.height,
            step: 1
        )
        bounds = PixelRect(
            x: columns.start,
            y: rows.start,
            width: columns.end - columns.start,
            height: rows.end - rows.start
        )
        let margin = 0.3 * shape.corners.largest + shape.borderWidth + 1
        interior =
            shape.opacity >= 1
            ? rect.inset(by: margin).inwards.intersection(PixelRect(canvas))
            : PixelRect(x: 0, y: 0, width: 0, height: 0)
        guard !bounds.isEmpty else { return }
        draw(shape)
    }

    /// Returns the weights of the canvas's row `y`, inside the bounds; valid until the next call.
    package mutating func row(_ y: Int) -> Row {
        let index = rows.index(of: y)
        let stride = self.stride
        let extent = stride * rows.stored
        let base = weights.reserve(3 * extent) + stride * index
        let span = spans[index]
        let stored = WeightRow(keep: base, take: base + extent, add: base + 2 * extent)
        if columns.middle > 0, !span.isEmpty {
            let right = columns.stored - span.upperBound
            return Row(
                opaque: columns.start + span.lowerBound..<columns.end - right,
                left: stored,
                right: stored.advanced(by: 2 * span.upperBound)
            )
        }
        let none = columns.end..<columns.end
        guard columns.middle > 2 else { return Row(opaque: none, left: stored, right: stored) }
        let width = 2 * (columns.end - columns.start)
        let target = expanded.reserve(3 * 2 * canvas.width)
        if index != expandedRow {
            expandedRow = index
            for plane in 0..<3 { expand(base + plane * extent, into: target + plane * width) }
        }
        let whole = WeightRow(keep: target, take: target + width, add: target + 2 * width)
        return Row(opaque: none, left: whole, right: whole)
    }

    private var stride: Int { (2 * columns.stored + 63) / 64 * 64 }

    /// Repeats the one pair of pixels that stands for the middle.
    private func expand(
        _ row: UnsafeMutablePointer<UInt8>,
        into target: UnsafeMutablePointer<UInt8>
    ) {
        let left = 2 * columns.leading
        target.update(from: row, count: left)
        let (luma, chroma) = (row[left], row[left + 1])
        let middle = target + left
        for i in 0..<columns.middle {
            middle[2 &* i] = luma
            middle[2 &* i &+ 1] = chroma
        }
        (middle + 2 * columns.middle)
            .update(from: row + left + 4, count: 2 * (columns.stored - columns.leading - 2))
    }

    /// Computes the weights of every stored row.
    private mutating func draw(_ shape: Shape) {
        let count = columns.stored
        let extent = stride * rows.stored
        let base = weights.reserve(3 * extent)
        let rect = shape.rect
        // Five numbers per column: the distance beyond the edge, the share of the shadow, and the
        // three weights before rounding.
        numbers.grow(to: 5 * count)
        let beyond = numbers.base
        let shade = beyond + count
        for i in 0..<count {
            let x = Double(columns.position(of: i)) + 0.5
            beyond[i] = Float(abs(x - rect.midX) - rect.width / 2)
            shade[i] = shape.shadow(x, from: rect.x, to: rect.maxX)
        }
        // The first column that belongs to the corners on the right.
        var right = 0
        while right < count, Double(columns.position(of: right)) + 0.5 < rect.midX { right += 1 }
        spans.removeAll(keepingCapacity: true)
        for index in 0..<rows.stored {
            let y = Double(rows.position(of: index)) + 0.5
            let row = base + stride * index
            let corners = shape.corners
            let radii =
                y < rect.midY
                ? (corners.topLeft, corners.topRight) : (corners.bottomLeft, corners.bottomRight)
            let shade =
                Float(shape.shadowOpacity)
                * shape.shadow(
                    y,
                    from: rect.y + shape.shadowDrop,
                    to: rect.maxY + shape.shadowDrop
                )
            let beyond = Float(abs(y - rect.midY) - rect.height / 2)
            computeRow(shape, 0..<right, radius: radii.0, beyond: beyond, shade: shade)
            computeRow(shape, right..<count, radius: radii.1, beyond: beyond, shade: shade)
            roundRow(keep: row, take: row + extent, add: row + 2 * extent)
            spans.append(opaqueSpan(keep: row, take: row + extent))
        }
    }

    /// Computes the weights of some columns of one row, whose corner has this radius, from its
    /// distance beyond the edge and its share of the shadow.
    private func computeRow(
        _ shape: Shape,
        _ range: Range<Int>,
        radius: Double,
        beyond rowBeyond: Float,
        shade rowShade: Float
    ) {
        let count = columns.stored
        let beyond = numbers.base
        let shade = beyond + count
        let (keep, take, add) = (shade + count, shade + 2 * count, shade + 3 * count)
        let border = Float(shape.borderWidth)
        let (borderOpacity, opacity) = (Float(shape.borderOpacity), Float(shape.opacity))
        let radius = Float(radius)
        let rowBeyond = rowBeyond + radius
        let above = max(rowBeyond, 0)
        for i in range {
            let side = beyond[i] + radius
            let corner = max(side, 0)
            // The distance to the edge, negative inside.
            let distance =
                (corner * corner + above * above).squareRoot() + min(max(side, rowBeyond), 0)
                - radius
            let covered = max(0, min(1, 0.5 - distance))
            let inner = max(0, min(1, 0.5 - distance - border))
            let ring = (covered - inner) * borderOpacity
            let shadow = shade[i] * rowShade * (1 - covered)
            keep[i] = 1 - opacity * (covered + shadow)
            take[i] = opacity * (covered - ring)
            add[i] = opacity * (ring * Self.white + shadow * Self.black)
        }
    }

    /// Rounds the computed row to bytes: luma has weights of its own per pixel, chroma the mean of
    /// a pair's. Border and shadow are neutral in chroma.
    private func roundRow(
        keep: UnsafeMutablePointer<UInt8>,
        take: UnsafeMutablePointer<UInt8>,
        add: UnsafeMutablePointer<UInt8>
    ) {
        let count = columns.stored
        let kept = numbers.base + 2 * count
        let (taken, added) = (kept + count, kept + 2 * count)
        for pair in 0..<count / 2 {
            let (i, j) = (2 &* pair, 2 &* pair &+ 1)
            for x in i...j {
                keep[2 &* x] = byte(kept[x] * 255)
                take[2 &* x] = min(byte(taken[x] * 255), 255 &- keep[2 &* x])
                add[2 &* x] = byte(added[x])
            }
            let keepChroma = byte((kept[i] + kept[j]) * 127.5)
            let takeChroma = min(byte((taken[i] + taken[j]) * 127.5), 255 &- keepChroma)
            let addChroma = 128 &- over255((UInt16(keepChroma) &+ UInt16(takeChroma)) &* 128)
            for x in i...j {
                keep[2 &* x &+ 1] = keepChroma
                take[2 &* x &+ 1] = takeChroma
                add[2 &* x &+ 1] = addChroma
            }
        }
    }

    /// Returns the stored columns, around the middle, in which the row's picture hides everything.
    private func opaqueSpan(
        keep: UnsafeMutablePointer<UInt8>,
        take: UnsafeMutablePointer<UInt8>
    ) -> Range<Int> {
        func isOpaque(_ pair: Int) -> Bool {
            (4 * pair..<4 * pair + 4).allSatisfy { keep[$0] == 0 && take[$0] == 255 }
        }
        let middle = columns.leading / 2
        guard columns.middle > 0, isOpaque(middle) else { return 0..<0 }
        var (first, last) = (middle, middle + 1)
        while first > 0, isOpaque(first - 1) { first -= 1 }
        while last < columns.stored / 2, isOpaque(last) { last += 1 }
        return 2 * first..<2 * last
    }

    /// A row or column of the canvas, cut into a varying, a repeating and another varying part.
    struct Slices {
        private(set) var start = 0
        private(set) var leading = 0
        private(set) var middle = 0
        private(set) var end = 0
        private var step = 1

        init() {}

        init(
            from: Double,
            to: Double,
            varyingTo: Double,
            varyingFrom: Double,
            limit: Int,
            step: Int
        ) {
            func clamp(_ value: Double, _ rule: FloatingPointRoundingRule) -> Int {
                let even = (value / Double(step)).rounded(rule) * Double(step)
                return Int(min(max(even, 0), Double(limit)))
            }
            self.step = step
            start = clamp(from, .down)
            end = max(start, clamp(to, .up))
            let first = max(start, min(end, clamp(varyingTo, .up)))
            let last = min(end, max(first, clamp(varyingFrom, .down)))
            leading = first - start
            middle = last - first
        }

        /// The number stored when the middle is kept once (one pair of columns, one row).
        var stored: Int { end - start - middle + min(middle, step) }

        /// Returns the position on the canvas of a stored one.
        func position(of index: Int) -> Int {
            index < leading + step || middle == 0
                ? start + index : start + index + middle - min(middle, step)
        }

        /// Returns the index of the stored one for a position on the canvas.
        func index(of position: Int) -> Int {
            let offset = position - start
            if offset < leading { return offset }
            if offset < leading + middle { return leading }
            return offset - middle + min(middle, step)
        }
    }
}

extension Shape {
    /// Returns the shadow's share along one axis, with blurred edges at `from` and `to`.
    fileprivate func shadow(_ position: Double, from: Double, to: Double) -> Float {
        guard shadowOpacity > 0, shadowBlur > 0 else { return 0 }
        let scale = 1 / (shadowBlur * 2.0.squareRoot())
        return Float((erf((position - from) * scale) - erf((position - to) * scale)) / 2)
    }
}

/// Returns `value`, 0 … 255, rounded to the nearest byte. Adding 2²³ leaves the whole number in the
/// lowest bits; unlike a conversion it needs no check of the range, so that a loop of it becomes
/// vector code.
@inline(__always)
func byte(_ value: Float) -> UInt8 {
    UInt8(truncatingIfNeeded: (value + 8_388_608).bitPattern)
}
