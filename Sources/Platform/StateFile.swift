import Glibc

/// A file in which we keep what is to survive a restart: in dualcam of $XDG_STATE_HOME (~/.local/state).
package struct StateFile: Sendable {
    /// Its path.
    package let path: String

    /// The file called `name`; `nil` where there is no home. The XDG Base Directory Specification has us pass over paths that are
    /// not absolute.
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

    /// What was stored last; `nil` where nothing was.
    package func load() throws(SystemError) -> String? {
        do throws(SystemError) {
            return try ConfigurationFile.load(override: path)?.text
        } catch {
            guard error.errno != ENOENT && error.errno != ENOTDIR else { return nil }
            throw error
        }
    }

    /// Puts `text` in the place of what was stored: all of it, or nothing where it fails.
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
