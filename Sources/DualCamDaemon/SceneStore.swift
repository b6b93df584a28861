import Control
import DBusKit
import DualCamCore
import Frames
import Logging
import Platform

/// The user's scenes, in memory and a file. Changes come one by one, and hold once on the disk.
@MainActor
final class SceneStore {
    private(set) var book = SceneBook()
    private(set) var problems: [String] = []
    var onChange: () -> Void = {}

    private let loop: EventLoop
    private let files: Files
    private var isLoaded = false
    /// The requests that wait until the scenes are known.
    private var waiting: [() -> Void] = []
    /// The changes, of which one is being written.
    private let changes = CallerTurns()

    /// The largest number of changes of one caller that wait.
    private static let mostChanges = 64

    init(_ files: Files, loop: EventLoop) {
        self.files = files
        self.loop = loop
    }

    /// Requests the file, once the daemon is the only one that writes it.
    func load() {
        let mailbox = loop.mailbox
        files.post(.state) {
            let (book, problem) =
                Self.file?.load("Your scenes", "are") { text throws(ConfigurationError) in
                    try SceneBook(parsing: text)
                } ?? (nil, nil)
            mailbox.onMain { self.take(book ?? SceneBook(), problem) }
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

    /// Changes the scenes for `caller`. `done` gets the result once on the disk, or the error.
    func change<Result>(
        for caller: String = "",
        _ change: @escaping (inout SceneBook) throws(SceneBook.Refusal) -> Result,
        done: @escaping (Swift.Result<Result, DBusError>) -> Void
    ) {
        guard changes.count(of: caller) < Self.mostChanges else {
            return done(.failure(.busy("Too many changes of this program wait for the disk.")))
        }
        whenLoaded { [self] in
            let work = { [self] in
                var new = book
                do throws(SceneBook.Refusal) {
                    let result = try change(&new)
                    write(new) { error in
                        done(error.map { .failure($0) } ?? .success(result))
                    }
                } catch {
                    done(.failure(DBusError(error)))
                    changes.finish()
                }
            }
            changes.add(work, of: caller)
        }
    }

    private func write(_ new: SceneBook, _ done: @escaping (DBusError?) -> Void) {
        let text = new.text
        let mailbox = loop.mailbox
        // Unsafe: the closure runs on the main thread alone.
        nonisolated(unsafe) let done = done
        files.post(.state) {
            let failure = Self.store(text)
            mailbox.onMain {
                if let failure {
                    done(.failed("The scenes were not changed: \(failure)"))
                } else {
                    self.book = new
                    self.onChange()
                    done(nil)
                }
                self.changes.finish()
            }
        }
    }

    /// Begins no change that waits.
    func end() { changes.clear() }

    // MARK: The file, on the thread `files`

    private nonisolated static var file: StateFile? { StateFile("scenes.toml") }

    /// Writes the file. Returns the reason that this failed, or `nil`.
    private nonisolated static func store(_ text: String) -> String? {
        guard let file else { return "There is no home directory." }
        return failure { () throws(SystemError) in try file.store(text) }
    }
}

extension DBusError {
    init(_ refusal: SceneBook.Refusal) {
        self =
            switch refusal {
            case .unknown: .noScene(refusal.description)
            case .taken, .name, .unreadable: .outOfRange(refusal.description)
            case .full: .failed(refusal.description)
            }
    }
}
