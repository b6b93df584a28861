/// The part of a message about a key that is set twice.
let isSetAlready = "is set already"

/// Returns what is wrong with `line` of a TOML document, in plain words and with an example, or
/// `nil` if it is none of the usual mistakes. `message` is the parser's.
func usualMistake(in line: String, _ message: String) -> String? {
    let line = line.trimmed
    // The next line may be the one where the parser gives up.
    if message.hasPrefix("Error while parsing array:") {
        return "a list needs [ and ], with commas between the values, as in [50, 6400]"
    }
    if line.hasPrefix("//") || line.hasPrefix(";") { return "a comment begins with #" }
    if line.hasPrefix("[") { return mistake(inHeader: line, message) }
    let isAlone = line.first == "\"" || line.first == "'"
    guard !isAlone, let equals = line.firstIndex(of: "=") else {
        return mistake(inKey: line)
    }
    let key = line[..<equals].trimmed
    guard !key.isEmpty else { return "a key must come before =, as in source = \"test\"" }
    guard isName(key) else { return nil }
    if message.contains("redefine") {
        return "\(key) \(isSetAlready), further up; keep one of the two lines"
    }
    return mistake(in: line[equals...].dropFirst().trimmed, of: key, message)
}

private func mistake(inHeader line: String, _ message: String) -> String? {
    let code = line.prefix { $0 != "#" }.trimmed
    let name = code.trimmed { $0 == "[" || $0 == "]" }
    let parts = name.split { $0 == "." || $0 == " " || $0 == "\t" }
    guard !parts.isEmpty, parts.allSatisfy({ isName(String($0)) }) else { return nil }
    let isElement = code.hasPrefix("[[")
    let whole = (isElement ? "[[" : "[") + parts.joined(separator: ".") + (isElement ? "]]" : "]")
    if message.contains("redefine") {
        return "\(whole) appears twice; put all its keys under the first one"
    }
    guard code.replacing(" ", with: "") != whole || parts.count > 1 && !name.contains(".") else {
        return nil
    }
    return "write a heading in brackets, as in \(whole)"
}

/// Returns what is wrong with a line without "=".
private func mistake(inKey line: String) -> String? {
    let key = String(line.prefix { isNameCharacter($0) || $0 == "." })
    guard !key.isEmpty else { return nil }
    let rest = line.dropFirst(key.count).trimmed
    if rest == "]" { return "write a heading in brackets, as in [\(key)]" }
    let value = rest.hasPrefix(":") ? rest.dropFirst().trimmed : rest
    guard !value.isEmpty else { return "\(key) has no value; expected \(key) = and a value" }
    return "= is missing, as in \(key) = \(example(of: value))"
}

private func mistake(in value: String, of key: String, _ message: String) -> String? {
    guard let first = value.first, first != "#" else { return "\(key) has no value after =" }
    if quotationMarks.contains(first)
        || "[{".contains(first) && !value.contains("\"")
            && value.contains(where: quotationMarks.contains)
    {
        let text = value.dropFirst().prefix { !quotationMarks.contains($0) && $0 != "\"" }
        return "text needs straight quotes, as in \(key) = "
            + ("[{".contains(first) ? "[\"…\"]" : quotedExample(of: String(text)))
    }
    if first == "\"" || first == "'" { return mistake(inText: value, first, of: key, message) }
    let word = value.prefix { $0 != "#" }.trimmed
    if let isOn = switches[word.lowercased()] {
        return "expected true or false in small letters, as in \(key) = \(isOn)"
    }
    if first.isASCII, first.isNumber || "+-.".contains(first) {
        return mistake(inNumber: word, of: key)
    }
    guard first.isLetter || "/~".contains(first) else { return nil }
    return "text needs straight quotes, as in \(key) = \(quotedExample(of: word))"
}

