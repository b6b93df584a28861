package import Frames
import Glibc
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

        /// Creates the pair of directories.
        package init(photos: String?, movies: String?) {
            self.photos = photos
            self.movies = movies
        }
    }

    private let worker: LoopWorker<Shelves>

    /// Starts the thread. `onChange` is called on it soon after changes, once for all of them.
    ///
    /// `helpers` are the arguments with which this program runs `ThumbnailWorker` for requested
    /// thumbnails, and for those that may be next; `program` is the name under which failures are
    /// stored, "dualcam-VERSION".
    ///
    /// - Throws: `SystemError` when the system has no thread or descriptor left.
    package init(
        _ folders: Folders,
        helpers: (asked: [String], ahead: [String]),
        program: String,
        onChange: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        worker = try LoopWorker(name: "library")
        try worker.start { loop throws(SystemError) in
            try Shelves(loop, folders, helpers, program, onChange)
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

    /// Makes the thumbnail of the library's file at `path` unless it exists, and calls `done` on
    /// the thread with an error or a descriptor for reading, which the caller closes.
    ///
    /// Then makes thumbnails of the items that follow in the list, as many as were last listed, at
    /// most 100.
    package func thumbnail(
        of path: String,
        _ size: ThumbnailSize,
        done: @escaping @Sendable (Result<CInt, ThumbnailError>) -> Void
    ) {
        worker.post { $0.thumbnail(of: path, size, done) }
    }

    /// Uses `folders` from now on, and reads them all again.
    package func use(_ folders: Folders) { worker.post { $0.use(folders) } }

    /// Leaves out exactly the files at these paths from now on, because they are still being
    /// written.
    package func leaveOut(_ paths: Set<String>) { worker.post { $0.leaveOut(paths) } }

    /// Ends the thread. Does not wait. To be called once.
    package func end() { worker.end { $0.end() } }

    /// Waits until the thread has ended, at most until `deadline`, and returns `true` if it has; a
    /// disk may not answer. To be called after `end()`.
    package func wait(until deadline: Timestamp) -> Bool { worker.join(until: deadline) }

    // MARK: On the thread

    /// The state of the thread, bound to it.
    private final class Shelves {
        private let loop: EventLoop
        private let onChange: @Sendable () -> Void
        private var folders: Folders
        private var leftOut: Set<String> = []
        private var scanner: LibraryScanner?
        private var watch: EventLoop.Watch?
        private var timer: EventLoop.Timer?
        private var isTimerArmed = false
        /// `true` while a change is not yet reported.
        private var hasChanged = false
        /// `true` while the directories need to be read again.
        private var isStale = false
        private let cache: ThumbnailCache?
        /// The queues of requested thumbnails, and of those that may be requested next.
        private let asked: ThumbnailQueue
        private let ahead: ThumbnailQueue
        private var comings: [Coming] = []
        /// The thumbnails made ahead, or tried in vain.
        private var made: Set<Coming> = []
        /// The number of items last listed.
        private var page = 0
        /// The lengths of movies in their present state, in seconds.
        private var lengths: [MediaItem: Double] = [:]

        /// A thumbnail that may be requested next, of the file in its present state.
        private struct Coming: Hashable {
            let item: MediaItem
            let size: ThumbnailSize
        }

        /// The most thumbnails to make ahead, and the most thumbnails or lengths to remember.
        private static let (longestPage, memory) = (100, 20_000)

        /// The time for which changes are gathered before the report, in seconds, so that
        /// short-lived ones go unreported.
        private static let gathering = 0.1

        init(
            _ loop: EventLoop,
            _ folders: Folders,
            _ helpers: (asked: [String], ahead: [String]),
            _ program: String,
            _ onChange: @escaping @Sendable () -> Void
        ) throws(SystemError) {
            self.loop = loop
            self.folders = folders
            cache = ThumbnailCache(program: program)
            asked = try ThumbnailQueue(loop, helpers.asked, cache, timeout: 30)
            ahead = try ThumbnailQueue(loop, helpers.ahead, cache, timeout: nil)
            self.onChange = onChange
            timer = try loop.timer { [unowned self] in reportChange() }
        }

        func list(
            from offset: Int,
            count: Int,
            _ done: @Sendable ([MediaItem], Int) -> Void
        ) {
            refresh()
            page = min(count, Self.longestPage)
            guard let scanner else { return done([], 0) }
            let items = scanner.index.items(from: offset, count: count).map(measured)
            done(items, scanner.index.count)
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
            _ done: @escaping @Sendable (Result<CInt, ThumbnailError>) -> Void
        ) {
            refresh()
            guard let cache else {
                return done(.failure(ThumbnailError(.system, "there is no home")))
            }
            guard let scanner, let file = scanner.member(path),
                let place = cache.place(of: file, size)
            else {
                return done(
                    .failure(
                        ThumbnailError(
                            .notFound,
                            "\(path) is not in the directories of photos and videos"
                        )
                    )
                )
            }
            asked.make(file, size) { [unowned self] error in
                if let error {
                    done(.failure(error))
                } else {
                    do throws(SystemError) {
                        done(.success(try ThumbnailCache.open(place)))
                    } catch {
                        done(.failure(ThumbnailError(error)))
                    }
                }
                makeAhead()
            }
            if let position = scanner.index.place(of: file) {
                comings = scanner.index.items(from: position + 1, count: page).map {
                    Coming(item: $0, size: size)
                }
            }
        }

        /// Makes the next thumbnail ahead, while none is requested.
        private func makeAhead() {
            guard !asked.isBusy, !ahead.isBusy else { return }
            if made.count > Self.memory { made = [] }
            comings.removeAll { made.contains($0) }
            guard !comings.isEmpty else { return }
            let next = comings.removeFirst()
            made.insert(next)
            ahead.make(next.item.path, next.size) { [unowned self] _ in makeAhead() }
        }

        func end() {
            asked.end()
            ahead.end()
        }

        func use(_ folders: Folders) {
            self.folders = folders
            guard let old = scanner else { return }
            fill()
            guard let scanner, !scanner.index.holdsSame(as: old.index) else { return }
            hasChanged = true
            gather()
        }

        func leaveOut(_ paths: Set<String>) {
            leftOut = Set(paths.map(\.plain))
            guard scanner?.leaveOut(leftOut) ?? false else { return }
            hasChanged = true
            gather()
        }

        /// Brings the index up to date.
        private func refresh() {
            guard scanner != nil else { return fill() }
            takeIn()
            // There are no events in this case.
            if watch == nil || scanner?.isElsewhere ?? false { isStale = true }
            if isStale { readAnew() }
        }

        private func fill() {
            watch?.cancel()
            watch = nil
            isStale = false
            scanner = LibraryScanner(folders.paths, leavingOut: leftOut)
            listen()
        }

        private func listen() {
            watch?.cancel()
            watch = nil
            guard let number = scanner?.descriptor else { return }
            watch = try? loop.watch(number, for: .readable) { [unowned self] _ in takeIn() }
        }

        private func takeIn() {
            guard let update = scanner?.update() else { return }
            hasChanged = hasChanged || update.hasChanged
            isStale = isStale || update.isStale
            if hasChanged || isStale { gather() }
        }

        private func gather() {
            guard !isTimerArmed else { return }
            isTimerArmed = true
            timer?.arm(after: Self.gathering)
        }

        private func readAnew() {
            isStale = false
            // The old descriptor is closed with its watch.
            watch?.cancel()
            watch = nil
            if scanner?.read() ?? false { hasChanged = true }
            listen()
        }

        private func reportChange() {
            isTimerArmed = false
            if isStale { readAnew() }
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
