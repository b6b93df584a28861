extension String {
    /// Returns the text on one line and without commands, each replaced by `replacement`: control
    /// characters, which a terminal obeys; line separators; and format characters, above all those
    /// that turn the direction of what follows. Names come from cameras, files and other programs,
    /// which choose them freely.
    ///
    /// The two joiners stay: Persian, the scripts of India and emoji need them, and they only
    /// change the shapes of their neighbours.
    package func plain(_ replacement: Unicode.Scalar) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .format where scalar == "\u{200C}" || scalar == "\u{200D}": scalars.append(scalar)
            case .control, .format, .lineSeparator, .paragraphSeparator:
                scalars.append(replacement)
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }

    /// The text as a sentence: with a capital first letter and a full stop, unless it begins with
    /// a path, a key, the name of a program or the like, or ends with another mark.
    package var sentence: String {
        let word = prefix { !$0.isWhitespace }
        let isWord = word.allSatisfy { $0.isLetter || ",:;'’".contains($0) }
        let start =
            isWord && !word.hasPrefix("dualcam") ? prefix(1).uppercased() + dropFirst() : self
        let isOver = isEmpty || last.map { ".!?…".contains($0) } ?? true
        return isOver ? start : start + "."
    }

    /// The text with a small first letter, for the middle of a sentence.
    package var uncapitalized: String { prefix(1).lowercased() + dropFirst() }
}
