import CLinux
import Glibc
import Synchronization

/// A file that appears completely or not at all.
///
/// Until it is put in place, it has no name where the file system can do that (O_TMPFILE), so that
/// not even a crash leaves anything. Elsewhere it has a temporary name beside its destination, is
/// removed with its owner, and is locked meanwhile: temporary files that nobody holds are what a
/// crash left, and the next process that writes into the directory removes them. Bound to one
/// thread at a time.
package final class NewFile {
    package let path: String
    /// The directory of the destination, with a slash at the end unless it is empty.
    private let folder: String
    private let mode: UInt32
    private let file: Descriptor
    /// The path of the temporary file, if it has one.
    private var temporary: String?
    private let calls: FileCalls

    /// Creates an empty file with the permissions `mode`, regardless of the umask, in the directory
    /// of `path`. `calls` is another table only in tests. Throws the errno of open(2) or fchmod(2).
    package init(
        for path: String,
        mode: UInt32,
        calls: FileCalls = FileCalls()
    ) throws(SystemError) {
        self.path = path
        self.mode = mode
        self.calls = calls
        folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        Self.sweep(folder)
        let number = calls.openUnnamed(folder.isEmpty ? "." : folder)
        if number >= 0 {
            file = Descriptor(owning: number)
        } else {
            let (named, name) = try Self.create(in: folder, for: path)
            file = Descriptor(owning: named)
            temporary = name
        }
        guard fchmod(file.number, mode) == 0 || FileCalls.isUnknown(errno) else {
            let error = SystemError.last("fchmod", path)
            temporary.map { _ = unlink($0) }
            throw error
        }
    }

    deinit {
        if let temporary { unlink(temporary) }
    }

    /// The descriptor, for code that writes by itself. Open as long as this file.
    package var descriptor: CInt { file.number }

    /// Appends `bytes`. Throws the errno of write(2), such as ENOSPC.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        try Platform.write(bytes, to: file.number, called: path)
    }

    /// Moves the file to `path`, replacing any file there. With `syncing`, only once it is on the
    /// disk, so that a power cut leaves either the old or the new file. Throws the errno of
    /// fsync(2), link(2) or rename(2).
    package func replace(syncing: Bool = true) throws(SystemError) {
        if syncing { try sync(file.number) }
        if temporary == nil {
            if calls.linkUnnamed(file.number, path) == 0 { return }
            // Only a name can replace another.
            if errno == EEXIST {
                let name = Self.temporaryName(in: folder)
                // Locked, so that nobody takes it for what a crash left.
                _ = flock(file.number, LOCK_EX | LOCK_NB)
                if calls.linkUnnamed(file.number, name) == 0 { temporary = name }
            }
        }
        if let temporary, calls.rename(temporary, path) == 0 {
            self.temporary = nil
            return
        }
        let refusal = SystemError.last("rename", path)
        guard FileCalls.isUnknown(refusal.errno) else { throw refusal }
        do throws(SystemError) {
            try copy()
        } catch  where error.errno == EEXIST {
            throw refusal
        }
    }

    /// Puts a file with the content `bytes` and the permissions `mode` at `path`, in place of any
    /// file there, once it is on the disk. Throws as `init(for:mode:calls:)`, `write(_:)` and
    /// `replace(syncing:)`.
    package static func replace(
        _ path: String,
        with bytes: [UInt8],
        mode: UInt32
    ) throws(SystemError) {
        let file = try NewFile(for: path, mode: mode)
        try file.write(bytes)
        try file.replace()
    }

    /// Moves the file to `path` once it is on the disk. Throws EEXIST if a file is there; otherwise
    /// the errno of fsync(2), link(2) or rename(2).
    package func place() throws(SystemError) {
        try sync(file.number)
        if let temporary {
            do throws(SystemError) {
                try renameToNew(temporary, path, calls)
                self.temporary = nil
                return
            } catch  where !FileCalls.isUnknown(error.errno) {
                throw error
            } catch {}
        } else {
            if calls.linkUnnamed(file.number, path) == 0 { return }
            guard FileCalls.isUnknown(errno) else { throw .last("link", path) }
        }
        try copy()
    }

    /// Writes the content once more, under its own name: where a file cannot be renamed or linked,
    /// as on a telephone (MTP, gvfs), that is all there is. A crash meanwhile leaves a part of it.
    /// Throws EEXIST if a file is there; otherwise the errno of the failed call.
    private func copy() throws(SystemError) {
        let number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard number >= 0 else { throw .last("create", path) }
        let target = Descriptor(owning: number)
        do throws(SystemError) {
            guard fchmod(number, mode) == 0 || FileCalls.isUnknown(errno) else {
                throw .last("fchmod", path)
            }
            var piece = [UInt8](repeating: 0, count: 1 << 18)
            var offset = 0
            while true {
                let count = retryingInterrupts {
                    pread(file.number, &piece, piece.count, off_t(offset))
                }
                guard count >= 0 else { throw .last("read", path) }
                guard count > 0 else { break }
                try Platform.write(Array(piece[..<count]), to: target.number, called: path)
                offset += count
            }
            try sync(target.number)
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Waits until the content is on the disk; only now may it turn out not to fit.
    private func sync(_ number: CInt) throws(SystemError) {
        guard fsync(number) == 0 || FileCalls.isUnknown(errno) else { throw .last("fsync", path) }
    }

    // MARK: Temporary names

    private static let (prefix, suffix, digits) = (".dualcam-", ".part", 16)

    private static func temporaryName(in folder: String) -> String {
        let number = String(UInt64.random(in: 0 ... .max), radix: 16)
        let zeros = String(repeating: "0", count: digits - number.count)
        return "\(folder)\(prefix)\(zeros)\(number)\(suffix)"
    }

    /// Creates a file under a temporary name in `folder`, and locks it.
    private static func create(
        in folder: String,
        for path: String
    ) throws(SystemError) -> (number: CInt, name: String) {
        while true {
            let name = temporaryName(in: folder)
            let number = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard number >= 0 else {
                if errno == EEXIST { continue }
                throw .last("create", path)
            }
            // A file system without locks keeps what a crash leaves.
            let isLocked = flock(number, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
            var status = stat()
            // Another process may have taken the new file for a leftover.
            if isLocked, fstat(number, &status) != 0 || status.st_nlink > 0 {
                return (number, name)
            }
            close(number)
        }
    }

    /// The directories in which this process has looked for leftovers.
    private static let swept = Mutex<Set<String>>([])

    /// Removes what a crash left in `folder`, once: this user's temporary files that nobody holds.
    private static func sweep(_ folder: String) {
        guard swept.withLock({ $0.insert(folder).inserted }) else { return }
        removeLeftovers(in: folder)
    }

    /// Removes this user's temporary files in `folder` that nobody holds.
    static func removeLeftovers(in folder: String) {
        for name in entries(of: folder.isEmpty ? "." : folder) where isTemporary(name) {
            let number = open(folder + name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard number >= 0 else { continue }
            let file = Descriptor(owning: number)
            var status = stat()
            guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                status.st_uid == geteuid(), flock(file.number, LOCK_EX | LOCK_NB) == 0
            else { continue }
            unlink(folder + name)
        }
    }

    private static func isTemporary(_ name: String) -> Bool {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix),
            name.utf8.count == prefix.utf8.count + digits + suffix.utf8.count
        else { return false }
        return name.dropFirst(prefix.count).prefix(digits).allSatisfy(\.isHexDigit)
    }
}

/// The calls that not every file system knows. Each returns as the system's does, with errno.
package struct FileCalls: Sendable {
    /// Opens a file without a name in a directory.
    package var openUnnamed: @Sendable (_ folder: String) -> CInt = { clinux_open_unnamed($0) }
    /// Gives an open file without a name one, which must not exist.
    package var linkUnnamed: @Sendable (_ number: CInt, _ path: String) -> CInt = {
        linkat(AT_FDCWD, "/proc/self/fd/\($0)", AT_FDCWD, $1, AT_SYMLINK_FOLLOW)
    }
    /// Renames a file to a name that must not exist.
    package var renameToNew: @Sendable (_ old: String, _ new: String) -> CInt = {
        clinux_rename_to_new($0, $1)
    }
    /// Gives a file another name, which must not exist.
    package var link: @Sendable (_ old: String, _ new: String) -> CInt = { Glibc.link($0, $1) }
    package var rename: @Sendable (_ old: String, _ new: String) -> CInt = { Glibc.rename($0, $1) }

    package init() {}

    /// Returns `true` for the errors with which a file system says that it does not know a call:
    /// FUSE says ENOSYS, others EINVAL, EOPNOTSUPP or EPERM. Without /proc there is no way to the
    /// file without a name (ENOENT), nor from one mount to another (EXDEV).
    static func isUnknown(_ error: CInt) -> Bool {
        [ENOSYS, EINVAL, EOPNOTSUPP, EPERM, ENOENT, EXDEV].contains(error)
    }
}

/// Renames `old` to `new`. Throws EEXIST if that exists; else the errno of the call.
package func renameToNew(
    _ old: String,
    _ new: String,
    _ calls: FileCalls = FileCalls()
) throws(SystemError) {
    guard calls.renameToNew(old, new) != 0 else { return }
    // Not every file system can rename without replacing, but many of those that cannot have links.
    guard errno == EINVAL || errno == ENOSYS else { throw .last("rename", new) }
    guard calls.link(old, new) == 0 else { throw .last("link", new) }
    unlink(old)
}

/// Writes all of `bytes` to `descriptor`, which errors call `name`. Throws the errno of write(2).
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

/// Writes `bytes` to the file that a person calls `path`, and waits until they are on the disk.
///
/// A file is replaced once the new one is complete, and keeps its permissions, and its owner and
/// group where this process may give them. A symbolic link is followed. What is no regular file,
/// such as a pipe or a terminal, and a descriptor of this process (/dev/stdout, /dev/fd/3) is
/// written to. A new file has the permissions that the umask leaves. Throws EACCES for a file that
/// may not be written, ELOOP for links in a circle; otherwise the errno of the failed call.
package func writeFile(_ bytes: [UInt8], to path: String) throws(SystemError) {
    let target: String
    switch try WrittenPlace(path) {
    case .descriptor(let number): return try write(bytes, to: number, called: path)
    case .path(let found): target = found
    }
    var old = stat()
    guard stat(target, &old) == 0 else {
        guard errno == ENOENT else { throw .last("write", path) }
        let mask = umask(0)
        _ = umask(mask)
        return try NewFile.replace(target, with: bytes, mode: 0o666 & ~mask)
    }
    guard old.st_mode & S_IFMT == S_IFREG else {
        let number = open(target, O_WRONLY | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { throw .last("write", path) }
        let file = Descriptor(owning: number)
        return try write(bytes, to: file.number, called: path)
    }
    guard access(target, W_OK) == 0 else { throw .last("write", path) }
    let new = try NewFile(for: target, mode: 0o600)
    var mode = old.st_mode & 0o7777
    var own = stat()
    guard fstat(new.descriptor, &own) == 0 else { throw .last("fstat", path) }
    if own.st_uid != old.st_uid || own.st_gid != old.st_gid,
        fchown(new.descriptor, old.st_uid, old.st_gid) != 0
    {
        mode &= 0o777
        // Another group gets no more than everybody.
        if own.st_gid != old.st_gid, fchown(new.descriptor, uid_t.max, old.st_gid) != 0 {
            mode = mode & 0o707 | (mode & 0o007) << 3
        }
    }
    guard fchmod(new.descriptor, mode) == 0 || FileCalls.isUnknown(errno) else {
        throw .last("chmod", path)
    }
    try new.write(bytes)
    try new.replace()
}

/// The place that a path leads to, for writing.
private enum WrittenPlace {
    /// A path without a symbolic link at its end.
    case path(String)
    /// An open descriptor of this process.
    case descriptor(CInt)

    /// Follows the links of `path`, even to no file yet. Throws ELOOP after 40 links.
    init(_ path: String) throws(SystemError) {
        var current = path
        for _ in 0..<40 {
            let cut = current.lastIndex(of: "/").map { current.index(after: $0) }
            let folder = String(current[..<(cut ?? current.startIndex)])
            let name = current[(cut ?? current.startIndex)...]
            if let place = resolvedPath(folder.isEmpty ? "." : folder) {
                if place == "/proc/\(getpid())/fd", let number = CInt(name), number >= 0 {
                    self = .descriptor(number)
                    return
                }
                // What stands there are no paths.
                if place.hasPrefix("/proc/") { break }
            }
            guard let link = linkTarget(current) else {
                self = .path(current)
                return
            }
            current = link.hasPrefix("/") ? link : folder + link
        }
        guard current.hasPrefix("/proc/") || access(current, F_OK) == 0 else {
            throw SystemError("write", path, errno: ELOOP)
        }
        self = .path(current)
    }
}

/// Returns `bytes` as text, without UTF-8's mark (BOM); `nil` if they are no UTF-8.
package func decodeUTF8(_ bytes: [UInt8]) -> String? {
    let rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
    return rest.prefix(4).contains(0) ? nil : String(validating: rest, as: UTF8.self)
}

/// Returns the text of the regular file `path`. Throws EILSEQ unless UTF-8, or as `readFile`.
package func readText(_ path: String, limit: Int) throws(SystemError) -> String {
    try decodeText(try readFile(path, limit: limit), of: path)
}

/// Returns `bytes`, the content of `path`, as text without a mark. Throws EILSEQ unless UTF-8.
func decodeText(_ bytes: [UInt8], of path: String) throws(SystemError) -> String {
    guard let text = decodeUTF8(bytes) else { throw SystemError("read", path, errno: EILSEQ) }
    return text
}

/// Returns the content of the regular file `path`. Throws EISDIR for a directory, EINVAL for other
/// special files, EFBIG if it has more than `limit` bytes; otherwise the errno of the failed call.
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
        throw SystemError("read", "\(path), which is not a regular file", errno: EINVAL)
    }
    guard status.st_size <= limit else { throw SystemError("read", path, errno: EFBIG) }
    // The size is a first guess: some file systems report none, and the file may grow.
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
