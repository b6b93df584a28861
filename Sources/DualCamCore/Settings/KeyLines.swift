/// The places at which the keys of a TOML document stand, which TOMLKit does not report. Only finds
/// where keys, strings, arrays and inline tables begin and end. Finding errors is left to the
/// parser.
struct KeyLines {
    /// The first construct that must not reach the parser: a table header without a name, a "}" in
    /// place of an array's element, a date with something else than a time after it, or values
    /// nested so deep that reading them would exhaust the stack. toml++ 3.4.0, which TOMLKit 0.6.0
    /// contains, asserts that the first three do not occur.
    /// Those checks can go when it reports them as errors.
    private(set) var trap: (line: Int, problem: String)?
    /// A header, or a key with its value, on lines of its own and not in an inline table.
    struct Statement {
        /// The table that it heads or stands in; an element of an array of tables is "[0]", ….
        var table: [String]
        /// The key as written, by its dots; empty for a header.
        var key: [String]
        /// The bytes of its lines, indentation and line end included.
        var lines: Range<Int>
        /// The bytes of its value; empty for a header.
        var value: Range<Int>
        /// The number of its first line, from 1.
        var line: Int

        /// The path of the table that it heads, or of its value.
        var path: [String] { table + key }
    }
    /// The headers and keys in the order of the document.
    private(set) var statements: [Statement] = []
    /// The lines by path; an element of an array is "[0]", "[1]", ….
    private var lines: [[String]: Int] = [:]
    /// The number of tables so far in each array of tables.
    private var counts: [[String]: Int] = [:]
    private let text: [UInt8]
    private var position = 0
    private var line = 1
    /// The number of open arrays and inline tables.
    private var nesting = 0

    /// The depth to which paths are followed; none of our keys is deeper.
    private static let depth = 6

    /// The lines of the keys in the TOML document `text`.
    init(of text: String) {
        self.text = Array(text.utf8)
        if self.text.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
        scanDocument()
    }

    /// Returns the line of the key at `path`, or of the nearest table around it; from 1.
    func line(of path: [String]) -> Int {
        var path = path
        while !path.isEmpty {
            if let line = lines[path] { return line }
            path.removeLast()
        }
        return 1
    }

    private mutating func note(_ path: [String], line: Int) {
        if lines[path] == nil { lines[path] = line }
    }

    private mutating func scanDocument() {
        var table: [String] = []
        while skipToContent() {
            let start = line
            let first = text[..<position].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            var value = position..<position
            let isHeader = accept("[")
            let isElement = isHeader && accept("[")
            if isHeader, !isAtName {
                trap = (line, "a table without a name")
                return
            }
            let key = scanKey()
            if isHeader {
                table = resolved(key, isElement: isElement)
                note(table, line: start)
            } else {
                skipBlanks()
                guard accept("=") else { return }
                skipBlanks()
                let begin = position
                scanValue(of: joined(table, key, line: start))
                value = begin..<position
                while let last = value.last, " \t\r".utf8.contains(text[last]) {
                    value = begin..<last
                }
            }
            skipLine()
            let end = min(position + 1, text.count)
            statements.append(
                Statement(
                    table: table,
                    key: isHeader ? [] : key,
                    lines: first..<end,
                    value: value,
                    line: start
                )
            )
        }
    }

    /// Returns the path of the header `key`. An array of tables in it stands for its last element.
    private mutating func resolved(_ key: [String], isElement: Bool) -> [String] {
        var path: [String] = []
        for (index, part) in key.prefix(Self.depth).enumerated() {
            path.append(part)
            if isElement, index == key.count - 1 { counts[path, default: 0] += 1 }
            if let count = counts[path] {
                note(path, line: line)
                path.append("[\(count - 1)]")
            }
        }
        return path
    }

    /// Returns the path of `key` in `table`, and notes the line of each dotted part.
    private mutating func joined(_ table: [String], _ key: [String], line: Int) -> [String] {
        var path = table
        for part in key where path.count < Self.depth {
            path.append(part)
            note(path, line: line)
        }
        return path
    }

