import CGTK
package import Frames

/// Widgets in a row or a column.
package final class Box: Widget {
    package init(vertical: Bool = false, spacing: Int = 0, _ children: [Widget] = []) {
        let direction = vertical ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL
        super.init(gtk_box_new(direction, CInt(spacing)))
        children.forEach(append)
    }

    /// Adds a child at the end.
    package func append(_ child: Widget) { gtk_box_append(cast(), child.widget) }

    /// Removes a child.
    package func remove(_ child: Widget) { gtk_box_remove(cast(), child.widget) }
}

/// Widgets over one another.
package final class Overlay: Widget {
    /// Creates an overlay, which has the size of `child`.
    package init(_ child: Widget) {
        super.init(gtk_overlay_new())
        gtk_overlay_set_child(opaque, child.widget)
    }

    /// Creates an overlay of this size, whatever is put there: a picture would ask for the room of
    /// what it shows.
    package convenience init(room: Size) {
        let box = Box()
        box.request(width: room.width, height: room.height)
        self.init(box)
    }

    /// Puts `child` on top.
    package func add(_ child: Widget) { gtk_overlay_add_overlay(opaque, child.widget) }
}

/// Widgets at places in pixels.
package final class Fixed: Widget {
    package init() { super.init(gtk_fixed_new()) }

    /// Adds `child` at the top left.
    package func add(_ child: Widget) { gtk_fixed_put(cast(), child.widget, 0, 0) }

    /// Moves `child`.
    package func move(_ child: Widget, x: Double, y: Double) {
        gtk_fixed_move(cast(), child.widget, x, y)
    }
}

/// A widget that fades in and out.
package final class Revealer: Widget {
    /// Wraps `child`, hidden at first; the fade takes `seconds`.
    package init(_ child: Widget, seconds: Double) {
        super.init(gtk_revealer_new())
        gtk_revealer_set_transition_type(opaque, GTK_REVEALER_TRANSITION_TYPE_CROSSFADE)
        gtk_revealer_set_transition_duration(opaque, guint(seconds * 1000))
        gtk_revealer_set_child(opaque, child.widget)
        isTarget = false
    }

    /// `true` while it is shown, or fades in.
    package var isRevealed: Bool {
        get { gtk_revealer_get_reveal_child(opaque) != 0 }
        set {
            isTarget = newValue
            gtk_revealer_set_reveal_child(opaque, newValue ? 1 : 0)
        }
    }
}

/// A child that is moved with wheel, finger or keyboard where there is more of it than room.
package final class ScrolledWindow: Widget {
    package init(sideways child: Widget) {
        super.init(gtk_scrolled_window_new())
        gtk_scrolled_window_set_policy(opaque, GTK_POLICY_AUTOMATIC, GTK_POLICY_NEVER)
        // As wide as the child where there is room.
        gtk_scrolled_window_set_propagate_natural_width(opaque, 1)
        setRole(GTK_ACCESSIBLE_ROLE_GROUP)
        gtk_scrolled_window_set_child(opaque, child.widget)
    }

    package init(downwards child: Widget) {
        super.init(gtk_scrolled_window_new())
        gtk_scrolled_window_set_policy(opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_scrolled_window_set_child(opaque, child.widget)
    }
}

/// Widgets in rows, as many in each as fit. The arrow keys go from one to the next.
package final class FlowBox: Widget {
    /// Creates rows of at most so many children.
    package init(most: Int = 12, spacing: Int = 6) {
        super.init(gtk_flow_box_new())
        gtk_flow_box_set_selection_mode(opaque, GTK_SELECTION_NONE)
        gtk_flow_box_set_max_children_per_line(opaque, guint(most))
        gtk_flow_box_set_row_spacing(opaque, guint(spacing))
        gtk_flow_box_set_column_spacing(opaque, guint(spacing))
        place(.fill, .start)
        // The keyboard is on the box's own widget around a child, not on the child.
        connect("child-activated") { arguments in
            let cell = arguments.value(1, g_value_get_object)
            guard let cell = cell?.assumingMemoryBound(to: GtkFlowBoxChild.self),
                let child = gtk_flow_box_child_get_child(cell)
            else { return false }
            return gtk_widget_activate(child) != 0
        }
    }

    /// Adds a child at a place, or at the end.
    package func append(_ child: Widget, at index: Int = -1) {
        gtk_flow_box_insert(opaque, child.widget, CInt(index))
    }

    /// Removes a child.
    package func remove(_ child: Widget) {
        // What was inserted is in a widget of the box's own.
        if let parent = gtk_widget_get_parent(child.widget) { gtk_flow_box_remove(opaque, parent) }
    }
}

/// The bar at the top of an ordinary window, with its title.
package final class HeaderBar: Widget {
    /// Creates a bar with widgets before and after the title, or what is in its place, and without
    /// the window's own buttons.
    package init(_ before: [Widget], _ after: [Widget], title: Widget? = nil) {
        super.init(UnsafeMutableRawPointer(adw_header_bar_new()))
        adw_header_bar_set_show_start_title_buttons(opaque, 0)
        adw_header_bar_set_show_end_title_buttons(opaque, 0)
        if let title { adw_header_bar_set_title_widget(opaque, title.widget) }
        for widget in before { adw_header_bar_pack_start(opaque, widget.widget) }
        for widget in after { adw_header_bar_pack_end(opaque, widget.widget) }
    }
}

/// Pages beside one another, of which one is shown, with a dot for each.
package final class Carousel: Widget {
    private let pages: [Widget]
    /// The dots.
    package let dots: Widget
    /// The page that is shown, or comes.
    package private(set) var index = 0

    /// Creates it with `pages`, which nothing but `show` turns.
    package init(_ pages: [Widget]) {
        self.pages = pages
        dots = Widget(UnsafeMutableRawPointer(adw_carousel_indicator_dots_new()))
        super.init(UnsafeMutableRawPointer(adw_carousel_new()))
        for page in pages { adw_carousel_append(opaque, page.widget) }
        adw_carousel_set_interactive(opaque, 0)
        adw_carousel_set_allow_scroll_wheel(opaque, 0)
        adw_carousel_indicator_dots_set_carousel(dots.opaque, opaque)
        show(0)
    }

    /// Shows the page of this index. The others have no keyboard.
    package func show(_ index: Int) {
        self.index = index
        for (other, page) in pages.enumerated() { page.isSensitive = other == index }
        adw_carousel_scroll_to(opaque, pages[index].widget, 1)
    }
}
