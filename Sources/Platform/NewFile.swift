import CLinux
import Glibc

/// A file that appears completely or not at all. It is written next to its destination under a
/// temporary name, and removed with its owner unless it was put in place.
///
/// - Context: bound to one thread at a time.
package final class NewFile {
    /// The destination.
    package let path: String
    private let passing: String
    private let file: Descriptor
    private var isPlaced = false

    /// Creates an empty file with the permissions `mode`, regardless of the umask, in the directory
    /// of `path`.
    ///
    /// - Throws: the errno of mkostemp(3) or fchmod(2).
    package init(for path: String, mode: UInt32) throws(SystemError) {
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        var name = Array((folder + ".dualcam-XXXXXX").utf8CString)
        let number = mkostemp(&name, O_CLOEXEC)
        guard number >= 0 else { throw .last("create", path) }
        file = Descriptor(owning: number)
        passing = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        self.path = path
        guard fchmod(number, mode) == 0 else { throw .last("fchmod", path) }
    }

    deinit {
        if !isPlaced { unlink(passing) }
    }

    /// The descriptor, for code that writes by itself. Open as long as this file.
    package var descriptor: CInt { file.number }

    /// Appends `bytes`.
    ///
    /// - Throws: the errno of write(2), such as ENOSPC.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        try Platform.write(bytes, to: file.number, called: path)
    }

    /// Moves the file to `path`, replacing any file there. With `syncing`, only once it is on the
    /// disk, so that a power cut leaves either the old or the new file.
    ///
    /// - Throws: the errno of fsync(2) or rename(2).
    package func replace(syncing: Bool = true) throws(SystemError) {
        if syncing { try sync() }
        guard rename(passing, path) == 0 else { throw .last("rename", path) }
        isPlaced = true
    }

    /// Moves the file to `path` once it is on the disk.
    ///
    /// - Throws: EEXIST if a file is there; otherwise the errno of fsync(2), rename(2) or link(2).
    package func place() throws(SystemError) {
        try sync()
        try renameToNew(passing, path)
        isPlaced = true
    }

    /// Waits until the content is on the disk; only now may it turn out not to fit.
    private func sync() throws(SystemError) {
        guard fsync(file.number) == 0 || errno == EINVAL else { throw .last("fsync", path) }
    }
}

/// Renames the file `old` to `new`.
///
/// - Throws: EEXIST if `new` exists; otherwise the errno of rename(2) or link(2).
package func renameToNew(_ old: String, _ new: String) throws(SystemError) {
    guard clinux_rename_to_new(old, new) != 0 else { return }
    // Not every file system can rename without replacing, but those that cannot have links.
    guard errno == EINVAL || errno == ENOSYS else { throw .last("rename", new) }
    guard link(old, new) == 0 else { throw .last("link", new) }
    unlink(old)
}

/// Writes all of `bytes` to `descriptor`, which errors call `name`.
///
/// - Throws: the errno of write(2).
package func write(
    _ bytes: [UInt8],
    to descriptor: CInt,
    called name: String
) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = retryingInterrupts {
            rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        }
        guard count > 0 else { throw .last("write", name) }
        rest = rest.dropFirst(count)
    }
}

/// Returns the content of the regular file `path`.
///
/// - Throws: EISDIR for a directory, EINVAL for other special files, EFBIG if it has more than
///   `limit` bytes; otherwise the errno of the failed call.
package func readFile(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
    // A pipe or a device would otherwise block.
    let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard number >= 0 else { throw .last("open", path) }
    let file = Descriptor(owning: number)
    var status = stat()
    guard fstat(file.number, &status) == 0 else { throw .last("fstat", path) }
    let kind = status.st_mode & S_IFMT
    guard kind != S_IFDIR else { throw SystemError("read", path, errno: EISDIR) }
    guard kind == S_IFREG else {
        throw SystemError("read", "\(path), which is no regular file", errno: EINVAL)
    }
    guard status.st_size <= limit else { throw SystemError("read", path, errno: EFBIG) }
    // The size is only a first guess: some file systems report none, and the file may grow
    // meanwhile.
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size) + 1)
    var filled = 0
    while true {
        if filled == bytes.count { bytes += [UInt8](repeating: 0, count: max(4096, filled)) }
        let count = retryingInterrupts {
            bytes.withUnsafeMutableBytes {
                read(file.number, $0.baseAddress?.advanced(by: filled), $0.count - filled)
            }
        }
        guard count >= 0 else { throw .last("read", path) }
        guard count > 0 else { break }
        filled += count
        guard filled <= limit else { throw SystemError("read", path, errno: EFBIG) }
    }
    return Array(bytes.prefix(filled))
}
