import Frames
import Glibc
import Logging
import Platform

/// The library as it is on the disk: an index of its directories, and the watch that keeps it
/// current.
///
/// - Context: Bound to the library's thread. May wait for the disk.
final class LibraryScanner {
    /// The directories, which may be missing or appear twice.
    let folders: [String]
    /// The media files found.
    var index = MediaIndex()
    /// The paths of files still being written, which are left out.
    private var leftOut: Set<String> = []
    private var watch: FolderWatch?
    /// The directories whose content is watched: indices in `folders` by watch number.
    private var watched: [CInt: Set<Int>] = [:]
    /// The parents of missing directories: the names awaited, by watch number.
    private var awaited: [CInt: Set<String>] = [:]
    /// The identity of each directory when it was last read.
    private var fileIDs: [FileID?] = []
    /// `true` if at least one directory cannot be watched.
    private var isBlind = false
    /// The last warning about each directory, so that none is repeated.
    private var complaints: [String: String] = [:]

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
        self.leftOut = leftOut
        read()
    }

    /// A descriptor that is readable while there are changes; `nil` if the system cannot watch.
    var descriptor: CInt? { watch?.descriptor }

    /// `true` if the directories need to be read again without an event: inotify(7) reports neither
    /// a mounted file system nor a link with a new target.
    var isElsewhere: Bool { isBlind || folders.map { FileID($0) } != fileIDs }

    /// Reads the directories again. Returns `true` if the index changed.
    @discardableResult
    func read() -> Bool {
        let before = index
        // Watched before they are read, so that no change in between is missed.
        rewatch()
        fileIDs = folders.map { FileID($0) }
        index = MediaIndex()
        for (number, folder) in folders.enumerated() where isShown(number) { scan(folder) }
        return !index.holdsSame(as: before)
    }

    /// Leaves out exactly these files from now on. Returns `true` if the index changed.
    func leaveOut(_ paths: Set<String>) -> Bool {
        let differing = leftOut.symmetricDifference(paths)
        leftOut = paths
        var hasChanged = false
        for path in differing {
            let name = fileName(of: path)
            guard let kind = MediaName(name) else { continue }
            for (number, folder) in folders.enumerated()
            where isShown(number) && path == "\(folder)/\(name)" {
                hasChanged = look(name, kind, in: folder) || hasChanged
            }
        }
        return hasChanged
    }

    /// Returns `true` if the directory exists and is not the same as an earlier one.
    private func isShown(_ number: Int) -> Bool {
        fileIDs[number] != nil && fileIDs.firstIndex(of: fileIDs[number]) == number
    }

    /// The result of `update()`.
    struct Update: Equatable {
        /// `true` if the index changed.
        var hasChanged = false
        /// `true` if events were lost, or directories moved, so that they need to be read again.
        var isStale = false
    }

    /// Applies the events since the last call.
    func update() -> Update {
        var update = Update()
        for event in watch?.events() ?? [] {
            if !event.change.isDisjoint(with: [.overflow, .itself]) {
                update.isStale = true
                continue
            }
            guard let name = event.name, !name.isEmpty else { continue }
            if awaited[event.folder]?.contains(name) ?? false,
                !event.change.isDisjoint(with: .arrival)
            {
                update.isStale = true
            }
            guard !event.change.contains(.folder), let kind = MediaName(name) else { continue }
            for number in watched[event.folder] ?? [] where isShown(number) {
                update.hasChanged = look(name, kind, in: folders[number]) || update.hasChanged
            }
        }
        return update
    }

    /// Returns the path that the index has for the file at `path`, or `nil` if the library does not
    /// have it.
    ///
    /// `path` is absolute and has no "." or ".." steps; its directory may be spelled differently
    /// from `folders`.
    func member(_ path: String) -> String? {
        if index.contains(path) { return path }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard path.hasPrefix("/"), let name = parts.last,
            !parts.dropFirst().contains(where: {
                $0.isEmpty || $0 == "." || $0 == ".."
            })
        else { return nil }
        let parent = FileID(parts.dropLast().joined(separator: "/") + "/")
        guard let parent, let number = fileIDs.firstIndex(of: parent) else { return nil }
        let own = "\(folders[number])/\(name)"
        return index.contains(own) ? own : nil
    }

    // MARK: Watching

    private func rewatch() {
        watch = nil
        watched = [:]
        awaited = [:]
        isBlind = false
        do throws(SystemError) {
            watch = try FolderWatch()
        } catch {
            isBlind = true
            return complain("the library is not watched", of: "", error)
        }
        complaints[""] = nil
        for (number, folder) in folders.enumerated() {
            guard let watch else { return }
            do throws(SystemError) {
                try self.watch(folder, number, with: watch)
                complaints[folder] = nil
            } catch {
                isBlind = true
                complain("the library is not watched", of: folder, error)
            }
        }
    }

    private func complain(_ what: Logger.Message, of folder: String, _ error: SystemError) {
        guard complaints.updateValue("\(error)", forKey: folder) != "\(error)" else { return }
        Log.control.warning(what, metadata: ["reason": "\(error)"])
    }

    /// Watches the directory, and its parents in case they are moved. If it is missing, watches its
    /// last existing parent for its arrival.
    private func watch(
        _ folder: String,
        _ number: Int,
        with watch: FolderWatch
    ) throws(SystemError) {
        var path = ""
        let parts = folder.split(separator: "/").map(String.init)
        for (depth, name) in parts.enumerated() {
            let parent = path.isEmpty ? "/" : path
            path += "/\(name)"
            do throws(SystemError) {
                let isLast = depth == parts.count - 1
                let what: FolderWatch.Change = isLast ? [.content, .itself] : .itself
                let id = try watch.watch(path, for: what)
                if isLast { watched[id, default: []].insert(number) }
            } catch {
                switch error.errno {
                case ENOENT, ENOTDIR:
                    let id = try watch.watch(parent, for: [.arrival, .itself])
                    awaited[id, default: []].insert(name)
                    // It may have been created just before the watch.
                    var status = stat()
                    if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                        try self.watch(folder, number, with: watch)
                    }
                    return
                // Parents need not be readable by this user.
                case EACCES where depth < parts.count - 1: continue
                default: throw error
                }
            }
        }
    }

    // MARK: Reading

    private func scan(_ folder: String) {
        guard let directory = opendir(folder) else {
            return complain("the library cannot be read", of: "\(folder)/", .last("open", folder))
        }
        defer { closedir(directory) }
        complaints["\(folder)/"] = nil
        let number = dirfd(directory)
        while let entry = readdir(directory) {
            let isOther = ![UInt8(DT_REG), UInt8(DT_UNKNOWN)].contains(entry.pointee.d_type)
            guard !isOther else { continue }
            let name = withName(of: entry) { String(validating: $0, as: UTF8.self) }
            guard let name, let kind = MediaName(name),
                let file = file(name, kind, in: folder, at: number, name)
            else { continue }
            index.insert(file)
        }
    }

    /// Updates the index for the file `name`. Returns `true` if the index changed.
    private func look(_ name: String, _ kind: MediaName, in folder: String) -> Bool {
        let path = "\(folder)/\(name)"
        guard let file = file(name, kind, in: folder, at: AT_FDCWD, path) else {
            return index.remove(path)
        }
        return index.insert(file)
    }

    /// Reads the description of the file at `place`, relative to `directory`. Returns `nil` if it
    /// is not a regular file, is left out, or is empty, as a file just created.
    private func file(
        _ name: String,
        _ kind: MediaName,
        in folder: String,
        at directory: CInt,
        _ place: String
    ) -> MediaIndex.File? {
        let path = "\(folder)/\(name)"
        var status = stat()
        guard !leftOut.contains(path),
            fstatat(directory, place, &status, AT_SYMLINK_NOFOLLOW) == 0,
            status.st_mode & S_IFMT == S_IFREG, status.st_size > 0
        else { return nil }
        return MediaIndex.File(
            MediaItem(
                path: path,
                kind: kind.kind,
                camera: kind.camera,
                byteCount: Int64(status.st_size),
                time: kind.date?.microseconds
                    ?? microseconds(status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
            ),
            kind,
            in: folder
        )
    }
}

/// Returns `seconds` and `nanoseconds` in microseconds, clamped to the range of the type: a file
/// may claim any time.
func microseconds(_ seconds: Int, nanoseconds: Int) -> Int64 {
    let last = Int.max / 1_000_000 - 1
    return Int64(max(-last, min(last, seconds)) * 1_000_000 + nanoseconds / 1000)
}

extension MediaName.Date {
    /// Microseconds since 1970, in the time zone of this machine.
    fileprivate var microseconds: Int64 {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (
            CInt(year - 1900), CInt(month - 1), CInt(day)
        )
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (CInt(hour), CInt(minute), CInt(second))
        parts.tm_isdst = -1
        return Library.microseconds(mktime(&parts), nanoseconds: millisecond * 1_000_000)
    }
}
