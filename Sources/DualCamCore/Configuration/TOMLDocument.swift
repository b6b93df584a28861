import TOMLKit

/// Returns the root of the TOML document `text`, and the lines of its keys. `file` names the
/// document in messages.
///
/// - Throws: `ConfigurationError` if it is no TOML, or would bring the parser down.
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
    // TOMLKit 0.6.0 frees neither the tables that it reads nor its copies of them. Each reload,
    // which is done by hand, leaks some 2 kB until TOMLKit frees them.
    do { return (try TOMLTable(string: text), lines) } catch {
        let error = error as? TOMLParseError
        let line = error?.source.begin.line
        let message = error?.description ?? ""
        let mistake = line.flatMap { usualMistake(in: text.line($0), message) }
        throw ConfigurationError(
            file: file,
            line: line,
            problem: mistake ?? (message.isEmpty ? "this is not TOML" : inWords(message))
        )
    }
}

/// Returns the TOML document `text` without its lines that are no TOML, and the errors of these.
/// Ends at the first error that other lines may have caused: in a heading, in a list, in text of
/// several lines.
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
    for (index, byte) in text.utf8.enumerated() {
        let problem: String? =
            switch (byte, length, index) {
            case (0, _, _): "a NUL character"
            case (_, 4096, _): "more than 4096 bytes in one line"
            case (_, _, 262_144): "more than 256 KiB of text"
            default: nil
            }
        if let problem { throw ConfigurationError(file: file, line: line, problem: problem) }
        length += 1
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
