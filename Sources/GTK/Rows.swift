import CGTK

/// A row with a slider, its value in words, and a button that puts it back where it was at first.
package final class SliderRow: Row {
    private let slider: Widget
    private let shown = Label()
    private let back = Button(icon: "edit-undo-symbolic", "Reset")
    private let told: (Double) -> String
    private let initial: Double?
    private var isSetting = false

    /// Creates a slider of values in `range`, `step` apart, which `words` tells. It goes back to
    /// `initial`; without one there is no way back.
    package init(
        _ title: String,
        _ range: ClosedRange<Double>,
        step: Double,
        initial: Double?,
        _ words: @escaping (Double) -> String
    ) {
        (told, self.initial) = (words, initial)
        let end = max(range.upperBound, range.lowerBound + step)
        slider = Widget(
            gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, range.lowerBound, end, step)
        )
        super.init(adw_action_row_new(), title, "")
        [slider, shown, back].forEach(append)
        gtk_scale_set_draw_value(slider.cast(), 0)
        slider.expand(true, false).place(.fill, .center).named(title)
        slider.request(width: 90)
        if range.lowerBound < 0, let initial {
            gtk_scale_set_has_origin(slider.cast(), 0)
            gtk_scale_add_mark(slider.cast(), initial, GTK_POS_BOTTOM, nil)
        }
        leaveWheel()
        gtk_label_set_width_chars(shown.opaque, 5)
        gtk_label_set_xalign(shown.opaque, 1)
        back.style("flat").named("Reset \(title)")
        back.isVisible = initial != nil
        show()
        slider.connect("value-changed") { [unowned self] in show() }
        back.onClick { [unowned self] in reset() }
    }

    /// Goes back to where it was at first, as if people had moved it there.
    package func reset() { if let initial { gtk_range_set_value(slider.cast(), initial) } }

    /// Leaves the wheel to the page: one that scrolls it is not meant for what comes under it.
    private func leaveWheel() {
        let list = Object(taking: gtk_widget_observe_controllers(slider.widget))
        let all = (0..<g_list_model_get_n_items(list.opaque)).map {
            Object(taking: g_list_model_get_item(list.opaque, $0))
        }
        for controller in all where controller.is(gtk_event_controller_scroll_get_type()) {
            gtk_widget_remove_controller(slider.widget, controller.opaque)
        }
    }

    /// The present value. Setting it calls no handler.
    package var value: Double {
        get { gtk_range_get_value(slider.cast()) }
        set {
            isSetting = true
            gtk_range_set_value(slider.cast(), newValue)
            isSetting = false
        }
    }

    private func show() {
        shown.text = told(value)
        guard let initial else { return }
        // What cannot be seen keeps its room: all sliders of a group are as long.
        let differs = abs(value - initial) > 1e-6
        back.opacity = differs ? 1 : 0
        back.isSensitive = differs
    }

    /// Calls `handler` with each value that the user chooses.
    package func onChange(_ handler: @escaping (Double) -> Void) {
        slider.connect("value-changed") { [unowned self] in if !isSetting { handler(value) } }
    }
}

/// A row with a few words beside one another, of which one is chosen.
package final class SegmentRow: Row {
    /// The words, by their index.
    package let group: ToggleGroup<Int>

    package init(_ title: String, _ words: String, _ names: [(icon: String, name: String)]) {
        let buttons = names.map { icon, name in
            let label = Label(name)
            // With large letters they would leave no room for the title.
            label.isVisible = Widget.textScale < 1.5
            return ToggleButton(Box(spacing: 8, [Image(icon: icon), label]), name)
        }
        group = ToggleGroup(buttons.enumerated().map { ($0, $1) })
        super.init(adw_action_row_new(), title, words)
        append(after: Box(buttons).style("linked"))
    }
}

/// A row of words that people write.
package final class EntryRow: Widget {
    /// Creates a row of words, which nobody can read if it `isSecret`.
    package init(_ title: String, isSecret: Bool = false) {
        super.init(isSecret ? adw_password_entry_row_new() : adw_entry_row_new())
        adw_preferences_row_set_use_markup(cast(), 0)
        adw_preferences_row_set_title(cast(), title)
    }

    /// The words. They stay as they are while people write.
    package var text: String {
        get { String(cString: gtk_editable_get_text(opaque)) }
        set {
            let flags = gtk_widget_get_state_flags(widget).rawValue
            let isBusy = flags & GTK_STATE_FLAG_FOCUS_WITHIN.rawValue != 0
            if !isBusy, newValue != text { gtk_editable_set_text(opaque, newValue) }
        }
    }

    /// Calls `handler` when people press Return.
    package func onReturn(_ handler: @escaping () -> Void) { connect("entry-activated", handler) }

    /// Calls `handler` when people are done with their words.
    package func onApply(_ handler: @escaping () -> Void) {
        adw_entry_row_set_show_apply_button(cast(), 1)
        connect("apply", handler)
    }
}
