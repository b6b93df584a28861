import DualCamCore
import Frames
import Logging
import Platform

/// Reads the configuration, at the start and again, on a thread of its own: its file system may
/// hang.
@MainActor
final class ConfigurationReload {
    private let read: Reading
    private let mailbox: EventLoop.Mailbox
    /// The closure called with what was read, except for what `first()` has returned.
    var done: (Configuration?, [String]) -> Void = { _, _ in }
    private let disk: LoopWorker<Void>
    /// The number of requests that the disk has not answered yet.
    private var waiting = 0
    /// `true` while the next answer of the disk is one that `first()` has returned.
    private var isTaken = false

    /// The seconds for which the start waits for the disk. A slower one is not waited for.
    private static let patience = 2.0

    /// A reading: returns the configuration, or `nil` if it is unusable, and its problems.
    typealias Reading = @Sendable () -> (Configuration?, problems: [String])

    /// Starts the thread, on which `read` will be called.
    init(loop: EventLoop, reading read: @escaping Reading) throws(SystemError) {
        self.read = read
        mailbox = loop.mailbox
        disk = try LoopWorker(name: "configuration")
        try disk.start { _ in }
    }

    /// Reads the configuration of the start. If the disk does not answer for a while, the one built
    /// in counts, and `done` is called later.
    func first() throws(SystemError) -> (Configuration?, problems: [String]) {
        waiting += 1
        let (read, mailbox) = (read, mailbox)
        let reading = try Awaited<(Configuration?, problems: [String])>()
        disk.post { [weak self] _ in
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
        disk.post { [weak self] _ in
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

    /// Ends the thread. Returns `true` if it has ended in time; a disk may hold it up.
    func end() -> Bool {
        disk.end()
        if disk.join(until: MonotonicClock.now + Timestamp(seconds: 0.1)) { return true }
        disk.leave()
        return false
    }
}

/// Returns the configuration that the file describes, or `nil` if it is unusable, and the problems
/// found in it, one sentence each.
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
