import CGTK

extension Window {
    /// Lets people choose a picture or a folder, whose path `done` gets.
    package func choose(_ title: String, isFolder: Bool, _ done: @escaping (String) -> Void) {
        let action =
            isFolder ? GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER : GTK_FILE_CHOOSER_ACTION_OPEN
        guard let dialog = cgtk_chooser(window, title, action) else { return }
        let object = Object(taking: dialog)
        // It lives until it is answered.
        let own = Unmanaged.passRetained(object)
        object.on("response") { _ in
            if let path = cgtk_chosen_path(dialog) {
                done(String(cString: path))
                g_free(path)
            }
            own.release()
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
    package var text = "" {
        didSet { gtk_text_buffer_set_text(gtk_text_view_get_buffer(cast()), text, -1) }
    }

    package init() {
        super.init(gtk_text_view_new())
        gtk_text_view_set_editable(cast(), 0)
        gtk_text_view_set_monospace(cast(), 1)
        gtk_text_view_set_wrap_mode(cast(), GTK_WRAP_WORD_CHAR)
    }

    /// Copies all of the words.
    package func copy() { gdk_clipboard_set_text(gtk_widget_get_clipboard(widget), text) }
}
