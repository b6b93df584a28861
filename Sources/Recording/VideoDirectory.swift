import Glibc

/// Where recordings go.
package enum VideoDirectory {
    /// The directory, made where it was not there: the one that is `configured`, else DualCam in the user's Videos
    /// directory, as user-dirs.dirs(5) has it. May begin with "~/".
    ///
    /// Throws `denied`, `noSpace` or `system`.
    package static func path(configured: String?) throws(RecordingError) -> String {
        let home = getenv("HOME").map { String(cString: $0) } ?? ""
        var path = configured ?? "\(userVideos(home) ?? "\(home)/Videos")/DualCam"
        if path.hasPrefix("~/") { path = home + path.dropFirst() }
        guard path.hasPrefix("/") else {
            throw RecordingError(.system, "mkdir", path, errno: ENOENT, detail: "no whole path")
        }
        let parts = path.split(separator: "/")
        for count in parts.indices {
            let parent = "/" + parts[...count].joined(separator: "/")
            guard mkdir(parent, 0o700) == 0 || errno == EEXIST || access(parent, F_OK) == 0 else {
                throw .last("mkdir", parent)
            }
        }
        guard access(path, W_OK | X_OK) == 0 else { throw .last("open", path) }
        return path
    }

    /// What the user's settings name as the Videos directory; `nil` where they do not.
    private static func userVideos(_ home: String) -> String? {
        let settings =
            getenv("XDG_CONFIG_HOME").map { String(cString: $0) }.flatMap {
                $0.hasPrefix("/") ? $0 : nil
            } ?? "\(home)/.config"
        guard let file = fopen("\(settings)/user-dirs.dirs", "re") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, CInt(line.count), file) != nil {
            let text = String(
                decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)),
                as: UTF8.self
            )
            // XDG_VIDEOS_DIR="$HOME/Videos"; a path is absolute or begins so.
            guard text.hasPrefix("XDG_VIDEOS_DIR="),
                let value = text.split(separator: "\"").dropFirst().first
            else { continue }
            if value.hasPrefix("/") { return String(value) }
            if value.hasPrefix("$HOME/") { return home + value.dropFirst(5) }
        }
        return nil
    }
}
