import Glibc

/// A directory of the user for one kind of file: user-dirs.dirs(5).
package enum UserDirectory: String, Sendable {
    /// The directory for photographs.
    case pictures = "PICTURES"
    /// The directory for recordings.
    case videos = "VIDEOS"

    /// The path of the directory, or `nil` without a home directory.
    package var path: String? {
        guard let home = variable("HOME"), home.hasPrefix("/") else { return nil }
        let folder = variable("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
        let file = (folder ?? "\(home)/.config") + "/user-dirs.dirs"
        if let bytes = try? readFile(file, limit: 1 << 16) {
            let key = "XDG_\(rawValue)_DIR="
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                let line = line.drop { $0 == " " }
                guard line.hasPrefix(key) else { continue }
                let value = line.dropFirst(key.count).filter { $0 != "\"" }
                let path = value.replacing("$HOME", with: home)
                // Only absolute paths and paths in the home directory are allowed there.
                if path.hasPrefix("/") { return String(path) }
            }
        }
        return "\(home)/\(self == .pictures ? "Pictures" : "Videos")"
    }

    /// Returns the directory for our files of this kind: the `configured` one, or else DualCam in
    /// this directory; `nil` without a home directory.
    package func place(configured: String?) -> String? {
        configured.map(expandingHome) ?? path.map { "\($0)/DualCam" }
    }

    private func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}

/// The directory for what a restart of the daemon needs, and a restart of the machine does not.
package enum RuntimeDirectory {
    /// $XDG_RUNTIME_DIR/dualcam, which need not exist; `nil` if the variable is no absolute path.
    package static var path: String? {
        guard let path = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }),
            path.hasPrefix("/")
        else { return nil }
        return "\(path)/dualcam"
    }
}

/// Returns `path` with a leading "~/" replaced by the home directory.
package func expandingHome(_ path: String) -> String {
    guard path.hasPrefix("~/"), let home = getenv("HOME") else { return path }
    return String(cString: home) + path.dropFirst()
}

/// Creates the directory at the absolute `path`, with its missing parents, for the user alone.
///
/// - Throws: the errno of mkdir(2).
package func makeDirectory(_ path: String) throws(SystemError) {
    let parts = path.split(separator: "/")
    for count in parts.indices {
        let parent = "/" + parts[...count].joined(separator: "/")
        guard mkdir(parent, 0o700) != 0, errno != EEXIST else { continue }
        let failure = SystemError.last("mkdir", parent)
        guard access(parent, F_OK) == 0 else { throw failure }
    }
}
