import Frames
import TOMLKit

/// The user's scenes by name, with those that come with the program. As text it is TOML; what a
/// later version wrote into it is kept.
package struct SceneBook: Hashable, Sendable {
    /// A preset and its name.
    struct Entry: Hashable {
        var name: String
        var preset: ScenePreset
    }

    /// The user's own, in the order in which they were saved.
    private var own: [Entry] = []
    /// The names of those of the program's that the user removed.
    private var removed: [String] = []
    /// The keys of a later version beside the scenes, as TOML.
    private var unread: [String: String] = [:]

    /// The largest number of scenes of the user's.
    package static let mostScenes = 100
    /// The largest number of characters of a name.
    package static let longestName = 40
    /// The largest file that is written, in bytes: what `parseTOML` reads, and some room.
    private static let mostBytes = 240_000

    /// The scenes that come with the program.
    package init() {}

    /// A reason why scenes cannot be changed as asked.
    package enum Refusal: Error, Hashable, CustomStringConvertible {
        /// There is none of this name.
        case unknown(String, known: [String])
        /// There is one of this name already.
        case taken(String)
        /// It is no name.
        case name(String)
        /// There are too many, or they are too long.
        case full
        /// It is no text of scenes.
        case unreadable(String)

        /// The reason as a sentence.
        package var description: String {
            switch self {
            case .unknown(let name, let known):
                "There is no scene “\(name.prefix(64))”. There are \(known.joined(separator: ", "))."
            case .taken(let name): "There is a scene “\(name)” already."
            case .name(let problem): "This cannot be a scene's name: \(problem)."
            case .full:
                "There is no room for more scenes: at most \(SceneBook.mostScenes), and 240 kB."
            case .unreadable(let problem): problem
            }
        }
    }

    // MARK: The program's

    private static func preset(_ change: (inout ScenePreset) -> Void) -> ScenePreset {
        var preset = ScenePreset()
        preset.title = .some(nil)
        change(&preset)
        return preset
    }

    /// The scenes that come with the program.
    private static let builtIn: [Entry] = [
        Entry(
            name: "talk",
            preset: preset {
                $0.main = .front
                $0.layout = .single
            }
        ),
        Entry(
            name: "desk",
            preset: preset {
                $0.main = .back
                $0.layout = .pip
                $0.insetVisible = true
                $0.insetSize = 0.2
            }
        ),
        Entry(
            name: "demo",
            preset: preset {
                $0.main = .back
                $0.layout = .sideBySide
            }
        ),
        Entry(
            name: "away",
            preset: preset {
                $0.title = try? Title(lines: ["Back soon"])
                $0.isPrivate = true
            }
        ),
    ]

    // MARK: Reading

    private var entries: [Entry] {
        let others = own.filter { entry in !Self.builtIn.contains { $0.name == entry.name } }
        return Self.builtIn.compactMap { entry in
            own.first { $0.name == entry.name } ?? (removed.contains(entry.name) ? nil : entry)
        } + others
    }

    /// The names of all scenes: the program's first, then the user's in the order of saving.
    package var names: [String] { entries.map(\.name) }

    /// Returns the preset called `name`.
    ///
    /// - Throws: `unknown`.
    package func preset(_ name: String) throws(Refusal) -> ScenePreset {
        guard let entry = entries.first(where: { $0.name == name }) else {
            throw .unknown(name, known: names)
        }
        return entry.preset
    }

    /// Returns the name after `name`, and the first after the last or an unknown one; `nil` if
    /// there are no scenes.
    package func next(after name: String) -> String? {
        let names = names
        guard let index = names.firstIndex(of: name) else { return names.first }
        return names[(index + 1) % names.count]
    }

    // MARK: Changing

    /// Saves `preset` as `name`, in place of one that is there. What a later version wrote into
    /// that is kept.
    ///
    /// - Throws: `name`, `full`.
    package mutating func save(_ preset: ScenePreset, as name: String) throws(Refusal) {
        try Self.checkName(name)
        var book = self
        var preset = preset
        if let index = book.own.firstIndex(where: { $0.name == name }) {
            let before = book.own[index].preset
            func kept(
                _ old: [String: String],
                _ values: [(key: String, text: String)]
            )
                -> [String: String]
            {
                old.filter { key, _ in !values.contains { $0.key == key } }
            }
            preset.unread.merge(kept(before.unread, preset.values)) { new, _ in new }
            for role in Role.allCases {
                let (old, new) = (before.cameras[role].unread, preset.cameras[role].values)
                preset.cameras[role].unread.merge(kept(old, new)) { new, _ in new }
                // The table of the camera takes the place of what had its name.
                if !preset.cameras[role].values.isEmpty { preset.unread[role.rawValue] = nil }
            }
            book.own[index].preset = preset
        } else {
            book.own.append(Entry(name: name, preset: preset))
        }
        book.removed.removeAll { $0 == name }
        try book.checkSize()
        self = book
    }

    /// Removes the scene called `name`. One of the program's comes back if it was replaced by the
    /// user's, and is gone otherwise.
    ///
    /// - Throws: `unknown`.
    package mutating func remove(_ name: String) throws(Refusal) {
        _ = try preset(name)
        let count = own.count
        own.removeAll { $0.name == name }
        if own.count == count { removed.append(name) }
    }

    /// Renames a scene.
    ///
    /// - Throws: `unknown`, `taken`, `name`, `full`.
    package mutating func rename(_ name: String, to new: String) throws(Refusal) {
        let preset = try preset(name)
        try Self.checkName(new)
        guard name != new else { return }
        guard !names.contains(new) else { throw .taken(new) }
        var book = self
        if let index = book.own.firstIndex(where: { $0.name == name }) {
            book.own[index].name = new
        } else {
            book.own.append(Entry(name: new, preset: preset))
        }
        if Self.builtIn.contains(where: { $0.name == name }), !book.removed.contains(name) {
            book.removed.append(name)
        }
        book.removed.removeAll { $0 == new }
        try book.checkSize()
        self = book
    }

    /// Adds the scenes of `text`, which `exported` made, and returns their names. Those of the
    /// same names, the program's too, are replaced if `replacing`; equal ones stay in any case.
    ///
    /// - Throws: `unreadable`, `taken`, `full`.
    package mutating func add(_ text: String, replacing: Bool) throws(Refusal) -> [String] {
        let other: SceneBook
        do throws(ConfigurationError) {
            other = try SceneBook(parsing: text)
        } catch {
            let place = error.line.map { "Line \($0) of these scenes" } ?? "These scenes"
            throw .unreadable("\(place) cannot be read: \(error.problem).")
        }
        guard !other.own.isEmpty else { throw .unreadable("There are no scenes in this text.") }
        var book = self
        for entry in other.own {
            let present = book.entries.first { $0.name == entry.name }
            guard entry != present else { continue }
            guard replacing || present == nil else { throw .taken(entry.name) }
            let index = book.own.firstIndex { $0.name == entry.name }
            if let index { book.own[index] = entry } else { book.own.append(entry) }
            book.removed.removeAll { $0 == entry.name }
        }
        try book.checkSize()
        self = book
        return other.own.map(\.name)
    }

    /// Checks what is to be a name.
    ///
    /// - Throws: `name`.
    package static func checkName(_ name: String) throws(Refusal) {
        do throws(UnreadableValue) { try checkLine(name, upTo: longestName) } catch {
            throw .name("\(error.value): expected \(error.expected)")
        }
        guard let first = name.first, let last = name.last, !first.isWhitespace, !last.isWhitespace,
            first != "-"
        else { throw .name("it is empty, or begins or ends with a space or a dash") }
    }

    private func checkSize() throws(Refusal) {
        guard own.count <= Self.mostScenes, text.utf8.count <= Self.mostBytes,
            !text.utf8.split(separator: UInt8(ascii: "\n")).contains(where: { $0.count > 4000 })
        else { throw .full }
    }

    // MARK: As a file

    /// The text that `init(parsing:)` reads: TOML.
    package var text: String {
        var lines = ["# DualCam's scenes; it writes this file itself."]
        if !removed.isEmpty {
            lines.append("removed = [\(removed.map { quoted($0) }.joined(separator: ", "))]")
        }
        lines += unread.sorted { $0.key < $1.key }.map { "\(Self.key($0.key)) = \($0.value)" }
        return lines.joined(separator: "\n") + "\n" + own.map { "\n" + Self.text(of: $0) }.joined()
    }

    /// Returns the scenes of these names as TOML, which `add` reads.
    ///
    /// - Throws: `unknown`.
    package func exported(_ names: [String]) throws(Refusal) -> String {
        var texts: [String] = []
        for name in names {
            texts.append(Self.text(of: Entry(name: name, preset: try preset(name))))
        }
        return texts.joined(separator: "\n")
    }

    private static func text(of entry: Entry) -> String {
        func lines(_ values: [(key: String, text: String)]) -> [String] {
            values.map { "\(key($0.key)) = \($0.text)" }
        }
        var all = ["[[scene]]", "name = \(quoted(entry.name))"] + lines(entry.preset.values)
        for role in Role.allCases {
            let values = entry.preset.cameras[role].values
            if !values.isEmpty { all += ["[scene.\(role.rawValue)]"] + lines(values) }
        }
        return all.joined(separator: "\n") + "\n"
    }

    private static func key(_ key: String) -> String {
        let isBare =
            !key.isEmpty
            && key.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
        return isBare ? key : quoted(key)
    }

    /// Parses `text`, the content of `file`.
    ///
    /// A value that this version cannot read is kept as it is, and has no effect.
    ///
    /// - Throws: `ConfigurationError` if it is no TOML, is too long, or has no names for its
    ///   scenes.
    package init(parsing text: String, file: String = "scenes.toml") throws(ConfigurationError) {
        func failure(_ problem: String) -> ConfigurationError {
            ConfigurationError(file: file, line: nil, problem: problem)
        }
        let root = try parseTOML(text, file: file).root
        for key in root.keys where key != "scene" && key != "removed" {
            unread[key] = try root[key].map { node throws(ConfigurationError) in
                try Self.written(node, failure)
            }
        }
        if let array = root["removed"]?.array {
            removed = array.compactMap { $0.string }.filter { name in
                Self.builtIn.contains { $0.name == name }
            }
        }
        guard let node = root["scene"] else { return }
        guard let scenes = node.array, scenes.count <= Self.mostScenes else {
            throw failure("expected at most \(Self.mostScenes) tables [[scene]]")
        }
        for element in scenes {
            guard let table = element.table, let name = table["name"]?.string else {
                throw failure("a scene has no name")
            }
            do throws(Refusal) { try Self.checkName(name) } catch { throw failure("\(error)") }
            guard !own.contains(where: { $0.name == name }) else {
                throw failure("there are two scenes \(quoted(name))")
            }
            var preset = ScenePreset()
            try Self.read(
                table,
                SceneField<ScenePreset>.all,
                &preset,
                \.unread,
                besides: ["name"] + Role.allCases.map(\.rawValue),
                failure
            )
            for role in Role.allCases {
                guard let node = table[role.rawValue] else { continue }
                guard let camera = node.table else {
                    preset.unread[role.rawValue] = try Self.written(node, failure)
                    continue
                }
                try Self.read(
                    camera,
                    SceneField<CameraPreset>.all,
                    &preset.cameras[role],
                    \.unread,
                    failure
                )
            }
            own.append(Entry(name: name, preset: preset))
        }
        do throws(Refusal) { try checkSize() } catch { throw failure("\(error)") }
    }

    private static func read<Owner>(
        _ table: TOMLTable,
        _ fields: [SceneField<Owner>],
        _ owner: inout Owner,
        _ unread: WritableKeyPath<Owner, [String: String]>,
        besides others: [String] = [],
        _ failure: (String) -> ConfigurationError
    ) throws(ConfigurationError) {
        for key in table.keys where !others.contains(key) {
            guard let node = table[key] else { continue }
            do throws(UnreadableValue) {
                guard let field = fields.first(where: { $0.key == key }) else {
                    throw UnreadableValue(key, expected: "a key of this version")
                }
                try field.read(node, &owner)
            } catch {
                owner[keyPath: unread][key] = try written(node, failure)
            }
        }
    }

    /// Returns a value that this version cannot read, as TOML on one line.
    private static func written(
        _ node: any TOMLValueConvertible,
        depth: Int = 0,
        _ failure: (String) -> ConfigurationError
    ) throws(ConfigurationError) -> String {
        guard depth < 8 else { throw failure("values nested more than 8 deep") }
        switch node.type {
        case .string: return quoted(node.string ?? "")
        case .bool: return "\(node.bool ?? false)"
        case .int: return "\(node.int ?? 0)"
        case .double:
            let number = node.double ?? 0
            return number.isNaN
                ? "nan" : number.isInfinite ? number < 0 ? "-inf" : "inf" : "\(number)"
        case .array:
            var parts: [String] = []
            for element in node.array ?? TOMLArray() {
                parts.append(try written(element, depth: depth + 1, failure))
            }
            return "[\(parts.joined(separator: ", "))]"
        case .table:
            var parts: [String] = []
            if let table = node.table {
                for name in table.keys {
                    guard let value = table[name] else { continue }
                    let text = try written(value, depth: depth + 1, failure)
                    parts.append("\(key(name)) = \(text)")
                }
            }
            return parts.isEmpty ? "{}" : "{ \(parts.joined(separator: ", ")) }"
        case .date, .time, .dateTime:
            // "v = 2026-11-22"
            return String(TOMLTable(["v": node]).convert(to: .toml).dropFirst(4))
        }
    }
}
