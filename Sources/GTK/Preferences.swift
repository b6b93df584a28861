import CGTK

/// Groups of rows below one another, which scroll where there is not enough room.
package final class PreferencesPage: Widget {
    /// Creates a page, which a window of preferences shows by its title and its icon.
    package init(_ title: String = "", icon: String = "", _ groups: [PreferencesGroup]) {
        super.init(adw_preferences_page_new())
        adw_preferences_page_set_title(cast(), title)
        if !icon.isEmpty { adw_preferences_page_set_icon_name(cast(), icon) }
        for group in groups { adw_preferences_page_add(cast(), group.cast()) }
        // libadwaita lets a page be as wide as its rows with large letters, wider than a phone.
        if let scroller = Self.scroller(in: widget) {
            gtk_scrolled_window_set_policy(scroller, GTK_POLICY_AUTOMATIC, GTK_POLICY_AUTOMATIC)
        }
    }

    /// Returns the scrolled window in `widget`, which libadwaita does not name.
    private static func scroller(in widget: UnsafeMutablePointer<GtkWidget>?) -> OpaquePointer? {
        var child = gtk_widget_get_first_child(widget)
        while let one = child {
            if Object(sharing: one).is(gtk_scrolled_window_get_type()) { return OpaquePointer(one) }
            if let found = scroller(in: one) { return found }
            child = gtk_widget_get_next_sibling(one)
        }
        return nil
    }
}

/// Rows that belong together, with a title and an explanation.
package final class PreferencesGroup: Widget {
    /// Creates a group with rows, and below them what is no row; `after` is beside the title.
    package init(_ title: String = "", _ content: [Widget] = [], after: Widget? = nil) {
        super.init(adw_preferences_group_new())
        self.title = title
        if let after { adw_preferences_group_set_header_suffix(cast(), after.widget) }
        content.forEach(append)
    }

    package var title: String {
        get { adw_preferences_group_get_title(cast()).map { String(cString: $0) } ?? "" }
        set {
            // Its words are markup; names in them are not.
            let words = g_markup_escape_text(newValue, -1)
            defer { g_free(words) }
            adw_preferences_group_set_title(cast(), words)
        }
    }

    /// Adds a row at the end, or what is no row below them.
    package func append(_ widget: Widget) { adw_preferences_group_add(cast(), widget.widget) }

    /// Removes a row.
    package func remove(_ widget: Widget) { adw_preferences_group_remove(cast(), widget.widget) }
}

/// A row with a title, and widgets after it.
package class Row: Widget {
    package convenience init(_ title: String, _ words: String = "", after: [Widget] = []) {
        self.init(adw_action_row_new(), title, words)
        after.forEach(append)
    }

    init(_ row: UnsafeMutablePointer<GtkWidget>?, _ title: String, _ words: String) {
        super.init(row)
        adw_preferences_row_set_use_markup(cast(), 0)
        adw_preferences_row_set_title(cast(), title)
        self.words = words
    }

    /// Adds a widget at the end.
    package func append(after widget: Widget) {
        adw_action_row_add_suffix(cast(), widget.place(.center, .center).widget)
    }

    package var words: String {
        get { adw_action_row_get_subtitle(cast()).map { String(cString: $0) } ?? "" }
        set { if newValue != words { adw_action_row_set_subtitle(cast(), newValue) } }
    }

    /// Calls `handler` when the row is clicked, which an arrow at its end shows.
    package func onClick(_ handler: @escaping () -> Void) {
        append(after: Image(icon: "go-next-symbolic"))
        gtk_list_box_row_set_activatable(cast(), 1)
        connect("activated", handler)
    }
}

/// A row that is on or off.
package final class SwitchRow: Row {
    private let handle = Widget(gtk_switch_new())
    private var isSetting = false

    package init(_ title: String, _ words: String = "") {
        super.init(adw_action_row_new(), title, words)
        append(after: handle)
        adw_action_row_set_activatable_widget(cast(), handle.widget)
    }

    /// `true` while it is on. Setting it calls no handler.
    package var isOn: Bool {
        get { gtk_switch_get_active(handle.opaque) != 0 }
        set {
            guard newValue != isOn else { return }
            isSetting = true
            gtk_switch_set_active(handle.opaque, newValue ? 1 : 0)
            isSetting = false
        }
    }

    /// Calls `handler` when the user turns it.
    package func onToggle(_ handler: @escaping (Bool) -> Void) {
        handle.connect("notify::active") { [unowned self] in if !isSetting { handler(isOn) } }
    }
}

/// A row of which one of several words is chosen.
package final class ChoiceRow: Row {
    private var isSetting = false
    private var shown: [String] = []

    package init(_ title: String, _ words: String = "") {
        super.init(adw_combo_row_new(), title, words)
    }

    /// Shows what can be chosen, and what is, without calling a handler.
    package func show(_ names: [String], chosen: Int) {
        isSetting = true
        defer { isSetting = false }
        if names != shown {
            shown = names
            var words = names.map { UnsafePointer<CChar>(strdup($0)) } + [nil]
            defer { words.forEach { free(UnsafeMutablePointer(mutating: $0)) } }
            let list = gtk_string_list_new(&words)
            adw_combo_row_set_model(cast(), list)
            g_object_unref(list.map { UnsafeMutableRawPointer($0) })
        }
        if chosen != self.chosen { adw_combo_row_set_selected(cast(), guint(clamping: chosen)) }
    }

    private var chosen: Int { Int(adw_combo_row_get_selected(cast())) }

    /// Calls `handler` with the index that the user chooses.
    package func onChoice(_ handler: @escaping (Int) -> Void) {
        connect("notify::selected") { [unowned self] in
            if !isSetting, shown.indices.contains(chosen) { handler(chosen) }
        }
    }
}

extension Window {
    /// Keeps the window above `parent`, which it belongs to.
    package func setParent(_ parent: Window) {
        gtk_window_set_transient_for(window, parent.window)
    }

    /// Keeps the window above one of another program: `handle` is "x11:" with the number of a
    /// window there, or "wayland:" with the handle of an exported one, as the desktop's portals
    /// have them. To be called once it is shown. What is no such handle is left alone.
    package func setParent(handle: String) {
        guard let surface else { return }
        handle.withCString { cgtk_set_parent(surface, $0) }
    }
}

/// A sound of the desktop.
package enum Bell {
    /// Sounds it, once.
    package static func ring() {
        if let display = gdk_display_get_default() { gdk_display_beep(display) }
    }
}
