import CCairo
package import Frames
import Glibc

/// The swap icon: two arrows chasing each other on a dark disc, drawn by cairo and kept as the
/// weights that lay it on the canvas. Bound to one thread.
package struct SwapIcon: ~Copyable {
    /// The diameter on a canvas 720 high.
    private static let diameter = 25.0
    /// The least distance from the edges of the picture, on such a canvas.
    package static let distance = 8.0

    private let unit: Double
    private let canvas: Size
    private var drawn = Scratch()
    private var weights = Scratch()
    private var extent = Size(width: 0, height: 0)
    private var offset = (x: -1.0, y: -1.0)
    private var opacity = -1.0
    private var last = Rect(x: 0, y: 0, width: 0, height: 0)
    private var origin = (x: 0, y: 0)

    package init(canvas: Size) {
        self.canvas = canvas
        unit = canvas.unit
    }

    /// Places the icon in the top right corner of `rect`, with an opacity of 0 … 1. Allocates when
    /// it is drawn: once for each place where it comes to rest. While it moves it keeps to whole
    /// pixel pairs.
    package mutating func update(in rect: Rect, distance: Double, opacity: Double) {
        let size = Self.diameter * unit
        let left = rect.maxX - distance - size
        let top = rect.y + distance
        let fraction = (x: left - (left / 2).rounded(.down) * 2, y: top - top.rounded(.down))
        let rests = rect == last
        last = rect
        if offset.x < 0 || (rests && offset != fraction) {
            offset = fraction
            self.opacity = -1
            extent = Size(width: Int(size / 2 + 2) * 2, height: Int(size) + 2)
            draw(size: size)
        }
        origin = (
            Int(((left - offset.x) / 2).rounded()) * 2, Int((top - offset.y).rounded())
        )
        if opacity != self.opacity {
            self.opacity = opacity
            fade(opacity)
        }
    }

    /// The rows of the canvas that the icon touches.
    package var rows: Range<Int> {
        let end = max(0, min(canvas.height, origin.y + extent.height))
        return min(max(0, origin.y), end)..<end
    }

    /// Lays the icon's part of the canvas's row `y`, one of `rows`, over the whole row `row`.
    package mutating func apply(y: Int, to row: UnsafeMutablePointer<UInt8>) {
        let x0 = max(0, origin.x)
        let count = 2 * (min(canvas.width, origin.x + extent.width) - x0)
        guard count > 0 else { return }
        let area = 2 * extent.area
        let base = weights.reserve(3 * area) + 2 * (extent.width * (y - origin.y) + x0 - origin.x)
        WeightRow(keep: base, take: base + 2 * area, add: base + area)
            .apply(row + 2 * x0, to: row + 2 * x0, count: count)
    }

    /// Computes the weights at `opacity` from the drawn icon.
    private mutating func fade(_ opacity: Double) {
        let area = 2 * extent.area
        let source = drawn.reserve(2 * extent.area)
        let base = weights.reserve(3 * area)
        let (keep, add, take) = (base, base + area, base + 2 * area)
        take.update(repeating: 0, count: area)
        for pair in 0..<extent.area / 2 {
            var covered: Float = 0
            for x in 2 * pair..<2 * pair + 2 {
                let (light, alpha) = (Float(source[2 * x]), Float(source[2 * x + 1]))
                covered += alpha * Float(opacity)
                keep[2 * x] = 255 - byte(alpha * Float(opacity))
                add[2 * x] = byte((alpha * 16 + light * 219) / 255 * Float(opacity))
            }
            let kept = 255 - byte(covered / 2)
            for x in 2 * pair..<2 * pair + 2 {
                keep[2 * x + 1] = kept
                add[2 * x + 1] = 128 - over255(UInt16(kept) * 128)
            }
        }
    }

    /// Draws the icon `size` large: a byte of premultiplied light and one of alpha for each pixel.
    private mutating func draw(size: Double) {
        let target = drawn.reserve(2 * extent.area)
        target.update(repeating: 0, count: 2 * extent.area)
        let (width, height) = (CInt(extent.width), CInt(extent.height))
        let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height)
        defer { cairo_surface_destroy(surface) }
        let context = cairo_create(surface)
        defer { cairo_destroy(context) }
        cairo_translate(context, offset.x + size / 2, offset.y + size / 2)
        cairo_scale(context, size / Self.diameter, size / Self.diameter)
        Self.draw(context)
        cairo_surface_flush(surface)
        // Without memory there is no icon.
        guard let data = cairo_image_surface_get_data(surface) else { return }
        let stride = Int(cairo_image_surface_get_stride(surface))
        for y in 0..<extent.height {
            for x in 0..<extent.width {
                // Native byte order: alpha is the highest byte; red, green and blue are the same.
                let pixel = UnsafeRawPointer(data + y * stride + 4 * x).load(as: UInt32.self)
                target[2 * (y * extent.width + x)] = UInt8(truncatingIfNeeded: pixel)
                target[2 * (y * extent.width + x) + 1] = UInt8(truncatingIfNeeded: pixel >> 24)
            }
        }
    }

    /// Draws the icon around the origin, `diameter` wide.
    private static func draw(_ context: OpaquePointer?) {
        cairo_arc(context, 0, 0, diameter / 2, 0, 2 * .pi)
        cairo_set_source_rgba(context, 0, 0, 0, 0.5)
        cairo_fill(context)

        cairo_set_source_rgba(context, 1, 1, 1, 0.8)
        cairo_set_line_width(context, 1.9)
        cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND)
        cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
        let (radius, head) = (6.9, 4.9)
        // One arrow runs over the top to the right, and the other, half a turn on, below to the
        // left. They are one path, so that nothing is painted twice.
        for turn in 0..<2 {
            cairo_save(context)
            cairo_rotate(context, Double(turn) * .pi)
            let (from, to) = (-0.92 * Double.pi, -0.14 * Double.pi)
            cairo_new_sub_path(context)
            cairo_arc(context, 0, 0, radius, from, to)
            let (x, y) = (radius * cos(to), radius * sin(to))
            cairo_move_to(context, x, y - head)
            cairo_line_to(context, x, y)
            cairo_line_to(context, x - head, y)
            cairo_restore(context)
        }
        cairo_stroke(context)
    }
}
