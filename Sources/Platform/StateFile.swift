import CLinux
package import Frames
import Glibc

/// A file for state that survives a restart, in $XDG_STATE_HOME/dualcam (~/.local/state/dualcam).
/// Any thread that may wait for the disk, so not the main one.
package struct StateFile: Sendable {
    package let path: String

    /// The largest file that is read, in bytes.
    private static let limit = 1 << 20

    /// Creates the file's path from `name`; `nil` without a home directory.
    package init?(_ name: String = "state.toml") {
        guard let folder = BaseDirectory.state.path else { return nil }
        path = "\(folder)/dualcam/\(name)"
    }

    package init(path: String) { self.path = path }

    /// Returns the text stored last, or `nil` if there is none. Throws EISDIR or EINVAL if it is
    /// not a regular file; EFBIG if it is larger than 1 MiB; EILSEQ if it is not UTF-8; otherwise
    /// the errno of open(2), fstat(2) or read(2).
    package func load() throws(SystemError) -> String? {
        do throws(SystemError) {
            return try readText(path, limit: Self.limit)
        } catch {
            guard error.errno != ENOENT && error.errno != ENOTDIR else { return nil }
            throw error
        }
    }

    /// The time at which it was stored last, by the system's clock; `nil` if that is not known.
    package var storedAt: Timestamp? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        let time = status.st_mtim
        return Timestamp(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    /// `true` if the file exists, of any kind. Throws the errno of lstat(2) if that is not known.
    package func exists() throws(SystemError) -> Bool {
        var status = stat()
        if lstat(path, &status) == 0 { return true }
        guard errno == ENOENT || errno == ENOTDIR else { throw .last("lstat", path) }
        return false
    }

    /// Replaces the stored text with `text`. Returns once it is on the disk: after a crash or a
    /// power cut, the file has either the old text or the new one. Throws the errno of mkdir(2),
    /// open(2), write(2), fsync(2) or rename(2).
    package func store(_ text: String) throws(SystemError) {
        try makeFolder()
        try NewFile.replace(path, with: Array(text.utf8), mode: 0o600)
        try Self.sync(folder)
    }

    /// Checks, without a change, that a text could be stored. Throws as `store(_:)`.
    package func check() throws(SystemError) {
        try makeFolder()
        try NewFile(for: path, mode: 0o600).write([UInt8](repeating: 32, count: 4096))
    }

    /// Removes the file, if any, from the disk. Throws the errno of unlink(2) or fsync(2).
    package func remove() throws(SystemError) {
        guard unlink(path) == 0 else {
            guard errno != ENOENT && errno != ENOTDIR else { return }
            throw .last("unlink", path)
        }
        try Self.sync(folder)
    }

    /// Renames the file, or whatever has its name, so that a new one can be stored. Returns the new
    /// path: the old one and ".damaged", with a number if that is taken. Throws the errno of
    /// rename(2); EEXIST if there are too many already.
    package func setAside() throws(SystemError) -> String {
        for number in 1...9 {
            let aside = number == 1 ? "\(path).damaged" : "\(path).damaged-\(number)"
            do throws(SystemError) {
                try renameToNew(path, aside)
                return aside
            } catch  where error.errno == EEXIST {
                continue
            }
        }
        throw SystemError("rename", path, errno: EEXIST)
    }

    private var folder: String { Platform.folder(of: path) }

    /// Creates the directory of the file, and those above it, on the disk.
    private func makeFolder() throws(SystemError) {
        try makeDirectory(folder) { made throws(SystemError) in
            try Self.sync(Platform.folder(of: made) + "/")
        }
    }

    /// Waits until the entries of `directory` are on the disk.
    private static func sync(_ directory: String) throws(SystemError) {
        let number = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw .last("open", directory) }
        let descriptor = Descriptor(owning: number)
        // Some file systems cannot sync directories, and keep them in order by themselves.
        guard fsync(descriptor.number) == 0 || errno == EINVAL else {
            throw .last("fsync", directory)
        }
    }
}
