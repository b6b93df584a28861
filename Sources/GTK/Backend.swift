import Glibc

/// The window system that GTK uses.
package enum Backend {
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
