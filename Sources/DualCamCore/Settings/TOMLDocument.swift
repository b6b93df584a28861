import CTOML
import Glibc

/// A value of a TOML document.
enum TOMLValue {
    case table(TOMLTable)
    case array([TOMLValue])
    /// Any other.
    case plain(Plain)

    var table: TOMLTable? { if case .table(let values) = self { values } else { nil } }
    var array: [TOMLValue]? { if case .array(let values) = self { values } else { nil } }
    var string: String? { if case .plain(let value) = self { value.text } else { nil } }
}

/// A table of a TOML document.
typealias TOMLTable = [String: TOMLValue]

/// Returns the root of the TOML document `text`, and the lines of its keys; `file` names it in
/// messages. Throws `ConfigurationError` if it is no TOML, or would bring the parser down.
func parseTOML(
    _ text: String,
    file: String
) throws(ConfigurationError) -> (root: TOMLTable, lines: KeyLines) {
    try checkExtent(of: text, file: file)
    let lines = KeyLines(of: text)
    if let (line, problem) = lines.trap {
        let mistake = usualMistake(in: text.line(line), "")
        throw ConfigurationError(file: file, line: line, problem: mistake ?? problem)
    }
    return (try table(text, file: file), lines)
}

/// Returns the root of the TOML document `text`.
///
/// Without TOMLKit's types: 0.6.0 frees nothing of what its parser gives out, so each parse would
/// lose all that is in the document. A program may ask for one, to change a camera's source.
private func table(_ text: String, file: String) throws(ConfigurationError) -> TOMLTable {
    let error = UnsafeMutablePointer<CTOMLParseError>.allocate(capacity: 1)
    defer { error.deallocate() }
    guard let root = tableCreateFromString(text, error) else {
        let line = Int(error.pointee.source.begin.line)
        let message = taken(error.pointee.description)
        let problem = usualMistake(in: text.line(line), message) ?? inWords(message)
        throw ConfigurationError(file: file, line: line, problem: problem)
    }
    defer { release(root) }
    return values(of: root)
}

private func values(of table: OpaquePointer) -> TOMLTable {
    let count = tableSize(table)
    let keys = tableGetKeys(table)
    defer { free(UnsafeMutableRawPointer(mutating: keys)) }
    var values: TOMLTable = [:]
    for index in 0..<count {
        guard let node = tableGetNode(table, keys[index]) else { continue }
        values[taken(keys[index])] = value(of: node)
    }
    return values
}

private func value(of node: OpaquePointer) -> TOMLValue {
    switch nodeType(node) {
    case .table: .table(values(of: node))
    case .array:
        .array((0..<arraySize(node)).map { value(of: arrayGetNode(node, Int64($0))) })
    case .boolean: .plain(.bool(nodeAsBool(node).map(taken) ?? false))
    case .integer: .plain(.int(Int(nodeAsInt(node).map(taken) ?? 0)))
    case .floatingPoint: .plain(.double(nodeAsDouble(node).map(taken) ?? 0))
    case .string: .plain(.text(nodeAsString(node).map(taken) ?? ""))
    case .date, .timeType, .dateTime: .plain(.other(text(of: node)))
    }
}

/// Returns a date or time as TOML.
private func text(of node: OpaquePointer) -> String {
    let table = tableCreate()
    defer { release(table) }
    tableInsertNode(table, "v", node)
    // "v = 2026-11-22"
    return String(taken(tableConvertToTOML(table, 0)).dropFirst(4))
}

/// Frees a table and all that is in it. The parser has no call for that: cleared, it owns nothing,
/// and what made it is malloc(3).
private func release(_ table: OpaquePointer) {
    tableClear(table)
    free(UnsafeMutableRawPointer(table))
}

/// Returns what is at `pointer`, which the parser made for its caller, and frees it.
private func taken<Value: BitwiseCopyable>(_ pointer: UnsafePointer<Value>) -> Value {
    defer { free(UnsafeMutableRawPointer(mutating: pointer)) }
    return pointer.pointee
}

private func taken(_ pointer: UnsafePointer<CChar>) -> String {
    defer { free(UnsafeMutableRawPointer(mutating: pointer)) }
    return String(cString: pointer)
}

/// Returns the TOML document `text` without its lines that are no TOML, and their errors. Ends at
/// the first error that others may follow from: in a heading, a list, a text of several lines.
func withoutMistakes(_ text: String, file: String) -> (text: String, errors: [ConfigurationError]) {
    var text = text
    var errors: [ConfigurationError] = []
    while errors.count < 16 {
        do throws(ConfigurationError) {
            _ = try parseTOML(text, file: file)
            break
        } catch {
            errors.append(error)
            guard let number = error.line, !text.contains("\"\"\""), !text.contains("'''"),
                error.problem.contains(isSetAlready) || isWrongAlone(text.line(number))
            else { break }
            text = text.withoutLine(number)
        }
    }
    return (text, errors)
}

/// Returns `true` if `line` sets a key, and is no TOML whatever stands around it.
private func isWrongAlone(_ line: String) -> Bool {
    let start = line.first { $0 != " " && $0 != "\t" }
    guard start?.isLetter == true, line.contains("=") else { return false }
    do throws(ConfigurationError) {
        _ = try parseTOML(line, file: "")
        return false
    } catch { return true }
}

/// Rejects text that the parser cannot handle: it reads dotted keys recursively, so a key of a
/// hundred thousand parts would exhaust the stack; and it silently stops at a NUL.
private func checkExtent(of text: String, file: String) throws(ConfigurationError) {
    var line = 1
    var length = 0
    var last: UInt8 = 0
    for (index, byte) in text.utf8.enumerated() {
        let problem: String? =
            switch (byte, length, index) {
            case (0, _, _): "a NUL character"
            case (_, 4096, _): "more than 4096 bytes in one line"
            case (_, _, 262_144): "more than 256 KiB of text"
            case _ where last == UInt8(ascii: "\r") && byte != UInt8(ascii: "\n"):
                "a line end of old systems (CR); save it with those of Linux (LF)"
            default: nil
            }
        if let problem { throw ConfigurationError(file: file, line: line, problem: problem) }
        length += 1
        last = byte
        if byte == UInt8(ascii: "\n") { (line, length) = (line + 1, 0) }
    }
}

/// Returns the parser's message without its own words: "Error while parsing table header: expected
/// ']', saw '\\n'" becomes "in the table header: expected ']', saw the end of the line".
private func inWords(_ message: String) -> String {
    let start = "Error while parsing "
    let text = message.hasPrefix(start) ? "in the " + message.dropFirst(start.count) : message
    return text.replacing("'\\n'", with: "the end of the line")
        .replacing("'\\r'", with: "the end of the line")
}

extension String {
    /// Returns the line of this number, from 1, without its end; empty if there is none.
    func line(_ number: Int) -> String {
        let lines = utf8.split(separator: 10, omittingEmptySubsequences: false)
        guard lines.indices.contains(number - 1) else { return "" }
        return String(decoding: lines[number - 1], as: UTF8.self)
    }

    /// Returns the text with the line of this number empty.
    fileprivate func withoutLine(_ number: Int) -> String {
        var lines = utf8.split(separator: 10, omittingEmptySubsequences: false)
        guard lines.indices.contains(number - 1) else { return self }
        lines[number - 1] = ""[...].utf8
        return lines.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }
}
