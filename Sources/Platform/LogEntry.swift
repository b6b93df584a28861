import CSystemd
import Frames
import Glibc
import Logging

/// One message, ready to be written.
struct LogEntry {
    let category: String
    let level: Logger.Level
    let message: String
    /// The metadata, sorted by key.
    var metadata: [(key: String, value: String)]
    /// The errno of the failed call, if there was one.
    let errno: CInt?
    let file: String
    let line: UInt
    let function: String

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

    /// The fields as in systemd.journal-fields(7), "NAME=value" each; our own begin with DUALCAM_.
    /// The message repeats the metadata, since journalctl shows nothing else.
    var journalFields: [String] {
        var fields = [
            "MESSAGE=\(lines)",
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

    /// Returns "12:03:04 warning publish: the node is gone node=42" and a line end. `time` is in
    /// seconds of the system's clock.
    func line(at time: time_t, colored: Bool) -> String {
        let clock = WallTime(microseconds: Int64(time) * 1_000_000).text("%H:%M:%S")
        let color =
            switch level {
            case .critical, .error: "\u{1b}[31m"
            case .warning: "\u{1b}[33m"
            case .notice: "\u{1b}[1m"
            case .info: ""
            case .debug, .trace: "\u{1b}[2m"
            }
        let (begin, end) = colored && !color.isEmpty ? (color, "\u{1b}[0m") : ("", "")
        return "\(clock) \(begin)\(level) \(category): \(text.plain(" "))\(end)\n"
    }

    /// The message and its metadata for people: "the node is gone node=42". Device names in it come
    /// from outside, and must not control a terminal or start lines.
    private var text: String {
        message + metadata.map { " \($0.key)=\(Self.word($0.value))" }.joined()
    }

    /// The text for the journal, which keeps lines.
    private var lines: String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).plain(" ") }
            .joined(separator: "\n")
    }

    /// Returns DUALCAM_ and `key` as a journal field: at most 64 capitals, digits, underscores.
    private static func fieldName(_ key: String) -> String {
        let letters = key.uppercased().unicodeScalars.map { scalar in
            switch scalar {
            case "A"..."Z", "0"..."9": Character(scalar)
            default: Character("_")
            }
        }
        return String(("DUALCAM_" + String(letters)).prefix(64))
    }

    /// Returns `value`, quoted if it would otherwise be ambiguous.
    private static func word(_ value: String) -> String {
        value.isEmpty || value.contains(where: { $0.isWhitespace || $0 == "\"" })
            ? "\""
                + value.split(separator: "\"", omittingEmptySubsequences: false)
                .joined(separator: "\\\"") + "\""
            : value
    }
}

/// The journal's own socket.
enum Journal {
    /// Sends one message: sd_journal_sendv(3). One that fails is lost: nowhere else to report it.
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
