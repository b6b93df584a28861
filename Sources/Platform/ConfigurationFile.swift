import Glibc

/// A configuration file's text, and where it was found.
package struct ConfigurationFile: Hashable, Sendable {
    /// Its path.
    package let path: String
    /// What stands in it.
    package let text: String

    /// The file at `override`; without that, dualcam/dualcam.toml in $XDG_CONFIG_HOME (~/.config) or
    /// in /etc, whichever is found first; `nil` where there is none.
    ///
    /// Throws when the file that counts cannot be read, EINVAL when it is no regular file, which
    /// might keep its reader waiting, EFBIG when it is larger than any
    /// configuration, EILSEQ when it is not UTF-8.
    package static func load(override: String?) throws(SystemError) -> ConfigurationFile? {
        if let override { return try ConfigurationFile(path: override) }
        for directory in [userDirectory, "/etc"].compactMap({ $0 }) {
            do {
                return try ConfigurationFile(path: "\(directory)/dualcam/dualcam.toml")
            } catch  where error.errno == ENOENT || error.errno == ENOTDIR {
                continue
            }
        }
        return nil
    }

    /// The XDG Base Directory Specification has us pass over paths that are not absolute.
    private static var userDirectory: String? {
        if let path = getenv("XDG_CONFIG_HOME").map({ String(cString: $0) }), path.hasPrefix("/") {
            return path
        }
        return getenv("HOME").map { String(cString: $0) + "/.config" }
    }

    private init(path: String) throws(SystemError) {
        let bytes = try readFile(path, limit: 1 << 20)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SystemError("read", path, errno: EILSEQ)
        }
        self.path = path
        self.text = text
    }
}

/// `path` from the root, for a reader in another directory.
package func absolutePath(_ path: String) -> String {
    guard !path.hasPrefix("/"), let directory = getcwd(nil, 0) else { return path }
    defer { free(directory) }
    return "\(String(cString: directory))/\(path)"
}
