import CGTK

/// The actions of a menu, by name.
package final class ActionGroup: Object {
    private var actions: [String: Object] = [:]

    /// Creates an empty group.
    package init() { super.init(taking: UnsafeMutableRawPointer(g_simple_action_group_new())) }

    /// Lets the menus of `widget` and those in it use the group as `prefix`.
    package func insert(in widget: Widget, as prefix: String) {
        gtk_widget_insert_action_group(widget.widget, prefix, opaque)
    }

    /// Adds an action.
    package func add(_ name: String, _ handler: @escaping () -> Void) {
        insert(name, g_simple_action_new(name, nil)).connect("activate", handler)
    }

    /// Adds an action that is on or off; `handler` gets what it is to become.
    package func addSwitch(_ name: String, _ handler: @escaping (Bool) -> Void) {
        let action = insert(
            name,
            g_simple_action_new_stateful(name, nil, g_variant_new_boolean(0))
        )
        let opaque = action.opaque
        action.connect("activate") {
            let state = g_action_get_state(opaque)
            let isOn = g_variant_get_boolean(state) != 0
            g_variant_unref(state)
            handler(!isOn)
        }
    }

    /// Adds an action that is one of several words.
    package func addChoice(_ name: String, _ handler: @escaping (String) -> Void) {
        let type = g_variant_type_new("s")
        defer { g_variant_type_free(type) }
        let action = insert(
            name,
            g_simple_action_new_stateful(name, type, g_variant_new_string(""))
        )
        action.connect("activate") { arguments in
            if let word = arguments.variantText(1) { handler(word) }
            return false
        }
    }

    @discardableResult
    private func insert(_ name: String, _ action: OpaquePointer?) -> Object {
        let action = Object(taking: UnsafeMutableRawPointer(action))
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

extension Object.Arguments {
    fileprivate func variantText(_ index: Int) -> String? {
        value(index, g_value_get_variant).flatMap { g_variant_get_string($0, nil) }
            .map { String(cString: $0) }
    }
}

/// A menu in another one, whose items change.
package final class Submenu: Object {
    /// Creates an empty menu.
    package init() { super.init(taking: UnsafeMutableRawPointer(g_menu_new())) }

    /// Shows `items`, the word of each of which `action` gets when it is chosen.
    package func set(_ items: [(label: String, word: String)], choosing action: String) {
        g_menu_remove_all(opaque)
        for (label, word) in items {
            // An underscore would mark a key.
            let item = g_menu_item_new(label.replacing("_", with: "__"), nil)
            g_menu_item_set_action_and_target_value(item, action, g_variant_new_string(word))
            g_menu_append_item(opaque, item)
            g_object_unref(UnsafeMutableRawPointer(item))
        }
    }
}

/// A menu that appears where it is asked for.
package final class PopupMenu: Widget {
    /// Creates a menu over `parent`, with a line between its sections: what each item says, and the
    /// action that it does. The section `place` begins with the `submenus`.
    package init(
        over parent: Widget,
        _ sections: [[(label: String, action: String)]],
        _ submenus: [(label: String, menu: Submenu)],
        at place: Int
    ) {
        let menu = g_menu_new()
        for (index, items) in sections.enumerated() {
            let section = g_menu_new()
            for submenu in index == place ? submenus : [] {
                g_menu_append_submenu(
                    section,
                    submenu.label,
                    submenu.menu.pointer.assumingMemoryBound(to: GMenuModel.self)
                )
            }
            for item in items { g_menu_append(section, item.label, item.action) }
            let model = UnsafeMutableRawPointer(section).map {
                $0.assumingMemoryBound(to: GMenuModel.self)
            }
            g_menu_append_section(menu, nil, model)
            g_object_unref(UnsafeMutableRawPointer(section))
        }
        let model = UnsafeMutableRawPointer(menu).map {
            $0.assumingMemoryBound(to: GMenuModel.self)
        }
        super.init(gtk_popover_menu_new_from_model(model))
        g_object_unref(UnsafeMutableRawPointer(menu))
        gtk_widget_set_parent(widget, parent.widget)
        gtk_popover_set_has_arrow(popover, 0)
        gtk_widget_set_halign(widget, GTK_ALIGN_START)
    }

    private var popover: UnsafeMutablePointer<GtkPopover> {
        pointer.assumingMemoryBound(to: GtkPopover.self)
    }

    /// Shows it at a point of its parent.
    package func show(x: Double, y: Double) {
        var place = GdkRectangle(x: CInt(x), y: CInt(y), width: 1, height: 1)
        gtk_popover_set_pointing_to(popover, &place)
        gtk_popover_popup(popover)
    }

    /// Ends it with its parent.
    package func detach() { gtk_widget_unparent(widget) }
}

/// A place for short messages over `child`.
package final class ToastOverlay: Widget {
    /// Creates a place without messages.
    package init(_ child: Widget) {
        super.init(
            adw_toast_overlay_new().map {
                UnsafeMutableRawPointer($0).assumingMemoryBound(to: GtkWidget.self)
            }
        )
        adw_toast_overlay_set_child(opaque, child.widget)
    }

    /// Shows `message` for some seconds, with a button that does `action`.
    package func show(
        _ message: String,
        button: String? = nil,
        seconds: Int = 4,
        _ action: @escaping () -> Void = {},
        dismissed: @escaping () -> Void = {}
    ) {
        let toast = Object(taking: UnsafeMutableRawPointer(adw_toast_new(message)))
        adw_toast_set_timeout(toast.opaque, guint(seconds))
        if let button {
            adw_toast_set_button_label(toast.opaque, button)
            toast.connect("button-clicked", action)
        }
        toast.connect("dismissed", dismissed)
        g_object_ref(toast.pointer)
        adw_toast_overlay_add_toast(opaque, toast.opaque)
    }
}
