import CSystemd
import Glibc
import Logging

/// One message as it is written.
struct LogEntry {
    let category: String
    let level: Logger.Level
    let message: String
    /// Sorted by key.
    var metadata: [(key: String, value: String)]
    /// Of the failed call, where there was one.
    let errno: CInt?
    let file: String
    let line: UInt
    let function: String

    /// What `event` says, with the metadata of its logger.
    init(event: LogEvent, category: String, metadata: Logger.Metadata) {
        self.category = category
        level = event.level
        let failure = event.error.map { ": \($0)" } ?? ""
        message = "\(event.message)\(failure)"
        errno = (event.error as? SystemError)?.errno
        self.metadata = metadata.merging(event.metadata ?? [:]) { $1 }
            .map { (key: $0.key, value: "\($0.value)") }
            .sorted { $0.key < $1.key }
        file = event.file
        line = event.line
        function = event.function
    }

    /// As systemd.journal-fields(7) has it, "NAME=value" each; our own begin with DUALCAM_. The
    /// message has the metadata in it once more, since journalctl shows nothing else.
    var journalFields: [String] {
        var fields = [
            "MESSAGE=\(text)",
            "PRIORITY=\(level.syslogPriority)",
            "CODE_FILE=\(file)",
            "CODE_LINE=\(line)",
            "CODE_FUNC=\(function)",
            "DUALCAM_CATEGORY=\(category)",
        ]
        if let errno { fields.append("ERRNO=\(errno)") }
        for (key, value) in metadata { fields.append("\(Self.fieldName(key))=\(value)") }
        return fields
    }

    /// "12:03:04 warning publish: the node is gone node=42", and a line end. `time` in seconds of the
    /// system's clock.
    func line(at time: time_t, colored: Bool) -> String {
        var (time, parts) = (time, tm())
        localtime_r(&time, &parts)
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec]
            .map { $0 < 10 ? "0\($0)" : "\($0)" }
            .joined(separator: ":")
        let color =
            switch level {
            case .critical, .error: "\u{1b}[31m"
            case .warning: "\u{1b}[33m"
            case .notice: "\u{1b}[1m"
            case .info: ""
            case .debug, .trace: "\u{1b}[2m"
            }
        let (begin, end) = colored && !color.isEmpty ? (color, "\u{1b}[0m") : ("", "")
        return "\(clock) \(begin)\(level) \(category): \(Self.printable(text))\(end)\n"
    }

    /// The message and its metadata for people: "the node is gone node=42".
    private var text: String {
        message + metadata.map { " \($0.key)=\(Self.word($0.value))" }.joined()
    }

    /// Capital letters, digits and underscores, 64 at most: all that the journal takes.
    private static func fieldName(_ key: String) -> String {
        let letters = key.uppercased().unicodeScalars.map { scalar in
            switch scalar {
            case "A"..."Z", "0"..."9": Character(scalar)
            default: Character("_")
            }
        }
        return String(("DUALCAM_" + String(letters)).prefix(64))
    }

    /// `value`, in quotes where it would not be told from what follows.
    private static func word(_ value: String) -> String {
        value.isEmpty || value.contains(where: { $0.isWhitespace || $0 == "\"" })
            ? "\""
                + value.split(separator: "\"", omittingEmptySubsequences: false)
                .joined(separator: "\\\"") + "\""
            : value
    }

    /// `text` with blanks for control characters: names of devices come from outside and shall not
    /// steer a terminal or make lines of their own.
    private static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
            )
        )
    }
}

/// The journal's own socket.
enum Journal {
    /// Sends one message (sd_journal_sendv(3)). One that cannot be delivered is lost: there is nobody
    /// else to tell.
    static func send(_ fields: [String]) {
        let bytes = fields.map { Array($0.utf8) }
        let all = UnsafeMutableBufferPointer<UInt8>.allocate(
            capacity: bytes.reduce(0) { $0 + $1.count }
        )
        defer { all.deallocate() }
        var vectors: [iovec] = []
        var rest = all[...]
        for field in bytes {
            let place = UnsafeMutableBufferPointer(rebasing: rest.prefix(field.count))
            _ = place.initialize(from: field)
            vectors.append(iovec(iov_base: place.baseAddress, iov_len: field.count))
            rest = rest.dropFirst(field.count)
        }
        sd_journal_sendv(vectors, CInt(vectors.count))
    }
}
