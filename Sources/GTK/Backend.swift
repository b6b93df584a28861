import CGTK
import Glibc

/// The window system that GTK uses.
package enum Backend {
    /// `true` where windows are those of an X server, also where that is XWayland. To be asked once
    /// GTK runs.
    package static var isX11: Bool {
        guard let display = gdk_display_get_default() else { return false }
        return g_type_check_instance_is_a(
            UnsafeMutableRawPointer(display).assumingMemoryBound(to: GTypeInstance.self),
            cgtk_x_display_type()
        ) != 0
    }

    /// Prefers XWayland where a window stays above others there alone: on GNOME. To be called
    /// before GTK starts.
    package static func choose() {
        guard getenv("GDK_BACKEND") == nil, getenv("DISPLAY") != nil,
            let desktop = getenv("XDG_CURRENT_DESKTOP")
        else { return }
        if String(cString: desktop).split(separator: ":").contains("GNOME") {
            setenv("GDK_BACKEND", "x11", 0)
        }
    }
}
