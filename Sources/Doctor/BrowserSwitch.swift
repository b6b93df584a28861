import Control

/// The switch with which a browser looks for cameras in PipeWire, in the files that hold its
/// command line: for Edge, which has no setting for that.
enum BrowserSwitch {
    static let feature = "WebRtcPipeWireCamera"
    static let word = "--enable-features=\(feature)"

    /// Returns `bytes` with the switch: a desktop entry with it in each command, which follows
    /// `Exec=`, or else the switches that a Flatpak adds to its command. All other bytes stay.
    static func adding(to bytes: [UInt8], isEntry: Bool) throws(Failure) -> [UInt8] {
        var lines = try lines(bytes)
        let places = lines.indices.filter {
            isEntry ? isCommand(lines[$0]) : isSwitch(lines[$0])
        }
        // The last list of switches counts.
        for index in isEntry ? places : Array(places.suffix(1)) {
            guard let changed = adding(to: lines[index]) else {
                throw Failure("its command has an unusual form; change it yourself")
            }
            lines[index] = changed
        }
        if places.isEmpty {
            if isEntry { throw Failure("it starts no program") }
            // Before the last line end.
            if lines.last == "" { lines.removeLast() }
            lines += [word, ""]
        }
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// Returns `bytes` without the switch; `nil` if it is in no command.
    static func removing(from bytes: [UInt8], isEntry: Bool) throws(Failure) -> [UInt8]? {
        let old = try lines(bytes)
        let lines = old.compactMap { line -> String? in
            guard isEntry ? isCommand(line) : isSwitch(line), let place = features(line) else {
                return line
            }
            if !isEntry, line == word { return nil }
            let names = line[place].split(separator: ",", omittingEmptySubsequences: false)
            let others = names.filter { $0 != feature }
            var line = line
            line.replaceSubrange(place, with: others.joined(separator: ","))
            return names == [feature[...]]
                ? line.replacing(#/\ --enable-features=(?=\s|$)/#, with: "") : line
        }
        return lines == old ? nil : Array(lines.joined(separator: "\n").utf8)
    }

    /// Returns the lines of `bytes`, with what is after the last line end as one more.
    private static func lines(_ bytes: [UInt8]) throws(Failure) -> [String] {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw Failure("it is not UTF-8 text")
        }
        return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private static func isCommand(_ line: String) -> Bool { line.contains(/^ *Exec *=/) }
    private static func isSwitch(_ line: String) -> Bool { line.hasPrefix("--enable-features=") }

    /// Returns the place of the features in the last list of them in `line`.
    private static func features(_ line: String) -> Range<String.Index>? {
        line.matches(of: /(?:^|[\s"])--enable-features=([^\s"]*)/).last.map {
            $0.output.1.startIndex..<$0.output.1.endIndex
        }
    }

    /// Returns a line with the switch; `nil` if the program in it is not found.
    private static func adding(to line: String) -> String? {
        var line = line
        if let place = features(line) {
            let names = line[place].split(separator: ",")
            if !names.contains(feature[...]) {
                line.insert(contentsOf: feature + (names.isEmpty ? "" : ","), at: place.lowerBound)
            }
            return line
        }
        // env(1) and what it sets come first.
        let program =
            #/^\ *Exec\ *=\ *(?:(?:\S*/)?env\s+(?:[^\s=]+=\S*\s+)*)?(?!(?:\S*/)?env(?:\s|$))(?:"(?:\\.|[^"\\])*"|[^\s"=\-][^\s"=]*(?=\s|$))/#
        guard let end = line.firstMatch(of: program)?.range.upperBound else { return nil }
        line.insert(contentsOf: " \(word)", at: end)
        return line
    }
}
