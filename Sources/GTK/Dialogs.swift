import CGTK

extension Window {
    /// Shows `message` for some seconds at the bottom of a window of preferences.
    package func tell(_ message: String) {
        // Its words are markup; names in them are not.
        let words = g_markup_escape_text(message, -1)
        defer { g_free(words) }
        cgtk_preferences_toast(widget, adw_toast_new(words))
    }

    /// Lets people choose a folder, whose path `done` gets.
    package func chooseFolder(_ title: String, _ done: @escaping (String) -> Void) {
        if let dialog = cgtk_folder_chooser(window, title) { choose(in: dialog, done) }
    }

    /// Lets people choose a file with a picture, whose path `done` gets.
    package func choosePicture(_ title: String, _ done: @escaping (String) -> Void) {
        if let dialog = cgtk_picture_chooser(window, title) { choose(in: dialog, done) }
    }

    private func choose(
        in dialog: UnsafeMutablePointer<GtkNativeDialog>,
        _ done: @escaping (String) -> Void
    ) {
        let object = Object(taking: UnsafeMutableRawPointer(dialog))
        // It lives until it is answered.
        let own = Unmanaged.passRetained(object)
        object.connect("response") { _ in
            if let path = cgtk_chosen_path(dialog) {
                done(String(cString: path))
                g_free(path)
            }
            own.release()
            return false
        }
        gtk_native_dialog_set_modal(dialog, 1)
        gtk_native_dialog_show(dialog)
    }

    /// Asks for a name over the window, beside `picture`. `done` gets the one that is chosen.
    package func askName(
        _ question: String,
        _ name: String,
        answer: String,
        beside picture: Widget,
        _ done: @escaping (String) -> Void
    ) {
        let entry = Entry(name, question).expand(true, false).place(.fill, .center)
        let content = Box(spacing: 16, [picture, entry])
        ask(question, "", ["Cancel", answer], extra: content) { index in
            if index == 1, !entry.text.isEmpty { done(entry.text) }
        }
    }
}

/// Words that can be read and copied, and not changed.
package final class TextView: Widget {
    package init(_ text: String) {
        super.init(gtk_text_view_new())
        let view = pointer.assumingMemoryBound(to: GtkTextView.self)
        gtk_text_view_set_editable(view, 0)
        gtk_text_view_set_monospace(view, 1)
        gtk_text_view_set_wrap_mode(view, GTK_WRAP_WORD_CHAR)
        self.text = text
    }

    package var text: String {
        get {
            let view = pointer.assumingMemoryBound(to: GtkTextView.self)
            let buffer = gtk_text_view_get_buffer(view)
            var (start, end) = (GtkTextIter(), GtkTextIter())
            gtk_text_buffer_get_bounds(buffer, &start, &end)
            let text = gtk_text_buffer_get_text(buffer, &start, &end, 0)
            defer { g_free(text) }
            return text.map { String(cString: $0) } ?? ""
        }
        set {
            let view = pointer.assumingMemoryBound(to: GtkTextView.self)
            gtk_text_buffer_set_text(gtk_text_view_get_buffer(view), newValue, -1)
        }
    }

    /// Copies all of the words.
    package func copy() { gdk_clipboard_set_text(gtk_widget_get_clipboard(widget), text) }
}
