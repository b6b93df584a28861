import Frames

/// A colour as red, green and blue, 0…1 each.
typealias Paint = SIMD3<Float>
typealias Point = SIMD2<Float>

/// A picture painted with soft-edged shapes, before it becomes a frame.
///
/// Coordinates: y goes down from 0 to 1, x to the right from 0 to `aspect`, so that shapes keep
/// their form at every size. A shape is a function that returns how far a point lies outside its
/// edge, negative inside, in the same unit.
struct Canvas {
    let size: Size
    private var pixels: [Paint]

    init(size: Size) {
        self.size = size
        pixels = Array(repeating: .zero, count: size.area)
    }

    var aspect: Float { Float(size.width) / Float(size.height) }

    /// Covers the inside of `shape` with `paint`.
    ///
    /// The edge is `softness` wide, but at least one pixel. If `bounds` is given, only that part is
    /// painted.
    @inline(__always)
    mutating func fill(
        _ paint: (Point) -> Paint,
        softness: Float = 0,
        opacity: Float = 1,
        within bounds: Bounds? = nil,
        shape: (Point) -> Float
    ) {
        let edge = max(softness, 1 / Float(size.height))
        update(within: bounds) { point, old in
            let cover = min(max(0.5 - shape(point) / edge, 0), 1) * opacity
            return cover > 0 ? old + (paint(point) - old) * cover : old
        }
    }

    @inline(__always)
    mutating func fillEllipse(
        _ centre: Point,
        _ radii: Point,
        softness: Float = 0,
        opacity: Float = 1,
        _ paint: (Point) -> Paint
    ) {
        let reach = radii + softness + 2 / Float(size.height)
        fill(paint, softness: softness, opacity: opacity, within: Bounds(centre, reach)) {
            ellipse($0, centre, radii)
        }
    }

    /// Covers a rectangle around `centre`, with corners of radius `corner`, with `paint`.
    @inline(__always)
    mutating func fillBox(
        _ centre: Point,
        _ half: Point,
        corner: Float,
        softness: Float = 0,
        _ paint: (Point) -> Paint
    ) {
        let reach = half + softness + 2 / Float(size.height)
        fill(paint, softness: softness, within: Bounds(centre, reach)) {
            roundedBox($0, centre, half, corner: corner)
        }
    }

    /// Draws a line of width 2 × `radius`.
    @inline(__always)
    mutating func draw(
        from start: Point,
        to end: Point,
        _ radius: Float,
        softness: Float = 0,
        _ paint: Paint
    ) {
        let half = pointwiseMax(start, end) - (start + end) / 2
        let reach = half + radius + softness + 2 / Float(size.height)
        fill({ _ in paint }, softness: softness, within: Bounds((start + end) / 2, reach)) {
            stroke($0, from: start, to: end, radius)
        }
    }

    /// Adds light of colour `paint` that falls off around `centre` and ends `radius` away.
    mutating func glow(at centre: Point, radius: Float, _ paint: Paint) {
        update(within: Bounds(centre, Point(radius, radius))) { point, old in
            let fall = max(0, 1 - length(point - centre) / radius)
            // Screened, so that it brightens without clipping.
            let light = paint * (fall * fall * fall)
            return old + light - old * light
        }
    }

    /// Replaces every pixel within `bounds` by the result of `change` for its point and old colour.
    @inline(__always)
    private mutating func update(within bounds: Bounds?, _ change: (Point, Paint) -> Paint) {
        let area = (bounds ?? Bounds(x: 0...aspect, y: 0...1)).pixels(in: size)
        let scale = 1 / Float(size.height)
        for y in area.y..<area.maxY {
            for x in area.x..<area.maxX {
                let point = Point(Float(x) + 0.5, Float(y) + 0.5) * scale
                let index = y * size.width + x
                pixels[index] = change(point, pixels[index])
            }
        }
    }

