/// The preferences in a file of Firefox's, `user.js` or `prefs.js`: statements such as
/// `user_pref("name", true);`, and comments.
struct FirefoxPreferences {
    /// The preference that makes Firefox look for cameras in PipeWire.
    static let camera = "media.webrtc.camera.allow-pipewire"

    private let bytes: [UInt8]
    private var statements: [Statement] = []

    private struct Statement {
        let name: String
        /// The value as it is written.
        let value: Range<Int>
        /// The statement with its semicolon.
        let place: Range<Int>
    }

    /// Reads the preferences in `bytes`, of any encoding that has ASCII in it.
    ///
    /// - Throws: `Failure` if a comment or a string has no end: what is appended would not count.
    init(_ bytes: [UInt8]) throws(Failure) {
        self.bytes = bytes
        var position = 0
        while position < bytes.count {
            if let end = try Self.endOfComment(at: position, in: bytes) {
                position = end
            } else if let statement = try Self.statement(at: position, in: bytes) {
                statements.append(statement)
                position = statement.place.upperBound
            } else if let end = try Self.endOfString(at: position, in: bytes) {
                position = end
            } else {
                position += 1
            }
        }
    }

    /// Returns the value of the preference `name` as it is written, such as "true"; `nil` if it is
    /// not set. The last statement counts.
    func value(of name: String) -> String? {
        statements.last { $0.name == name }.map { String(decoding: bytes[$0.value], as: UTF8.self) }
    }

    /// Returns the file with the preference `name` set to `value`, or without it for `nil`. All
    /// other bytes stay.
    func setting(_ name: String, to value: String?) -> [UInt8] {
        guard self.value(of: name) != value else { return bytes }
        var result = bytes
        guard let value else {
            for statement in statements.reversed() where statement.name == name {
                result.removeSubrange(line(of: statement.place))
            }
            return result
        }
        if let last = statements.last(where: { $0.name == name }) {
            result.replaceSubrange(last.value, with: value.utf8)
            return result
        }
        if let last = result.last, last != UInt8(ascii: "\n") {
            result.append(UInt8(ascii: "\n"))
        }
        return result + Array("user_pref(\"\(name)\", \(value));\n".utf8)
    }

    /// Returns `place` with the rest of its line, if nothing else is there.
    private func line(of place: Range<Int>) -> Range<Int> {
        let before =
            bytes[..<place.lowerBound].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        var after = place.upperBound
        while after < bytes.count, Self.isSpace(bytes[after]), bytes[after] != UInt8(ascii: "\n") {
            after += 1
        }
        guard bytes[before..<place.lowerBound].allSatisfy(Self.isSpace),
            after == bytes.count || bytes[after] == UInt8(ascii: "\n")
        else { return place }
        return before..<min(after + 1, bytes.count)
    }

    // MARK: Reading

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }

    private static func starts(_ text: String, at position: Int, in bytes: [UInt8]) -> Bool {
        bytes[position...].starts(with: text.utf8)
    }

    private static func endOfComment(at start: Int, in bytes: [UInt8]) throws(Failure) -> Int? {
        // Firefox reads # as the start of a comment, too.
        if starts("//", at: start, in: bytes) || bytes[start] == UInt8(ascii: "#") {
            return bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        }
        guard starts("/*", at: start, in: bytes) else { return nil }
        var position = start + 2
        while position < bytes.count {
            if starts("*/", at: position, in: bytes) { return position + 2 }
            position += 1
        }
        throw Failure(status: .failed, message: "it has a comment without an end")
    }

    private static func endOfString(at start: Int, in bytes: [UInt8]) throws(Failure) -> Int? {
        let quote = bytes[start]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        var position = start + 1
        while position < bytes.count {
            if bytes[position] == quote { return position + 1 }
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        throw Failure(status: .failed, message: "it has a string without an end")
    }

    /// Returns the statement that begins at `start`; `nil` if none does.
    private static func statement(at start: Int, in bytes: [UInt8]) throws(Failure) -> Statement? {
        guard bytes[start] == UInt8(ascii: "u"), starts("user_pref", at: start, in: bytes) else {
            return nil
        }
        var position = start + "user_pref".utf8.count
        func skipSpace() {
            while position < bytes.count, isSpace(bytes[position]) { position += 1 }
        }
        func take(_ byte: UInt8) -> Bool {
            skipSpace()
            guard position < bytes.count, bytes[position] == byte else { return false }
            position += 1
            return true
        }
        guard take(UInt8(ascii: "(")) else { return nil }
        skipSpace()
        guard position < bytes.count, let end = try endOfString(at: position, in: bytes) else {
            return nil
        }
        let name = String(decoding: bytes[(position + 1)..<(end - 1)], as: UTF8.self)
        position = end
        guard take(UInt8(ascii: ",")) else { return nil }
        skipSpace()
        let first = position
        while position < bytes.count, bytes[position] != UInt8(ascii: ")") {
            position = try endOfString(at: position, in: bytes) ?? position + 1
        }
        var last = position
        while last > first, isSpace(bytes[last - 1]) { last -= 1 }
        guard take(UInt8(ascii: ")")), take(UInt8(ascii: ";")) else { return nil }
        return Statement(name: name, value: first..<last, place: start..<position)
    }
}

/// The profiles that Firefox uses, as its files `profiles.ini` and `installs.ini` say.
enum FirefoxProfiles {
    /// Returns the profiles in use as paths that are relative to the folder of the files, or
    /// absolute: that of each installation; if there is none, the default; if there is none, all.
    static func used(profiles: String, installs: String) -> [String] {
        let sections = sections(of: profiles)
        let ownersOfOne =
            Self.sections(of: installs)
            + sections.filter {
                $0.name.hasPrefix("Install")
            }
        var paths: [String] = []
        func add(_ path: String?) {
            guard let path, !path.isEmpty, !path.contains("\0"), !paths.contains(path) else {
                return
            }
            paths.append(path)
        }
        for section in ownersOfOne { add(section.values["Default"]) }
        guard paths.isEmpty else { return paths }
        let all = sections.filter { $0.name.hasPrefix("Profile") }
        for section in all where section.values["Default"] == "1" { add(section.values["Path"]) }
        guard paths.isEmpty else { return paths }
        for section in all { add(section.values["Path"]) }
        return paths
    }

    private static func sections(
        of text: String
    ) -> [(name: String, values: [String: String])] {
        var sections: [(name: String, values: [String: String])] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmed
            if line.hasPrefix("["), line.hasSuffix("]") {
                sections.append((String(line.dropFirst().dropLast()), [:]))
            } else if let sign = line.firstIndex(of: "="), !sections.isEmpty,
                !line.hasPrefix("#"), !line.hasPrefix(";")
            {
                let key = line[..<sign].trimmed
                sections[sections.count - 1].values[key] = line[line.index(after: sign)...].trimmed
            }
        }
        return sections
    }
}

extension StringProtocol {
    /// The text without spaces and tabs at its ends.
    fileprivate var trimmed: String {
        let start = self.drop { $0 == " " || $0 == "\t" }
        var end = start.endIndex
        while end > start.startIndex {
            let before = start.index(before: end)
            guard start[before] == " " || start[before] == "\t" else { break }
            end = before
        }
        return String(start[..<end])
    }
}
