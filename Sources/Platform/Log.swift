import Frames
import Glibc
package import Logging
import Synchronization

/// The daemon's log: one logger for each stage of a frame's way that logs, and one for control.
///
/// Keep messages constant and put varying facts into metadata: repeats are recognized by the
/// message. Entries go to the journal, with structured fields, if stderr leads there, and otherwise
/// to stderr as lines for people. From any thread; allocates and may block, so never from a drawing
/// thread.
package enum Log {
    /// The opening of cameras and the capture of frames.
    package static let capture = logger("capture")
    /// The PipeWire node.
    package static let publish = logger("publish")
    /// Movies.
    package static let record = logger("record")
    /// Requests and settings: D-Bus, configuration, state, the service itself.
    package static let control = logger("control")

    /// A destination of entries.
    package enum Target: String, CaseIterable, Sendable {
        /// Lines on stderr.
        case console
        case journal
    }

    /// The lowest level that is written; `info` at first. From any thread.
    package static var level: Logger.Level {
        get { output.level }
        set { output.level = newValue }
    }

    /// The destination of entries; at first the journal if stderr leads there. From any thread.
    package static var target: Target {
        get { output.target }
        set { output.target = newValue }
    }

    private static let output = LogOutput()

    private static func logger(_ category: String) -> Logger {
        Logger(label: category) { LogStage(category: $0, output: output) }
    }
}

extension Logger.Level {
    /// The words of syslog(3) for priorities from 0, the most urgent, and our levels for them.
    private static let syslog: [(word: String, level: Self)] = [
        ("emerg", .critical), ("alert", .critical), ("crit", .critical), ("err", .error),
        ("warning", .warning), ("notice", .notice), ("info", .info), ("debug", .debug),
    ]

    /// Creates the level that syslog(3) calls `word`; `nil` if unknown.
    package init?(syslogWord word: String) {
        guard let row = Self.syslog.first(where: { $0.word == word }) else { return nil }
        self = row.level
    }

    /// The word for it in syslog(3) and org.freedesktop.LogControl1.
    package var syslogWord: String { Self.syslog[syslogPriority].word }

    /// The priority in syslog(3); 7 is the least urgent.
    var syslogPriority: Int { Self.syslog.lastIndex { $0.level == self } ?? 7 }
}

/// The handler through which swift-log passes the messages of one category.
struct LogStage: LogHandler {
    let category: String
    let output: LogOutput
    var metadata: Logger.Metadata = [:]

    /// One level for all categories, so that it can change while the daemon runs.
    var logLevel: Logger.Level {
        get { output.level }
        set { output.level = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        output.write(LogEntry(event: event, category: category, metadata: metadata))
    }
}

/// Writes entries to their destination, and suppresses repeats.
final class LogOutput: Sendable {
    private struct State {
        var target: Log.Target
        var level = Logger.Level.info
        var repeats = RepeatLimit()
    }

    private let state: Mutex<State>
    private let isColored: Bool

    init() {
        state = Mutex(State(target: Self.isJournalBehindStderr ? .journal : .console))
        isColored = nonemptyVariable("NO_COLOR") == nil && isatty(STDERR_FILENO) == 1
    }

    var level: Logger.Level {
        get { state.withLock { $0.level } }
        set { state.withLock { $0.level = newValue } }
    }

    var target: Log.Target {
        get { state.withLock { $0.target } }
        set { state.withLock { $0.target = newValue } }
    }

    func write(_ entry: LogEntry) {
        var entry = entry
        let target = state.withLock { state -> Log.Target? in
            let key = "\(entry.category) \(entry.level) \(entry.message)"
            guard let missed = state.repeats.admit(key, at: MonotonicClock.now) else { return nil }
            if missed > 0 { entry.metadata.append((key: "suppressed", value: "\(missed)")) }
            return state.target
        }
        switch target {
        case .journal?: Journal.send(entry.journalFields)
        case .console?:
            let line = entry.line(at: time(nil), colored: isColored)
            _ = retryingInterrupts { Glibc.write(STDERR_FILENO, line, line.utf8.count) }
        case nil: break
        }
    }

    /// `true` if stderr leads to the journal. systemd names the journal's device and inode in
    /// JOURNAL_STREAM, but stderr may have been redirected since.
    private static var isJournalBehindStderr: Bool {
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0 else { return false }
        return environmentVariable("JOURNAL_STREAM") == "\(status.st_dev):\(status.st_ino)"
    }
}

/// A limit of twenty equal messages in ten seconds, which counts the suppressed ones.
struct RepeatLimit {
    private struct Window {
        var start: Int64
        var count = 0
        var missed = 0
    }

    private var windows: [String: Window] = [:]

    var count: Int { windows.count }

    /// Returns how many of `key` were suppressed since the last; `nil` to suppress this one.
    mutating func admit(_ key: String, at time: Timestamp) -> Int? {
        let span: Int64 = 10_000_000_000
        if windows.count > 256 {
            windows = windows.filter { time.nanoseconds - $0.value.start < span }
            // That many different messages in ten seconds are not repeats, so nothing is lost.
            if windows.count > 256 { windows = [:] }
        }
        var window = windows[key] ?? Window(start: time.nanoseconds)
        defer { windows[key] = window }
        var missed = 0
        if time.nanoseconds - window.start >= span {
            missed = window.missed
            window = Window(start: time.nanoseconds)
        }
        guard window.count < 20 else {
            window.missed += 1
            return nil
        }
        window.count += 1
        return missed
    }
}
