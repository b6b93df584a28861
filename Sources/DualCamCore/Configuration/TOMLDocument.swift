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
        throw ConfigurationError(file: file, line: line, problem: problem)
    }
    // TOMLKit 0.6.0 frees neither the tables that it reads nor its copies of them. Each reload,
    // which is done by hand, leaks some 2 kB until TOMLKit frees them.
    do { return (try TOMLTable(string: text), lines) } catch {
        let error = error as? TOMLParseError
        throw ConfigurationError(
            file: file,
            line: error?.source.begin.line,
            problem: error?.description ?? "this is not TOML"
        )
    }
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
