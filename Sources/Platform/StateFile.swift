import Glibc

/// A file for state that survives a restart, in $XDG_STATE_HOME/dualcam (~/.local/state/dualcam).
package struct StateFile: Sendable {
    /// The path of the file.
    package let path: String

    /// Creates the file's path from `name`; `nil` without a home directory. The XDG Base Directory
    /// Specification requires ignoring relative paths.
    package init?(_ name: String = "state.toml") {
        let state = getenv("XDG_STATE_HOME").map { String(cString: $0) }
        if let state, state.hasPrefix("/") {
            path = "\(state)/dualcam/\(name)"
        } else if let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") {
            path = "\(home)/.local/state/dualcam/\(name)"
        } else {
            return nil
        }
    }

    /// Creates the state file at `path`.
    package init(path: String) { self.path = path }

    /// Returns the text stored last, or `nil` if there is none.
    ///
    /// - Throws: the errors of `ConfigurationFile.load`, except ENOENT and ENOTDIR.
    package func load() throws(SystemError) -> String? {
        do throws(SystemError) {
            return try ConfigurationFile.load(override: path)?.text
        } catch {
            guard error.errno != ENOENT && error.errno != ENOTDIR else { return nil }
            throw error
        }
    }

    /// Replaces the stored text with `text`. If it fails, the old text stays.
    ///
    /// - Throws: the errno of mkdir(2), open(2), write(2) or rename(2).
    package func store(_ text: String) throws(SystemError) {
        let folder = path.split(separator: "/").dropLast()
        for count in folder.indices {
            let parent = "/" + folder[...count].joined(separator: "/")
            guard mkdir(parent, 0o700) == 0 || errno == EEXIST else {
                throw .last("mkdir", parent)
            }
        }
        let new = "\(path).new"
        let number = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .last("open", new) }
        let file = Descriptor(owning: number)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = retryingInterrupts {
                rest.withUnsafeBytes { write(file.number, $0.baseAddress, $0.count) }
            }
            guard count > 0 else { throw .last("write", new) }
            rest = rest.dropFirst(count)
        }
        guard rename(new, path) == 0 else { throw .last("rename", path) }
    }
}
