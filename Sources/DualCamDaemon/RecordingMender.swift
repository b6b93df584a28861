import DualCamCore
import Logging
import Media
import Platform

/// Repairs the recordings that a crash or a full disk left unfinished.
@MainActor
final class RecordingMender {
    /// The closure called for each repaired file, with its path and its length in seconds.
    var onRepaired: (String, Double) -> Void = { _, _ in }
    /// The closure called with a sentence for people about each problem.
    var onProblem: (String) -> Void = { _ in }
    /// The unfinished files that still lack the room on the disk for their repair.
    var broken: Set<String> = []

    private let daemon: Daemon
    private let loop: EventLoop
    private let journal: RecordingJournal
    private let helper: RepairHelper
    /// Runs its second argument on a thread that bears the name.
    private let run: (String, @escaping @Sendable () -> Void) -> Void
    private var timer: EventLoop.Timer?
    /// The time until the next check for room, in seconds.
    private var delay = RecordingMender.delays.lowerBound
    /// `true` while a thread looks for room, and repairs.
    private var isMending = false
    private var isEnding = false
    /// The range of the intervals between checks for room, in seconds. Each is longer than the one
    /// before, since a check does not show a quota.
    private static let delays = 5.0...3600

    /// Creates a mender. With `arguments` this program runs `RepairHelper.run()`.
    init(
        _ daemon: Daemon,
        _ journal: RecordingJournal,
        helper arguments: [String],
        loop: EventLoop,
        run: @escaping (String, @escaping @Sendable () -> Void) -> Void
    ) throws(SystemError) {
        (self.daemon, self.loop, self.journal, self.run) = (daemon, loop, journal, run)
        helper = try RepairHelper(arguments)
        timer = try loop.timer { [unowned self] in mend() }
    }

    func end() {
        isEnding = true
        helper.cancel()
    }

    /// Repairs the files that were being written when a daemon last ended unexpectedly.
    func repair() {
        let journal = journal
        start {
            do throws(SystemError) { return try journal.paths() } catch {
                Log.record.warning("nothing is repaired", metadata: ["reason": "\(error)"])
                return []
            }
        } then: { _ in
        }
    }

    /// Repairs broken files as far as there is room for it now, and again later. Does nothing
    /// during a recording, whose end calls this.
    func mendSoon() {
        delay = Self.delays.lowerBound
        mend()
    }

    private func mend() {
        guard !isEnding, !isMending, !broken.isEmpty else { return }
        guard daemon.state.recording.phase == .off else { return }
        isMending = true
        let paths = broken.sorted()
        start {
            paths.filter(Remux.hasRoom)
        } then: { mender in
            mender.isMending = false
            guard !mender.broken.isEmpty else { return }
            mender.timer?.arm(after: mender.delay)
            mender.delay = min(2 * mender.delay, Self.delays.upperBound)
        }
    }

    /// Repairs the files at the paths that `find` returns on a thread, and then calls `done`.
    private func start(
        _ find: @escaping @Sendable () -> [String],
        then done: @escaping @MainActor @Sendable (RecordingMender) -> Void
    ) {
        let repairs = RecordingRepair(journal, by: helper.copy)
        let mailbox = loop.mailbox
        run("repair") { [weak self] in
            for path in find() {
                let outcome = repairs.repair(path)
                mailbox.onMain { self?.note(path, outcome) }
            }
            mailbox.onMain { self.map(done) }
        }
    }

    private func note(_ path: String, _ outcome: RecordingRepair.Outcome) {
        let wasBroken = broken.remove(path) != nil
        switch outcome {
        case .repaired(let seconds):
            // Of a full disk was told, and that is over.
            if !wasBroken { onProblem("\(path) was cut off, and was repaired.") }
            Log.record.notice("repaired", metadata: ["path": "\(path)", "seconds": "\(seconds)"])
            onRepaired(path, seconds)
        case .empty: Log.record.notice("nothing in it", metadata: ["path": "\(path)"])
        case .busy:
            Log.record.notice("not repaired, since it is in use", metadata: ["path": "\(path)"])
        case .setAside(let reason):
            onProblem(
                "\(path) is left as it is, because its repair failed"
                    + " \(RecordingRepair.attempts) times: \(reason)."
            )
            Log.record.warning("set aside", metadata: ["path": "\(path)", "reason": "\(reason)"])
        case .failed(let error) where error.code == .noSpace:
            // The repair may succeed with more room.
            if !wasBroken { Log.record.warning("not repaired", metadata: ["reason": "\(error)"]) }
            broken.insert(path)
            if !isMending { timer?.arm(after: delay) }
        case .failed(let error):
            Log.record.warning("not repaired", metadata: ["reason": "\(error)"])
            if error.code != .notFound { onProblem("\(path) cannot be repaired: \(error)") }
        }
    }
}
