import CLinux
import Glibc

/// A file that comes into being whole or not at all: written beside its place under a passing name, which goes
/// with its owner when nothing else was asked for.
///
/// - Context: bound to one thread at a time.
package final class NewFile {
    /// Where it is to be.
    package let path: String
    private let passing: String
    private let file: Descriptor
    private var isPlaced = false

    /// An empty file with the access rights `mode`, whatever the umask, in the directory of `path`.
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

    /// For what writes by itself. Open for as long as this file is.
    package var descriptor: CInt { file.number }

    /// Adds `bytes`.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        try Platform.write(bytes, to: file.number, called: path)
    }

    /// Puts it at `path`, in the place of what is there. `syncing`: not before it is on the disk, so that a power cut leaves
    /// one or the other.
    package func replace(syncing: Bool = true) throws(SystemError) {
        if syncing { try sync() }
        guard rename(passing, path) == 0 else { throw .last("rename", path) }
        isPlaced = true
    }

    /// Puts it at `path`. Throws EEXIST when something is there.
    package func place() throws(SystemError) {
        try sync()
        try renameToNew(passing, path)
        isPlaced = true
    }

    /// What was written may only now turn out not to fit.
    private func sync() throws(SystemError) {
        guard fsync(file.number) == 0 || errno == EINVAL else { throw .last("fsync", path) }
    }
}

/// Has the file `old` be called `new`. Throws EEXIST when something is called so.
package func renameToNew(_ old: String, _ new: String) throws(SystemError) {
    guard clinux_rename_to_new(old, new) != 0 else { return }
    // Not every file system has it, but those have links.
    guard errno == EINVAL || errno == ENOSYS else { throw .last("rename", new) }
    guard link(old, new) == 0 else { throw .last("link", new) }
    unlink(old)
}

/// Writes all of `bytes` to `descriptor`, which errors call `name`.
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

/// All of the regular file `path`. Throws EISDIR or EINVAL for what is none, EFBIG when it has more than
/// `limit` bytes.
package func readFile(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
    // A pipe or a device would keep its reader waiting.
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
    // Its size is where to begin, no more: some file systems have none, and it may grow meanwhile.
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
