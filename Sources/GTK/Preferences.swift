import CGTK

/// Groups of rows below one another, which scroll where there is not enough room.
package final class PreferencesPage: Widget {
    /// Creates a page, which a window of preferences shows by its title and its icon.
    package init(_ title: String = "", icon: String = "", _ groups: [PreferencesGroup]) {
        super.init(adw_preferences_page_new())
        let page = pointer.assumingMemoryBound(to: AdwPreferencesPage.self)
        adw_preferences_page_set_title(page, title)
        if !icon.isEmpty { adw_preferences_page_set_icon_name(page, icon) }
        for group in groups { adw_preferences_page_add(page, group.group) }
        // libadwaita lets a page be as wide as its rows with large letters, wider than a phone.
        if let scroller = Self.scroller(in: widget) {
            gtk_scrolled_window_set_policy(scroller, GTK_POLICY_AUTOMATIC, GTK_POLICY_AUTOMATIC)
        }
    }

    /// Returns the scrolled window in `widget`, which libadwaita does not name.
    private static func scroller(in widget: UnsafeMutablePointer<GtkWidget>?) -> OpaquePointer? {
        var child = gtk_widget_get_first_child(widget)
        while let one = child {
            let instance = UnsafeMutableRawPointer(one).assumingMemoryBound(to: GTypeInstance.self)
            if g_type_check_instance_is_a(instance, gtk_scrolled_window_get_type()) != 0 {
                return OpaquePointer(one)
            }
            if let found = scroller(in: one) { return found }
            child = gtk_widget_get_next_sibling(one)
        }
        return nil
    }
}

/// Rows that belong together, with a title and an explanation.
package final class PreferencesGroup: Widget {
    /// Creates a group with rows, and below them what is no row; `after` is beside the title.
    package init(
        _ title: String,
        _ words: String = "",
        _ content: [Widget] = [],
        after: Widget? = nil
    ) {
        super.init(adw_preferences_group_new())
        self.title = title
        if !words.isEmpty { adw_preferences_group_set_description(group, words) }
        if let after { adw_preferences_group_set_header_suffix(group, after.widget) }
        content.forEach(append)
    }

    var group: UnsafeMutablePointer<AdwPreferencesGroup> {
        pointer.assumingMemoryBound(to: AdwPreferencesGroup.self)
    }

    package var title: String {
        get { adw_preferences_group_get_title(group).map { String(cString: $0) } ?? "" }
        set {
            // Its words are markup; names in them are not.
            let words = g_markup_escape_text(newValue, -1)
            defer { g_free(words) }
            adw_preferences_group_set_title(group, words)
        }
    }

    /// Adds a row at the end, or what is no row below them.
    package func append(_ widget: Widget) { adw_preferences_group_add(group, widget.widget) }

    /// Removes a row.
    package func remove(_ widget: Widget) {
        adw_preferences_group_remove(group, widget.widget)
    }
}

/// A row with a title, and widgets before and after it.
package class Row: Widget {
    package init(_ title: String, _ words: String = "", before: [Widget] = [], after: [Widget] = [])
    {
        super.init(adw_action_row_new())
        setUp(title, words, before, after)
    }

    fileprivate init(row: UnsafeMutablePointer<GtkWidget>?, _ title: String, _ words: String) {
        super.init(row)
        setUp(title, words, [], [])
    }

    private var row: UnsafeMutablePointer<AdwActionRow> {
        pointer.assumingMemoryBound(to: AdwActionRow.self)
    }

    private func setUp(_ title: String, _ words: String, _ before: [Widget], _ after: [Widget]) {
        let base = pointer.assumingMemoryBound(to: AdwPreferencesRow.self)
        adw_preferences_row_set_use_markup(base, 0)
        adw_preferences_row_set_title(base, title)
        self.words = words
        for widget in before {
            adw_action_row_add_prefix(row, widget.place(.center, .center).widget)
        }
        for widget in after {
            adw_action_row_add_suffix(row, widget.place(.center, .center).widget)
        }
    }

    /// Adds a widget at the end.
    package func append(after widget: Widget) {
        adw_action_row_add_suffix(row, widget.place(.center, .center).widget)
    }

    package var title: String {
        get {
            let base = pointer.assumingMemoryBound(to: AdwPreferencesRow.self)
            return adw_preferences_row_get_title(base).map { String(cString: $0) } ?? ""
        }
        set {
            adw_preferences_row_set_title(
                pointer.assumingMemoryBound(to: AdwPreferencesRow.self),
                newValue
            )
        }
    }

    package var words: String {
        get { adw_action_row_get_subtitle(row).map { String(cString: $0) } ?? "" }
        set { if newValue != words { adw_action_row_set_subtitle(row, newValue) } }
    }

    /// Calls `handler` when the row is clicked, which an arrow at its end shows.
    package func onClick(_ handler: @escaping () -> Void) {
        append(after: Image(icon: "go-next-symbolic"))
        gtk_list_box_row_set_activatable(pointer.assumingMemoryBound(to: GtkListBoxRow.self), 1)
        connect("activated", handler)
    }

    /// Lets a click on the row be one on `child`, which is in it.
    fileprivate func activate(_ child: UnsafeMutablePointer<GtkWidget>?) {
        adw_action_row_set_activatable_widget(row, child)
    }
}

/// A row that is on or off.
package final class SwitchRow: Row {
    private let handle: UnsafeMutablePointer<GtkWidget>?
    private var isSetting = false

    package init(_ title: String, _ words: String = "") {
        handle = gtk_switch_new()
        super.init(title, words)
        gtk_widget_set_valign(handle, GTK_ALIGN_CENTER)
        adw_action_row_add_suffix(pointer.assumingMemoryBound(to: AdwActionRow.self), handle)
        activate(handle)
    }

    private var toggle: OpaquePointer? { handle.map { OpaquePointer($0) } }

    /// `true` while it is on. Setting it calls no handler.
    package var isOn: Bool {
        get { gtk_switch_get_active(toggle) != 0 }
        set {
            guard newValue != isOn else { return }
            isSetting = true
            gtk_switch_set_active(toggle, newValue ? 1 : 0)
            isSetting = false
        }
    }

    /// Calls `handler` when the user turns it.
    package func onToggle(_ handler: @escaping (Bool) -> Void) {
        Object(sharing: handle.map { UnsafeMutableRawPointer($0) })
            .connect("notify::active") { [unowned self] in if !isSetting { handler(isOn) } }
    }
}

/// A row of which one of several words is chosen.
package final class ChoiceRow: Row {
    private var isSetting = false
    private var shown: [String] = []

    package init(_ title: String, _ words: String = "") {
        super.init(row: adw_combo_row_new(), title, words)
    }

    private var combo: UnsafeMutablePointer<AdwComboRow> {
        pointer.assumingMemoryBound(to: AdwComboRow.self)
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
            adw_combo_row_set_model(combo, list)
            g_object_unref(list.map { UnsafeMutableRawPointer($0) })
        }
        if chosen != self.chosen { adw_combo_row_set_selected(combo, guint(clamping: chosen)) }
    }

    private var chosen: Int { Int(adw_combo_row_get_selected(combo)) }

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
