import ArgumentParser
import Control
import Frames

/// A line in the user's own format: text with `{{ }}`, each with a name, a number, a "text" or a
/// function of them, as in playerctl(1).
struct Template {
    /// The pieces of the line, each made from the document of `status --json`.
    private let parts: [(JSON) -> String]

    /// Parses `text`. Throws when a name is unknown or a part is not closed.
    init(_ text: String) throws(ValidationError) {
        var parts: [(JSON) -> String] = []
        var rest = text[...]
        while let open = rest.firstRange(of: "{{") {
            let before = String(rest[..<open.lowerBound])
            var scanner = Scanner(rest: rest[open.upperBound...])
            let value = try scanner.expression()
            scanner.skipBlanks()
            let place = scanner.rest.isEmpty ? "at the end" : "before \"\(scanner.rest)\""
            try expect(scanner.rest.hasPrefix("}}"), "Expected }} \(place).")
            parts += [{ _ in before }, { value($0).shown.printable }]
            rest = scanner.rest.dropFirst(2)
        }
        let end = String(rest)
        self.parts = parts + [{ _ in end }]
    }

    /// Returns the line for `snapshot` without its line end; `nil` means that there is no daemon.
    func rendered(_ snapshot: Snapshot?) -> String {
        let document = JSON.object(Snapshot.members(snapshot))
        return parts.map { $0(document) }.joined()
    }

    /// Resolves "cameras.main" and "cameras.inset" to the cameras that have these places now.
    private static func resolved(_ path: [String], in document: JSON) -> [String] {
        guard path.count > 1, path[0] == "cameras", ["main", "inset"].contains(path[1]) else {
            return path
        }
        return [path[0], document.member(at: [path[1]]).shown] + path.dropFirst(2)
    }

    // MARK: - Functions

    /// The functions, each with its number of values.
    private static let functions: [String: (arity: Int, apply: @Sendable ([JSON]) -> JSON)] = [
        "lc": (1, { .string($0[0].shown.lowercased()) }),
        "uc": (1, { .string($0[0].shown.uppercased()) }),
        "trunc": (
            2,
            { arguments in
                let text = arguments[0].shown
                let length = max(0, Int(arguments[1].shown) ?? .max)
                return .string(text.count > length ? text.prefix(max(0, length - 1)) + "…" : text)
            }
        ),
        "default": (2, { $0[0].shown.isEmpty ? $0[1] : $0[0] }),
        "choose": (3, { ["", "false", "0"].contains($0[0].shown) ? $0[2] : $0[1] }),
        "emoji": (
            1,
            {
                switch $0[0].shown {
                case "streaming": .string("●")
                case "starting", "opening", "interrupted": .string("◐")
                default: .string("○")
                }
            }
        ),
        "markup_escape": (1, { .string($0[0].shown.escapedForMarkup) }),
        "shell_escape": (1, { .string($0[0].shown.printable.quotedForShell) }),
        "json": (1, { .string($0[0].text) }),
    ]

    // MARK: - Reading

    private struct Scanner {
        /// The most functions within one another.
        private static let deepest = 32
        var rest: Substring
        private var depth = 0

        init(rest: Substring) { self.rest = rest }

        mutating func skipBlanks() { rest = rest.drop { $0 == " " || $0 == "\t" } }

        mutating func expression() throws(ValidationError) -> (JSON) -> JSON {
            skipBlanks()
            if rest.first == "\"" {
                let text = try quoted()
                return { _ in .string(text) }
            }
            let word = rest.prefix { $0.isLetter || $0.isNumber || "_.-".contains($0) }
            rest = rest.dropFirst(word.count)
            try expect(!word.isEmpty, "Expected a name before \"\(rest)\".")
            skipBlanks()
            if rest.first == "(" { return try call(String(word)) }
            if Double(word) != nil { return { _ in .string(String(word)) } }
            let path = word.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            try check(path)
            return { $0.member(at: Template.resolved(path, in: $0)) }
        }

        private mutating func quoted() throws(ValidationError) -> String {
            let text = rest.dropFirst().prefix { $0 != "\"" }
            try expect(text.endIndex < rest.endIndex, "Expected \" after \"\(text)\".")
            rest = rest[text.endIndex...].dropFirst()
            return String(text)
        }

        private mutating func call(_ name: String) throws(ValidationError) -> (JSON) -> JSON {
            guard let (arity, apply) = Template.functions[name] else {
                throw ValidationError(
                    "There is no function \"\(name)\"; expected one of "
                        + Template.functions.keys.sorted().joined(separator: ", ") + "."
                )
            }
            depth += 1
            defer { depth -= 1 }
            try expect(
                depth <= Self.deepest,
                "Expected at most \(Self.deepest) functions in one another."
            )
            var arguments: [(JSON) -> JSON] = []
            repeat {
                rest = rest.dropFirst()
                arguments.append(try expression())
                skipBlanks()
            } while rest.first == ","
            try expect(rest.first == ")", "Expected ) before \"\(rest)\".")
            rest = rest.dropFirst()
            let count = arguments.count
            try expect(count == arity, "\(name) takes \(arity), not \(count) values.")
            return { [arguments] document in apply(arguments.map { $0(document) }) }
        }

        /// Checks that `status --json` can have a member at `path`.
        private func check(_ path: [String]) throws(ValidationError) {
            var members = Snapshot.members(nil)
            // The members of the statistics depend on the daemon.
            if path.first == "statistics" { return }
            for (depth, name) in path.enumerated() {
                let isPlace =
                    depth == 1 && path[0] == "cameras" && ["main", "inset"].contains(name)
                guard let member = members.first(where: { $0.0 == name || isPlace }) else {
                    let before = path[..<depth].map { "\($0)." }.joined()
                    let known =
                        members.isEmpty
                        ? String(before.dropLast())
                        : "one of " + members.map { before + $0.0 }.joined(separator: ", ")
                    throw ValidationError(
                        "There is no \"\(path.joined(separator: "."))\"; expected \(known)."
                    )
                }
                members = member.1.members
            }
        }
    }
}

extension JSON {
    /// The members of an object; none of what is no object.
    fileprivate var members: [(String, JSON)] {
        if case .object(let members) = self { members } else { [] }
    }

    /// Returns the member at `path`, or null if there is none.
    fileprivate func member(at path: [String]) -> JSON {
        path.reduce(self) { json, name in json.members.first { $0.0 == name }?.1 ?? .null }
    }

    fileprivate var shown: String {
        switch self {
        case .null: ""
        case .string(let text): text
        case .array(let elements): elements.map(\.shown).joined(separator: ", ")
        default: text
        }
    }
}
