import Control
import Platform

/// The preference that makes Firefox look for cameras in PipeWire, in a file of statements such as
/// `user_pref("name", true);` and comments: `user.js` or `prefs.js`.
struct FirefoxPreferences {
    static let camera = "media.webrtc.camera.allow-pipewire"

    /// The file, of any encoding that has ASCII in it: each byte is a character.
    private let text: String
    /// The statements that set the preference, and their values.
    private var statements: [(place: Range<String.Index>, value: Range<String.Index>)] = []

    /// Finds the preference. Throws if a comment or a string has no end: what follows is in it.
    init(_ bytes: [UInt8]) throws(Failure) {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
        text = String(scalars)
        // Firefox reads # as the start of a comment, too.
        let parts =
            #/
            (?: // | \# ) [^\n]* | /\* .*? \*/
            | user_pref \s* \( \s* ["'] media\.webrtc\.camera\.allow-pipewire ["'] \s* , \s*
              ( (?: " (?: \\. | [^"\\] )* " | ' (?: \\. | [^'\\] )* ' | [^)"'\s] | \s (?! \s* \) ) )* )
              \s* \) \s* ;
            | " (?: \\. | [^"\\] )* " | ' (?: \\. | [^'\\] )* '
            | ( /\* ) | ( ["'] )
            /#.dotMatchesNewlines().matchingSemantics(.unicodeScalar)
        for part in text.matches(of: parts) {
            if part.output.2 != nil { throw Failure("it has a comment without an end") }
            if part.output.3 != nil { throw Failure("it has a string without an end") }
            if let value = part.output.1 {
                statements.append((part.range, value.startIndex..<value.endIndex))
            }
        }
    }

    /// The value as written, such as "true"; `nil` if it is not set. The last statement counts.
    var value: String? { statements.last.map { String(text[$0.value]) } }

    /// Returns the file with the preference set to `value`, or without it. All other bytes stay.
    func setting(_ value: String?) -> [UInt8] {
        var text = text
        if let value {
            if let last = statements.last {
                text.replaceSubrange(last.value, with: value)
            } else {
                text += text.isEmpty || text.unicodeScalars.last == "\n" ? "" : "\n"
                text += "user_pref(\"\(Self.camera)\", \(value));\n"
            }
        } else {
            for statement in statements.reversed() {
                text.removeSubrange(line(of: statement.place))
            }
        }
        return text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }

    /// Returns `place` with the rest of its line, if nothing else is there.
    private func line(of place: Range<String.Index>) -> Range<String.Index> {
        let all = text.unicodeScalars
        let start = all[..<place.lowerBound].lastIndex(of: "\n").map(all.index(after:))
        let end = all[place.upperBound...].firstIndex(of: "\n").map(all.index(after:))
        let line = (start ?? all.startIndex)..<(end ?? all.endIndex)
        let rest = all[line.lowerBound..<place.lowerBound] + all[place.upperBound..<line.upperBound]
        return rest.allSatisfy { " \t\r\n".unicodeScalars.contains($0) } ? line : place
    }

    /// Returns `true` if a person set it in the profile `folder`, in `about:config`.
    static func areSet(in folder: String) -> Bool {
        // What is in user.js counts at each start.
        let values = ["user.js", "prefs.js"].lazy.compactMap { name in
            (try? readFile("\(folder)/\(name)", limit: FixedFile.limit))
                .flatMap { try? FirefoxPreferences($0).value }
        }
        return values.first == "true"
    }
}

/// The profiles that Firefox uses, as its files `profiles.ini` and `installs.ini` say.
enum FirefoxProfiles {
    /// Returns the profiles in use as paths that are relative to the folder of the files, or
    /// absolute: that of each installation; if there is none, the default; if there is none, all.
    static func used(profiles: String, installs: String) -> [String] {
        let sections = sections(of: profiles)
        let installations =
            Self.sections(of: installs) + sections.filter { $0.name.hasPrefix("Install") }
        let all = sections.filter { $0.name.hasPrefix("Profile") }.map(\.values)
        let candidates = [
            installations.map { $0.values["Default"] },
            all.filter { $0["Default"] == "1" }.map { $0["Path"] }, all.map { $0["Path"] },
        ].map { paths in
            paths.compactMap { $0 }.reduce(into: [String]()) { known, path in
                let isNew = !path.isEmpty && !path.contains("\0") && !known.contains(path)
                if isNew { known.append(path) }
            }
        }
        return candidates.first { !$0.isEmpty } ?? []
    }

    private static func sections(of text: String) -> [(name: String, values: [String: String])] {
        var sections: [(name: String, values: [String: String])] = []
        for line in text.split(whereSeparator: \.isNewline) {
            if let name = line.wholeMatch(of: /[ \t]*\[(.*)\][ \t]*/) {
                sections.append((String(name.1), [:]))
            } else if let pair = line.wholeMatch(
                of: /[ \t]*([^=]*?)[ \t]*=[ \t]*(.*?)[ \t]*/
            ),
                !sections.isEmpty
            {
                sections[sections.count - 1].values[String(pair.1)] = String(pair.2)
            }
        }
        return sections
    }
}
