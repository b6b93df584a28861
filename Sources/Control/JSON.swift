package import DBusKit
import Frames

/// A JSON document, written in one line with its keys in the order given.
package indirect enum JSON {
    case null
    case boolean(Bool)
    case number(String)
    case string(String)
    case array([JSON])
    case object([(String, JSON)])
    /// A value that is written as JSON already.
    case written(String)

    /// The JSON of `value` without its D-Bus type: null for `nil` and what JSON cannot express.
    package init(_ value: Value?) {
        switch value {
        case .boolean(let flag): self = .boolean(flag)
        case .double(let number) where number.isFinite: self = .number(number.tidy)
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

    package init(_ content: (some DBusType)?) { self.init(content?.dbus) }

    /// Returns the document that a command prints: the version of the format, then `members`.
    package static func document(_ members: [(String, JSON)]) -> String {
        JSON.object([("version", .number("1"))] + members).text + "\n"
    }

    /// The same document with keys in camel case: "frames-published" becomes "framesPublished".
    package var camelCased: JSON {
        guard case .object(let members) = self else { return self }
        return .object(
            members.map { key, value in
                let words = key.split(separator: "-")
                let rest = words.dropFirst().map(\.capitalizedFirst)
                return (([words.first.map(String.init) ?? ""] + rest).joined(), value.camelCased)
            }
        )
    }

    package var text: String {
        switch self {
        case .null: "null"
        case .boolean(let flag): flag ? "true" : "false"
        case .number(let digits): digits
        case .written(let text): text.unicodeScalars.map(JSON.escaped).joined()
        case .string(let text): JSON.quoted(text)
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { JSON.quoted($0) + ":" + $1.text }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        let characters = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case "\n": "\\n"
            case "\t": "\\t"
            default: escaped(scalar)
            }
        }
        return "\"\(characters.joined())\""
    }

    /// Returns a character of a string, without one that a terminal or another reader would obey.
    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        guard scalar.isCommand else { return String(scalar) }
        return String(scalar).utf16.map { unit in
            "\\u" + String(0x10000 + UInt32(unit), radix: 16).dropFirst()
        }.joined()
    }
}

extension Double {
    /// The number as people write it, to a millionth, without the dust of sums.
    package var tidy: String {
        let rounded = (self * 1e6).rounded() / 1e6
        // No zero is negative.
        return rounded.isFinite ? Int(exactly: rounded).map { "\($0)" } ?? "\(rounded)" : "\(self)"
    }
}
