extension Configuration {
    /// Returns the configuration in the TOML document `text`, with a warning for each unknown key.
    ///
    /// Keys that `text` does not mention have their defaults. `file` names the document in
    /// messages. Throws `ConfigurationError` for the first problem by line: TOML that does not
    /// parse, a value of the wrong type or out of its range. Takes some milliseconds, so not on a
    /// thread that draws.
    package static func parse(
        _ text: String,
        file: String
    ) throws(ConfigurationError) -> (Configuration, warnings: [ConfigurationWarning]) {
        let (root, lines) = try parseTOML(text, file: file)
        var parser = ConfigurationParser(file: file, lines: lines)
        let configuration = parser.configuration(from: root)
        if let error = parser.errors.min(by: { $0.line ?? 0 < $1.line ?? 0 }) { throw error }
        return (configuration, parser.warnings)
    }

    /// Returns all errors and warnings of the TOML document `text` in the order of its lines, and
    /// the configuration, in which values with an error have their defaults. After an error of TOML
    /// that may cause others, the rest of the document is not checked.
    package static func check(
        _ text: String,
        file: String
    ) -> (Configuration, errors: [ConfigurationError], warnings: [ConfigurationWarning]) {
        let (rest, mistakes) = withoutMistakes(text, file: file)
        guard let (root, lines) = try? parseTOML(rest, file: file) else {
            return (Configuration(), mistakes, [])
        }
        var parser = ConfigurationParser(file: file, lines: lines)
        let configuration = parser.configuration(from: root)
        let errors = mistakes + parser.errors
        return (
            configuration, errors.sorted { ($0.line ?? 0) < ($1.line ?? 0) },
            parser.warnings
        )
    }
}

/// Reads one document, and collects the errors and warnings of its tables.
private struct ConfigurationParser {
    let file: String
    let lines: KeyLines
    var errors: [ConfigurationError] = []
    /// The unknown keys, and those known in their place.
    private var unknown: [(line: Int, path: [String], known: [String])] = []
    private static let mostWarnings = 20
    private static let mostLenses = 32

    init(file: String, lines: KeyLines) { (self.file, self.lines) = (file, lines) }

    /// The warnings by line.
    var warnings: [ConfigurationWarning] {
        let found = unknown.sorted { $0.line < $1.line }.prefix(Self.mostWarnings)
        return found.enumerated().map { index, key in
            ConfigurationWarning(
                file: file,
                line: key.line,
                key: text(of: key.path),
                suggestion: nearest(to: key.path.last ?? "", among: key.known),
                others: index == found.count - 1 ? unknown.count - found.count : 0
            )
        }
    }

    mutating func configuration(from root: TOMLTable) -> Configuration {
        var configuration = Configuration()
        let tables = Configuration.tables
        func names(below path: [String]) -> [String] {
            tables.filter { Array($0.path.dropLast()) == path }.compactMap(\.path.last)
        }
        warn(ofOthersThan: names(below: []), in: root, at: [])
        for (path, rows) in tables.map({ ($0.path, $0.rows) }) {
            guard let table = table(at: path, of: root) else { continue }
            let role = path.count == 2 ? path.last.flatMap(Role.init(rawValue:)) : nil
            let others = names(below: path) + (role == nil ? [] : ["lenses"])
            read(&configuration, rows, besides: others, of: table, at: path)
            if let role, let lenses = table["lenses"] {
                configuration.cameras[role].lenses = self.lenses(lenses, at: path + ["lenses"])
            }
        }
        return configuration
    }

    private mutating func read<Owner>(
        _ owner: inout Owner,
        _ rows: [Setting<Owner>],
        besides others: [String] = [],
        of table: TOMLTable,
        at path: [String]
    ) {
        for row in rows {
            guard let plain = table[row.key].map(plain) else { continue }
            do { try row.read(plain, &owner) } catch {
                let expected = "is \(plain.excerpt), expected \(error.expected)"
                refuse(path + [row.key], error.reason.map { "cannot be: \($0)" } ?? expected)
            }
        }
        warn(ofOthersThan: rows.map(\.key) + others, in: table, at: path)
    }

    private mutating func lenses(
        _ node: TOMLValue,
        at path: [String]
    ) -> [Configuration.LensSettings] {
        guard let array = node.array, array.allSatisfy({ $0.table != nil }) else {
            refuse(
                path,
                "is \(plain(node).excerpt), expected tables, each headed [[\(text(of: path))]]"
            )
            return []
        }
        guard array.count <= Self.mostLenses else {
            refuse(path, "has \(array.count) lenses, expected at most \(Self.mostLenses)")
            return []
        }
        var lenses: [Configuration.LensSettings] = []
        for (index, element) in array.enumerated() {
            guard let table = element.table else { continue }
            let path = path + ["[\(index)]"]
            var lens = Configuration.LensSettings(name: "", factor: 1)
            for key in ["name", "factor"] where table[key] == nil {
                refuse(path + [key], "is missing")
            }
            read(&lens, Configuration.LensSettings.rows, of: table, at: path)
            if lenses.contains(where: { $0.name == lens.name }), table["name"] != nil {
                refuse(path + ["name"], "is \(quoted(lens.name)), the name of another lens")
            }
            lenses.append(lens)
        }
        return lenses
    }

    /// Returns the value of `node`, or what no setting takes if it is nested too deep.
    private func plain(_ node: TOMLValue) -> Plain { Plain(node) ?? .other("[") }

    private mutating func table(at path: [String], of root: TOMLTable) -> TOMLTable? {
        let parent = path.dropLast().reduce(Optional(root)) { $0?[$1]?.table }
        guard let name = path.last, let node = parent?[name] else { return nil }
        guard let table = node.table else {
            refuse(path, "is \(plain(node).excerpt), expected a table, headed [\(text(of: path))]")
            return nil
        }
        return table
    }

    private mutating func warn(ofOthersThan known: [String], in table: TOMLTable, at path: [String])
    {
        for name in table.keys.sorted() where !known.contains(name) {
            let path = path + [name]
            unknown.append((lines.line(of: path), path, known))
        }
    }

    private mutating func refuse(_ path: [String], _ problem: String) {
        errors.append(
            ConfigurationError(
                file: file,
                line: lines.line(of: path),
                problem: "\(text(of: path)) \(problem)"
            )
        )
    }

    /// Returns the path as text: "cameras.back.lenses[0].name".
    private func text(of path: [String]) -> String {
        path.dropFirst().reduce(path.first ?? "") { text, part in
            part.hasPrefix("[") ? text + part : "\(text).\(part)"
        }
    }
}
