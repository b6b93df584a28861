import Control
import Frames

/// A line in the user's own format: text with `{{ }}`, each with a name, a number, a "text" or a
/// function of them, as in playerctl(1).
struct Template {
    /// The error of a text that is not a template, as a sentence.
    struct Mistake: Error {
        let message: String
    }

    private indirect enum Part {
        case text(String)
        case name([String])
        case call(Function, [Part])
    }

    private struct Function: Sendable {
        let arity: Int
        let apply: @Sendable ([JSON]) -> JSON
    }

    private let parts: [Part]

    /// Parses `text`.
    ///
    /// - Throws: `Mistake` when a name is unknown or a part is not closed.
    init(_ text: String) throws(Mistake) {
        var parts: [Part] = []
        var rest = text[...]
        while let open = rest.firstRange(of: "{{") {
            parts.append(.text(String(rest[..<open.lowerBound])))
            var scanner = Scanner(rest: rest[open.upperBound...])
            parts.append(try scanner.expression())
            scanner.skipBlanks()
            guard scanner.rest.hasPrefix("}}") else {
                let place = scanner.rest.isEmpty ? "at the end" : "before \"\(scanner.rest)\""
                throw Mistake(message: "Expected }} \(place).")
            }
            rest = scanner.rest.dropFirst(2)
        }
        self.parts = parts + [.text(String(rest))]
    }

    /// Returns the line for `snapshot` without its line end; `nil` means that there is no daemon.
    func rendered(_ snapshot: Snapshot?) -> String {
        let document = Snapshot.members(snapshot)
        return parts.map { part in
            if case .text(let text) = part { return text }
            return Template.value(of: part, in: document).shown.printable
        }.joined()
    }

    private static func value(of part: Part, in document: [(String, JSON)]) -> JSON {
        switch part {
        case .text(let text): .string(text)
        case .name(let path): JSON.object(document).member(at: resolved(path, in: document))
        case .call(let function, let arguments):
            function.apply(arguments.map { value(of: $0, in: document) })
        }
    }

    /// Resolves "cameras.main" and "cameras.inset" to the cameras that have these places now.
    private static func resolved(_ path: [String], in document: [(String, JSON)]) -> [String] {
        guard path.count > 1, path[0] == "cameras", ["main", "inset"].contains(path[1]) else {
            return path
        }
        return [path[0], JSON.object(document).member(at: [path[1]]).shown] + path.dropFirst(2)
    }

    // MARK: - Functions

    private static let functions: [String: Function] = [
        "lc": Function(arity: 1) { .string($0[0].shown.lowercased()) },
        "uc": Function(arity: 1) { .string($0[0].shown.uppercased()) },
        "trunc": Function(arity: 2) { arguments in
            let text = arguments[0].shown
            guard let length = Int(arguments[1].shown).map({ max(0, $0) }) else {
                return .string(text)
            }
            return .string(text.count > length ? text.prefix(max(0, length - 1)) + "…" : text)
        },
        "default": Function(arity: 2) { $0[0].shown.isEmpty ? $0[1] : $0[0] },
        "choose": Function(arity: 3) {
            ["", "false", "0"].contains($0[0].shown) ? $0[2] : $0[1]
        },
        "emoji": Function(arity: 1) {
            switch $0[0].shown {
            case "streaming": .string("●")
            case "starting", "opening", "interrupted": .string("◐")
            default: .string("○")
            }
        },
        "markup_escape": Function(arity: 1) { .string($0[0].shown.escapedForMarkup) },
        "shell_escape": Function(arity: 1) { .string($0[0].shown.printable.quotedForShell) },
        "json": Function(arity: 1) { .string($0[0].text) },
    ]

    // MARK: - Reading

    private struct Scanner {
        /// The most functions within one another.
        private static let deepest = 32
        var rest: Substring
        private var depth = 0

        init(rest: Substring) { self.rest = rest }

        mutating func skipBlanks() { rest = rest.drop { $0 == " " || $0 == "\t" } }

        /// Parses the next expression.
        mutating func expression() throws(Mistake) -> Part {
            skipBlanks()
            if rest.first == "\"" { return .text(try quoted()) }
            let word = rest.prefix { $0.isLetter || $0.isNumber || "_.-".contains($0) }
            rest = rest.dropFirst(word.count)
            guard !word.isEmpty else {
                throw Mistake(message: "Expected a name before \"\(rest)\".")
            }
            skipBlanks()
            if rest.first == "(" { return try call(String(word)) }
            if Double(word) != nil { return .text(String(word)) }
            let path = word.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            try check(path)
            return .name(path)
        }

        private mutating func quoted() throws(Mistake) -> String {
            let text = rest.dropFirst().prefix { $0 != "\"" }
            guard text.endIndex < rest.endIndex else {
                throw Mistake(message: "Expected \" after \"\(text)\".")
            }
            rest = rest[text.endIndex...].dropFirst()
            return String(text)
        }

        private mutating func call(_ name: String) throws(Mistake) -> Part {
            guard let function = Template.functions[name] else {
                throw Mistake(
                    message: "There is no function \"\(name)\"; expected one of "
                        + Template.functions.keys.sorted().joined(separator: ", ") + "."
                )
            }
            depth += 1
            defer { depth -= 1 }
            guard depth <= Self.deepest else {
                throw Mistake(message: "Expected at most \(Self.deepest) functions in one another.")
            }
            var arguments: [Part] = []
            repeat {
                rest = rest.dropFirst()
                arguments.append(try expression())
                skipBlanks()
            } while rest.first == ","
            guard rest.first == ")" else {
                throw Mistake(message: "Expected ) before \"\(rest)\".")
            }
            rest = rest.dropFirst()
            guard arguments.count == function.arity else {
                throw Mistake(
                    message: "\(name) takes \(function.arity), not \(arguments.count) values."
                )
            }
            return .call(function, arguments)
        }

        /// Checks that `status --json` can have a member at `path`.
        ///
        /// - Throws: `Mistake` when it never has one.
        private func check(_ path: [String]) throws(Mistake) {
            var members = Snapshot.members(nil)
            // The members of the statistics depend on the daemon.
            if path.first == "statistics" { return }
            for (depth, name) in path.enumerated() {
                let isPlace =
                    depth == 1 && path[0] == "cameras" && ["main", "inset"].contains(name)
                guard let member = members.first(where: { $0.0 == name || isPlace }) else {
                    let before = path[..<depth].map { "\($0)." }.joined()
                    throw Mistake(
                        message: "There is no \"\(path.joined(separator: "."))\"; expected "
                            + (members.isEmpty
                                ? String(before.dropLast())
                                : "one of " + members.map { before + $0.0 }.joined(separator: ", "))
                            + "."
                    )
                }
                if case .object(let inner) = member.1 { members = inner } else { members = [] }
            }
        }
    }
}

extension JSON {
    /// Returns the member at `path`, or null if there is none.
    fileprivate func member(at path: [String]) -> JSON {
        guard let name = path.first else { return self }
        guard case .object(let members) = self,
            let member = members.first(where: { $0.0 == name })
        else { return .null }
        return member.1.member(at: Array(path.dropFirst()))
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
