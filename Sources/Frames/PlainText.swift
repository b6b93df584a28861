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
}
