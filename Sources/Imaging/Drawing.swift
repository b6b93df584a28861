import CCairo
package import Frames

/// A surface for shapes and words, drawn by cairo and pango, that becomes an `Overlay`. Without
/// memory for it the drawing stays invisible. It looks for fonts, which may take a tenth of a
/// second the first time. Any thread; pango gives each one fonts of its own.
package struct Drawing: ~Copyable {
    /// A colour, each part 0 … 1, not premultiplied.
    package struct Color: Hashable, Sendable {
        package var red, green, blue, alpha: Double

        /// Creates a colour from parts of 0 to 255, and an opacity of 0 to 1.
        package init(_ red: Double, _ green: Double, _ blue: Double, alpha: Double = 1) {
            (self.red, self.green, self.blue) = (red / 255, green / 255, blue / 255)
            self.alpha = alpha
        }

        /// Returns black of this opacity.
        package static func black(_ alpha: Double) -> Color { Color(0, 0, 0, alpha: alpha) }
        /// Returns white of this opacity.
        package static func white(_ alpha: Double = 1) -> Color {
            Color(255, 255, 255, alpha: alpha)
        }
    }

    /// The style of words.
    package struct Font: Hashable, Sendable {
        /// The weight of the type.
        package enum Weight: Hashable, Sendable { case regular, medium, semibold, bold }

        /// The families in order of preference, separated by commas.
        package var family: String
        /// The height of the type, in pixels.
        package var type: Double
        package var weight: Weight

        /// Creates a font of the first available `family`, `type` pixels high.
        package init(_ family: String, type: Double, weight: Weight = .regular) {
            self.family = family
            self.type = type
            self.weight = weight
        }

        /// Returns the width of `text` and the height of its capitals, in pixels.
        package func measure(_ text: String) -> (width: Double, capitals: Double) {
            let words = Words(text, self)
            return (words.width, words.capitals)
        }

        /// Returns `true` if no font has some character of `text`: a box stands for it, or nothing.
        package func lacks(_ text: String) -> Bool { Words(text, self).hasUnknown }
    }

    private let size: Size
    private let surface: OpaquePointer?
    private let context: OpaquePointer?

    /// Creates an empty drawing of `size`, whose width is even.
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

    /// Fills `rect`, with its corners rounded by `radius`.
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

    /// Writes `text` on one line, with the left end of its baseline at (`x`, `y`).
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

    package consuming func finish() -> Overlay {
        cairo_surface_flush(surface)
        guard let data = cairo_image_surface_get_data(surface) else { return Overlay() }
        return Overlay(data, stride: Int(cairo_image_surface_get_stride(surface)), size: size)
    }

    /// A line of text, laid out by pango.
    private struct Words: ~Copyable {
        private let layout: OpaquePointer?
        /// The width in pixels.
        let width: Double
        /// The height of capitals, in pixels.
        let capitals: Double
        /// `true` if no font has some of the characters.
        var hasUnknown: Bool { pango_layout_get_unknown_glyphs_count(layout) > 0 }

        init(_ text: String, _ style: Font) {
            let context = pango_font_map_create_context(pango_cairo_font_map_get_default())
            defer { g_object_unref(context.map(UnsafeMutableRawPointer.init)) }
            let options = cairo_font_options_create()
            defer { cairo_font_options_destroy(options) }
            // Video has no subpixels, and words must keep their shape at every size.
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
                case .semibold: PANGO_WEIGHT_SEMIBOLD
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
            // Nothing in a camera's name may turn the words around it.
            pango_layout_set_text(layout, text.plain(" "), -1)
            pango_layout_line_get_extents(
                pango_layout_get_line_readonly(layout, 0),
                nil,
                &extent
            )
            width = Double(extent.width) / Double(PANGO_SCALE)
        }

        deinit { g_object_unref(layout.map(UnsafeMutableRawPointer.init)) }

        /// Draws the line, with the left end of its baseline at the current point.
        func show(_ context: OpaquePointer?) {
            pango_cairo_show_layout_line(context, pango_layout_get_line_readonly(layout, 0))
        }
    }
}
