import DualCamCore
import Frames
import Glibc
import Platform
import Synchronization

/// The thread `files`, which reads and writes what the daemon keeps: the state, privacy and the
/// scenes.
///
/// Files elsewhere may be on another disk, which may hang, and the journal of recordings has a lock
/// that another daemon may hold. Work on those has a thread per place, which exists while there is
/// some.
final class Files: Sendable {
    /// A place whose work is done in order. A thread has its name.
    enum Place: String {
        /// The directory of the state.
        case state = "files"
        case journal
        case configuration
        /// The directory of the recordings.
        case movies
    }

    private typealias Work = @Sendable () -> Void
    private let worker: LoopWorker<Void>
    /// The work that waits for the thread of its place. A place is listed while it has one.
    private let waiting = Mutex<[Place: [Work]]>([:])

    /// Starts the thread. Throws `SystemError` if the system has no thread or descriptor left.
    init() throws(SystemError) {
        worker = try LoopWorker(name: Place.state.rawValue)
        try worker.start { _ in }
    }

    /// Queues `work` on files in `place`. From any thread.
    func post(_ place: Place, _ work: @escaping @Sendable () -> Void) {
        guard place != .state else { return _ = worker.post { _ in work() } }
        let hasThread = waiting.withLock { waiting in
            defer { waiting[place, default: []].append(work) }
            return waiting[place] != nil
        }
        guard !hasThread else { return }
        do throws(SystemError) {
            try Thread(name: place.rawValue) { [self] in run(place) }.detach()
        } catch {
            // There is always this one.
            worker.post { [self] _ in run(place) }
        }
    }

    /// Does all that waits for `place`.
    private func run(_ place: Place) {
        while let item = next(in: place) { item() }
    }

    private func next(in place: Place) -> Work? {
        waiting.withLock { waiting in
            guard let item = waiting[place]?.first else {
                waiting[place] = nil
                return nil
            }
            waiting[place]?.removeFirst()
            return item
        }
    }

    /// Completes the work and ends the threads. Returns `true` if they have ended by `deadline`.
    func end(by deadline: Timestamp) -> Bool {
        worker.end()
        let hasEnded = worker.join(until: deadline)
        while waiting.withLock({ !$0.isEmpty }) {
            guard MonotonicClock.now < deadline else { return false }
            usleep(1000)
        }
        return hasEnded
    }

    deinit {
        worker.end()
        worker.leave()
    }
}

extension StateFile {
    /// Returns what `parse` makes of the file; `nil` without one. One that is damaged is set aside,
    /// and the problem says of `what` that it cannot be read: "Your scenes … and are now in …".
    func load<Value>(
        _ what: String,
        _ verb: String,
        _ parse: (String) throws(ConfigurationError) -> Value
    ) -> (Value?, problem: String?) {
        let reason: String
        do throws(SystemError) {
            guard let text = try load() else { return (nil, nil) }
            do throws(ConfigurationError) { return (try parse(text), nil) } catch {
                reason = "\(error)"
            }
        } catch {
            reason = "\(error)"
        }
        let place: String
        do throws(SystemError) { place = "\(verb) now in \(try setAside())" } catch {
            place = "the file cannot be moved away (\(error))"
        }
        return (nil, "\(what) cannot be read, and \(place): \(reason)")
    }
}

/// Returns the reason that `body` fails, or `nil`.
func failure(_ body: () throws(SystemError) -> Void) -> String? {
    do throws(SystemError) {
        try body()
        return nil
    } catch {
        return "\(error)"
    }
}
