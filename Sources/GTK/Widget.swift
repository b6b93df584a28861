import CGTK
package import Frames

/// A widget.
///
/// Who owns what: as long as a widget is in another one, that owns it, this object included; a
/// window owns itself from its making until it is closed, and what `belongs(to:)` names. A handler
/// lives as long as the object whose signal it handles. So handlers of a widget may take that
/// widget, and those within a window what the window belongs to, `unowned`; all that calls
/// later, such as an answer of the daemon, takes it `weak`. A context of C is released by C.
package class Widget: Object {
    var widget: UnsafeMutablePointer<GtkWidget> { cast() }
    private var controllers: [Object] = []
    /// `true` while the widget that it is in owns this object.
    private var isOwned = false

    /// Shares a widget that GTK has made.
    init(_ widget: UnsafeMutableRawPointer?) {
        super.init(sharing: widget)
        connect("notify::parent") { [weak self] in self?.parentChanged() }
    }

    private func parentChanged() {
        let isOwned = gtk_widget_get_parent(widget) != nil
        guard isOwned != self.isOwned else { return }
        self.isOwned = isOwned
        let own = Unmanaged.passUnretained(self)
        if isOwned { _ = own.retain() } else { own.release() }
    }

    /// `true` where words, and all that is beside them, begin on the right.
    package static var isRightToLeft: Bool {
        gtk_widget_get_default_direction() == GTK_TEXT_DIR_RTL
    }

    /// The size of letters that people want, over the usual one.
    package static var textScale: Double {
        guard let settings = gtk_settings_get_default() else { return 1 }
        let dpi = Object(sharing: settings).integer("gtk-xft-dpi")
        return dpi > 0 ? Double(dpi) / 1024 / 96 : 1
    }

    /// `true` if people want edges and no shades.
    package static var hasHighContrast: Bool {
        adw_style_manager_get_high_contrast(adw_style_manager_get_default()) != 0
    }

    /// `false` if people want nothing to move by itself.
    package var hasAnimations: Bool { adw_get_enable_animations(widget) != 0 }

    /// Calls `handler` when people choose another size of letters, or another contrast.
    package static func onLook(_ handler: @escaping () -> Void) {
        Object(sharing: adw_style_manager_get_default()).connect("notify::high-contrast", handler)
        Object(sharing: gtk_settings_get_default()).connect("notify::gtk-xft-dpi", handler)
    }

    /// A place within the room that a widget gets.
    package struct Align: Hashable, Sendable {
        fileprivate let value: GtkAlign
        package static let fill = Align(value: GTK_ALIGN_FILL)
        /// The side where words begin, or the top.
        package static let start = Align(value: GTK_ALIGN_START)
        package static let center = Align(value: GTK_ALIGN_CENTER)
        /// The side where words end, or the bottom.
        package static let end = Align(value: GTK_ALIGN_END)
    }

    /// Places the widget in its room.
    @discardableResult
    package func place(_ x: Align, _ y: Align, margin: Int? = nil) -> Self {
        gtk_widget_set_halign(widget, x.value)
        gtk_widget_set_valign(widget, y.value)
        if let margin { setMargins(start: margin, end: margin, top: margin, bottom: margin) }
        return self
    }

    /// Leaves pixels free on the sides where words begin and end, above and below; elsewhere it
    /// stays as it is.
    package func setMargins(
        start: Int? = nil,
        end: Int? = nil,
        top: Int? = nil,
        bottom: Int? = nil
    ) {
        if let start { gtk_widget_set_margin_start(widget, CInt(start)) }
        if let end { gtk_widget_set_margin_end(widget, CInt(end)) }
        if let top { gtk_widget_set_margin_top(widget, CInt(top)) }
        if let bottom { gtk_widget_set_margin_bottom(widget, CInt(bottom)) }
    }

    /// Gives a widget a role that may have a name: the usual one of areas and containers has none
    /// since GTK 4.10, and screen readers would pass it by. To be called before it is shown.
    func setRole(_ role: GtkAccessibleRole) {
        var value = GValue()
        g_value_init(&value, gtk_accessible_role_get_type())
        g_value_set_enum(&value, CInt(bitPattern: role.rawValue))
        g_object_set_property(cast(), "accessible-role", &value)
        g_value_unset(&value)
    }

    /// `true` if the widget is shown while its parent is.
    package var isVisible: Bool {
        get { gtk_widget_get_visible(widget) != 0 }
        set { if newValue != isVisible { gtk_widget_set_visible(widget, newValue ? 1 : 0) } }
    }

    /// `true` if it is on the screen, as far as the program knows.
    package var isMapped: Bool { gtk_widget_get_mapped(widget) != 0 }

    /// `true` if it is drawn on the processor.
    var isDrawnByCairo: Bool {
        guard let native = gtk_widget_get_native(widget),
            let renderer = gtk_native_get_renderer(native)
        else { return false }
        return Object(sharing: renderer).is(gsk_cairo_renderer_get_type())
    }

    /// Returns `true` if of all that is directly in it `child` alone can be seen.
    package func shows(only child: Widget) -> Bool {
        var next = gtk_widget_get_first_child(widget)
        while let other = next {
            if other != child.widget, gtk_widget_get_mapped(other) != 0 {
                // What has faded out is no longer on the screen, but what fades it is.
                let object = Object(sharing: other)
                guard object.is(gtk_revealer_get_type()),
                    let content = gtk_revealer_get_child(object.opaque),
                    gtk_widget_get_mapped(content) == 0
                else { return false }
            }
            next = gtk_widget_get_next_sibling(other)
        }
        return gtk_widget_get_mapped(child.widget) != 0
    }

    package var isSensitive: Bool {
        get { gtk_widget_get_sensitive(widget) != 0 }
        set { gtk_widget_set_sensitive(widget, newValue ? 1 : 0) }
    }

    package var isTarget: Bool {
        get { gtk_widget_get_can_target(widget) != 0 }
        set { gtk_widget_set_can_target(widget, newValue ? 1 : 0) }
    }

    package var isFocusable: Bool {
        get { gtk_widget_get_focusable(widget) != 0 }
        set { gtk_widget_set_focusable(widget, newValue ? 1 : 0) }
    }

    /// Its opacity, 0 … 1.
    package var opacity: Double {
        get { gtk_widget_get_opacity(widget) }
        set { gtk_widget_set_opacity(widget, newValue) }
    }

    /// The tooltip; empty for none.
    package var tooltip: String {
        get { gtk_widget_get_tooltip_text(widget).map { String(cString: $0) } ?? "" }
        set {
            guard newValue != tooltip else { return }
            gtk_widget_set_tooltip_text(widget, newValue.isEmpty ? nil : newValue)
        }
    }

    /// Gets all room that is left.
    @discardableResult
    package func expand(_ x: Bool = true, _ y: Bool = true) -> Self {
        gtk_widget_set_hexpand(widget, x ? 1 : 0)
        gtk_widget_set_vexpand(widget, y ? 1 : 0)
        return self
    }

    /// Needs at least this room, in pixels.
    package func request(width: Int = -1, height: Int = -1) {
        gtk_widget_set_size_request(widget, CInt(width), CInt(height))
    }

    /// Adds classes of CSS.
    @discardableResult
    package func style(_ classes: String...) -> Self {
        for name in classes { gtk_widget_add_css_class(widget, name) }
        return self
    }

    /// Adds or removes a class of CSS.
    package func style(_ name: String, if isOn: Bool) {
        if isOn {
            gtk_widget_add_css_class(widget, name)
        } else {
            gtk_widget_remove_css_class(widget, name)
        }
    }

    /// Cuts off what lies outside of its rounded edge.
    @discardableResult
    package func clip() -> Self {
        gtk_widget_set_overflow(widget, GTK_OVERFLOW_HIDDEN)
        return self
    }

    /// Returns the least height, in units of GTK, that it needs at a width.
    package func height(forWidth width: Int) -> Int {
        var (least, height): (CInt, CInt) = (0, 0)
        gtk_widget_measure(widget, GTK_ORIENTATION_HORIZONTAL, -1, &least, nil, nil, nil)
        let width = max(CInt(width), least)
        gtk_widget_measure(widget, GTK_ORIENTATION_VERTICAL, width, &height, nil, nil, nil)
        return Int(height)
    }

    /// The size on the screen, in units of GTK.
    package var size: Size {
        Size(width: Int(gtk_widget_get_width(widget)), height: Int(gtk_widget_get_height(widget)))
    }

    /// The pixels of a unit.
    package var scaleFactor: Int { Int(gtk_widget_get_scale_factor(widget)) }

    /// Shows the pointer called `name` over the widget; `nil`: the usual one.
    package func setCursor(_ name: String?) { gtk_widget_set_cursor_from_name(widget, name) }

    /// `true` while it, or one in it, has the keyboard, and shows that.
    package var showsFocus: Bool {
        let flags = gtk_widget_get_state_flags(widget).rawValue
        guard flags & GTK_STATE_FLAG_FOCUS_WITHIN.rawValue != 0,
            let root = gtk_widget_get_root(widget)
        else { return false }
        let window = UnsafeMutableRawPointer(root).assumingMemoryBound(to: GtkWindow.self)
        return gtk_window_get_focus_visible(window) != 0
    }

    /// Returns its place in `other`, in units of GTK.
    package func place(in other: Widget) -> Rect {
        var (x, y) = (0.0, 0.0)
        _ = cgtk_translate(widget, other.widget, &x, &y)
        return Rect(x: x, y: y, width: Double(size.width), height: Double(size.height))
    }

    /// Takes the keyboard.
    package func grabFocus() { gtk_widget_grab_focus(widget) }

    /// Draws it again.
    package func redraw() { gtk_widget_queue_draw(widget) }

    /// Calls `handler` for each frame of the screen until it returns `false`.
    package func onFrame(_ handler: @escaping () -> Bool) {
        gtk_widget_add_tick_callback(
            widget,
            { _, _, context in
                context.map(Callback<() -> Bool>.of)?() == true ? 1 : 0
            },
            retained(Callback(handler)),
            release
        )
    }

    // MARK: Words for screen readers

    /// The name that screen readers say.
    @discardableResult
    package func named(_ name: String) -> Self {
        // In newer GTKs the words on a button are its name, whatever else it is called.
        gtk_accessible_reset_relation(opaque, GTK_ACCESSIBLE_RELATION_LABELLED_BY)
        setAccessible(GTK_ACCESSIBLE_PROPERTY_LABEL, name)
        return self
    }

    /// More about it for screen readers.
    package func describe(_ text: String) {
        setAccessible(GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text)
    }

    private func setAccessible(_ property: GtkAccessibleProperty, _ text: String) {
        var properties = [property]
        var value = GValue()
        gtk_accessible_property_init_value(property, &value)
        g_value_set_string(&value, text)
        gtk_accessible_update_property_value(opaque, 1, &properties, &value)
        g_value_unset(&value)
    }

    func add(_ controller: Object) {
        // The widget takes one reference over.
        g_object_ref(controller.pointer)
        gtk_widget_add_controller(widget, controller.opaque)
        controllers.append(controller)
    }
}
