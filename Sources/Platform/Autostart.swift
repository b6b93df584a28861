import Glibc

/// A program that starts with the user's desktop session: an entry in ~/.config/autostart, as the
/// Desktop Application Autostart Specification has it. Any thread that may wait for the disk.
package struct Autostart: Sendable {
    package let path: String
    private let text: String

    /// Creates the entry `id`.desktop of `name`, which `command` starts; `nil` without a home.
    package init?(_ id: String, name: String, command: String) {
        guard let folder = BaseDirectory.configuration.path else { return nil }
        path = "\(folder)/autostart/\(id).desktop"
        text = """
            [Desktop Entry]
            Type=Application
            Name=\(name)
            Exec=\(command)
            Icon=org.dualcam.View
            NoDisplay=true

            """
    }

    /// The entry of the tray's icon.
    package static var tray: Autostart? {
        Autostart("org.dualcam.Tray", name: "DualCam in the tray", command: "dualcamctl tray")
    }

    /// The entry of the window.
    package static var window: Autostart? {
        Autostart("org.dualcam.View", name: "DualCam", command: "dualcam-view")
    }

    /// `true` if the program starts with the session: the entry is there, and nobody hid it.
    package var isOn: Bool {
        guard let bytes = try? readFile(path, limit: 1 << 16) else { return false }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        return !lines.contains("Hidden=true") && !lines.contains("X-GNOME-Autostart-enabled=false")
    }

    /// Writes the entry, or removes it. Throws the errno of the call that failed.
    package func set(_ isOn: Bool) throws(SystemError) {
        if isOn {
            try makeFolder(of: path)
            try NewFile.replace(path, with: Array(text.utf8), mode: 0o644)
        } else if unlink(path) != 0, errno != ENOENT, errno != ENOTDIR {
            throw .last("unlink", path)
        }
    }
}
