import CCairo
package import Frames

/// White words on a dark pill, drawn by pango and cairo once and laid on the canvas as often as
/// they are seen.
package struct Label: Sendable {
    /// The family of the words, else the system's own without serifs.
    private static let family = "Inter,Sans"
    /// What is seen of the black pill. Over pure white it still leaves the words 5.7:1.
    private static let pillOpacity = 0.6

    /// Its extent in pixels; the width is a multiple of 4, so that the middle is a pixel pair's edge.
    package let size: Size
    /// Height of its type, in pixels.
    package let type: Double
    /// For each byte of its packed rows how much of the canvas it covers, over 255; then, as many
    /// again, with what.
    private let bytes: [UInt8]

    /// A label that says `text` on one line, in type of `type` pixels.
    ///
    /// Looks for fonts, which may take a tenth of a second the first time. On any thread, each of
    /// which pango gives fonts of its own.
    package init(_ text: String, type: Double) {
        let words = Words(text, family: Self.family, type: type)
        let size = Size(
            width: Int((words.width / 4 + type / 2).rounded(.up)) * 4,
            height: Int((1.17 * type).rounded()) * 2
        )
        self.size = size
        self.type = type
        bytes = Self.packed(size) { context in
            let radius = Double(size.height) / 2
            cairo_arc(context, radius, radius, radius, 0.5 * .pi, 1.5 * .pi)
            cairo_arc(context, Double(size.width) - radius, radius, radius, -0.5 * .pi, 0.5 * .pi)
            cairo_set_source_rgba(context, 0, 0, 0, Self.pillOpacity)
            cairo_fill(context)
            cairo_set_source_rgba(context, 1, 1, 1, 1)
            // On a whole row, and capitals in the middle: what hangs below them is light.
            let baseline = (radius + words.capitals / 2).rounded()
            cairo_move_to(context, (Double(size.width) - words.width) / 2, baseline)
            words.show(context)
        }
    }

    /// Lays it over packed `rows`, `stride` bytes each, with its top left corner at (`x`, `y`);
    /// x is even. Only what is inside `clip` is touched, whose x and width are even, too. Its
    /// opacity is 0 … 1. Does not allocate.
    package func lay(
        over rows: UnsafeMutablePointer<UInt8>,
        stride: Int,
        x: Int,
        y: Int,
        clip: PixelRect,
        opacity: Double
    ) {
        let seen = PixelRect(x: x, y: y, width: size.width, height: size.height)
            .intersection(clip)
        let share = UInt16(max(0, min(1, opacity)) * 255 + 0.5)
        guard !seen.isEmpty, share > 0 else { return }
        precondition(x % 2 == 0 && seen.x % 2 == 0 && seen.width % 2 == 0)
        bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            for line in seen.y..<seen.maxY {
                let cover = base + 2 * ((line - y) * size.width + seen.x - x)
                let value = cover + 2 * size.area
                let target = rows + line * stride + 2 * seen.x
                for i in 0..<2 * seen.width {
                    let taken = UInt16(over255(UInt16(cover[i]) &* share))
                    let kept = (255 &- taken) &* UInt16(target[i])
                    target[i] = over255(kept &+ taken &* UInt16(value[i]))
                }
            }
        }
    }

    /// What `draw` draws in neutral colours, as `bytes` says; clear where there is no memory.
    private static func packed(_ size: Size, draw: (OpaquePointer?) -> Void) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4 * size.area)
        let (width, height) = (CInt(size.width), CInt(size.height))
        let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height)
        defer { cairo_surface_destroy(surface) }
        let context = cairo_create(surface)
        defer { cairo_destroy(context) }
        draw(context)
        cairo_surface_flush(surface)
        guard let data = cairo_image_surface_get_data(surface) else { return bytes }
        let stride = Int(cairo_image_surface_get_stride(surface))
        for y in 0..<size.height {
            for pair in 0..<size.width / 2 {
                let x = 2 * pair
                let index = 2 * (y * size.width + x)
                var covered = 0
                for side in 0...1 {
                    // Native byte order: alpha is the highest byte; red, green and blue are the
                    // same, and premultiplied.
                    let pixel = UnsafeRawPointer(data + y * stride + 4 * (x + side))
                        .load(as: UInt32.self)
                    let (alpha, light) = (Int(pixel >> 24), Int(pixel & 255))
                    covered += alpha
                    bytes[index + 2 * side] = UInt8(alpha)
                    bytes[index + 2 * side + 2 * size.area] =
                        alpha > 0 ? UInt8(16 + (219 * light + alpha / 2) / alpha) : 16
                }
                for chroma in [index + 1, index + 3] {
                    bytes[chroma] = UInt8((covered + 1) / 2)
                    bytes[chroma + 2 * size.area] = 128
                }
            }
        }
        return bytes
    }

    /// A line of text laid out by pango.
    private struct Words: ~Copyable {
        private let layout: OpaquePointer?
        /// How far it runs, in pixels.
        let width: Double
        /// How high its capitals are, in pixels.
        let capitals: Double

        init(_ text: String, family: String, type: Double) {
            let context = pango_font_map_create_context(pango_cairo_font_map_get_default())
            defer { g_object_unref(context.map(UnsafeMutableRawPointer.init)) }
            let options = cairo_font_options_create()
            defer { cairo_font_options_destroy(options) }
            // A video has no subpixels; and words keep their shape at every size.
            cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY)
            cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT)
            cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF)
            pango_cairo_context_set_font_options(context, options)
            let font = pango_font_description_from_string(family)
            defer { pango_font_description_free(font) }
            pango_font_description_set_weight(font, PANGO_WEIGHT_MEDIUM)
            pango_font_description_set_absolute_size(font, type * Double(PANGO_SCALE))

            layout = pango_layout_new(context)
            pango_layout_set_font_description(layout, font)
            pango_layout_set_single_paragraph_mode(layout, 1)
            var extent = PangoRectangle()
            pango_layout_set_text(layout, "H", -1)
            pango_layout_line_get_extents(
                pango_layout_get_line_readonly(layout, 0),
                &extent,
                nil
            )
            capitals = -Double(extent.y) / Double(PANGO_SCALE)
            pango_layout_set_text(layout, text, -1)
            pango_layout_line_get_extents(
                pango_layout_get_line_readonly(layout, 0),
                nil,
                &extent
            )
            width = Double(extent.width) / Double(PANGO_SCALE)
        }

        deinit { g_object_unref(layout.map(UnsafeMutableRawPointer.init)) }

        /// Draws it with its baseline's left end at the current point.
        func show(_ context: OpaquePointer?) {
            pango_cairo_show_layout_line(context, pango_layout_get_line_readonly(layout, 0))
        }
    }
}
