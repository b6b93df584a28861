import CGTK
import Frames

/// A picture that is put into a window on an X server past GTK, which would fill the window, draw
/// the picture over that, and copy the whole to the server.
///
/// What GTK paints is painted over, and the other way round: it is for moments in which nothing
/// else is shown in the place.
package final class DirectPicture {
    private let window: Window
    /// The window's number in the server, which would not forgive one that is gone.
    private let number: CGTK.Window
    private let target: OpaquePointer
    private let format: cairo_format_t
    /// Two, since the server may still read one. They are in memory that is shared with it, if that
    /// is on the same machine.
    private var images: [OpaquePointer] = []
    private var size = Size(width: 0, height: 0)
    private var next = 0

    /// Prepares to draw in `window`, which is shown; `nil` where it would not look the same, or
    /// cost more: with a GPU, with round corners, on other than X servers.
    package init?(in window: Window) {
        guard window.isDrawnByCairo, window.hasSharpCorners,
            let x11 = X11Window(of: window), let attributes = x11.attributes,
            [24, 32].contains(attributes.depth)
        else { return nil }
        self.window = window
        number = x11.window
        format = attributes.depth == 32 ? CAIRO_FORMAT_ARGB32 : CAIRO_FORMAT_RGB24
        guard
            let target = cairo_xlib_surface_create(
                x11.display,
                x11.window,
                attributes.visual,
                attributes.width,
                attributes.height
            )
        else { return nil }
        self.target = target
    }

    deinit {
        images.forEach { cairo_surface_destroy($0) }
        cairo_surface_destroy(target)
    }

    /// Puts `pixels` where `widget` is, which has its size; returns `false` if that is not so.
    package func put(_ pixels: Pixels, at widget: Widget) -> Bool {
        let scale = widget.scaleFactor
        let room = widget.size
        guard pixels.size == Size(width: room.width * scale, height: room.height * scale),
            window.isMapped, window.hasSharpCorners, let x11 = X11Window(of: window),
            x11.window == number
        else { return false }
        var (x, y) = window.contentOffset
        guard cgtk_translate(widget.widget, window.widget, &x, &y) != 0, prepare(pixels.size),
            let surface = window.surface
        else { return false }
        cairo_xlib_surface_set_size(
            target,
            gdk_surface_get_width(surface) * CInt(scale),
            gdk_surface_get_height(surface) * CInt(scale)
        )
        let image = images[next]
        next = (next + 1) % images.count
        copy(pixels, to: image)
        let cairo = cairo_create(target)
        cairo_set_operator(cairo, CAIRO_OPERATOR_SOURCE)
        let (left, top) = (x.rounded() * Double(scale), y.rounded() * Double(scale))
        cairo_set_source_surface(cairo, image, left, top)
        cairo_rectangle(cairo, left, top, Double(pixels.size.width), Double(pixels.size.height))
        cairo_fill(cairo)
        cairo_destroy(cairo)
        cairo_surface_flush(target)
        x11.flush()
        return cairo_surface_status(target) == CAIRO_STATUS_SUCCESS
    }

    /// Makes images of `size`; returns `false` if there is no memory for them.
    private func prepare(_ size: Size) -> Bool {
        guard size != self.size else { return true }
        images.forEach { cairo_surface_destroy($0) }
        images = (1...2).compactMap { _ in
            let (width, height) = (CInt(size.width), CInt(size.height))
            return cairo_surface_create_similar_image(target, format, width, height)
        }
        self.size = size
        let isReady = images.allSatisfy { cairo_surface_status($0) == CAIRO_STATUS_SUCCESS }
        if !isReady { self.size = Size(width: 0, height: 0) }
        return isReady && !images.isEmpty
    }

    private func copy(_ pixels: Pixels, to image: OpaquePointer) {
        // This waits while the server reads the image.
        cairo_surface_flush(image)
        guard let memory = cairo_image_surface_get_data(image) else { return }
        let stride = Int(cairo_image_surface_get_stride(image))
        for row in 0..<pixels.size.height {
            let source = pixels.memory + row * pixels.stride
            (memory + row * stride).update(
                from: source.assumingMemoryBound(to: UInt8.self),
                count: pixels.stride
            )
        }
        cairo_surface_mark_dirty(image)
    }
}
