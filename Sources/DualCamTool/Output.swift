import Frames
import Glibc
import Platform

/// The output of data and messages.
enum Output {
    /// Writes data to standard output. If its reader has gone, ends the program with success.
    static func write(_ text: String) {
        // libdbus ignores SIGPIPE, but may not have been called yet.
        signal(SIGPIPE, SIG_IGN)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                exit(errno == EPIPE ? ExitStatus.done.rawValue : ExitStatus.failed.rawValue)
            }
        }
    }

    /// Writes `bytes` to the file at `path`, or to standard output if it is "-": see `writeFile`.
    ///
    /// - Throws: `SystemError` when it cannot be written.
    static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
        signal(SIGPIPE, SIG_IGN)
        if path == "-" {
            try Platform.write(bytes, to: STDOUT_FILENO, called: "standard output")
        } else {
            try writeFile(bytes, to: path)
        }
    }

    /// Writes a line for people to standard error.
    static func complain(_ text: String) {
        let line = Array((text + "\n").utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
    }

    /// `true` if standard output is a terminal.
    static let isTerminal = isatty(STDOUT_FILENO) == 1

    /// `true` if the output may have colours; https://no-color.org has precedence.
    static let hasColour =
        isTerminal && nonemptyVariable("NO_COLOR") == nil && environmentVariable("TERM") != "dumb"
}

/// A colour of text, used only where colours are allowed.
enum Colour: Int {
    case red = 31
    case green = 32
    case yellow = 33
    case grey = 90

    /// Returns `text` in this colour.
    func callAsFunction(_ text: String) -> String {
        Output.hasColour ? "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" : text
    }
}

extension String {
    /// The text without what a terminal would obey: cameras choose their names freely.
    var printable: String { plain("\u{FFFD}") }

    /// Returns the text padded with spaces to a width of `width` characters.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }
}
