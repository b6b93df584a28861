import CGTK

/// The desktop's window that lists keys.
package enum ShortcutsWindow {
    /// Shows `keys`, each by GTK's name for it and what it does, over `parent`.
    package static func show(over parent: Window, _ keys: [(key: String, words: String)]) {
        let rows = keys.map { key, words in
            """
            <child><object class="GtkShortcutsShortcut">
            <property name="accelerator">\(escaped(key))</property>
            <property name="title">\(escaped(words))</property>
            </object></child>
            """
        }
        let text = """
            <interface><object class="GtkShortcutsWindow" id="window">
            <property name="modal">1</property>
            <child><object class="GtkShortcutsSection">
            <property name="section-name">keys</property><property name="max-height">12</property>
            <child><object class="GtkShortcutsGroup">\(rows.joined())</object></child>
            </object></child></object></interface>
            """
        let builder = Object(taking: UnsafeMutableRawPointer(gtk_builder_new_from_string(text, -1)))
        guard let window = gtk_builder_get_object(builder.opaque, "window") else { return }
        let shortcuts = UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_transient_for(shortcuts, parent.window)
        gtk_window_present(shortcuts)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
}
