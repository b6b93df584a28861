package import Frames
import Glibc
import Logging
package import Platform

/// The photographs and movies of the library, newest first, kept in memory and current with the
/// disk.
///
/// Only its one thread, `library`, waits for the disk. Nothing is read or watched before the first
/// request.
package final class LibraryThread: Sendable {
    /// The configured directories; `nil` for DualCam in the user's own directories.
    package struct Folders: Hashable, Sendable {
        /// The directory of photographs. May begin with "~/".
        package let photos: String?
        /// The directory of movies. May begin with "~/".
        package let movies: String?

        package init(photos: String?, movies: String?) {
            self.photos = photos
            self.movies = movies
        }
    }

    private let worker: LoopWorker<Contents>
    private let thumbnails: ThumbnailQueue

    /// Starts the thread. `onChange` is called on it soon after changes, once for all of them.
    ///
    /// `helper` are the arguments with which this program runs `ThumbnailWorker`.
    ///
    /// - Throws: `SystemError` when the system has no thread or descriptor left.
    package init(
        _ folders: Folders,
        helper: [String],
        onChange: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        worker = try LoopWorker(name: "library")
        let queue = ThumbnailQueue(helper, ThumbnailCache())
        thumbnails = queue
        try worker.start { loop throws(SystemError) in
            try Contents(loop, folders, queue, onChange)
        }
    }

    /// Calls `done` on the thread with at most `count` items from `offset` on, and the number of
    /// all items.
    package func list(
        from offset: Int,
        count: Int,
        done: @escaping @Sendable ([MediaItem], _ total: Int) -> Void
    ) {
        worker.post { $0.list(from: offset, count: count, done) }
    }

    /// Makes the thumbnail of the library's file at `path` unless it exists, for the program
    /// `owner`, and calls `done` on any thread with an error or a descriptor for reading, which the
    /// caller closes.
    package func thumbnail(
        of path: String,
        _ size: ThumbnailSize,
        for owner: String = "",
        done: @escaping @Sendable (Result<CInt, ThumbnailError>) -> Void
    ) {
        worker.post { $0.thumbnail(of: path, size, for: owner, done) }
    }

    /// Uses `folders` from now on, and reads them all again.
    package func use(_ folders: Folders) { worker.post { $0.folders = folders } }

    /// Leaves out exactly the files at these paths from now on, because they are still being
    /// written.
    package func leaveOut(_ paths: Set<String>) { worker.post { $0.leftOut = paths } }

    /// Ends the thread. Does not wait. To be called once.
    package func end() { worker.end() }

    /// Waits until the thread has ended, at most until `deadline`, and returns `true` if it has and
    /// no thumbnail is being made; a disk may not answer. To be called after `end()`.
    package func wait(until deadline: Timestamp) -> Bool {
        worker.join(until: deadline) && !thumbnails.isBusy
    }

    // MARK: On the thread

    /// The state of the thread, bound to it.
    private final class Contents {
        var folders: Folders { didSet { if library != nil { read() } } }
        var leftOut: Set<String> = [] { didSet { if library != nil { read() } } }
        private let loop: EventLoop
        private let thumbnails: ThumbnailQueue
        private let onChange: @Sendable () -> Void
        private var library: LibraryFolders?
        private var watch: EventLoop.Watch?
        private var timer: EventLoop.Timer?
        private var isTimerArmed = false
        /// `true` while a change is not yet reported.
        private var hasChanged = false
        /// `true` while the directories need to be read again.
        private var isStale = false
        /// The time that it took to read the directories, in seconds.
        private var effort = 0.0
        /// The lengths of movies in their present state, in seconds.
        private var lengths: [MediaItem: Double] = [:]

        /// The most lengths to remember.
        private static let memory = 20_000
        /// The time for which changes are gathered before the directories are read again, in
        /// seconds, and in times of what that takes.
        private static let gathering = (seconds: 0.1, times: 9.0)

        init(
            _ loop: EventLoop,
            _ folders: Folders,
            _ thumbnails: ThumbnailQueue,
            _ onChange: @escaping @Sendable () -> Void
        ) throws(SystemError) {
            (self.loop, self.folders, self.thumbnails) = (loop, folders, thumbnails)
            self.onChange = onChange
            timer = try loop.timer { [unowned self] in reportChange() }
        }

        func list(
            from offset: Int,
            count: Int,
            _ done: @Sendable ([MediaItem], Int) -> Void
        ) {
            let items = current().items
            done(items.dropFirst(offset).prefix(count).map(measured), items.count)
        }

        /// Returns a movie with its length, which is read when it is first listed.
        private func measured(_ item: MediaItem) -> MediaItem {
            guard item.kind == .movie else { return item }
            if lengths.count > Self.memory { lengths = [:] }
            var measured = item
            measured.seconds = lengths[item] ?? MovieLength.seconds(of: item.path)
            lengths[item] = measured.seconds
            return measured
        }

        func thumbnail(
            of path: String,
            _ size: ThumbnailSize,
            for owner: String,
            _ done: @escaping @Sendable (Result<CInt, ThumbnailError>) -> Void
        ) {
            if let file = current().member(path) {
                return thumbnails.make(file, size, for: owner, done: done)
            }
            let reason = "\(path) is not in the directories of photos and videos"
            done(.failure(ThumbnailError(.notFound, reason)))
        }

        /// Returns the directories as they are now.
        private func current() -> LibraryFolders {
            guard let library, !isStale, !library.takeChanges(), !library.isElsewhere else {
                return read()
            }
            return library
        }

        @discardableResult
        private func read() -> LibraryFolders {
            // The old descriptor is closed with its watch.
            watch?.cancel()
            isStale = false
            let (start, old) = (MonotonicClock.now, library)
            let new = LibraryFolders(folders.paths, leavingOut: Set(leftOut.map(\.plain)))
            library = new
            effort = (MonotonicClock.now - start).seconds
            for reason in new.complaints where !(old?.complaints ?? []).contains(reason) {
                Log.control.warning(
                    "the library is not read or watched",
                    metadata: ["reason": "\(reason)"]
                )
            }
            watch = new.descriptor.flatMap { number in
                try? loop.watch(number, for: .readable) { [unowned self, unowned new] _ in
                    guard new.takeChanges() else { return }
                    isStale = true
                    gather()
                }
            }
            if let old, old.items != new.items {
                hasChanged = true
                gather()
            }
            return new
        }

        private func gather() {
            guard !isTimerArmed else { return }
            isTimerArmed = true
            timer?.arm(after: max(Self.gathering.seconds, Self.gathering.times * effort))
        }

        private func reportChange() {
            if isStale { read() }
            isTimerArmed = false
            guard hasChanged else { return }
            hasChanged = false
            onChange()
        }
    }
}

extension LibraryThread.Folders {
    /// The paths of the directories, except for one that has none for lack of a home.
    fileprivate var paths: [String] {
        [(photos, UserDirectory.pictures), (movies, .videos)].compactMap { configured, usual in
            guard let path = usual.place(configured: configured), path.hasPrefix("/") else {
                return nil
            }
            return path.plain
        }
    }
}

extension String {
    /// The path without redundant slashes, so that each file has one path.
    fileprivate var plain: String { "/" + split(separator: "/").joined(separator: "/") }
}
