import CGTK
package import Frames

/// A window of the program.
package final class Window: Widget {
    /// Creates a window without a frame, which shows `content`.
    package init(_ application: Application, title: String, size: Size, _ content: Widget) {
        super.init(adw_application_window_new(application.cast()))
        adw_application_window_set_content(cast(), content.widget)
        setUp(title, size)
    }

    /// Creates a window of preferences: `pages`, between which people choose at its top. It shows
    /// what `wrapped` makes of them: libadwaita's own messages over them crash it up to version 1.2
    /// when one is closed while it appears.
    package init(
        _ application: Application,
        preferences title: String,
        size: Size,
        _ pages: [PreferencesPage],
        wrapped: (Widget) -> Widget
    ) {
        super.init(cgtk_preferences_window())
        gtk_window_set_application(window, application.cast())
        for page in pages { cgtk_preferences_add(widget, page.widget) }
        let content = Widget(adw_window_get_content(cast()))
        adw_window_set_content(cast(), nil)
        withExtendedLifetime(wrapped(content)) { adw_window_set_content(cast(), $0.widget) }
        setUp(title, size)
    }

    private func setUp(_ title: String, _ size: Size) {
        gtk_window_set_title(window, title)
        gtk_window_set_default_size(window, CInt(size.width), CInt(size.height))
        keepsPresses()
        // GTK hides and ends it after this, and may still tell it so.
        let own = Unmanaged.passRetained(self)
        connect("unrealize") { [weak self] in
            guard let self, isOpen else { return }
            isOpen = false
            MainLoop.later { [self] in
                owner = nil
                own.release()
            }
        }
    }

    private var isOpen = true
    private var owner: AnyObject?

    /// Keeps `owner`, which handles what happens in the window, until the window is closed.
    package func belongs(to owner: AnyObject) { self.owner = owner }

    var window: UnsafeMutablePointer<GtkWindow> { cast() }

    var surface: OpaquePointer? { gtk_native_get_surface(opaque) }

    /// Shows it, on top and with the keyboard.
    package func present() { gtk_window_present(window) }

    /// Closes it.
    package func close() { gtk_window_close(window) }

    /// Calls `handler` when it is to be closed; it returns `true` if it stays.
    package func onClose(_ handler: @escaping () -> Bool) {
        connect("close-request") { _ in handler() }
    }

    /// Lets the keys close it whose names `isMeant` knows.
    package func closesOnKey(_ isMeant: @escaping (String) -> Bool = { $0 == "Escape" }) {
        onKey { [unowned self] name in
            guard isMeant(name) else { return false }
            close()
            return true
        }
    }

    /// The size of the window's content in units of GTK, as far as it is known.
    package var defaultSize: Size {
        get {
            var (width, height): (CInt, CInt) = (0, 0)
            gtk_window_get_default_size(window, &width, &height)
            return Size(width: Int(width), height: Int(height))
        }
        set { gtk_window_set_default_size(window, CInt(newValue.width), CInt(newValue.height)) }
    }

    /// Calls `handler` when its size changes.
    package func onResize(_ handler: @escaping () -> Void) {
        connect("notify::default-width", handler)
        connect("notify::default-height", handler)
    }

    package var isFullscreen: Bool {
        get { gtk_window_is_fullscreen(window) != 0 }
        set {
            if newValue { gtk_window_fullscreen(window) } else { gtk_window_unfullscreen(window) }
        }
    }

    /// Calls `handler` when it fills the screen, or no longer.
    package func onFullscreen(_ handler: @escaping () -> Void) {
        connect("notify::fullscreened", handler)
    }

    /// Hides it, as it is, until it is presented again.
    package func hide() { gtk_widget_set_visible(widget, 0) }

    /// Asks `question` over the window, with `extra` below its words, which gets the keyboard. The
    /// answer is the index of the chosen one of `answers`, of which the last is suggested, unless
    /// it `isDestructive`; `nil` if people turn away.
    package func ask(
        _ question: String,
        _ words: String,
        _ answers: [String],
        isDestructive: Bool = false,
        extra: Widget? = nil,
        _ done: @escaping (Int?) -> Void
    ) {
        guard let dialog = cgtk_question(window, question, words, extra?.widget) else { return }
        let last = isDestructive ? ADW_RESPONSE_DESTRUCTIVE : ADW_RESPONSE_SUGGESTED
        for (index, answer) in answers.enumerated() {
            let look = index == answers.count - 1 ? last : ADW_RESPONSE_DEFAULT
            cgtk_question_add(dialog, "\(index)", answer, look)
        }
        Object(sharing: dialog).on("response") {
            done($0.value(1, g_value_get_string).flatMap { Int(String(cString: $0)) })
        }
        gtk_widget_set_visible(dialog, 1)
        extra?.grabFocus()
    }

    /// Shows what the program is.
    package func showAbout(version: String) {
        cgtk_about(window, version)
    }

    /// `true` if GTK rounds no corners: without transparency, or without a compositor to leave out
    /// a shadow around windows.
    var hasSharpCorners: Bool { gtk_widget_has_css_class(widget, "solid-csd") != 0 }

    /// The distance of the content from the top left of the window with its shadow.
    package var contentOffset: (x: Double, y: Double) {
        var (x, y) = (0.0, 0.0)
        gtk_native_get_surface_transform(opaque, &x, &y)
        return (x, y)
    }

    /// Lets the window manager move it, from a press at this point of `child`.
    package func beginMove(from child: Widget, x: Double, y: Double) {
        var (x, y) = (x, y)
        cgtk_translate(child.widget, widget, &x, &y)
        x += contentOffset.x
        y += contentOffset.y
        guard let surface, let display = gdk_display_get_default(),
            let seat = gdk_display_get_default_seat(display)
        else { return }
        gdk_toplevel_begin_move(surface, gdk_seat_get_pointer(seat), 1, x, y, 0)
    }

    /// `true` while the user has minimised it, or it is hidden otherwise, as far as it is known.
    package var isMinimized: Bool {
        guard let surface else { return true }
        return gdk_toplevel_get_state(surface).rawValue & GDK_TOPLEVEL_STATE_MINIMIZED.rawValue != 0
    }

    /// Calls `handler` when it appears or disappears, and when its state on the screen changes. To
    /// be called once it is shown.
    package func onState(_ handler: @escaping () -> Void) {
        for signal in ["map", "unmap"] { connect(signal, handler) }
        guard let surface else { return }
        Object(sharing: surface).connect("notify::state", handler)
    }

    /// Calls `begins` before GTK draws each frame, and `painted` once it has. To be called once the
    /// window is shown.
    package func onFrames(begins: @escaping () -> Void, painted: @escaping () -> Void) {
        guard let surface, let clock = gdk_surface_get_frame_clock(surface) else { return }
        Object(sharing: clock).connect("before-paint", begins)
        Object(sharing: clock).connect("paint", painted)
    }
}
