/// The type of one value: a "single complete type" of the D-Bus specification.
package indirect enum CompleteType: Hashable, Sendable {
    case byte, boolean, int16, uint16, int32, uint32, int64, uint64, double
    case string, objectPath, signature, descriptor, variant
    case array(CompleteType)
    /// An array of entries. The key is a basic type.
    case dictionary(key: CompleteType, value: CompleteType)
    /// A structure of at least one field.
    case structure([CompleteType])

    /// Parses the one complete type in `text`. Throws `InvalidArgs` unless there is exactly one.
    package init(parsing text: String) throws(DBusError) {
        let types = try Signature(parsing: text).types
        guard types.count == 1, let type = types.first else {
            throw .invalidArguments("“\(text)” is not one complete type")
        }
        self = type
    }

    /// The type as text, such as "a{sv}".
    package var code: String {
        switch self {
        case .byte: "y"
        case .boolean: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .descriptor: "h"
        case .variant: "v"
        case .array(let element): "a" + element.code
        case .dictionary(let key, let value): "a{" + key.code + value.code + "}"
        case .structure(let fields): "(" + fields.map(\.code).joined() + ")"
        }
    }

    /// `true` for a type without elements, which a key may have. A variant is not basic.
    package var isBasic: Bool {
        switch self {
        case .variant, .array, .dictionary, .structure: false
        default: true
        }
    }
}

extension CompleteType: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) {
        do { self = try CompleteType(parsing: text) } catch { preconditionFailure(error.message) }
    }
}

/// The types of a sequence of values, such as the arguments of a method.
package struct Signature: Hashable, Sendable {
    package let types: [CompleteType]

    package init(_ types: [CompleteType]) { self.types = types }

    /// Parses `text` according to the specification: at most 255 bytes, with arrays and structures
    /// nested at most 32 levels each. Throws `InvalidArgs` for an invalid signature.
    package init(parsing text: String) throws(DBusError) {
        guard text.utf8.count <= 255 else {
            throw .invalidArguments("a signature of more than 255 bytes")
        }
        var parser = Parser(rest: Array(text.utf8)[...])
        var types: [CompleteType] = []
        while !parser.rest.isEmpty {
            guard let type = parser.type(arrays: 0, structures: 0) else {
                throw .invalidArguments("“\(text)” is not a signature")
            }
            types.append(type)
        }
        self.types = types
    }

    package var text: String { types.map(\.code).joined() }

    private struct Parser {
        var rest: ArraySlice<UInt8>

        mutating func type(arrays: Int, structures: Int) -> CompleteType? {
            guard let code = rest.popFirst() else { return nil }
            switch code {
            case UInt8(ascii: "a"):
                return array(arrays: arrays + 1, structures: structures)
            case UInt8(ascii: "("):
                return structure(arrays: arrays, structures: structures + 1)
            case UInt8(ascii: "v"): return .variant
            default: return CompleteType.basic[code]
            }
        }

        private mutating func array(arrays: Int, structures: Int) -> CompleteType? {
            guard arrays <= 32 else { return nil }
            guard rest.first == UInt8(ascii: "{") else {
                return type(arrays: arrays, structures: structures).map { .array($0) }
            }
            rest.removeFirst()
            guard structures < 32, let key = type(arrays: arrays, structures: structures),
                key.isBasic,
                let value = type(arrays: arrays, structures: structures + 1),
                rest.popFirst() == UInt8(ascii: "}")
            else { return nil }
            return .dictionary(key: key, value: value)
        }

        private mutating func structure(arrays: Int, structures: Int) -> CompleteType? {
            guard structures <= 32 else { return nil }
            var fields: [CompleteType] = []
            while rest.first != UInt8(ascii: ")") {
                guard let field = type(arrays: arrays, structures: structures) else { return nil }
                fields.append(field)
            }
            rest.removeFirst()
            return fields.isEmpty ? nil : .structure(fields)
        }
    }
}

extension CompleteType {
    fileprivate static let basic: [UInt8: CompleteType] = [
        UInt8(ascii: "y"): .byte, UInt8(ascii: "b"): .boolean, UInt8(ascii: "n"): .int16,
        UInt8(ascii: "q"): .uint16, UInt8(ascii: "i"): .int32, UInt8(ascii: "u"): .uint32,
        UInt8(ascii: "x"): .int64, UInt8(ascii: "t"): .uint64, UInt8(ascii: "d"): .double,
        UInt8(ascii: "s"): .string, UInt8(ascii: "o"): .objectPath, UInt8(ascii: "g"): .signature,
        UInt8(ascii: "h"): .descriptor,
    ]
}
