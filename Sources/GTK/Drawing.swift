import CGTK
package import Frames
import Glibc

/// A colour.
package struct Color: Hashable, Sendable {
    var red, green, blue, alpha: Double

    /// Creates a colour from red, green and blue, 0 … 255, and its opacity, 0 … 1.
    package init(_ red: Int, _ green: Int, _ blue: Int, _ alpha: Double = 1) {
        self.red = Double(red) / 255
        self.green = Double(green) / 255
        self.blue = Double(blue) / 255
        self.alpha = alpha
    }

    /// White of this opacity.
    package static func white(_ alpha: Double = 1) -> Color { Color(255, 255, 255, alpha) }
    /// Black of this opacity.
    package static func black(_ alpha: Double) -> Color { Color(0, 0, 0, alpha) }
    /// The colour of the value in use.
    package static let amber = Color(255, 204, 64)
    /// The colour of an end.
    package static let red = Color(255, 89, 77)

    /// The colour, fainter by `factor`.
    package func faded(_ factor: Double) -> Color {
        var color = self
        color.alpha *= factor
        return color
    }
}

/// A widget that draws itself.
package final class DrawingArea: Widget {
    package init() {
        super.init(gtk_drawing_area_new())
        setRole(GTK_ACCESSIBLE_ROLE_IMG)
    }

    /// Draws it by `draw`.
    package func onDraw(_ draw: @escaping (Canvas, Size) -> Void) {
        gtk_drawing_area_set_draw_func(
            cast(),
            { _, cairo, width, height, context in
                guard let context, let cairo else { return }
                let draw = Callback<(Canvas, Size) -> Void>.of(context)
                draw(Canvas(cairo), Size(width: Int(width), height: Int(height)))
            },
            retained(Callback(draw)),
            release
        )
    }
}

/// The context to draw in; valid while it is drawn.
package struct Canvas {
    private let cairo: OpaquePointer

    init(_ cairo: OpaquePointer) { self.cairo = cairo }

    private func set(_ color: Color) {
        cairo_set_source_rgba(cairo, color.red, color.green, color.blue, color.alpha)
    }

    private func trace(_ rect: Rect, radius: Double) {
        let radius = min(radius, rect.width / 2, rect.height / 2)
        cairo_new_sub_path(cairo)
        let corners = [
            (rect.maxX - radius, rect.y + radius, -0.5),
            (rect.maxX - radius, rect.maxY - radius, 0),
            (rect.x + radius, rect.maxY - radius, 0.5), (rect.x + radius, rect.y + radius, 1),
        ]
        for (x, y, turn) in corners {
            cairo_arc(cairo, x, y, radius, turn * .pi, (turn + 0.5) * .pi)
        }
        cairo_close_path(cairo)
    }

    /// Fills a rectangle with round corners.
    package func fill(_ rect: Rect, radius: Double = 0, _ color: Color) {
        set(color)
        trace(rect, radius: radius)
        cairo_fill(cairo)
    }

    /// Draws the edge of a rectangle with round corners; with `dash`, in dashes of this length.
    package func outline(
        _ rect: Rect,
        radius: Double,
        width: Double,
        dash: Double = 0,
        _ color: Color
    ) {
        set(color)
        cairo_set_line_width(cairo, width)
        if dash > 0 {
            var pattern = [dash, dash * 0.75]
            cairo_set_dash(cairo, &pattern, 2, 0)
        }
        trace(rect, radius: radius)
        cairo_stroke(cairo)
        cairo_set_dash(cairo, nil, 0, 0)
    }

    /// Draws `pixels` as large as `rect`.
    package func draw(_ pixels: Pixels, in rect: Rect) {
        guard pixels.size.area > 0 else { return }
        cairo_save(cairo)
        cairo_translate(cairo, rect.x, rect.y)
        cairo_scale(
            cairo,
            rect.width / Double(pixels.size.width),
            rect.height / Double(pixels.size.height)
        )
        cairo_set_source_surface(cairo, pixels.surface, 0, 0)
        cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_BILINEAR)
        cairo_paint(cairo)
        cairo_restore(cairo)
    }

    /// Draws the edges of a polygon; with `outside`, fills what is around it there instead.
    package func polygon(
        _ points: [(x: Double, y: Double)],
        width: Double = 0,
        outside: Rect? = nil,
        _ color: Color
    ) {
        set(color)
        cairo_new_path(cairo)
        for (x, y) in points { cairo_line_to(cairo, x, y) }
        cairo_close_path(cairo)
        guard let outside else {
            cairo_set_line_width(cairo, width)
            cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND)
            return cairo_stroke(cairo)
        }
        cairo_rectangle(cairo, outside.x, outside.y, outside.width, outside.height)
        cairo_set_fill_rule(cairo, CAIRO_FILL_RULE_EVEN_ODD)
        cairo_fill(cairo)
        cairo_set_fill_rule(cairo, CAIRO_FILL_RULE_WINDING)
    }

    /// Draws the largest circle in `rect`, or a `part` of it, clockwise from the top.
    package func ring(_ rect: Rect, width: Double, part: Double = 1, _ color: Color) {
        set(color)
        cairo_set_line_width(cairo, width)
        cairo_new_path(cairo)
        let (radius, turn) = (min(rect.width, rect.height) / 2, 2 * Double.pi * part)
        cairo_arc(cairo, rect.midX, rect.midY, radius, -.pi / 2, turn - .pi / 2)
        cairo_stroke(cairo)
    }

    /// Draws only within a rectangle with round corners what `body` draws.
    package func clipped(to rect: Rect, radius: Double, _ body: () -> Void) {
        cairo_save(cairo)
        trace(rect, radius: radius)
        cairo_clip(cairo)
        body()
        cairo_restore(cairo)
    }

    /// A kind of letters.
    package enum Font: String, Sendable {
        case words = "Inter,Cantarell,sans"
        /// For values, whose figures all have one width.
        case figures = "JetBrains Mono,monospace"
    }

    /// Draws `text`, `size` units high, with its middle at a point; returns its width.
    @discardableResult
    package func write(
        _ text: String,
        x: Double,
        y: Double,
        size: Double,
        font: Font = .words,
        isBold: Bool = false,
        _ color: Color
    ) -> Double {
        let layout = pango_cairo_create_layout(cairo)
        defer { g_object_unref(layout.map { UnsafeMutableRawPointer($0) }) }
        let description = pango_font_description_from_string(font.rawValue)
        defer { pango_font_description_free(description) }
        pango_font_description_set_absolute_size(description, size * Double(PANGO_SCALE))
        pango_font_description_set_weight(
            description,
            isBold ? PANGO_WEIGHT_SEMIBOLD : PANGO_WEIGHT_NORMAL
        )
        pango_layout_set_font_description(layout, description)
        pango_layout_set_text(layout, text, -1)
        var width: CInt = 0
        var height: CInt = 0
        pango_layout_get_pixel_size(layout, &width, &height)
        set(color)
        cairo_move_to(cairo, x - Double(width) / 2, y - Double(height) / 2)
        pango_cairo_show_layout(cairo, layout)
        return Double(width)
    }
}
