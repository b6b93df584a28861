import CGTK
package import Frames

/// The actions of a menu, by name.
package final class ActionGroup: Object {
    private var actions: [String: Object] = [:]

    package init() { super.init(taking: UnsafeMutableRawPointer(g_simple_action_group_new())) }

    /// Lets the menus of `widget` and those in it use the group as `prefix`.
    package func insert(in widget: Widget, as prefix: String) {
        gtk_widget_insert_action_group(widget.widget, prefix, opaque)
    }

    /// Adds an action, which is on or off if it `isSwitch`.
    package func add(_ name: String, isSwitch: Bool = false, _ handler: @escaping () -> Void) {
        let state = isSwitch ? g_variant_new_boolean(0) : nil
        insert(name, g_simple_action_new_stateful(name, nil, state)).connect("activate", handler)
    }

    /// Adds an action that is one of several words.
    package func addChoice(_ name: String, _ handler: @escaping (String) -> Void) {
        let type = g_variant_type_new("s")
        defer { g_variant_type_free(type) }
        insert(name, g_simple_action_new_stateful(name, type, g_variant_new_string("")))
            .on("activate") {
                let word = g_variant_get_string($0.value(1, g_value_get_variant), nil)
                if let word { handler(String(cString: word)) }
            }
    }

    private func insert(_ name: String, _ action: OpaquePointer?) -> Object {
        let action = Object(taking: action)
        g_action_map_add_action(opaque, action.opaque)
        actions[name] = action
        return action
    }

    /// Makes an action possible or not.
    package func enable(_ name: String, _ isEnabled: Bool) {
        guard let action = actions[name] else { return }
        g_simple_action_set_enabled(action.opaque, isEnabled ? 1 : 0)
    }

    /// Shows an action as on or off.
    package func set(_ name: String, _ isOn: Bool) {
        guard let action = actions[name] else { return }
        g_simple_action_set_state(action.opaque, g_variant_new_boolean(isOn ? 1 : 0))
    }

    /// Shows which word was chosen.
    package func set(_ name: String, _ word: String) {
        guard let action = actions[name] else { return }
        g_simple_action_set_state(action.opaque, g_variant_new_string(word))
    }
}

/// A menu in another one, whose items change but for the last ones.
package final class Submenu: Object {
    private let last: Object

    package init(_ last: [PopupMenu.Item] = []) {
        self.last = Object(taking: PopupMenu.section(last))
        super.init(taking: UnsafeMutableRawPointer(g_menu_new()))
        set([], choosing: "")
    }

    /// Shows `items`, the word of each of which `action` gets when it is chosen.
    package func set(_ items: [(label: String, word: String)], choosing action: String) {
        g_menu_remove_all(opaque)
        for (label, word) in items {
            // An underscore would mark a key.
            let item = Object(taking: g_menu_item_new(label.replacing("_", with: "__"), nil))
            let target = g_variant_new_string(word)
            g_menu_item_set_action_and_target_value(item.opaque, action, target)
            g_menu_append_item(opaque, item.opaque)
        }
        g_menu_append_section(opaque, nil, last.cast())
    }
}

/// A small window of the parent's, which appears where it is asked for.
package class Popover: Widget {
    /// Creates one over `parent` with `content`.
    package init(over parent: Widget, _ content: Widget) {
        super.init(gtk_popover_new())
        gtk_popover_set_child(cast(), content.widget)
        gtk_widget_set_parent(widget, parent.widget)
    }

    fileprivate init(over parent: Widget, menu: UnsafeMutablePointer<GtkWidget>?) {
        super.init(menu)
        gtk_widget_set_parent(widget, parent.widget)
    }

    /// Shows it, pointing to a place of its parent.
    package func show(at place: Rect) {
        var place = GdkRectangle(
            x: CInt(place.x),
            y: CInt(place.y),
            width: CInt(max(1, place.width)),
            height: CInt(max(1, place.height))
        )
        gtk_popover_set_pointing_to(cast(), &place)
        gtk_popover_popup(cast())
    }

    /// Hides it.
    package func close() { gtk_popover_popdown(cast()) }

    /// Calls `handler` when it is closed.
    package func onClose(_ handler: @escaping () -> Void) { connect("closed", handler) }

    /// Ends it with its parent.
    package func detach() { gtk_widget_unparent(widget) }
}

/// A menu, which appears where it is asked for.
package final class PopupMenu: Popover {
    /// An item: its words, the action that it does, and the key that does the same, by GDK's name.
    package struct Item {
        var label, action, key: String
        var menu: Submenu?
        var isHiddenWhenOff: Bool

        /// Creates an item. With `isHiddenWhenOff` it is only there while its action is possible.
        package init(
            _ label: String,
            _ action: String,
            _ key: String = "",
            isHiddenWhenOff: Bool = false
        ) {
            (self.label, self.action, self.key) = (label, action, key)
            self.isHiddenWhenOff = isHiddenWhenOff
        }

        /// Creates an item that opens `menu`.
        package init(_ label: String, _ menu: Submenu) {
            self.init(label, "")
            self.menu = menu
        }

        fileprivate var made: OpaquePointer? {
            let item =
                menu.map { g_menu_item_new_submenu(label, $0.cast()) }
                ?? g_menu_item_new(label, action)
            func set(_ name: String, _ value: String) {
                g_menu_item_set_attribute_value(item, name, g_variant_new_string(value))
            }
            if !key.isEmpty { set("accel", key) }
            if isHiddenWhenOff { set("hidden-when", "action-disabled") }
            return item
        }
    }

    fileprivate static func section(_ items: [Item]) -> OpaquePointer? {
        let section = g_menu_new()
        for item in items {
            let made = Object(taking: item.made)
            g_menu_append_item(section, made.opaque)
        }
        return section
    }

    /// Creates a menu over `parent`: `top`, and below it the sections, with a line between them.
    package init(over parent: Widget, top: Widget, _ sections: [[Item]]) {
        let menu = Object(taking: g_menu_new())
        func append(_ section: OpaquePointer?) {
            let section = Object(taking: section)
            g_menu_append_section(menu.opaque, nil, section.cast())
        }
        let first = g_menu_new()
        let place = Object(taking: g_menu_item_new(nil, nil))
        g_menu_item_set_attribute_value(place.opaque, "custom", g_variant_new_string("top"))
        g_menu_append_item(first, place.opaque)
        append(first)
        for items in sections { append(Self.section(items)) }
        super.init(over: parent, menu: gtk_popover_menu_new_from_model(menu.cast()))
        gtk_popover_menu_add_child(opaque, top.widget, "top")
    }
}
