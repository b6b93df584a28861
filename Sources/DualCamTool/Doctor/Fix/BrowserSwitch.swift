/// The switch with which a browser looks for cameras in PipeWire, in the files that hold its
/// command line: for Edge, which has no setting for that.
enum BrowserSwitch {
    /// The feature of Chromium.
    static let feature = "WebRtcPipeWireCamera"
    private static let list = "--enable-features="
    /// The switch alone.
    static let word = list + feature

    /// A file with command lines.
    enum File {
        /// A desktop entry, with a command line after each `Exec=`.
        case entry
        /// Switches alone, which a Flatpak adds to its command line.
        case switches
    }

    /// Returns `true` if every command line of `file` has the switch.
    ///
    /// - Throws: `Failure` if it has no command line, or is no text.
    static func isSet(in bytes: [UInt8], _ file: File) throws(Failure) -> Bool {
        try setting(in: bytes, file) == bytes
    }

    /// Returns `file` with the switch in every command line. All other bytes stay.
    ///
    /// - Throws: `Failure` if it has no command line, or none that can be changed.
    static func setting(in bytes: [UInt8], _ file: File) throws(Failure) -> [UInt8] {
        var lines = try lines(bytes)
        switch file {
        case .entry:
            let commands = lines.indices.filter { command(lines[$0]) != nil }
            guard !commands.isEmpty else { throw Failure("it starts no program") }
            for index in commands {
                guard let changed = adding(to: lines[index]) else {
                    throw Failure("its command is written in a way that only you can change")
                }
                lines[index] = changed
            }
        case .switches:
            // The last list counts.
            if let index = lines.lastIndex(where: { $0.hasPrefix(list) }) {
                lines[index] = joined(to: lines[index])
            } else {
                // What is after the last line end.
                let rest = lines.removeLast()
                lines += (rest.isEmpty ? [] : [rest]) + [word, ""]
            }
        }
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// Returns `file` without the switch; `nil` if it is in no command line.
    ///
    /// - Throws: `Failure` if it is no text.
    static func removing(from bytes: [UInt8], _ file: File) throws(Failure) -> [UInt8]? {
        let old = try lines(bytes)
        let lines = old.compactMap { line -> String? in
            switch file {
            case .entry: command(line) == nil ? line : removing(from: line)
            case .switches: line == word ? nil : line.hasPrefix(list) ? parted(from: line) : line
            }
        }
        return lines == old ? nil : Array(lines.joined(separator: "\n").utf8)
    }

    // MARK: Lines

    /// Returns the lines of `bytes`, with what is after the last line end as one more.
    private static func lines(_ bytes: [UInt8]) throws(Failure) -> [String] {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw Failure("it is not UTF-8 text")
        }
        return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the place of the command in a line of a desktop entry; `nil` if it has none.
    private static func command(_ line: String) -> Range<String.Index>? {
        guard let sign = line.firstIndex(of: "="),
            line[..<sign].split(separator: " ").elementsEqual(["Exec"])
        else { return nil }
        return line.index(after: sign)..<line.endIndex
    }

    /// Returns the places of the words of a command in `line`. Spaces in quotes part none.
    private static func words(_ line: String) -> [Range<String.Index>] {
        guard let command = command(line) else { return [] }
        var words: [Range<String.Index>] = []
        var (start, isQuoted, isEscaped) = (String.Index?.none, false, false)
        for index in line[command].indices {
            let character = line[index]
            if character.isWhitespace, !isQuoted {
                if let start { words.append(start..<index) }
                start = nil
                continue
            }
            start = start ?? index
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = character == "\\" && !isEscaped
        }
        if let start { words.append(start..<line.endIndex) }
        return words
    }

    /// Returns the place of the last list of features in `line`, after its quote.
    private static func features(_ line: String) -> Range<String.Index>? {
        words(line).map { word in
            line[word].hasPrefix("\"") ? line.index(after: word.lowerBound)..<word.upperBound : word
        }.last { line[$0].hasPrefix(list) }
    }

    /// Returns a line of a desktop entry with the switch; `nil` if the program in it is not found.
    private static func adding(to line: String) -> String? {
        if let place = features(line) {
            return line.replacingCharacters(in: place, with: joined(to: String(line[place])))
        }
        for (index, place) in words(line).enumerated() {
            let word = line[place]
            // env(1) and what it sets come first.
            if word == "env" || word.hasSuffix("/env") || index > 0 && word.contains("=") {
                continue
            }
            guard !word.hasPrefix("-") else { return nil }
            return String(line[..<place.upperBound]) + " \(Self.word)" + line[place.upperBound...]
        }
        return nil
    }

    private static func removing(from line: String) -> String {
        guard let place = features(line) else { return line }
        guard line[place] == word else {
            return line.replacingCharacters(in: place, with: parted(from: String(line[place])))
        }
        let before = String(line[..<place.lowerBound])
        return String(before.hasSuffix(" ") ? before.dropLast() : before[...])
            + line[place.upperBound...]
    }

    /// Returns the list of features with this one in it, first.
    private static func joined(to list: String) -> String {
        let names = list.dropFirst(Self.list.count)
        guard !Self.names(names).contains(feature) else { return list }
        return word + (names.isEmpty || names == "\"" ? "" : ",") + names
    }

    /// Returns the list of features without this one.
    private static func parted(from list: String) -> String {
        let end = list.hasSuffix("\"") ? "\"" : ""
        let names = list.dropFirst(Self.list.count).dropLast(end.count)
            .split(separator: ",", omittingEmptySubsequences: false).filter { $0 != feature }
        return Self.list + names.joined(separator: ",") + end
    }

    private static func names(_ list: Substring) -> [String] {
        list.split { $0 == "," || $0 == "\"" || $0.isWhitespace }.map(String.init)
    }
}

extension String {
    fileprivate func replacingCharacters(in place: Range<Index>, with text: String) -> String {
        String(self[..<place.lowerBound]) + text + self[place.upperBound...]
    }
}
