extension Configuration {
    /// A key of the file, such as "output.width", with the value that it is to have.
    package struct Change: Hashable, Sendable {
        package let key: String
        package let value: Plain

        package init(_ key: String, _ value: Plain) { (self.key, self.value) = (key, value) }
    }

    /// All keys but those of lists and lenses, with their values.
    package var plain: [(key: String, value: Plain)] {
        Self.tables.flatMap { table in
            table.rows.compactMap { row in
                row.plain(self).flatMap { $0.list == nil ? (table.key(row), $0) : nil }
            }
        }
    }

    /// Sets one key. Throws `UnreadableValue` if there is no such key, or it cannot have the value.
    package mutating func set(_ change: Change) throws(UnreadableValue) {
        guard let (_, row) = Self.row(change.key) else {
            throw UnreadableValue(quoted(change.key), expected: "a key of the configuration")
        }
        try row.read(change.value, &self)
    }

    /// Returns the TOML document `text` with `changes`. Only their lines change or are added;
    /// comments, order and line ends stay. `file` names the document in messages. Throws
    /// `ConfigurationError` if the document or a change has a mistake, or a table is written so
    /// that no line of it can be changed alone.
    package static func setting(
        _ changes: [Change],
        in text: String,
        file: String
    ) throws(ConfigurationError) -> String {
        var (configuration, _) = try parse(text, file: file)
        var edited = text
        for change in changes {
            let before = configuration
            do throws(UnreadableValue) { try configuration.set(change) } catch {
                let problem = "\(change.key) is \(error.value), expected \(error.expected)"
                throw ConfigurationError(file: file, line: nil, problem: problem)
            }
            guard configuration != before, let (table, row) = row(change.key),
                let value = row.plain(configuration)
            else { continue }
            let (_, lines) = try parseTOML(edited, file: file)
            var editing = Editing(Array(edited.utf8), lines.statements, file)
            edited = try editing.set(row.key, of: table.path, to: value.toml())
        }
        // What was missed in editing, such as a key in escapes, shows here.
        guard let (read, _) = try? parse(edited, file: file), read == configuration else {
            let keys = changes.map(\.key).joined(separator: ", ")
            let problem = "\(keys): written in an unusual form; change it yourself"
            throw ConfigurationError(file: file, line: nil, problem: problem)
        }
        return edited
    }

    /// Returns what is known of a key such as "output.width"; `nil` if there is none.
    package static func facts(of key: String) -> SettingFacts? {
        SettingFacts(row(key)?.row, Configuration())
    }

    private static func row(_ key: String) -> (table: Table, row: Setting<Configuration>)? {
        for table in tables {
            if let row = table.rows.first(where: { table.key($0) == key }) { return (table, row) }
        }
        return nil
    }
}

extension Configuration.Table {
    /// Returns the whole name of one of its keys: "output.width".
    fileprivate func key(_ row: Setting<Configuration>) -> String {
        (path + [row.key]).joined(separator: ".")
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
