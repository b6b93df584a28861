import Frames
import Glibc
import Logging
import Platform

/// The library as it is on the disk: the index of its directories, and the watch that keeps it true.
///
/// - Context: bound to the library's thread. May wait for the disk.
final class LibraryScanner {
    /// The directories, which may not be there; one may be named twice.
    let folders: [String]
    /// The media files that there are.
    var index = MediaIndex()
    /// Files that are being written, by their paths.
    private var leftOut: Set<String> = []
    private var watch: FolderWatch?
    /// Whose content is watched, by what the events call it: places in `folders`.
    private var watched: [CInt: Set<Int>] = [:]
    /// Directories above them, with the names that they wait for.
    private var awaited: [CInt: Set<String>] = [:]
    /// Which directory each of them was when they were read.
    private var fileIDs: [FileID?] = []
    /// Of one at least nobody tells what happens there.
    private var isBlind = false
    /// What was complained of last, by directory, so that it is told once.
    private var complaints: [String: String] = [:]

    /// A directory by device and inode, whatever it is called.
    private struct FileID: Hashable {
        let device: UInt
        let inode: UInt

        /// `nil` where there is none.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
            (device, inode) = (UInt(status.st_dev), UInt(status.st_ino))
        }
    }

    /// Reads `folders`, but for the files `leftOut`, and watches them from then on.
    init(_ folders: [String], leavingOut leftOut: Set<String> = []) {
        self.folders = folders
        self.leftOut = leftOut
        read()
    }

    /// Readable when something happened; `nil` where the system does not tell.
    var descriptor: CInt? { watch?.descriptor }

    /// Whether they want to be read anew though nothing was told: a file system that is mounted, and a link that leads
    /// elsewhere, are told of by nobody (inotify(7)).
    var isElsewhere: Bool { isBlind || folders.map { FileID($0) } != fileIDs }

    /// Reads the directories anew; whether that changed anything.
    @discardableResult
    func read() -> Bool {
        let before = index
        // Watched before they are read, so that nothing happens between the two.
        rewatch()
        fileIDs = folders.map { FileID($0) }
        index = MediaIndex()
        for (number, folder) in folders.enumerated() where isShown(number) { scan(folder) }
        return !index.holdsSame(as: before)
    }

    /// Leaves out these files from now on, and no others; whether that changed anything.
    func leaveOut(_ paths: Set<String>) -> Bool {
        let differing = leftOut.symmetricDifference(paths)
        leftOut = paths
        var hasChanged = false
        for path in differing {
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            guard let kind = MediaName(name) else { continue }
            for (number, folder) in folders.enumerated()
            where isShown(number) && path == "\(folder)/\(name)" {
                hasChanged = look(name, kind, in: folder) || hasChanged
            }
        }
        return hasChanged
    }

    /// Whether the directory is there, and no other before it is the same.
    private func isShown(_ number: Int) -> Bool {
        fileIDs[number] != nil && fileIDs.firstIndex(of: fileIDs[number]) == number
    }

    /// What `update()` found.
    struct Update: Equatable {
        /// Whether the index changed.
        var hasChanged = false
        /// Whether more happened than was told of, so that the directories want to be read anew.
        var isStale = false
    }

    /// Takes in what happened since the last time.
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

    /// The path as the index has it of the file that `path` leads to; `nil` where it is not of the library. The path begins at
    /// the root and has no steps back; its directory may have another name here.
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

    /// Watches the directory, those above it for the case that they go, and, where it is not there, the last above it
    /// that is.
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
                    // It may have come between the two.
                    var status = stat()
                    if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                        try self.watch(folder, number, with: watch)
                    }
                    return
                // Those above it may be none of ours to look into.
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

    /// Looks what became of the file `name`; whether the index changed.
    private func look(_ name: String, _ kind: MediaName, in folder: String) -> Bool {
        let path = "\(folder)/\(name)"
        guard let file = file(name, kind, in: folder, at: AT_FDCWD, path) else {
            return index.remove(path)
        }
        return index.insert(file)
    }

    /// What is known of a file, which lies at `place` beside `directory`; `nil` for what is none, and for an empty one, of
    /// which the rest has yet to come.
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

/// Microseconds of so many seconds; the first or last moment that there is where those are more: a file may claim any time.
func microseconds(_ seconds: Int, nanoseconds: Int) -> Int64 {
    let last = Int.max / 1_000_000 - 1
    return Int64(max(-last, min(last, seconds)) * 1_000_000 + nanoseconds / 1000)
}

extension MediaName.Date {
    /// Since 1970, by the time zone of this machine.
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