    /// Writes the picture to `buffer` as planar YUV 4:2:0, BT.601 in limited range, laid out as
    /// `layout`.
    func write(to buffer: FrameBuffer, _ layout: FrameLayout) {
        precondition(layout.format == .i420 && layout.size == size)
        let luma = buffer.plane(0, of: layout)
        let (u, v) = (buffer.plane(1, of: layout), buffer.plane(2, of: layout))
        for y in 0..<size.height {
            let row = luma.row(y)
            for x in 0..<size.width {
                row[x] = byte(videoColor(pixels[y * size.width + x]).x + noise(x, y))
            }
        }
        for y in 0..<u.rows {
            let (above, below) = (2 * y * size.width, min(2 * y + 1, size.height - 1) * size.width)
            for x in 0..<u.rowBytes {
                let (left, right) = (2 * x, min(2 * x + 1, size.width - 1))
                let mean =
                    (pixels[above + left] + pixels[above + right]
                        + pixels[below + left] + pixels[below + right]) / 4
                let color = videoColor(mean)
                u.row(y)[x] = byte(color.y + noise(x, y))
                v.row(y)[x] = byte(color.z + noise(y, x))
            }
        }
    }
}

/// A part of a canvas.
struct Bounds {
    var x: ClosedRange<Float>
    var y: ClosedRange<Float>
}

extension Bounds {
    /// Creates the rectangle that extends `half` from `centre` in each direction.
    init(_ centre: Point, _ half: Point) {
        x = centre.x - half.x...centre.x + half.x
        y = centre.y - half.y...centre.y + half.y
    }

    /// Returns the pixels that it touches, clipped to `size`, with even edges for the chroma.
    func pixels(in size: Size) -> PixelRect {
        func span(_ range: ClosedRange<Float>, _ limit: Int) -> Range<Int> {
            let scale = Float(size.height)
            let low = Int((range.lowerBound * scale).rounded(.down)) / 2 * 2
            let high = (Int((range.upperBound * scale).rounded(.up)) + 1) / 2 * 2
            let start = min(max(low, 0), limit)
            return start..<max(start, min(high, limit))
        }
        let (columns, rows) = (span(x, size.width), span(y, size.height))
        return PixelRect(
            x: columns.lowerBound,
            y: rows.lowerBound,
            width: columns.count,
            height: rows.count
        )
    }
}

/// Returns Y, U and V of `paint`: BT.601 in limited range, 16…235 and 16…240.
@inline(__always)
func videoColor(_ paint: Paint) -> SIMD3<Float> {
    let luma = 0.299 * paint.x + 0.587 * paint.y + 0.114 * paint.z
    return SIMD3(
        16 + 219 * luma,
        128 + 224 * (paint.z - luma) / 1.772,
        128 + 224 * (paint.x - luma) / 1.402
    )
}

/// Returns the nearest byte.
@inline(__always)
func byte(_ value: Float) -> UInt8 { UInt8(min(max(value + 0.5, 0), 255)) }

/// Returns ±½ depending on the position: a little noise hides the steps in soft gradients.
@inline(__always)
private func noise(_ x: Int, _ y: Int) -> Float {
    var hash =
        UInt32(truncatingIfNeeded: x) &* 0x9e37_79b1 ^ UInt32(truncatingIfNeeded: y) &* 0x85eb_ca77
    hash = (hash ^ hash >> 15) &* 0x2c1b_3c6d
    return Float((hash ^ hash >> 13) & 0xff) / 255 - 0.5
}

@inline(__always)
func length(_ vector: Point) -> Float { (vector * vector).sum().squareRoot() }

/// Returns how far `point` lies outside a disc; for unequal `radii` an ellipse, roughly.
@inline(__always)
func ellipse(_ point: Point, _ centre: Point, _ radii: Point) -> Float {
    (length((point - centre) / radii) - 1) * radii.min()
}

/// Returns how far `point` lies outside a rectangle around `centre` with corners of radius
/// `corner`.
@inline(__always)
func roundedBox(_ point: Point, _ centre: Point, _ half: Point, corner: Float) -> Float {
    let offset = point - centre
    let beyond = Point(abs(offset.x), abs(offset.y)) - half + corner
    return length(pointwiseMax(beyond, .zero)) + min(beyond.max(), 0) - corner
}

/// Returns how far `point` lies outside a stroke of width 2 × `radius` from `start` to `end`.
@inline(__always)
func stroke(_ point: Point, from start: Point, to end: Point, _ radius: Float) -> Float {
    let (along, reach) = (end - start, point - start)
    let fraction = min(max((along * reach).sum() / (along * along).sum(), 0), 1)
    return length(reach - along * fraction) - radius
}

/// Returns the colour `fraction` of the way from `start` to `end`.
@inline(__always)
func mix(_ start: Paint, _ end: Paint, _ fraction: Float) -> Paint {
    start + (end - start) * min(max(fraction, 0), 1)
}
