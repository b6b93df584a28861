import Glibc

/// The text of a configuration file, and its path.
package struct ConfigurationFile: Hashable, Sendable {
    package let path: String
    package let text: String
    /// The mark of UTF-8 (BOM) that is before the text; empty if there is none.
    package let mark: String

    /// Reads the file at `override`, or else the first of dualcam/dualcam.toml in $XDG_CONFIG_HOME
    /// (~/.config) and in /etc. Returns `nil` if neither exists. Throws EISDIR or EINVAL if it is
    /// not a regular file, which could block its reader; EFBIG if it is larger than 1 MiB; EILSEQ
    /// if it is not UTF-8; otherwise the errno of open(2), fstat(2) or read(2).
    package static func load(override: String?) throws(SystemError) -> ConfigurationFile? {
        if let override { return try ConfigurationFile(path: override) }
        for directory in [BaseDirectory.configuration.path, "/etc"].compactMap({ $0 }) {
            do {
                return try ConfigurationFile(path: "\(directory)/dualcam/dualcam.toml")
            } catch  where error.errno == ENOENT || error.errno == ENOTDIR {
                // A link that leads nowhere is a mistake, not a wish for the defaults.
                var status = stat()
                if lstat("\(directory)/dualcam/dualcam.toml", &status) == 0 { throw error }
            }
        }
        return nil
    }

    /// Returns the path of the file to write for the user, which need not be there: `override`, or
    /// dualcam/dualcam.toml in $XDG_CONFIG_HOME (~/.config); `nil` without a home directory.
    package static func writablePath(override: String?) -> String? {
        override ?? BaseDirectory.configuration.path.map { "\($0)/dualcam/dualcam.toml" }
    }

    /// Removes the file at `path`, not links to it. Throws the errno of realpath(3) or unlink(2).
    package static func remove(_ path: String) throws(SystemError) {
        guard let found = realpath(path, nil) else { throw .last("realpath", path) }
        defer { free(found) }
        guard unlink(found) == 0 else { throw .last("unlink", path) }
    }

    private init(path: String) throws(SystemError) {
        let bytes = try readFile(path, limit: 1 << 20)
        text = try decodeText(bytes, of: path)
        mark = bytes.count > text.utf8.count ? "\u{FEFF}" : ""
        self.path = path
    }
}

/// Returns `path` as an absolute path, for a reader in another directory.
package func absolutePath(_ path: String) -> String {
    guard !path.hasPrefix("/"), let directory = getcwd(nil, 0) else { return path }
    defer { free(directory) }
    return "\(String(cString: directory))/\(path)"
}
