import Glibc

/// A directory of the user for one kind of file: user-dirs.dirs(5).
package enum UserDirectory: String, Sendable {
    case pictures = "PICTURES"
    case videos = "VIDEOS"

    /// The path of the directory, or `nil` without a home directory.
    package var path: String? {
        guard let home = environmentVariable("HOME"), home.hasPrefix("/") else { return nil }
        let file = BaseDirectory.configuration.path(in: home) + "/user-dirs.dirs"
        let key = "XDG_\(rawValue)_DIR="
        for line in wholeText(of: file, limit: 1 << 16).split(separator: "\n") {
            let line = line.drop { $0 == " " }
            guard line.hasPrefix(key) else { continue }
            let value = line.dropFirst(key.count).filter { $0 != "\"" }
            let path = value.replacing("$HOME", with: home)
            // Only absolute paths and paths in the home directory are allowed there.
            if path.hasPrefix("/") { return String(path) }
        }
        return "\(home)/\(self == .pictures ? "Pictures" : "Videos")"
    }

    /// Returns the directory for our files of this kind: the `configured` one, or else DualCam in
    /// this directory; `nil` without a home directory.
    package func place(configured: String?) -> String? {
        configured.map(expandingHome) ?? path.map { "\($0)/DualCam" }
    }
}

/// Returns `path` with a leading "~/" replaced by the home directory.
package func expandingHome(_ path: String) -> String {
    guard path.hasPrefix("~/"), let home = environmentVariable("HOME") else { return path }
    return home + path.dropFirst()
}

/// Creates `path` and its missing parents, for the user alone, and calls `made` with each new one.
/// Throws the errno of mkdir(2), or what `made` throws.
package func makeDirectory(
    _ path: String,
    made: (String) throws(SystemError) -> Void = { _ in }
) throws(SystemError) {
    let parts = path.split(separator: "/")
    for count in parts.indices {
        let folder = "/" + parts[...count].joined(separator: "/")
        if mkdir(folder, 0o700) == 0 {
            try made(folder)
        } else if errno != EEXIST {
            let failure = SystemError.last("mkdir", folder)
            guard access(folder, F_OK) == 0 else { throw failure }
        }
    }
}

/// Creates the directory of `path`, parents too, for the user alone. Throws mkdir(2)'s errno.
package func makeFolder(of path: String) throws(SystemError) {
    try makeDirectory(
        "/" + absolutePath(path).split(separator: "/").dropLast().joined(separator: "/")
    )
}
