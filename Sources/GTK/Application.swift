import CGTK

/// The program on the desktop: one at a time in a session, by its name on the bus.
package final class Application: Object {
    private var actions: [Object] = []

    /// Creates the application called `id`. Without `isUnique` each start is a program of its own.
    package init(id: String, isUnique: Bool = true) {
        let flags = isUnique ? GApplicationFlags(0) : G_APPLICATION_NON_UNIQUE
        super.init(taking: adw_application_new(id, flags))
        g_set_prgname(id)
    }

    var application: UnsafeMutablePointer<GApplication> {
        pointer.assumingMemoryBound(to: GApplication.self)
    }

    /// Calls `handler` once, before anything is shown.
    package func onStartup(_ handler: @escaping () -> Void) { connect("startup", handler) }

    /// Calls `handler` each time that the user starts the program.
    package func onActivate(_ handler: @escaping () -> Void) { connect("activate", handler) }

    /// Runs until the last window is closed, or `quit()`; returns the exit status.
    package func run(_ arguments: [String]) -> CInt {
        var words = arguments.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        return g_application_run(application, CInt(arguments.count), &words)
    }

    /// Ends the program.
    package func quit() { g_application_quit(application) }

    /// Loads `css` for everything that the program shows.
    package func style(_ css: String) {
        let provider = gtk_css_provider_new()
        cgtk_css_load(provider, css)
        gtk_style_context_add_provider_for_display(
            gdk_display_get_default(),
            OpaquePointer(provider),
            guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION)
        )
        g_object_unref(provider)
    }

    /// Looks for icons in the resource or directory `path`, too.
    package func addIcons(_ path: String) {
        gtk_icon_theme_add_search_path(
            gtk_icon_theme_get_for_display(gdk_display_get_default()),
            path
        )
    }

    /// Shows `uri` in the desktop's program for it.
    package func open(_ uri: String) {
        g_app_info_launch_default_for_uri_async(uri, nil, nil, nil, nil)
    }
}

/// Moves files to the desktop's trash, and back.
package enum Trash {
    /// Moves the file at `path` to the trash.
    package static func take(_ path: String) -> Bool {
        let file = g_file_new_for_path(path)
        defer { g_object_unref(file.map { UnsafeMutableRawPointer($0) }) }
        return g_file_trash(file, nil, nil) != 0
    }
}
