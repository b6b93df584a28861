import Frames
import Glibc
import Logging
import Platform

/// The library as it is on the disk: the index of its directories, and the watch that keeps it true.
///
/// - Context: bound to the library's thread. May wait for the disk.
final class Shelf {
    /// The directories, which may not be there; one may be named twice.
    let folders: [String]
    /// What there is.
    var index = MediaIndex()
    private var watch: FolderWatch?
    /// Whose content is watched, by what the events call it: places in `folders`.
    private var watched: [CInt: Set<Int>] = [:]
    /// Directories above them, with the names that they wait for.
    private var awaited: [CInt: Set<String>] = [:]

    /// Reads `folders` and watches them from then on.
    init(_ folders: [String]) {
        self.folders = folders
        read()
    }

    /// Readable when something happened; `nil` where the system does not tell.
    var descriptor: CInt? { watch?.descriptor }

    /// Reads the directories anew; whether that changed anything.
    @discardableResult
    func read() -> Bool {
        let before = index
        // Watched before they are read, so that nothing happens between the two.
        rewatch()
        index = MediaIndex()
        for (number, folder) in folders.enumerated()
        where folders.firstIndex(of: folder) == number { scan(folder) }
        return !index.holdsSame(as: before)
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
            for number in watched[event.folder] ?? [] {
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
        var own = stat()
        var parent = stat()
        guard stat(parts.dropLast().joined(separator: "/") + "/", &parent) == 0 else { return nil }
        return folders.first { folder in
            stat(folder, &own) == 0 && own.st_dev == parent.st_dev && own.st_ino == parent.st_ino
        }.map { "\($0)/\(name)" }.flatMap { index.contains($0) ? $0 : nil }
    }

    // MARK: Watching

    private func rewatch() {
        watch = nil
        watched = [:]
        awaited = [:]
        do throws(SystemError) {
            let new = try FolderWatch()
            for (number, folder) in folders.enumerated() { try watch(folder, number, with: new) }
            watch = new
        } catch {
            Log.control.warning(
                "the library is not watched, and read each time",
                metadata: ["reason": "\(error)"]
            )
        }
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
            if errno != ENOENT, errno != ENOTDIR {
                Log.control.warning(
                    "the library cannot be read",
                    metadata: ["reason": "\(SystemError.last("open", folder))"]
                )
            }
            return
        }
        defer { closedir(directory) }
        let number = dirfd(directory)
        while let entry = readdir(directory) {
            let isOther = ![UInt8(DT_REG), UInt8(DT_UNKNOWN)].contains(entry.pointee.d_type)
            guard !isOther else { continue }
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(validating: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
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
        var status = stat()
        guard fstatat(directory, place, &status, AT_SYMLINK_NOFOLLOW) == 0,
            status.st_mode & S_IFMT == S_IFREG, status.st_size > 0
        else { return nil }
        let written =
            Int64(status.st_mtim.tv_sec) * 1_000_000 + Int64(status.st_mtim.tv_nsec) / 1000
        return MediaIndex.File(
            MediaItem(
                path: "\(folder)/\(name)",
                kind: kind.kind,
                camera: kind.camera,
                byteCount: Int64(status.st_size),
                time: kind.date?.microseconds ?? written
            ),
            kind,
            in: folder
        )
    }
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
        return Int64(mktime(&parts)) * 1_000_000 + Int64(millisecond) * 1000
    }
}
