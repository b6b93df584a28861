import Glibc
import Platform

/// The directories of the library as they were once read, and a watch for changes since.
///
/// - Context: Bound to the library's thread. May wait for the disk.
final class LibraryFolders {
    /// The photographs and movies, newest first.
    let items: [MediaItem]
    /// The reasons why directories are not read or not watched.
    let complaints: [String]
    /// The directories, which may be missing or appear twice.
    private let folders: [String]
    private let ids: [FileID?]
    /// The watch, or -1 if the system has none left.
    private let inotify: CInt
    /// `true` if at least one directory cannot be watched.
    private let isBlind: Bool

    /// The identity of a directory, independent of its name.
    private struct FileID: Hashable {
        let device: UInt
        let inode: UInt

        /// Reads the identity of the directory at `path`. `nil` if there is none.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
            (device, inode) = (UInt(status.st_dev), UInt(status.st_ino))
        }
    }

    /// Reads `folders`, except for the files `leftOut`, and watches them from then on.
    init(_ folders: [String], leavingOut leftOut: Set<String> = []) {
        self.folders = folders
        var complaints: [String] = []
        // Watched before they are read, so that no change in between is missed.
        inotify = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
        if inotify < 0 { complaints.append("\(SystemError.last("inotify_init1"))") }
        for folder in folders where inotify >= 0 {
            do throws(SystemError) { try Self.watch(folder, inotify) } catch {
                complaints.append("\(error)")
            }
        }
        isBlind = !complaints.isEmpty
        ids = folders.map { FileID($0) }
        var files: [MediaItem] = []
        for (place, folder) in folders.enumerated()
        where ids[place] != nil && ids.firstIndex(of: ids[place]) == place {
            guard let directory = opendir(folder) else {
                complaints.append("\(SystemError.last("open", folder))")
                continue
            }
            defer { closedir(directory) }
            while let entry = readdir(directory) {
                if let file = Self.file(entry, in: directory, folder), !leftOut.contains(file.path)
                {
                    files.append(file)
                }
            }
        }
        items = MediaItem.items(of: files)
        self.complaints = complaints
    }

    deinit { if inotify >= 0 { close(inotify) } }

    /// Reads the description of a file. Returns `nil` if it does not belong to the library, is not
    /// regular, or is empty, as a file just created.
    private static func file(
        _ entry: UnsafeMutablePointer<dirent>,
        in directory: OpaquePointer,
        _ folder: String
    ) -> MediaItem? {
        var status = stat()
        guard [UInt8(DT_REG), UInt8(DT_UNKNOWN)].contains(entry.pointee.d_type),
            let name = withName(of: entry, { String(validating: $0, as: UTF8.self) }),
            let facts = MediaName(name),
            fstatat(dirfd(directory), name, &status, AT_SYMLINK_NOFOLLOW) == 0,
            status.st_mode & S_IFMT == S_IFREG, status.st_size > 0
        else { return nil }
        return MediaItem(
            path: "\(folder)/\(name)",
            kind: facts.kind,
            camera: facts.camera,
            byteCount: Int64(status.st_size),
            time: facts.time
                ?? microseconds(status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
        )
    }

    /// Returns the path that the library has for the file at `path`, or `nil` if it does not have
    /// it. The movies of live photos are among its files.
    ///
    /// `path` is absolute and has no "." or ".." steps; its directory may be spelled differently.
    func member(_ path: String) -> String? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard path.hasPrefix("/"), let name = parts.last,
            !parts.dropFirst().contains(where: { ["", ".", ".."].contains($0) }),
            let id = FileID(parts.dropLast().joined(separator: "/") + "/"),
            let place = ids.firstIndex(of: id)
        else { return nil }
        let own = "\(folders[place])/\(name)"
        return items.contains { $0.path == own || $0.movie == own } ? own : nil
    }

    // MARK: Watching

    /// A descriptor for epoll(7), readable while there are changes; `nil` if the system cannot
    /// watch.
    var descriptor: CInt? { inotify < 0 ? nil : inotify }

    /// Takes the reports of changes. Returns `true` if there were any.
    func takeChanges() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        var hasChanged = false
        while retryingInterrupts({ read(inotify, &buffer, buffer.count) }) > 0 {
            hasChanged = true
        }
        return hasChanged
    }

    /// `true` if the directories need to be read again without a report: inotify(7) reports neither
    /// a mounted file system nor a link with a new target.
    var isElsewhere: Bool { isBlind || folders.map { FileID($0) } != ids }

    private static let content =
        IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_ATTRIB
    private static let itself = IN_DELETE_SELF | IN_MOVE_SELF

    /// Watches the content of `folder`, and its parents in case they are moved. If it is missing,
    /// watches its last existing parent for its arrival.
    private static func watch(_ folder: String, _ number: CInt) throws(SystemError) {
        let parts = folder.split(separator: "/")
        for count in 1..<max(2, parts.count + 1) {
            let path = "/" + parts.prefix(count).joined(separator: "/")
            let isLast = count >= parts.count
            do throws(SystemError) {
                try watch(path, for: isLast ? content | itself : itself, number)
            } catch {
                switch error.errno {
                case ENOENT, ENOTDIR:
                    let parent = "/" + parts.prefix(count - 1).joined(separator: "/")
                    try watch(parent, for: IN_CREATE | IN_MOVED_TO | itself, number)
                    // It may have been created just before the watch.
                    if FileID(path) != nil { try watch(folder, number) }
                    return
                // Parents need not be readable by this user.
                case EACCES where !isLast: continue
                default: throw error
                }
            }
        }
    }

    private static func watch(
        _ path: String,
        for changes: CInt,
        _ number: CInt
    ) throws(SystemError) {
        // IN_ONLYDIR, IN_MASK_ADD, IN_EXCL_UNLINK.
        let mask = UInt32(changes) | 0x0100_0000 | 0x2000_0000 | 0x0400_0000
        guard inotify_add_watch(number, path, mask) >= 0 else {
            throw .last("inotify_add_watch", path)
        }
    }
}
