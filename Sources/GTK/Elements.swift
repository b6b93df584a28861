import CGTK

/// Words.
package final class Label: Widget {
    package init(_ text: String = "", wraps: Bool = false) {
        super.init(gtk_label_new(text))
        if wraps {
            gtk_label_set_wrap(opaque, 1)
            gtk_label_set_justify(opaque, GTK_JUSTIFY_CENTER)
        }
    }

    /// Breaks words that are longer than a line, as names of files are.
    package func breaksWords() -> Self {
        gtk_label_set_wrap_mode(opaque, PANGO_WRAP_WORD_CHAR)
        return self
    }

    /// Leaves the end out where there is not enough room.
    package func shortens() -> Self {
        gtk_label_set_ellipsize(opaque, PANGO_ELLIPSIZE_END)
        return self
    }

    package var text: String {
        get { String(cString: gtk_label_get_text(opaque)) }
        set { if newValue != text { gtk_label_set_text(opaque, newValue) } }
    }
}

/// A button.
package class Button: Widget {
    package init(icon: String, _ name: String) {
        super.init(gtk_button_new_from_icon_name(icon))
        named(name)
        tooltip = name
    }

    package init(_ label: String) { super.init(gtk_button_new_with_label(label)) }

    package init(_ child: Widget, _ name: String) {
        super.init(gtk_button_new())
        gtk_button_set_child(button, child.widget)
        named(name)
        tooltip = name
    }

    override init(_ widget: UnsafeMutableRawPointer?) { super.init(widget) }

    var button: UnsafeMutablePointer<GtkButton> { cast() }

    /// Shows the icon called `name`.
    package func setIcon(_ name: String) { gtk_button_set_icon_name(button, name) }

    package var label: String {
        get { gtk_button_get_label(button).map { String(cString: $0) } ?? "" }
        set { gtk_button_set_label(button, newValue) }
    }

    /// The label that GTK makes for its words.
    private var words: OpaquePointer? { gtk_button_get_child(button).map { OpaquePointer($0) } }

    /// Breaks its words into lines where there is not enough room. To be called once it has words.
    package func wraps() -> Self {
        gtk_label_set_wrap(words, 1)
        gtk_label_set_justify(words, GTK_JUSTIFY_CENTER)
        return self
    }

    /// Leaves the end of its words out where there is not enough room. To be called once it has
    /// words.
    @discardableResult
    package func shortens() -> Self {
        gtk_label_set_ellipsize(words, PANGO_ELLIPSIZE_END)
        return self
    }

    /// Leaves the keyboard where it is when it is clicked.
    @discardableResult
    package func keepsFocus() -> Self {
        gtk_widget_set_focus_on_click(widget, 0)
        return self
    }

    /// Does the action called `name`, whose state and possibility it shows.
    @discardableResult
    package func acts(_ name: String) -> Self {
        gtk_actionable_set_action_name(opaque, name)
        return self
    }

    /// Calls `handler` when it is pressed.
    @discardableResult
    package func onClick(_ handler: @escaping () -> Void) -> Self {
        connect("clicked", handler)
        return self
    }
}

/// A button that stays down.
package final class ToggleButton: Button {
    private var isSetting = false

    package init(toggle icon: String, _ name: String) {
        super.init(gtk_toggle_button_new())
        gtk_button_set_icon_name(button, icon)
        named(name)
        tooltip = name
    }

    /// Creates a button with words, which people hear as `name`.
    package init(words: String, _ name: String) {
        super.init(gtk_toggle_button_new_with_label(words))
        tooltip = name
    }

    package override init(_ child: Widget, _ name: String) {
        super.init(gtk_toggle_button_new())
        gtk_button_set_child(button, child.widget)
        named(name)
        tooltip = name
    }

    /// `true` while it is down. Setting it calls no handler.
    package var isOn: Bool {
        get { gtk_toggle_button_get_active(cast()) != 0 }
        set {
            guard newValue != isOn else { return }
            isSetting = true
            gtk_toggle_button_set_active(cast(), newValue ? 1 : 0)
            isSetting = false
        }
    }

    /// Calls `handler` when the user turns it.
    package func onToggle(_ handler: @escaping (Bool) -> Void) {
        connect("toggled") { [unowned self] in if !isSetting { handler(isOn) } }
    }
}

/// Buttons of which one is down, each for a word.
package final class ToggleGroup<Word: Equatable> {
    package let buttons: [(word: Word, button: ToggleButton)]

    package init(_ buttons: [(word: Word, button: ToggleButton)]) { self.buttons = buttons }

    /// Calls `handler` with the word of the button that people press.
    package func onChoice(_ handler: @escaping (Word) -> Void) {
        for (word, button) in buttons {
            button.onToggle { [unowned self] _ in
                // What was chosen already stays down.
                chosen = word
                handler(word)
            }
        }
    }

    /// The word whose button is down. Setting it calls no handler.
    package var chosen: Word? {
        didSet { for (word, button) in buttons { button.isOn = word == chosen } }
    }
}

/// A line of words to write. Return does what the window suggests.
package final class Entry: Widget {
    package init(_ text: String, _ name: String) {
        super.init(gtk_entry_new())
        gtk_editable_set_text(opaque, text)
        gtk_entry_set_placeholder_text(cast(), name)
        gtk_entry_set_activates_default(cast(), 1)
        named(name)
    }

    package var text: String {
        gtk_editable_get_text(opaque).map { String(cString: $0) } ?? ""
    }
}

/// A picture that fills its room.
package final class Picture: Widget {
    package init() {
        super.init(gtk_picture_new())
        gtk_picture_set_can_shrink(opaque, 1)
        gtk_picture_set_content_fit(opaque, GTK_CONTENT_FIT_COVER)
    }

    /// `true` if its edges are cut off where the shapes differ, and not shown with bars beside.
    package var covers: Bool {
        get { gtk_picture_get_content_fit(opaque) == GTK_CONTENT_FIT_COVER }
        set {
            gtk_picture_set_content_fit(
                opaque,
                newValue ? GTK_CONTENT_FIT_COVER : GTK_CONTENT_FIT_CONTAIN
            )
        }
    }

    /// The present picture, and the one before, which GTK compares with it.
    private var shown: (now: Paintable?, before: Paintable?)

    /// Returns `pixels` in the form that costs least to draw where the picture is.
    package func paintable(of pixels: Pixels) -> Paintable {
        isDrawnByCairo ? Painting(pixels) : Texture(pixels)
    }

    /// Shows `paintable`; `nil` for nothing.
    package func show(_ paintable: Paintable?) {
        shown = (paintable, shown.now)
        gtk_picture_set_paintable(opaque, paintable?.opaque)
    }
}

/// The name of an icon as a picture.
package final class Image: Widget {
    /// Creates a picture of the icon called `icon`, `pixels` large.
    package init(icon: String, pixels: Int? = nil) {
        super.init(gtk_image_new_from_icon_name(icon))
        if let pixels { gtk_image_set_pixel_size(opaque, CInt(pixels)) }
    }

    /// Shows the icon called `name`.
    package func setIcon(_ name: String) { gtk_image_set_from_icon_name(opaque, name) }
}

/// A sign that something takes a moment.
package final class Spinner: Widget {
    package init() {
        super.init(gtk_spinner_new())
        request(width: 32, height: 32)
    }

    package var isSpinning: Bool {
        get { gtk_spinner_get_spinning(opaque) != 0 }
        set { if newValue != isSpinning { gtk_spinner_set_spinning(opaque, newValue ? 1 : 0) } }
    }
}
