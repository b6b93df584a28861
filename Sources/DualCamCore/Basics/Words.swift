import Frames

/// Returns the word among `words` that `word` most likely misspells, or `nil` if none is close.
package func nearest(to word: String, among words: [String]) -> String? {
    guard word.utf8.count <= 128 else { return nil }
    return words.map { (word: $0, distance: word.distance(to: $0)) }
        .filter { $0.distance <= 1 + $0.word.utf8.count / 5 }
        .min { $0.distance < $1.distance }?
        .word
}

extension String {
    /// Returns the number of letters to insert, delete, change or swap with their neighbour to get
    /// `other`.
    package func distance(to other: String) -> Int {
        let (own, wanted) = (Array(self), Array(other))
        var rows = [Array(0...wanted.count)]
        for line in own.indices {
            var row = [line + 1]
            for column in wanted.indices {
                let isSame = own[line] == wanted[column]
                var least = Swift.min(
                    rows[line][column] + (isSame ? 0 : 1),
                    rows[line][column + 1] + 1,
                    row[column] + 1
                )
                if line > 0, column > 0, own[line] == wanted[column - 1],
                    own[line - 1] == wanted[column]
                {
                    least = Swift.min(least, rows[line - 1][column - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[own.count][wanted.count]
    }
}

/// Returns the words as a choice: "0, 90 or 180".
package func alternatives(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " or " + last
}

/// Returns `text` as a TOML basic string.
func quoted(_ text: some StringProtocol) -> String {
    let escaped = text.unicodeScalars.map { scalar in
        switch scalar {
        case "\"": "\\\""
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\t": "\\t"
        case _ where scalar.isCommand && scalar.value > 0xffff:
            "\\U" + String(0x1_0000_0000 + UInt64(scalar.value), radix: 16).dropFirst()
        case _ where scalar.isCommand:
            "\\u" + String(0x10000 + scalar.value, radix: 16).dropFirst()
        default: String(scalar)
        }
    }
    return "\"\(escaped.joined())\""
}
