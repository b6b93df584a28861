import DualCamCore
import Frames
import Logging
import Platform

/// Reads the configuration, at the start and again.
@MainActor
final class ConfigurationReload {
    private let read: Reading
    private let mailbox: EventLoop.Mailbox
    /// The closure called with what was read, except for what `first()` has returned.
    var done: (Configuration?, [String]) -> Void = { _, _ in }
    private let files: Files
    /// The number of requests that the disk has not answered yet.
    private var waiting = 0
    /// `true` while the next answer of the disk is one that `first()` has returned.
    private var isTaken = false

    /// The seconds for which the start waits for the disk. A slower one is not waited for.
    private static let patience = 2.0

    /// A reading: returns the configuration, or `nil` if it is unusable, and its problems.
    typealias Reading = @Sendable () -> (Configuration?, problems: [String])

    /// Reads with `read`, which is called on the thread `configuration`.
    init(_ files: Files, loop: EventLoop, reading read: @escaping Reading) {
        self.files = files
        self.read = read
        mailbox = loop.mailbox
    }

    /// Reads the configuration of the start. If the disk does not answer for a while, the one built
    /// in counts, and `done` is called later.
    func first() throws(SystemError) -> (Configuration?, problems: [String]) {
        waiting += 1
        let (read, mailbox) = (read, mailbox)
        let reading = try Awaited<(Configuration?, problems: [String])>()
        files.post(.configuration) { [weak self] in
            let (configuration, problems) = read()
            reading.deliver((configuration, problems))
            mailbox.onMain { self?.finish(configuration, problems) }
        }
        guard let result = reading.wait(Self.patience) else {
            return (nil, ["The configuration has not been read yet: its disk does not answer."])
        }
        isTaken = true
        return result
    }

    /// Begins to read. Of requests that come meanwhile, one reading is enough.
    func begin() {
        waiting += 1
        guard waiting <= 2 else { return }
        let (read, mailbox) = (read, mailbox)
        files.post(.configuration) { [weak self] in
            let (configuration, problems) = read()
            mailbox.onMain { self?.finish(configuration, problems) }
        }
    }

    private func finish(_ configuration: Configuration?, _ problems: [String]) {
        defer { isTaken = false }
        // The second of two answers all requests that came during the first.
        waiting = waiting > 1 ? 1 : 0
        if !isTaken { done(configuration, problems) }
    }
}

/// Returns the configuration of the file, `nil` if it is unusable, and a sentence a problem.
func readConfiguration(_ path: String?) -> (Configuration?, problems: [String]) {
    do {
        guard let file = try ConfigurationFile.load(override: path) else {
            return (Configuration(), [])
        }
        let (configuration, warnings) = try Configuration.parse(file.text, file: file.path)
        for warning in warnings {
            Log.control.warning("configuration", metadata: ["reason": "\(warning)"])
        }
        return (configuration, warnings.map(\.description))
    } catch {
        Log.control.error("configuration", metadata: ["reason": "\(error)"])
        return (nil, ["\(error)"])
    }
}
