import Glibc

/// A directory that the desktop gives the user for files of a kind: user-dirs.dirs(5).
package enum UserDirectory: String, Sendable {
    /// Photographs.
    case pictures = "PICTURES"
    /// Recordings.
    case videos = "VIDEOS"

    /// Its path; nil where there is no home.
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
                // Only absolute paths and those in the home are allowed there.
                if path.hasPrefix("/") { return String(path) }
            }
        }
        return "\(home)/\(self == .pictures ? "Pictures" : "Videos")"
    }

    /// Where our files of this kind go: where it is `configured`, else DualCam in that directory; nil where there is
    /// no home.
    package func place(configured: String?) -> String? {
        configured.map(expandingHome) ?? path.map { "\($0)/DualCam" }
    }

    private func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}

/// `path` with "~/" at its begin replaced by the home.
package func expandingHome(_ path: String) -> String {
    guard path.hasPrefix("~/"), let home = getenv("HOME") else { return path }
    return String(cString: home) + path.dropFirst()
}

/// Makes the directory `path`, and those above it, for the user alone where they are missing.
package func makeDirectory(_ path: String) throws(SystemError) {
    let parts = path.split(separator: "/")
    for count in parts.indices {
        let parent = "/" + parts[...count].joined(separator: "/")
        guard mkdir(parent, 0o700) != 0, errno != EEXIST else { continue }
        let failure = SystemError.last("mkdir", parent)
        guard access(parent, F_OK) == 0 else { throw failure }
    }
}
