import Frames

/// A value as files, scenes and D-Bus share it.
package enum Plain: Hashable, Sendable {
    case bool(Bool)
    case int(Int)
    case double(Double)
    case text(String)
    case list([Plain])
    /// A value that no setting takes, as TOML: a table, a date, or what a later version wrote.
    case other(String)

    /// Takes over a value of a TOML document; `nil` if it is nested more than eight deep.
    init?(_ node: TOMLValue, depth: Int = 0) {
        guard depth < 8 else { return nil }
        switch node {
        case .plain(let plain): self = plain
        case .array(let elements):
            var list: [Plain] = []
            for element in elements {
                guard let plain = Plain(element, depth: depth + 1) else { return nil }
                list.append(plain)
            }
            self = .list(list)
        case .table(let table):
            var parts: [String] = []
            for (name, value) in table.sorted(by: { $0.key < $1.key }) {
                guard let plain = Plain(value, depth: depth + 1) else { return nil }
                parts.append("\(tomlKey(name)) = \(plain.toml(pointed: true))")
            }
            self = .other(parts.isEmpty ? "{}" : "{ \(parts.joined(separator: ", ")) }")
        }
    }

    /// Returns it as TOML. Whole numbers of the type `double` have a point if `pointed`.
    package func toml(pointed: Bool = false) -> String {
        switch self {
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .double(let value): pointed ? "\(value)" : decimal(value)
        case .text(let value): quoted(value)
        case .list(let values):
            "[\(values.map { $0.toml(pointed: pointed) }.joined(separator: ", "))]"
        case .other(let text): text
        }
    }

    /// The same with at most six decimals, so that what was computed back and forth is equal.
    var rounded: Plain {
        switch self {
        case .double(let number): .double((number * 1e6).rounded() / 1e6)
        case .list(let values): .list(values.map(\.rounded))
        case .bool, .int, .text, .other: self
        }
    }

    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    var int: Int? { if case .int(let value) = self { value } else { nil } }
    package var text: String? { if case .text(let value) = self { value } else { nil } }
    package var list: [Plain]? { if case .list(let values) = self { values } else { nil } }
    /// The value of a number, which may be written as a whole one.
    package var number: Double? {
        if case .double(let value) = self { value } else { int.map(Double.init) }
    }

    /// The value short enough for a message: scalars as written, anything else by its type.
    package var excerpt: String {
        switch self {
        case .text(let value):
            // An address may hold a password.
            let text = value.hasPrefix("url:") ? NetworkAddress.redacted(value) : value
            return quoted(text.count > 48 ? text.prefix(47) + "…" : text)
        case .int(let value): return "\(value)"
        case .double(let value): return "\(value)"
        case .bool(let value): return "\(value)"
        case .list(let values):
            let isShort = values.allSatisfy { value in
                if case .list = value { false } else { value.excerpt != "a table" }
            }
            guard values.count <= 4, isShort else { return "an array" }
            return "[\(values.map(\.excerpt).joined(separator: ", "))]"
        case .other(let text):
            return text.hasPrefix("{") ? "a table" : text.hasPrefix("[") ? "an array" : "a date"
        }
    }
}

/// Returns `key` as TOML writes a key.
func tomlKey(_ key: String) -> String {
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

/// Returns a number as text: "0.5", "64".
func decimal(_ value: Double) -> String {
    Int(exactly: value).map { "\($0)" } ?? "\(value)"
}
