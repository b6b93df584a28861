import Foundation
import TestSupport

enum FirstStart {
    static func file(_ session: PrivateSession) -> String {
        "\(session.directory)/home/.local/state/dualcam/window"
    }

    /// Writes the window's settings: by default those of a user who is past the set-up.
    static func isOver(in session: PrivateSession, _ more: String = "") throws {
        let path = file(session)
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true
        )
        try "set-up = true\n\(more)".write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// Writes `lines` into GTK's own settings, which the desktop's would be otherwise.
    static func set(_ lines: [String], in session: PrivateSession) throws {
        guard !lines.isEmpty else { return }
        let folder = "\(session.directory)/home/.config/gtk-4.0"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = (["[Settings]"] + lines).joined(separator: "\n")
        try text.write(toFile: "\(folder)/settings.ini", atomically: true, encoding: .utf8)
    }

    /// Has the window as wide as it would have been left before, without a place.
    static func remember(width: Int, in session: PrivateSession) throws {
        try isOver(in: session)
        let folder = (file(session) as NSString).deletingLastPathComponent
        try "\(width)\n".write(toFile: "\(folder)/view", atomically: true, encoding: .utf8)
    }

    static func isToCome(in session: PrivateSession) throws {
        try FileManager.default.removeItem(atPath: file(session))
    }
}
