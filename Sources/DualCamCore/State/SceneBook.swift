import Frames

/// The user's scenes by name, with those that come with the program. As text it is TOML; what a
/// later version wrote into it is kept.
package struct SceneBook: Hashable, Sendable {
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
    package static let mostScenes = 100
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

    private static func entry(_ name: String, _ values: [String: Plain]) -> Entry {
        var preset = ScenePreset()
        preset.values = values
        return Entry(name: name, preset: preset)
    }

    /// The scenes that come with the program.
    private static let builtIn: [Entry] = [
        entry("talk", ["main": .text("front"), "layout": .text("single")]),
        entry(
            "desk",
            [
                "main": .text("back"), "layout": .text("pip"), "inset-visible": .bool(true),
                "inset-shape": .text("rectangle"), "inset-size": .double(0.2),
            ]
        ),
        entry(
            "presenter",
            [
                "main": .text("back"), "layout": .text("pip"), "inset-visible": .bool(true),
                "inset-shape": .text("person"), "inset-corner": .text("bottom-right"),
                "inset-size": .double(0.7),
            ]
        ),
        entry("demo", ["main": .text("back"), "layout": .text("side-by-side")]),
        entry("away", ["title": .list([.text("Back soon")]), "privacy": .bool(true)]),
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

    /// Returns the preset called `name`. Throws `unknown`.
    package func preset(_ name: String) throws(Refusal) -> ScenePreset {
        guard let entry = entries.first(where: { $0.name == name }) else {
            throw .unknown(name, known: names)
        }
        return entry.preset
    }

    /// Returns the name after `name`, and the first after the last or an unknown one, leaving out
    /// those that close the cameras; `nil` if there are no others.
    package func next(after name: String) -> String? {
        let entries = entries
        let start = entries.firstIndex { $0.name == name }.map { $0 + 1 } ?? 0
        return (entries[start...] + entries[..<start]).first { $0.preset.isPrivate != true }?.name
    }

    // MARK: Changing

    /// Saves `preset` as `name`, in place of one that is there. What a later version wrote into
    /// that is kept. Throws `name`, `full`.
    package mutating func save(_ preset: ScenePreset, as name: String) throws(Refusal) {
        try Self.checkName(name)
        var book = self
        var preset = preset
        if let index = book.own.firstIndex(where: { $0.name == name }) {
            let before = book.own[index].preset
            func keep(_ old: [String: Plain], in new: inout [String: Plain]) {
                for key in old.unreadKeys where new[key] == nil { new[key] = old[key] }
            }
            keep(before.values, in: &preset.values)
            for role in Role.allCases {
                keep(before.cameras[role], in: &preset.cameras[role])
                // The table of the camera takes the place of what had its name.
                if !preset.cameras[role].isEmpty { preset.values[role.rawValue] = nil }
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
    /// user's, and is gone otherwise. Throws `unknown`.
    package mutating func remove(_ name: String) throws(Refusal) {
        _ = try preset(name)
        let count = own.count
        own.removeAll { $0.name == name }
        if own.count == count { removed.append(name) }
    }

    /// Renames a scene. Throws `unknown`, `taken`, `name`, `full`.
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

    /// Adds the scenes of `text`, which `exported` made, and returns their names. Those of the same
    /// names, the program's too, are replaced if `replacing`; equal ones stay in any case. Throws
    /// `unreadable`, `taken`, `full`.
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

    /// Checks what is to be a name. Throws `name`.
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
        lines += unread.sorted { $0.key < $1.key }.map { "\(tomlKey($0.key)) = \($0.value)" }
        return lines.joined(separator: "\n") + "\n" + own.map { "\n" + Self.text(of: $0) }.joined()
    }

    /// Returns the scenes of these names as TOML, which `add` reads, each once. Throws `unknown`.
    package func exported(_ names: [String]) throws(Refusal) -> String {
        var texts: [String] = []
        var done: Set<String> = []
        for name in names where done.insert(name).inserted {
            texts.append(Self.text(of: Entry(name: name, preset: try preset(name))))
        }
        return texts.joined(separator: "\n")
    }

    private static func text(of entry: Entry) -> String {
        func lines(_ entries: [(key: String, value: Plain)]) -> [String] {
            entries.map { "\(tomlKey($0.key)) = \($0.value.toml())" }
        }
        var all = ["[[scene]]", "name = \(quoted(entry.name))"]
        all += lines(Settings.scenes.entries(of: entry.preset.values))
        for role in Role.allCases {
            let own = CameraSettings.scenes.entries(of: entry.preset.cameras[role])
            if !own.isEmpty { all += ["[scene.\(role.rawValue)]"] + lines(own) }
        }
        return all.joined(separator: "\n") + "\n"
    }

    /// Parses `text`, the content of `file`. A value that this version cannot read is kept as it
    /// is, and has no effect. Throws `ConfigurationError` if it is no TOML, is too long, or has no
    /// names for its scenes.
    package init(parsing text: String, file: String = "scenes.toml") throws(ConfigurationError) {
        func failure(_ problem: String) -> ConfigurationError {
            ConfigurationError(file: file, line: nil, problem: problem)
        }
        func plain(_ node: TOMLValue) throws(ConfigurationError) -> Plain {
            guard let plain = Plain(node) else { throw failure("values nested more than 8 deep") }
            return plain
        }
        let root = try parseTOML(text, file: file).root
        for key in root.keys where key != "scene" && key != "removed" {
            unread[key] = try root[key].map(plain)?.toml(pointed: true)
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
            for key in table.keys where key != "name" {
                guard let node = table[key] else { continue }
                if let role = Role(rawValue: key), let camera = node.table {
                    for key in camera.keys {
                        preset.cameras[role][key] = try camera[key].map(plain).map {
                            CameraSettings.scenes.canonical($0, of: key, CameraSettings())
                        }
                    }
                } else {
                    let value = try plain(node)
                    preset.values[key] = Settings.scenes.canonical(value, of: key, .widest)
                }
            }
            own.append(Entry(name: name, preset: preset))
        }
        do throws(Refusal) { try checkSize() } catch { throw failure("\(error)") }
    }
}