/// Returns what is wrong with text that begins with `quote`.
private func mistake(
    inText value: String,
    _ quote: Character,
    of key: String,
    _ message: String
) -> String? {
    guard !value.hasPrefix("\"\"\""), !value.hasPrefix("'''") else { return nil }
    if quote == "\"", message.contains("escape sequence") {
        return "write \\\\ for each \\ in text, or put the text in single quotes: '…'"
    }
    var isEscaped = false
    let body = value.dropFirst()
    let end = body.firstIndex { character in
        defer { isEscaped = character == "\\" && quote == "\"" && !isEscaped }
        return character == quote && !isEscaped
    }
    guard let end else {
        let text = body.trimmed { $0 == "\"" || $0 == "'" }
        return "the text needs a \(quote) at its end too, as in \(key) = \(quotedExample(of: text))"
    }
    let rest = value[end...].dropFirst().trimmed
    guard let next = rest.first, next != "#" else { return nil }
    if rest.contains("=") { return "each key needs a line of its own" }
    return "only a comment, which begins with #, can come after the value"
}

private func mistake(inNumber word: String, of key: String) -> String? {
    let digits = word.drop { $0 == "+" || $0 == "-" }
    let number = digits.prefix { "0123456789.,".contains($0) }
    let sign = word.hasPrefix("-") ? "-" : ""
    let parts = number.split(separator: ",", omittingEmptySubsequences: false)
    if digits.dropFirst(number.count).isEmpty, parts.count == 2, !number.contains(".") {
        return "a number has a point, not a comma, as in \(key) = \(sign)\(parts[0]).\(parts[1])"
    }
    if number.hasPrefix("."), let value = Double("0\(digits)") {
        return "expected a digit before the point, as in \(key) = \(sign)\(value)"
    }
    if digits.hasSuffix("%"), let value = Double(digits.dropLast()) {
        return "a number has no % after it, as in \(key) = \(sign)\(value / 100)"
    }
    let whole = number.drop { $0 == "0" }
    if number.count == digits.count, number.hasPrefix("0"), let value = Int(whole) {
        return "a number has no zeros before it, as in \(key) = \(sign)\(value)"
    }
    let unit = digits.dropFirst(number.count).trimmed
    if !unit.isEmpty, unit.allSatisfy(\.isLetter), Double(number) != nil {
        return "a number has no unit after it, as in \(key) = \(sign)\(number)"
    }
    // Such as 1280x720, but no date.
    guard digits.contains(where: \.isLetter), !digits.contains("-") else { return nil }
    return "text needs straight quotes, as in \(key) = \(quotedExample(of: word))"
}

private let switches = [
    "true": true, "yes": true, "on": true, "false": false, "no": false, "off": false,
]
private let quotationMarks: Set<Character> = [
    "“", "”", "„", "‟", "‘", "’", "‚", "«", "»", "`", "´",
]

private func example(of value: String) -> String {
    switch value.first {
    case "\"", "'", "[", "{": quotedExample(of: value.trimmed { $0 == "\"" || $0 == "'" })
    case _ where Double(value) != nil || value == "true" || value == "false": value
    default: quotedExample(of: value)
    }
}

/// Returns `text` in quotes; only "…" if it is long, or may hold a password or a key.
private func quotedExample(of text: String) -> String {
    text.count > 40 || text.contains { "@?\"\\".contains($0) } || text.contains("://")
        ? "\"…\"" : quoted(text)
}

private func isName(_ text: String) -> Bool {
    !text.isEmpty && text.count <= 64 && text.allSatisfy { isNameCharacter($0) || $0 == "." }
}

private func isNameCharacter(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "-_".contains(character))
}

extension StringProtocol {
    fileprivate var trimmed: String { trimmed { $0.isWhitespace } }

    fileprivate func trimmed(_ isLeftOut: (Character) -> Bool) -> String {
        let start = drop(while: isLeftOut)
        guard let last = start.lastIndex(where: { !isLeftOut($0) }) else { return "" }
        return String(start[...last])
    }
}
