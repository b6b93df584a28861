import Control
import DBusKit
import DualCamCore
import Frames
import Logging
import Platform

/// The user's scenes: in memory, and in a file that a thread of its own reads and writes. Changes
/// are made one after the other, and hold once they are on the disk.
@MainActor
final class SceneStore {
    /// The scenes.
    private(set) var book = SceneBook()
    /// The problems with the file, one sentence each.
    private(set) var problems: [String] = []
    /// The closure called after a change.
    var onChange: () -> Void = {}

    private let loop: EventLoop
    private let disk: LoopWorker<Void>
    private var isLoaded = false
    /// The requests that wait until the scenes are known.
    private var waiting: [() -> Void] = []
    /// The changes that wait for the one that is being written.
    private var changes: [() -> Void] = []
    private var isWriting = false

    /// The largest number of changes that wait.
    private static let mostChanges = 64

    /// Starts the thread.
    ///
    /// - Throws: `SystemError` if the system has no thread or descriptor left.
    init(loop: EventLoop) throws(SystemError) {
        self.loop = loop
        disk = try LoopWorker(name: "scenes")
        try disk.start { _ in }
    }

    /// Requests the file, once the daemon is the only one that writes it.
    func load() {
        let mailbox = loop.mailbox
        disk.post { _ in
            let (book, problem) = Self.read()
            mailbox.onMain { self.take(book, problem) }
        }
    }

    /// Calls `work` once the scenes are known.
    func whenLoaded(_ work: @escaping () -> Void) {
        if isLoaded { work() } else { waiting.append(work) }
    }

    private func take(_ book: SceneBook, _ problem: String?) {
        self.book = book
        if let problem {
            Log.control.warning("scenes", metadata: ["reason": "\(problem)"])
            problems = [problem]
        }
        isLoaded = true
        onChange()
        let works = waiting
        waiting = []
        for work in works { work() }
    }

    /// Changes the scenes. `done` gets the result once it is on the disk, or the error.
    func change<Result>(
        _ change: @escaping (inout SceneBook) throws(SceneBook.Refusal) -> Result,
        done: @escaping (Swift.Result<Result, DBusError>) -> Void
    ) {
        guard changes.count < Self.mostChanges else {
            return done(.failure(.busy("Too many changes of scenes wait for the disk.")))
        }
        whenLoaded { [self] in
            changes.append { [self] in
                var new = book
                do throws(SceneBook.Refusal) {
                    let result = try change(&new)
                    write(new) { error in
                        done(error.map { .failure($0) } ?? .success(result))
                    }
                } catch {
                    done(.failure(DBusError(error)))
                    finish()
                }
            }
            next()
        }
    }

    private func next() {
        guard !isWriting, !changes.isEmpty else { return }
        isWriting = true
        changes.removeFirst()()
    }

    private func finish() {
        isWriting = false
        next()
    }

    private func write(_ new: SceneBook, _ done: @escaping (DBusError?) -> Void) {
        let text = new.text
        let mailbox = loop.mailbox
        // Unsafe: the closure runs on the main thread alone.
        nonisolated(unsafe) let done = done
        disk.post { _ in
            let failure = Self.store(text)
            mailbox.onMain {
                if let failure {
                    done(.failed("The scenes were not changed: \(failure)"))
                } else {
                    self.book = new
                    self.onChange()
                    done(nil)
                }
                self.finish()
            }
        }
    }

    /// Ends the thread once its work is done. Returns `true` if it has ended by `deadline`.
    func end(by deadline: Timestamp) -> Bool {
        changes = []
        disk.end()
        return disk.join(until: deadline)
    }

    deinit {
        disk.end()
        disk.leave()
    }

    // MARK: The file, on the thread

    private nonisolated static var file: StateFile? { StateFile("scenes.toml") }

    /// Returns the scenes in the file, and the problem with it. A damaged file is set aside.
    private nonisolated static func read() -> (SceneBook, problem: String?) {
        let reason: String
        do throws(SystemError) {
            guard let text = try file?.load() else { return (SceneBook(), nil) }
            do throws(ConfigurationError) { return (try SceneBook(parsing: text), nil) } catch {
                reason = "\(error)"
            }
        } catch {
            reason = "\(error)"
        }
        let what = "Your scenes cannot be read"
        do throws(SystemError) {
            guard let file else { return (SceneBook(), what) }
            return (SceneBook(), "\(what), and are now in \(try file.setAside()): \(reason)")
        } catch {
            return (SceneBook(), "\(what), and the file cannot be moved away (\(error)): \(reason)")
        }
    }

    /// Writes the file. Returns the reason that this failed, or `nil`.
    private nonisolated static func store(_ text: String) -> String? {
        guard let file else { return "There is no home directory." }
        do throws(SystemError) {
            try file.store(text)
            return nil
        } catch {
            return "\(error)"
        }
    }
}

extension DBusError {
    /// Creates the bus error for a refusal.
    init(_ refusal: SceneBook.Refusal) {
        self =
            switch refusal {
            case .unknown: .noScene(refusal.description)
            case .taken, .name, .unreadable: .outOfRange(refusal.description)
            case .full: .failed(refusal.description)
            }
    }
}
