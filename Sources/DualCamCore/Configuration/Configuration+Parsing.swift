import TOMLKit

extension Configuration {
    /// Returns the configuration in the TOML document `text`, with a warning for each unknown key.
    ///
    /// Keys that `text` does not mention have their defaults. `file` names the document in
    /// messages.
    ///
    /// - Throws: `ConfigurationError` for the first problem by line: TOML that does not parse, a
    ///   value of the wrong type or out of its range.
    ///
    /// - Context: Takes some milliseconds, so not on a thread that draws.
    package static func parse(
        _ text: String,
        file: String
    ) throws(ConfigurationError) -> (Configuration, warnings: [ConfigurationWarning]) {
        let (root, lines) = try parseTOML(text, file: file)
        var parser = ConfigurationParser(file: file, lines: lines)
        let configuration = parser.configuration(from: root)
        if let error = parser.errors.min(by: { $0.line ?? 0 < $1.line ?? 0 }) { throw error }
        return (configuration, parser.warnings.sorted { $0.line < $1.line })
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
            parser.warnings.sorted { $0.line < $1.line }
        )
    }
}

/// Reads one document, and collects the errors and warnings of its tables.
private struct ConfigurationParser {
    let file: String
    let lines: KeyLines
    var errors: [ConfigurationError] = []
    var warnings: [ConfigurationWarning] = []

    mutating func configuration(from root: TOMLTable) -> Configuration {
        var configuration = Configuration()
        warn(
            ofOthersThan: [
                "output", "cameras", "scene", "capture", "state", "access", "loopback", "desktop",
            ],
            in: root,
            at: []
        )
        read(&configuration.output, Configuration.Output.keys, from: root, at: ["output"])
        read(&configuration.scene, Configuration.SceneSettings.keys, from: root, at: ["scene"])
        read(&configuration.capture, Configuration.Capture.keys, from: root, at: ["capture"])
        read(&configuration.state, Configuration.State.keys, from: root, at: ["state"])
        read(&configuration.access, Configuration.Access.keys, from: root, at: ["access"])
        read(&configuration.loopback, Configuration.Loopback.keys, from: root, at: ["loopback"])
        read(&configuration.desktop, Configuration.Desktop.keys, from: root, at: ["desktop"])
        if let cameras = table("cameras", of: root, at: []) {
            read(
                &configuration,
                Configuration.cameraKeys,
                besides: Role.allCases.map(\.rawValue),
                of: cameras,
                at: ["cameras"]
            )
            for role in Role.allCases {
                let path = ["cameras", role.rawValue]
                read(
                    &configuration.cameras[role],
                    Configuration.Camera.keys,
                    besides: ["lenses"],
                    from: cameras,
                    at: path
                )
                if let camera = cameras[role.rawValue]?.table, let lenses = camera["lenses"] {
                    configuration.cameras[role].lenses = self.lenses(lenses, at: path + ["lenses"])
                }
            }
        }
        return configuration
    }

    /// Reads the table at `path`, an entry of `parent`, into `owner`.
    private mutating func read<Owner>(
        _ owner: inout Owner,
        _ keys: [ConfigurationKey<Owner>],
        besides others: [String] = [],
        from parent: TOMLTable,
        at path: [String]
    ) {
        guard let name = path.last, let table = table(name, of: parent, at: path.dropLast()) else {
            return
        }
        read(&owner, keys, besides: others, of: table, at: path)
    }

    private mutating func read<Owner>(
        _ owner: inout Owner,
        _ keys: [ConfigurationKey<Owner>],
        besides others: [String] = [],
        of table: TOMLTable,
        at path: [String]
    ) {
        for key in keys {
            guard let node = table[key.name] else { continue }
            do { try key.read(node, &owner) } catch {
                let expected = "is \(excerpt(of: node)), expected \(error.expected)"
                refuse(path + [key.name], error.reason.map { "cannot be: \($0)" } ?? expected)
            }
        }
        warn(ofOthersThan: keys.map(\.name) + others, in: table, at: path)
    }

    private mutating func lenses(
        _ node: any TOMLValueConvertible,
        at path: [String]
    ) -> [Configuration.LensSettings] {
        guard let array = node.array, array.allSatisfy({ $0.type == .table }) else {
            refuse(
                path,
                "is \(excerpt(of: node)), expected tables, each headed [[\(text(of: path))]]"
            )
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
            read(&lens, Configuration.LensSettings.keys, of: table, at: path)
            if lenses.contains(where: { $0.name == lens.name }), table["name"] != nil {
                refuse(path + ["name"], "is \(quoted(lens.name)), the name of another lens")
            }
            lenses.append(lens)
        }
        return lenses
    }

    private mutating func table(
        _ name: String,
        of parent: TOMLTable,
        at path: some Collection<String>
    ) -> TOMLTable? {
        guard let node = parent[name] else { return nil }
        guard let table = node.table else {
            let path = path + [name]
            refuse(path, "is \(excerpt(of: node)), expected a table, headed [\(text(of: path))]")
            return nil
        }
        return table
    }

    private mutating func warn(ofOthersThan known: [String], in table: TOMLTable, at path: [String])
    {
        for name in table.keys where !known.contains(name) {
            let path = path + [name]
            warnings.append(
                ConfigurationWarning(
                    file: file,
                    line: lines.line(of: path),
                    key: text(of: path),
                    suggestion: nearest(to: name, among: known)
                )
            )
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

/// Returns the word among `words` that `word` most likely misspells, or `nil` if none is close.
package func nearest(to word: String, among words: [String]) -> String? {
    guard word.utf8.count <= 128 else { return nil }
    return words.map { (word: $0, distance: word.distance(to: $0)) }
        .filter { $0.distance <= 1 + $0.word.utf8.count / 5 }
        .min { $0.distance < $1.distance }?
        .word
}

extension String {
    /// Returns the number of letters to insert, delete or change to get `other` (Levenshtein).
    package func distance(to other: String) -> Int {
        var row = Array(0...other.count)
        for (line, letter) in enumerated() {
            var corner = row[0]
            row[0] = line + 1
            for (column, wanted) in other.enumerated() {
                let changed = corner + (letter == wanted ? 0 : 1)
                corner = row[column + 1]
                row[column + 1] = Swift.min(changed, row[column] + 1, corner + 1)
            }
        }
        return row[other.count]
    }
}
