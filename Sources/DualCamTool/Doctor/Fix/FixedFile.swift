import Glibc
import Platform

/// The contents of a file, and its permissions.
struct FileContent: Equatable {
    var bytes: [UInt8]
    /// The permission bits.
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
    /// The path of the file in the open folder.
    private let place: String

    /// The largest file that is changed, in bytes.
    static let limit = 1 << 23

    /// Opens the folder of the file at the absolute `path`. With `home`, the folder has to be
    /// inside of that one, wherever links lead. With `makesFolders`, it is made if it is missing.
    ///
    /// - Throws: `Failure`, which says what is wrong with the folder.
    init(_ path: String, inside home: String? = nil, makesFolders: Bool = false) throws(Failure) {
        let cut = path.lastIndex(of: "/") ?? path.startIndex
        let parent = String(path[..<cut])
        self.path = path
        precondition(path.hasPrefix("/") && !path.hasSuffix("/"))
        let made = makesFolders ? try Self.makeFolders(parent) : []
        madeFolders = made
        var isGood = false
        defer { if !isGood { for folder in made.reversed() { rmdir(folder) } } }
        let number = open(parent.isEmpty ? "/" : parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw .last("open", parent) }
        folder = Descriptor(owning: number)
        place = "/proc/self/fd/\(number)\(path[cut...])"
        if let home, !Self.isBelow(home, number) {
            throw Failure("\(parent) leads out of \(home)")
        }
        var status = stat()
        guard fstat(number, &status) == 0 else { throw .last("fstat", parent) }
        guard status.st_uid == geteuid() else { throw Failure("\(parent) belongs to another user") }
        guard status.st_mode & 0o002 == 0 else { throw Failure("everybody may write to \(parent)") }
        isGood = true
    }

    /// Returns the content of the file, of at most `limit` bytes; `nil` if there is none.
    ///
    /// - Throws: `Failure` if it cannot be read, or must not be changed.
    func read(limit: Int = limit) throws(Failure) -> FileContent? {
        let number = open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else {
            if errno == ENOENT { return nil }
            if errno == ELOOP { throw Failure("\(path) is a link; change the file it leads to") }
            throw .last("open", path)
        }
        let file = Descriptor(owning: number)
        var status = stat()
        guard fstat(number, &status) == 0 else { throw .last("fstat", path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure("\(path) is not a regular file")
        }
        guard status.st_uid == geteuid() else { throw Failure("\(path) belongs to another user") }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try readFile("/proc/self/fd/\(file.number)", limit: limit)
        } catch {
            throw Failure("\(SystemError("read", path, errno: error.errno))")
        }
        return FileContent(bytes: bytes, mode: status.st_mode & 0o7777)
    }

    /// Replaces the file with `content`, or removes it for `nil`. After a crash, either the old or
    /// the new file is there.
    ///
    /// - Throws: `Failure` if it cannot be written, or is read-only.
    func write(_ content: FileContent?) throws(Failure) {
        let old = try read()
        guard let content else {
            guard old == nil || unlink(place) == 0 else { throw .last("unlink", path) }
            return
        }
        if let old, old.mode & 0o200 == 0 { throw Failure("\(path) is read-only") }
        do throws(SystemError) {
            try NewFile.replace(place, with: content.bytes, mode: content.mode)
        } catch {
            throw Failure("\(SystemError(error.operation, path, errno: error.errno))")
        }
    }

    /// Writes `content` as a new file, and returns `true` once it is on the disk; `false` if a file
    /// is there, which stays.
    ///
    /// - Throws: `Failure` if it cannot be written.
    func create(_ content: FileContent) throws(Failure) -> Bool {
        do throws(SystemError) {
            let new = try NewFile(for: place, mode: content.mode)
            try new.write(content.bytes)
            try new.place()
            return true
        } catch {
            if error.errno == EEXIST { return false }
            throw Failure("\(SystemError(error.operation, path, errno: error.errno))")
        }
    }

    /// Returns `true` if the folder open as `number` is `home`, or inside of it.
    private static func isBelow(_ home: String, _ number: CInt) -> Bool {
        guard let home = resolvedPath(home), let place = linkTarget("/proc/self/fd/\(number)")
        else { return false }
        return (place + "/").hasPrefix(home + "/")
    }

    private static func makeFolders(_ path: String) throws(Failure) -> [String] {
        var made: [String] = []
        let parts = path.split(separator: "/")
        for count in parts.indices {
            let folder = "/" + parts[...count].joined(separator: "/")
            if mkdir(folder, 0o700) == 0 {
                made.append(folder)
            } else if errno != EEXIST, access(folder, F_OK) != 0 {
                let failure = Failure.last("mkdir", folder)
                for folder in made.reversed() { rmdir(folder) }
                throw failure
            }
        }
        return made
    }
}

extension Failure {
    /// Creates the failure of a command, with the reason for people.
    init(_ message: String) { self.init(status: .failed, message: message) }

    /// Returns the failure of a command that needs `browser`.
    static func notInstalled(_ browser: Browser) -> Failure {
        Failure(status: .notFound, message: "\(browser.title) is not installed")
    }

    /// Returns the failure of the call just made on this thread.
    static func last(_ operation: String, _ subject: String) -> Failure {
        Failure("\(SystemError.last(operation, subject))")
    }
}
