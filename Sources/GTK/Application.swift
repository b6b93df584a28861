import CGTK

/// The program on the desktop: one at a time in a session, by its name on the bus.
package final class Application: Object {
    /// Creates the application called `id`. Without `isUnique` each start is a program of its own.
    package init(id: String, isUnique: Bool = true) {
        let flags = isUnique ? GApplicationFlags(0) : G_APPLICATION_NON_UNIQUE
        super.init(taking: adw_application_new(id, flags))
        g_set_prgname(id)
    }

    private var styles: Object?
    private var loaded = ""

    /// Calls `handler` once, before anything is shown.
    package func onStartup(_ handler: @escaping () -> Void) { connect("startup", handler) }

    /// Calls `handler` each time that the user starts the program.
    package func onActivate(_ handler: @escaping () -> Void) { connect("activate", handler) }

    /// Runs until the last window is closed, or `quit()`; returns the exit status.
    package func run(_ arguments: [String]) -> CInt {
        var words = arguments.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        return g_application_run(cast(), CInt(arguments.count), &words)
    }

    /// Ends the program.
    package func quit() { g_application_quit(cast()) }

    /// Loads `css` for everything that the program shows, instead of what was loaded before.
    package func style(_ css: String) {
        guard css != loaded else { return }
        loaded = css
        if styles == nil {
            let provider = Object(taking: gtk_css_provider_new())
            gtk_style_context_add_provider_for_display(
                gdk_display_get_default(),
                provider.opaque,
                guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION)
            )
            styles = provider
        }
        cgtk_css_load(styles?.cast(), css)
    }

    /// Finds icons in `folder`, too.
    package func addIcons(_ folder: String) {
        let theme = gtk_icon_theme_get_for_display(gdk_display_get_default())
        gtk_icon_theme_add_search_path(theme, folder)
    }

    /// Shows `uri` in the desktop's program for it, or calls `failed` if there is none.
    package func open(_ uri: String, failed: @escaping () -> Void) {
        g_app_info_launch_default_for_uri_async(
            uri,
            nil,
            nil,
            { _, result, context in
                guard let context else { return }
                let failed = Unmanaged<Action>.fromOpaque(context).takeRetainedValue()
                if g_app_info_launch_default_for_uri_finish(result, nil) == 0 { failed.body() }
            },
            retained(Action(failed))
        )
    }

    /// Shows the file or folder at `path` in the desktop's program for it.
    package func open(file path: String, failed: @escaping () -> Void) {
        guard let uri = g_filename_to_uri(path, nil, nil) else { return failed() }
        defer { g_free(uri) }
        open(String(cString: uri), failed: failed)
    }

    /// The name of the program's one notice.
    private static let notice = "notice"

    /// Leaves a notice on the desktop; a click on it activates the program.
    package func notify(_ title: String, _ words: String) {
        let notice = Object(taking: g_notification_new(title))
        g_notification_set_body(notice.opaque, words)
        g_application_send_notification(cast(), Self.notice, notice.opaque)
    }

    /// Takes the notice back.
    package func withdrawNotice() { g_application_withdraw_notification(cast(), Self.notice) }
}

/// The desktop's trash.
package enum Trash {
    /// Moves the file at `path` to the trash.
    package static func take(_ path: String) -> Bool {
        let file = g_file_new_for_path(path)
        defer { g_object_unref(file.map { UnsafeMutableRawPointer($0) }) }
        return g_file_trash(file, nil, nil) != 0
    }
}
