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

    private let body: @Sendable (@escaping (Desk) -> Void) -> Void
    private let thread = Mutex<Thread?>(nil)

    /// Starts the thread. `onChange` is called on it soon after something changed, once for many changes at a time. Throws
    /// when the system has no thread or descriptor to give.
    package init(
        _ folders: Folders,
        onChange: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        // Unsafe: made here, so that its failure can be thrown, and used by the new thread alone.
        nonisolated(unsafe) let desk = try Desk(folders, onChange)
        let mailbox = desk.loop.mailbox
        body = { work in
            nonisolated(unsafe) let work = work
            mailbox.post { work(desk) }
        }
        let started = try Thread(name: "library") { desk.loop.run() }
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

    /// Holds the files of `folders` from now on. What has not changed is read anew, too.
    package func use(_ folders: Folders) { body { $0.use(folders) } }

    /// Has the thread end; does not wait for it. Once.
    package func end() { body { $0.loop.stop() } }

    /// Waits until the thread has ended, at most until `deadline`; whether it has. It may hang in a disk that does not
    /// answer. After `end()`.
    package func wait(until deadline: Timestamp) -> Bool { thread.join(until: deadline) }

    // MARK: On the thread

    /// What the thread has before it. Bound to it.
    private final class Desk {
        let loop: EventLoop
        private let onChange: @Sendable () -> Void
        private var folders: Folders
        private var shelf: Shelf?
        private var watch: EventLoop.Watch?
        private var timer: EventLoop.Timer?
        private var isTimerArmed = false
        /// Something changed that was not told yet.
        private var hasChanged = false
        /// The directories want to be read anew.
        private var isStale = false

        /// How long changes are gathered before they are told, in seconds: what comes and goes in between is no news.
        private static let gathering = 0.1

        init(
            _ folders: Folders,
            _ onChange: @escaping @Sendable () -> Void
        ) throws(SystemError) {
            loop = try EventLoop()
            self.folders = folders
            self.onChange = onChange
            timer = try loop.timer { [unowned self] in tell() }
        }

        func list(
            from offset: Int,
            count: Int,
            _ done: @Sendable ([MediaItem], Int) -> Void
        ) {
            refresh()
            guard let shelf else { return done([], 0) }
            done(Array(shelf.index.items(from: offset, count: count)), shelf.index.count)
        }

        func use(_ folders: Folders) {
            self.folders = folders
            guard let old = shelf else { return }
            fill()
            guard let shelf, !shelf.index.holdsSame(as: old.index) else { return }
            hasChanged = true
            gather()
        }

        /// Has the index as it is now.
        private func refresh() {
            guard shelf != nil else { return fill() }
            if shelf?.descriptor == nil { isStale = true }
            takeIn()
            if isStale { readAnew() }
        }

        private func fill() {
            watch?.cancel()
            watch = nil
            isStale = false
            shelf = Shelf(folders.paths)
            listen()
        }

        private func listen() {
            watch?.cancel()
            watch = nil
            guard let number = shelf?.descriptor else { return }
            watch = try? loop.watch(number, for: .readable) { [unowned self] _ in takeIn() }
        }

        private func takeIn() {
            guard let update = shelf?.update() else { return }
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
            if shelf?.read() ?? false { hasChanged = true }
            listen()
        }

        private func tell() {
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
            let path = configured.map(expandingHome) ?? usual.path.map { "\($0)/DualCam" }
            guard let path, path.hasPrefix("/") else { return nil }
            // As the parts are named, so that a file has one path.
            return "/" + path.split(separator: "/").joined(separator: "/")
        }
    }
}
