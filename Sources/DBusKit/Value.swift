package import Platform

/// An open descriptor in a message, closed with its last reference.
package final class SharedDescriptor: Sendable {
    private final class Owner: Sendable {
        let descriptor: Descriptor
        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    }

    private let owner: Owner

    /// Takes ownership of the open descriptor `number`.
    package init(owning number: CInt) { owner = Owner(Descriptor(owning: number)) }

    package init(_ descriptor: consuming Descriptor) { owner = Owner(descriptor) }

    init(sharing other: SharedDescriptor) { owner = other.owner }

    /// The descriptor, valid during the life of this object.
    package var number: CInt { owner.descriptor.number }
}

/// A value of any D-Bus type.
package indirect enum Value: Hashable, Sendable {
    case byte(UInt8)
    case boolean(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    /// A string. D-Bus strings cannot hold U+0000, which is sent as U+FFFD.
    case string(String)
    case objectPath(ObjectPath)
    case signature(Signature)
    case descriptor(SharedDescriptor)
    case variant(Value)
    case array([Value], of: CompleteType)
    /// A dictionary, sent in the order of its keys, strings and paths by text and integers by
    /// value, so that equal dictionaries are sent alike. Other types of keys have no fixed order.
    case dictionary([Value: Value], key: CompleteType, value: CompleteType)
    /// A structure of at least one field.
    case structure([Value])

    /// The declared type of the value; see `isConsistent`.
    package var type: CompleteType {
        switch self {
        case .byte: .byte
        case .boolean: .boolean
        case .int16: .int16
        case .uint16: .uint16
        case .int32: .int32
        case .uint32: .uint32
        case .int64: .int64
        case .uint64: .uint64
        case .double: .double
        case .string: .string
        case .objectPath: .objectPath
        case .signature: .signature
        case .descriptor: .descriptor
        case .variant: .variant
        case .array(_, let element): .array(element)
        case .dictionary(_, let key, let value): .dictionary(key: key, value: value)
        case .structure(let fields): .structure(fields.map(\.type))
        }
    }

    /// `true` if elements have the types that their containers declare, no structure is empty, and
    /// nesting stays within the specification's limit of 64 containers.
    package var isConsistent: Bool { isConsistent(depth: 0) }

    private func isConsistent(depth: Int) -> Bool {
        guard depth <= 64 else { return false }
        switch self {
        case .variant(let value):
            return value.isConsistent(depth: depth + 1)
        case .array(let elements, let type):
            return elements.allSatisfy { $0.type == type && $0.isConsistent(depth: depth + 1) }
        case .dictionary(let entries, let key, let value):
            return key.isBasic
                && entries.allSatisfy {
                    $0.type == key && $1.type == value && $1.isConsistent(depth: depth + 2)
                }
        case .structure(let fields):
            return !fields.isEmpty && fields.allSatisfy { $0.isConsistent(depth: depth + 1) }
        default:
            return true
        }
    }
}

// MARK: - Making

extension Value {
    /// Returns an `a{sv}`, as for options, properties and statistics.
    package static func named(_ values: [String: Value]) -> Value {
        var entries: [Value: Value] = [:]
        for (name, value) in values { entries[.string(name)] = .variant(value) }
        return .dictionary(entries, key: .string, value: .variant)
    }

    /// Returns an `as`.
    package static func strings(_ strings: [String]) -> Value {
        .array(strings.map { .string($0) }, of: .string)
    }
}

// MARK: - Converting

extension Value {
    /// Returns the value as one of `type`: an integer may come in any integer type that it fits,
    /// also for a double; `nil` if it is of another kind or does not fit.
    func fitting(_ type: CompleteType) -> Value? {
        if self.type == type { return self }
        guard let number = integer else { return nil }
        switch type {
        case .byte: return UInt8(exactly: number).map { .byte($0) }
        case .int16: return Int16(exactly: number).map { .int16($0) }
        case .uint16: return UInt16(exactly: number).map { .uint16($0) }
        case .int32: return Int32(exactly: number).map { .int32($0) }
        case .uint32: return UInt32(exactly: number).map { .uint32($0) }
        case .int64: return Int64(exactly: number).map { .int64($0) }
        case .uint64: return UInt64(exactly: number).map { .uint64($0) }
        case .double: return .double(Double(number))
        default: return nil
        }
    }
}

// MARK: - Reading

/// The content of a value; `nil` for other types.
extension Value {
    package var string: String? { String(dbus: self) }
    package var boolean: Bool? { Bool(dbus: self) }
    package var double: Double? { Double(dbus: self) }
    package var objectPath: ObjectPath? { ObjectPath(dbus: self) }
    /// The value of any integer type if it fits an `Int`; `nil` for other types.
    package var integer: Int? {
        switch self {
        case .byte(let number): Int(number)
        case .int16(let number): Int(number)
        case .uint16(let number): Int(number)
        case .int32(let number): Int(number)
        case .uint32(let number): Int(number)
        case .int64(let number): Int(number)
        case .uint64(let number): Int(exactly: number)
        default: nil
        }
    }
    /// The elements of an array; `nil` for other types.
    package var array: [Value]? {
        if case .array(let elements, _) = self { elements } else { nil }
    }
    /// The fields of a structure; `nil` for other types.
    package var structure: [Value]? {
        if case .structure(let fields) = self { fields } else { nil }
    }
    /// The entries of an `a{sv}` without their variants; `nil` for other types.
    package var named: [String: Value]? {
        guard case .dictionary(let entries, .string, .variant) = self else { return nil }
        var values: [String: Value] = [:]
        for (key, value) in entries {
            guard case .string(let name) = key, case .variant(let value) = value else { continue }
            values[name] = value
        }
        return values
    }
    /// The reply of GetManagedObjects: properties, by object and interface; `nil` for other types.
    package var objects: [ObjectPath: [String: [String: Value]]]? {
        guard case .dictionary(let objects, .objectPath, _) = self else { return nil }
        var values: [ObjectPath: [String: [String: Value]]] = [:]
        for (path, interfaces) in objects {
            guard let path = path.objectPath,
                case .dictionary(let interfaces, .string, _) = interfaces
            else { continue }
            for (name, properties) in interfaces {
                values[path, default: [:]][name.string ?? ""] = properties.named
            }
        }
        return values
    }
}

extension SharedDescriptor: Hashable {
    /// Compares the objects, not the files that they refer to.
    package static func == (a: SharedDescriptor, b: SharedDescriptor) -> Bool {
        a.owner === b.owner
    }
    /// Hashes the identity.
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(owner)) }
}
