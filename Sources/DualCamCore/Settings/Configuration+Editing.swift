extension Configuration {
    /// Returns the TOML document `text` with other sources of cameras, and other `credentials` of
    /// one. Only the lines of these change or are added; comments, order and line ends stay. `file`
    /// names the document in messages. Throws `ConfigurationError` if the document has a mistake,
    /// or a camera's table is written so that no line of it can be changed alone.
    package static func setting(
        _ sources: [(role: Role, source: SourceSpecification)],
        credentials: (role: Role, path: String?)? = nil,
        in text: String,
        file: String
    ) throws(ConfigurationError) -> String {
        var changes = sources.map {
            Change("cameras", $0.role.rawValue, key: "source", .text($0.source.description))
        }
        if let (role, path) = credentials {
            let value = Plain.text(path ?? "")
            changes.append(Change("cameras", role.rawValue, key: "credentials", value))
        }
        return try setting(changes, in: text, file: file, "the sources are")
    }

    /// Returns the TOML document `text` with another loopback device. Only its line changes or is
    /// added; comments, order and line ends stay. `file` names the document in messages. Throws
    /// `ConfigurationError` if the document has a mistake, or no line of it can be changed alone.
    package static func setting(
        loopback device: LoopbackDevice,
        in text: String,
        file: String
    ) throws(ConfigurationError) -> String {
        let value = Form.loopbackDevice.plain(device) ?? .text("")
        let change = Change("loopback", key: "device", value)
        return try setting([change], in: text, file: file, "the device is")
    }

    /// Returns the TOML document `text` in which `hide-cameras` is set to hide the cameras in use,
    /// or not. Only its line changes or is added; comments, order and line ends stay. `file` names
    /// the document in messages. Throws `ConfigurationError` if the document has a mistake, or no
    /// line of it can be changed alone.
    package static func setting(
        hidesCameras: Bool,
        in text: String,
        file: String
    ) throws(ConfigurationError) -> String {
        let change = Change("desktop", key: "hide-cameras", .bool(hidesCameras))
        return try setting([change], in: text, file: file, "the wish is")
    }

    private struct Change {
        let table: [String]
        let key: String
        let value: Plain

        init(_ table: String..., key: String, _ value: Plain) {
            (self.table, self.key, self.value) = (table, key, value)
        }
    }

    /// Returns `text` with `changes` as far as it lacks them. `subject` begins a message about it.
    private static func setting(
        _ changes: [Change],
        in text: String,
        file: String,
        _ subject: String
    ) throws(ConfigurationError) -> String {
        var (configuration, _) = try parse(text, file: file)
        var edited = text
        for change in changes {
            let rows = tables.first { $0.path == change.table }?.rows ?? []
            guard let row = rows.first(where: { $0.key == change.key }),
                row.plain(configuration) != change.value
            else { continue }
            let (_, lines) = try parseTOML(edited, file: file)
            var editing = Editing(Array(edited.utf8), lines.statements, file)
            edited = try editing.set(change.key, of: change.table, to: change.value.toml())
            // A value of our own is always read.
            try? row.read(change.value, &configuration)
        }
        return try checked(edited, against: configuration, subject, file: file)
    }

    /// Returns `edited` if it means `configuration`: what was missed in editing, such as a key in
    /// escapes, shows here. Throws `ConfigurationError` about `subject` if it means anything else.
    private static func checked(
        _ edited: String,
        against configuration: Configuration,
        _ subject: String,
        file: String
    ) throws(ConfigurationError) -> String {
        guard let (read, _) = try? parse(edited, file: file), read == configuration else {
            throw ConfigurationError(
                file: file,
                line: nil,
                problem: "\(subject) written in an unusual form; change it yourself"
            )
        }
        return edited
    }
}

/// A document that one line is changed of.
private struct Editing {
    private var text: [UInt8]
    private let statements: [KeyLines.Statement]
    private let file: String

    init(_ text: [UInt8], _ statements: [KeyLines.Statement], _ file: String) {
        self.text = text
        self.statements = statements
        self.file = file
    }

    /// Returns the document with `key` of `table` set to `value`, which is TOML.
    mutating func set(
        _ key: String,
        of table: [String],
        to value: String
    ) throws(ConfigurationError) -> String {
        let path = table + [key]
        if let present = statements.first(where: { !$0.key.isEmpty && $0.path == path }) {
            text.replaceSubrange(present.value, with: value.utf8)
        } else if let inline = statements.first(where: {
            !$0.key.isEmpty && path.starts(with: $0.path)
        }) {
            throw ConfigurationError(
                file: file,
                line: inline.line,
                problem: "\(inline.path.joined(separator: ".")) is in braces, where no line can be "
                    + "changed alone; write it as [\(table.joined(separator: "."))], or set its "
                    + "\(key) yourself"
            )
        } else if let header = statements.first(where: { $0.key.isEmpty && $0.table == table }) {
            let next = statements.first { !$0.key.isEmpty && $0.table == table }
            insert("\(key) = \(value)", after: header, indentedAs: next ?? header)
        } else if let dotted = statements.last(where: {
            !$0.key.isEmpty && $0.table.count < table.count && $0.path.starts(with: table)
        }) {
            let prefix = table.dropFirst(dotted.table.count).joined(separator: ".")
            insert("\(prefix).\(key) = \(value)", after: dotted, indentedAs: dotted)
        } else {
            append("[\(table.joined(separator: "."))]", "\(key) = \(value)")
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Inserts `line` below `statement`, as far to the right as `model`.
    private mutating func insert(
        _ line: String,
        after statement: KeyLines.Statement,
        indentedAs model: KeyLines.Statement
    ) {
        let indentation = text[model.lines].prefix { " \t".utf8.contains($0) }
        let end = lineEnd(of: statement.lines)
        var inserted = Array(indentation) + Array(line.utf8) + end
        if text[statement.lines].last != UInt8(ascii: "\n") {
            // It is the last line, and nothing ends it.
            inserted = end + inserted.dropLast(end.count)
        }
        text.insert(contentsOf: inserted, at: statement.lines.upperBound)
    }

    /// Adds a table at the end.
    private mutating func append(_ header: String, _ line: String) {
        let end = lineEnd(of: 0..<text.count)
        let isEmpty = text.isEmpty || text == [0xef, 0xbb, 0xbf]
        if !isEmpty {
            if text.last != UInt8(ascii: "\n") { text += end }
            text += end
        }
        text += Array(header.utf8) + end + Array(line.utf8) + end
    }

    /// Returns the line end that is used in `range`, or else the one of the document.
    private func lineEnd(of range: Range<Int>) -> [UInt8] {
        let newline = UInt8(ascii: "\n")
        guard let index = text[range].firstIndex(of: newline) ?? text.firstIndex(of: newline) else {
            return [newline]
        }
        let isLong = index > 0 && text[index - 1] == UInt8(ascii: "\r")
        return isLong ? [UInt8(ascii: "\r"), newline] : [newline]
    }
}
