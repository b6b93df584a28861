import DBusKit

/// A JSON document, written in one line with its keys in the order given.
indirect enum JSON {
    case null
    case boolean(Bool)
    case number(String)
    case string(String)
    case array([JSON])
    case object([(String, JSON)])
    /// A value that is written as JSON already.
    case written(String)

    /// Creates the JSON form of `value` without its D-Bus type: null for `nil` and for values that
    /// JSON cannot express.
    init(_ value: Value?) {
        switch value {
        case .boolean(let flag): self = .boolean(flag)
        case .double(let number) where number.isFinite: self = .number("\(number)")
        case .string(let text): self = .string(text)
        case .objectPath(let path): self = .string(path.text)
        case .uint64(let number): self = .number("\(number)")
        case .variant(let inner): self = JSON(inner)
        case .array(let elements, _): self = .array(elements.map { JSON($0) })
        case .structure(let fields): self = .array(fields.map { JSON($0) })
        case .dictionary:
            let entries = (value?.named ?? [:]).sorted { $0.key < $1.key }
            self = .object(entries.map { ($0.key, JSON($0.value)) })
        default: self = value?.integer.map { .number("\($0)") } ?? .null
        }
    }

    /// Creates the JSON form of a value for D-Bus.
    init(_ content: (some DBusType)?) { self.init(content?.dbus) }

    /// Returns the document that a command prints: the version of the format, then `members`.
    static func document(_ members: [(String, JSON)]) -> String {
        JSON.object([("version", .number("1"))] + members).text + "\n"
    }

    /// The same document with keys in camel case: "frames-published" becomes "framesPublished".
    var camelCased: JSON {
        guard case .object(let members) = self else { return self }
        return .object(
            members.map { key, value in
                let words = key.split(separator: "-")
                let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
                return (([words.first.map(String.init) ?? ""] + rest).joined(), value.camelCased)
            }
        )
    }

    /// The document as text.
    var text: String {
        switch self {
        case .null: "null"
        case .boolean(let flag): flag ? "true" : "false"
        case .number(let digits), .written(let digits): digits
        case .string(let text): JSON.quoted(text)
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { JSON.quoted($0) + ":" + $1.text }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            // Control characters, which a terminal would obey, and two that some readers take for
            // line ends.
            case "\u{2028}", "\u{2029}",
                _ where scalar.properties.generalCategory == .control:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