    private mutating func scanKey() -> [String] {
        var key: [String] = []
        repeat {
            skipBlanks()
            if let quote = peek, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                key.append(scanString())
            } else {
                let start = position
                while let byte = peek, !" \t.=]\r\n".utf8.contains(byte) { position += 1 }
                key.append(String(decoding: text[start..<position], as: UTF8.self))
            }
            skipBlanks()
        } while accept(".")
        return key
    }

    private mutating func scanValue(of path: [String]) {
        nesting += 1
        defer { nesting -= 1 }
        guard nesting <= 64 else {
            if trap == nil { trap = (line, "values nested more than 64 deep") }
            position = text.count
            return
        }
        skipBlanks()
        if accept("[") {
            var index = 0
            while skipToContent(), !accept("]") {
                if peek == UInt8(ascii: "}"), trap == nil { trap = (line, "a } in an array") }
                let element = path + ["[\(index)]"]
                if element.count <= Self.depth { note(element, line: line) }
                let start = position
                scanValue(of: element)
                _ = skipToContent()
                // Stop without a comma or the end: without progress the loop would never end.
                if !accept(","), peek != UInt8(ascii: "]"), position == start { return }
                index += 1
            }
        } else if accept("{") {
            while skipToContent(), !accept("}") {
                let start = position
                let key = scanKey()
                skipBlanks()
                guard accept("=") else { return }
                scanValue(of: joined(path, key, line: line))
                _ = skipToContent()
                if !accept(","), peek != UInt8(ascii: "}"), position == start { return }
            }
        } else if let quote = peek, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            _ = scanString()
        } else {
            let start = position
            while let byte = peek, !",]}#\n".utf8.contains(byte) { position += 1 }
            if trap == nil, Self.hasBrokenTime(text[start..<position]) {
                trap = (line, "a date without a time after it")
            }
        }
    }

    /// `true` if `value` has a ":", as only times have, and no digit where a time begins.
    private static func hasBrokenTime(_ value: ArraySlice<UInt8>) -> Bool {
        guard value.contains(UInt8(ascii: ":")) else { return false }
        let end = value.lastIndex { !" \t\r".utf8.contains($0) } ?? value.startIndex
        return value[..<end].indices.contains { index in
            "Tt ".utf8.contains(value[index])
                && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(value[index + 1])
        }
    }

    /// Skips a string of any of the four kinds, and returns its content. In basic strings, an
    /// escape is replaced by the character after the backslash.
    private mutating func scanString() -> String {
        guard let quote = peek else { return "" }
        let isLong = text[position...].starts(with: [quote, quote, quote])
        position += isLong ? 3 : 1
        var content: [UInt8] = []
        while let byte = peek {
            if byte == quote, !isLong || text[position...].starts(with: [quote, quote, quote]) {
                position += isLong ? 3 : 1
                // A long string may end in quotes of its own: """"two"""""
                while isLong, accept(Character(UnicodeScalar(quote))) {}
                break
            }
            position += 1
            if byte == UInt8(ascii: "\n") { line += 1 }
            if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\""), let next = peek {
                position += 1
                if next == UInt8(ascii: "\n") { line += 1 }
                content.append(next)
            } else {
                content.append(byte)
            }
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// `true` if a key begins here, after blanks.
    private var isAtName: Bool {
        guard let byte = text[position...].first(where: { !" \t".utf8.contains($0) }) else {
            return false
        }
        return switch UnicodeScalar(byte) {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_", "\"", "'": true
        default: false
        }
    }

    private var peek: UInt8? { position < text.count ? text[position] : nil }

    private mutating func accept(_ character: Character) -> Bool {
        guard let byte = peek, byte == character.asciiValue else { return false }
        position += 1
        return true
    }

    private mutating func skipBlanks() {
        while let byte = peek, " \t\r".utf8.contains(byte) { position += 1 }
    }

    private mutating func skipLine() {
        while let byte = peek, byte != UInt8(ascii: "\n") { position += 1 }
    }

    /// Skips blanks, line ends and comments; returns `false` at the end of the text.
    private mutating func skipToContent() -> Bool {
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
            case UInt8(ascii: "#"):
                skipLine()
                continue
            default: return true
            }
            position += 1
        }
        return false
    }
}
