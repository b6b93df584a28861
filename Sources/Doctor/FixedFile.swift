import Control
import Glibc
import Platform

/// The contents of a file, and its permissions.
struct FileContent: Equatable {
    var bytes: [UInt8]
    var mode: UInt32
}

/// A file of the user's that `doctor --fix` changes. It is reached through the folder as it was
/// when this object was made, and never through a link in its place: sandboxed programs write into
/// some of these folders, and could otherwise lead us to any other file.
final class FixedFile {
    let path: String
    /// The folders that were missing and were made, the outermost first.
    private(set) var madeFolders: [String] = []
    private let folder: Descriptor
    /// The path of the file below that folder, wherever it is now.
    private let place: String

    /// The largest file that is changed, in bytes.
    static let limit = 1 << 23

    /// Opens the folder of the file at the absolute `path`. With `home`, the folder has to be
    /// inside of that one, wherever links lead. With `makesFolders`, it is made if it is missing.
    init(_ path: String, inside home: String? = nil, makesFolders: Bool = false) throws(Failure) {
        precondition(path.hasPrefix("/") && !path.hasSuffix("/"))
        self.path = path
        let parent = Platform.folder(of: path)
        var made: [String] = []
        var isGood = false
        defer { if !isGood { Self.removeFolders(made) } }
        if makesFolders {
            try named { () throws(SystemError) in try makeDirectory(parent) { made.append($0) } }
        }
        madeFolders = made
        let number = open(parent.isEmpty ? "/" : parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw .last("open", parent) }
        folder = Descriptor(owning: number)
        place = "/proc/self/fd/\(number)/\(fileName(of: path))"
        if let home {
            let found = linkTarget("/proc/self/fd/\(number)") ?? ""
            let isInside = resolvedPath(home).map { "\(found)/".hasPrefix("\($0)/") } ?? false
            guard isInside else { throw Failure("\(parent) leads out of \(home)") }
        }
        let status = try Self.status(number, parent)
        guard status.st_mode & 0o002 == 0 else { throw Failure("everybody may write to \(parent)") }
        isGood = true
    }

    /// Returns the status of an open file or folder of this user's.
    private static func status(_ number: CInt, _ path: String) throws(Failure) -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw .last("fstat", path) }
        guard status.st_uid == geteuid() else { throw Failure("\(path) belongs to another user") }
        return status
    }

    /// Returns the content of the file, of at most `limit` bytes; `nil` if there is none.
    func read(limit: Int = limit) throws(Failure) -> FileContent? {
        let number = open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else {
            if errno == ENOENT { return nil }
            if errno == ELOOP { throw Failure("\(path) is a link; change the file it leads to") }
            throw .last("open", path)
        }
        let file = Descriptor(owning: number)
        let status = try Self.status(number, path)
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure("\(path) is not a regular file")
        }
        let bytes = try named(path) { () throws(SystemError) in
            try readFile("/proc/self/fd/\(file.number)", limit: limit)
        }
        return FileContent(bytes: bytes, mode: status.st_mode & 0o7777)
    }

    /// Replaces the file, or removes it for `nil`. After a crash, the old or the new one is there.
    func write(_ content: FileContent?) throws(Failure) {
        let old = try read()
        guard let content else {
            guard old == nil || unlink(place) == 0 else { throw .last("unlink", path) }
            return
        }
        if let old, old.mode & 0o200 == 0 { throw Failure("\(path) is read-only") }
        try named(path) { () throws(SystemError) in
            try NewFile.replace(place, with: content.bytes, mode: content.mode)
        }
    }

    /// Writes a new file; `true` once it is on the disk, `false` if a file is there, which stays.
    func create(_ content: FileContent) throws(Failure) -> Bool {
        try named(path) { () throws(SystemError) in
            let new = try NewFile(for: place, mode: content.mode)
            try new.write(content.bytes)
            do throws(SystemError) { try new.place() } catch  where error.errno == EEXIST {
                return false
            }
            return true
        }
    }

    /// Removes these folders, as far as nothing is in them, the last first.
    static func removeFolders(_ folders: [String]) {
        for folder in folders.reversed() { rmdir(folder) }
    }
}

extension Failure {
    /// Returns the failure of the call just made on this thread.
    static func last(_ operation: String, _ subject: String) -> Failure {
        Failure("\(SystemError.last(operation, subject))")
    }
}

/// Returns what `work` does. Its failure becomes one in words, which name the file by `path`.
func named<Result: ~Copyable>(
    _ path: String? = nil,
    _ work: () throws(SystemError) -> Result
) throws(Failure) -> Result {
    do throws(SystemError) { return try work() } catch {
        throw Failure("\(SystemError(error.operation, path ?? error.subject, errno: error.errno))")
    }
}
