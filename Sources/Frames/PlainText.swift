extension Unicode.Scalar {
    /// `true` for what a reader obeys: control characters, which a terminal does; line separators;
    /// and format characters, above all those that turn the direction of what follows. The two
    /// joiners are none: Persian, the scripts of India and emoji need them, and they only change
    /// the shapes of their neighbours.
    package var isCommand: Bool {
        switch properties.generalCategory {
        case .format: self != "\u{200C}" && self != "\u{200D}"
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension StringProtocol {
    /// The text with a capital first letter.
    package var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension String {
    /// Returns the text on one line and without commands, each replaced by `replacement`. Names
    /// come from cameras, files and other programs, which choose them freely.
    package func plain(_ replacement: Unicode.Scalar) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in unicodeScalars { scalars.append(scalar.isCommand ? replacement : scalar) }
        return String(scalars)
    }

    /// The text as a sentence: with a capital first letter and a full stop, unless it begins with
    /// a path, a key, the name of a program or the like, or ends with another mark.
    package var sentence: String {
        let word = prefix { !$0.isWhitespace }
        let isWord = word.allSatisfy { $0.isLetter || ",:;'’".contains($0) }
        let start = isWord && !word.hasPrefix("dualcam") ? capitalizedFirst : self
        let isOver = isEmpty || last.map { ".!?…".contains($0) } ?? true
        return isOver ? start : start + "."
    }

    /// The text with a small first letter, unless it begins with a name such as FFmpeg.
    package var uncapitalized: String {
        let isName = prefix { $0 != " " }.dropFirst().contains(where: \.isUppercase)
        return isName ? self : prefix(1).lowercased() + dropFirst()
    }

    /// The text as one word of a shell's command line.
    package var quotedForShell: String {
        let isPlain = utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "-")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isPlain && !isEmpty ? self : "'" + replacing("'", with: "'\\''") + "'"
    }
}
