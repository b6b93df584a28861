package import Frames
import Glibc
package import Platform
import Synchronization

/// The photographs and movies that there are, newest first, kept in memory and true to the disk.
///
/// One thread, `library`, which is the only one that waits for the disk; started when somebody asks for the first time, so
/// that a daemon whose library nobody wants neither reads nor watches anything.
package final class LibraryThread: Sendable {
    /// The directories as the configuration has them; `nil`: DualCam in the user's own.
    package struct Folders: Hashable, Sendable {
        /// Where photographs are. May begin with "~/".
        package let photos: String?
        /// Where movies are. May begin with "~/".
        package let movies: String?

        /// These directories.
        package init(photos: String?, movies: String?) {
            self.photos = photos
            self.movies = movies
        }
    }

    private let body: @Sendable (@escaping (Worker) -> Void) -> Void
    private let thread = Mutex<Thread?>(nil)

    /// Starts the thread. `onChange` is called on it soon after something changed, once for many changes at a time. Throws
    /// when the system has no thread or descriptor to give.
    ///
    /// `program` makes thumbnails: the arguments with which this one runs `ThumbnailWorker`, but for "idle" or "asked" behind
    /// them, and the name under which its failures are kept, "dualcam-VERSION".
    package init(
        _ folders: Folders,
        program: (arguments: [String], name: String),
        onChange: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        // Unsafe: made here, so that its failure can be thrown, and used by the new thread alone.
        nonisolated(unsafe) let worker = try Worker(folders, program, onChange)
        let mailbox = worker.loop.mailbox
        body = { work in
            // Unsafe: given up here by whoever asks, and run by the library's thread alone.
            nonisolated(unsafe) let work = work
            mailbox.post { work(worker) }
        }
        let started = try Thread(name: "library") { worker.loop.run() }
        thread.withLock { $0 = started }
    }

    /// Calls `done` on the thread with the items from `offset` on, at most `count`, and how many there are in all.
    package func list(
        from offset: Int,
        count: Int,
        done: @escaping @Sendable ([MediaItem], _ total: Int) -> Void
    ) {
        body { $0.list(from: offset, count: count, done) }
    }

    /// Has a thumbnail of the library's file at `path` made where there is none, and calls `done` on the thread with it: a
    /// descriptor for reading, which is the caller's to close. Those of what follows in the list are made after it, as
    /// many as were listed last.
    package func thumbnail(
        of path: String,
        _ size: ThumbnailSize,
        done: @escaping @Sendable (Result<CInt, ThumbnailError>) -> Void
    ) {
        body { $0.thumbnail(of: path, size, done) }
    }

    /// Holds the files of `folders` from now on. What has not changed is read anew, too.
    package func use(_ folders: Folders) { body { $0.use(folders) } }

    /// Leaves out the files at these paths from now on, and no others: what is being written is nothing to look at yet.
    package func leaveOut(_ paths: Set<String>) { body { $0.leaveOut(paths) } }

    /// Has the thread end; does not wait for it. Once.
    package func end() { body { $0.end() } }

    /// Waits until the thread has ended, at most until `deadline`; whether it has. It may hang in a disk that does not
    /// answer. After `end()`.
    package func wait(until deadline: Timestamp) -> Bool { thread.join(until: deadline) }

    // MARK: On the thread

    /// What the thread has before it. Bound to it.
    private final class Worker {
        let loop: EventLoop
        private let onChange: @Sendable () -> Void
        private var folders: Folders
        private var leftOut: Set<String> = []
        private var scanner: LibraryScanner?
        private var watch: EventLoop.Watch?
        private var timer: EventLoop.Timer?
        private var isTimerArmed = false
        /// Something changed that was not told yet.
        private var hasChanged = false
        /// The directories want to be read anew.
        private var isStale = false
        private let cache: ThumbnailCache?
        /// Makes what is waited for, and what may be asked for next.
        private let asked: ThumbnailQueue
        private let ahead: ThumbnailQueue
        private var comings: [Coming] = []
        /// What was made ahead, or cannot be.
        private var made: Set<Coming> = []
        /// How many were listed last.
        private var page = 0

        /// A thumbnail that may be asked for next: of a file as it is now.
        private struct Coming: Hashable {
            let item: MediaItem
            let size: ThumbnailSize
        }

        /// How many are made ahead at most, and how many of them are remembered.
        private static let (longestPage, memory) = (100, 20_000)

        /// How long changes are gathered before they are told, in seconds: what comes and goes in between is no news.
        private static let gathering = 0.1

        init(
            _ folders: Folders,
            _ program: (arguments: [String], name: String),
            _ onChange: @escaping @Sendable () -> Void
        ) throws(SystemError) {
            loop = try EventLoop()
            self.folders = folders
            cache = ThumbnailCache(program: program.name)
            asked = try ThumbnailQueue(loop, program.arguments + ["asked"], cache, timeout: 30)
            ahead = try ThumbnailQueue(loop, program.arguments + ["idle"], cache, timeout: nil)
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
            done(Array(scanner.index.items(from: offset, count: count)), scanner.index.count)
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
                    .failure(ThumbnailError(.notFound, "\(path) is no file of the library"))
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

        /// Makes what may be asked for next, while nothing is asked for.
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
            loop.stop()
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

        /// Has the index as it is now.
        private func refresh() {
            guard scanner != nil else { return fill() }
            takeIn()
            // Nobody tells of what happens there.
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
            // The old descriptor goes with its watch.
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
    /// Where they are; without the one that has no place, for want of a home.
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
    /// This path without what it can do without, so that a file has one path.
    fileprivate var plain: String { "/" + split(separator: "/").joined(separator: "/") }
}
