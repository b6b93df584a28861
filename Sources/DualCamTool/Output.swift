import ArgumentParser
import Control
import Frames
import Glibc
import Platform

enum Output {
    /// Writes data to standard output: see `StandardOutput.write`.
    static func write(_ text: String) { StandardOutput.write(text.utf8, by: "dualcamctl") }

    /// Writes `bytes` to the file at `path`, or to standard output if it is "-": see `writeFile`.
    ///
    /// - Throws: `SystemError` when it cannot be written.
    static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
        if path == "-" {
            StandardOutput.write(bytes, by: "dualcamctl")
        } else {
            try writeFile(bytes, to: path)
        }
    }

    /// Refuses to write `picture` to a terminal, or where JSON goes.
    static func check(
        _ picture: String,
        to path: String?,
        json: Bool
    ) throws(ValidationError) {
        try expect(
            !isTerminal || !["-", "/dev/stdout", "/dev/fd/1"].contains(path),
            "A picture cannot go to a terminal. Give -o a file, or use a pipe."
        )
        try expect(
            path != "-" || !json,
            "The \(picture) and JSON cannot both go to standard output. Leave out --json."
        )
    }

    /// Writes a line for people to standard error. It may have words of other programs, and lines
    /// of the argument parser.
    static func complain(_ text: String) { printError(text.printableLines) }

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

    func callAsFunction(_ text: String) -> String {
        Output.hasColour ? "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" : text
    }
}

extension String {
    /// The text without what a terminal would obey, but for the ends of its lines.
    var printableLines: String {
        split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0).printable }.joined(separator: "\n")
    }

    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - columns))
    }

    /// The columns that the text takes on a terminal.
    var columns: Int {
        reduce(0) { sum, character in
            let scalars = character.unicodeScalars
            // An emoji of many parts has the width of one.
            let width = scalars.contains("\u{FE0F}") ? 2 : scalars.reduce(0) { $0 + $1.columns }
            return sum + Swift.min(2, width)
        }
    }
}

extension Unicode.Scalar {
    /// The columns of this character alone: wide ones of East Asia and emoji have two, and what
    /// changes its neighbour has none.
    fileprivate var columns: Int {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch value {
        case 0x1160...0x11FF: return 0
        case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF,
            0xA960...0xA97F,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
            0xFFE0...0xFFE6, 0x16FE0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD:
            return 2
        default: return properties.isEmojiPresentation ? 2 : 1
        }
    }
}

extension Double {
    /// The number rounded to a whole one, as text.
    var whole: String { Int(exactly: rounded()).map { "\($0)" } ?? "\(self)" }
}
