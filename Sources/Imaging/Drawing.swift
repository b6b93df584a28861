import CCairo
package import Frames

/// A surface that shapes and words are drawn on by cairo and pango, to become an `Overlay`.
///
/// Where there is no memory for it, what is drawn is not seen. Looks for fonts, which may take a
/// tenth of a second the first time. On any thread, each of which pango gives fonts of its own.
package struct Drawing: ~Copyable {
    /// A colour, each part 0 … 1, not premultiplied.
    package struct Color: Hashable, Sendable {
        /// Its parts.
        package var red, green, blue, alpha: Double

        /// A colour of parts from 0 to 255, and how much of it is seen.
        package init(_ red: Double, _ green: Double, _ blue: Double, alpha: Double = 1) {
            (self.red, self.green, self.blue) = (red / 255, green / 255, blue / 255)
            self.alpha = alpha
        }

        /// Black of which so much is seen.
        package static func black(_ alpha: Double) -> Color { Color(0, 0, 0, alpha: alpha) }
        /// White of which so much is seen.
        package static func white(_ alpha: Double = 1) -> Color {
            Color(255, 255, 255, alpha: alpha)
        }
    }

    /// How words look.
    package struct Font: Hashable, Sendable {
        /// How heavy it is.
        package enum Weight: Hashable, Sendable { case regular, medium, bold }

        /// Families, the one that is liked best first, parted by commas.
        package var family: String
        /// Height of the type in pixels.
        package var type: Double
        /// How heavy it is.
        package var weight: Weight

        /// Words of the first of `family` that there is, `type` pixels high.
        package init(_ family: String, type: Double, weight: Weight = .regular) {
            self.family = family
            self.type = type
            self.weight = weight
        }

        /// How far `text` runs, and how high its capitals are, in pixels.
        package func measure(_ text: String) -> (width: Double, capitals: Double) {
            let words = Words(text, self)
            return (words.width, words.capitals)
        }
    }

    private let size: Size
    private let surface: OpaquePointer?
    private let context: OpaquePointer?

    /// An empty drawing of `size`, whose width is even.
    package init(_ size: Size) {
        self.size = size
        surface = cairo_image_surface_create(
            CAIRO_FORMAT_ARGB32,
            CInt(size.width),
            CInt(size.height)
        )
        context = cairo_create(surface)
    }

    deinit {
        cairo_destroy(context)
        cairo_surface_destroy(surface)
    }

    /// Fills `rect` with its corners rounded by `radius`.
    package func fill(_ rect: Rect, radius: Double, _ color: Color) {
        let turns: [(x: Double, y: Double)] = [
            (rect.maxX - radius, rect.y + radius), (rect.maxX - radius, rect.maxY - radius),
            (rect.x + radius, rect.maxY - radius), (rect.x + radius, rect.y + radius),
        ]
        cairo_new_path(context)
        for (index, turn) in turns.enumerated() {
            let start = Double(index - 1) * .pi / 2
            cairo_arc(context, turn.x, turn.y, radius, start, start + .pi / 2)
        }
        cairo_close_path(context)
        use(color)
        cairo_fill(context)
    }

    /// Writes `text` on one line, with its baseline's left end at (`x`, `y`).
    package func write(_ text: String, _ font: Font, x: Double, y: Double, _ color: Color) {
        use(color)
        cairo_move_to(context, x, y)
        Words(text, font).show(context)
    }

    /// Writes `text` on one line, with the middle of its baseline at (`x`, `y`).
    package func write(_ text: String, _ font: Font, middle x: Double, y: Double, _ color: Color) {
        let words = Words(text, font)
        use(color)
        cairo_move_to(context, x - words.width / 2, y)
        words.show(context)
    }

    private func use(_ color: Color) {
        cairo_set_source_rgba(context, color.red, color.green, color.blue, color.alpha)
    }

    /// What was drawn.
    package consuming func finish() -> Overlay {
        cairo_surface_flush(surface)
        guard let data = cairo_image_surface_get_data(surface) else { return Overlay() }
        return Overlay(data, stride: Int(cairo_image_surface_get_stride(surface)), size: size)
    }

    /// A line of text laid out by pango.
    private struct Words: ~Copyable {
        private let layout: OpaquePointer?
        /// How far it runs, in pixels.
        let width: Double
        /// How high its capitals are, in pixels.
        let capitals: Double

        init(_ text: String, _ style: Font) {
            let context = pango_font_map_create_context(pango_cairo_font_map_get_default())
            defer { g_object_unref(context.map(UnsafeMutableRawPointer.init)) }
            let options = cairo_font_options_create()
            defer { cairo_font_options_destroy(options) }
            // A video has no subpixels; and words keep their shape at every size.
            cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY)
            cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT)
            cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF)
            pango_cairo_context_set_font_options(context, options)
            let font = pango_font_description_from_string(style.family)
            defer { pango_font_description_free(font) }
            let weight =
                switch style.weight {
                case .regular: PANGO_WEIGHT_NORMAL
                case .medium: PANGO_WEIGHT_MEDIUM
                case .bold: PANGO_WEIGHT_BOLD
                }
            pango_font_description_set_weight(font, weight)
            pango_font_description_set_absolute_size(font, style.type * Double(PANGO_SCALE))

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
