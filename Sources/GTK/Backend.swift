import CGTK
import Glibc

/// The window system that GTK uses, and what it draws with.
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

    /// Prefers XWayland where a window stays above others there alone: on GNOME. Without a GPU it
    /// has GTK draw without OpenGL. To be called before GTK starts.
    package static func choose() {
        if getenv("GDK_BACKEND") == nil, getenv("DISPLAY") != nil,
            let desktop = getenv("XDG_CURRENT_DESKTOP"),
            String(cString: desktop).split(separator: ":").contains("GNOME")
        {
            setenv("GDK_BACKEND", "x11", 0)
        }
        // Mesa would draw on the processor, which takes longer than GTK's own drawing, and brings a
        // compiler of 35 MB into memory.
        if wantsNoGL {
            setenv(withoutGL.name, withoutGL.value, 1)
            // GTK would try OpenGL first, and say that it failed.
            setenv("GSK_RENDERER", "cairo", 0)
        }
    }

    /// Starts GTK; returns `false` where there is no display. Otherwise GTK would end the program
    /// with a warning of its own.
    package static func start() -> Bool { gtk_init_check() != 0 }

    /// Takes back what is meant for GTK alone, once it has started: programs that this one starts
    /// may use OpenGL. Each new window looks for the renderer.
    package static func forget() {
        if getenv(withoutGL.name).map({ String(cString: $0) }) == withoutGL.value {
            unsetenv(withoutGL.name)
        }
    }

    /// The variable that turns OpenGL off. GTK 4.16 gave it another name, and would complain of the
    /// old one.
    private static var withoutGL: (name: String, value: String) {
        gtk_get_minor_version() >= 16
            ? ("GDK_DISABLE", "gl,vulkan") : ("GDK_DEBUG", "gl-disable")
    }

    /// `true` where OpenGL is of no use, and the user has not chosen a renderer.
    private static var wantsNoGL: Bool {
        guard getenv("GDK_DEBUG") == nil, getenv("GDK_DISABLE") == nil else { return false }
        if let renderer = getenv("GSK_RENDERER") { return String(cString: renderer) == "cairo" }
        return !hasGPU
    }

    /// `true` if there is a GPU, as far as a program can see without OpenGL.
    private static var hasGPU: Bool {
        // Drivers outside of the kernel's own system have files of their own.
        let others = ["/dev/nvidiactl", "/dev/mali0", "/dev/kgsl-3d0", "/dev/pvr_sync", "/dev/dxg"]
        if others.contains(where: { access($0, F_OK) == 0 }) { return true }
        guard let directory = g_dir_open("/dev/dri", 0, nil) else { return false }
        defer { g_dir_close(directory) }
        while let name = g_dir_read_name(directory) {
            if g_str_has_prefix(name, "renderD") != 0 { return true }
        }
        return false
    }
}
