/// A Swift type whose values are D-Bus values of one type.
package protocol DBusType: Sendable {
    /// The type on the bus.
    static var dbusType: CompleteType { get }
    /// Takes over a value of that type; `nil` for a value of any other.
    init?(dbus value: Value)
    /// The value for the bus.
    var dbus: Value { get }
}

extension Bool: DBusType {
    /// `b`
    package static var dbusType: CompleteType { .boolean }
    /// Takes over a `b`.
    package init?(dbus value: Value) {
        guard case .boolean(let flag) = value else { return nil }
        self = flag
    }
    /// A `b`.
    package var dbus: Value { .boolean(self) }
}

extension Int32: DBusType {
    /// `i`
    package static var dbusType: CompleteType { .int32 }
    /// Takes over an `i`.
    package init?(dbus value: Value) {
        guard case .int32(let number) = value else { return nil }
        self = number
    }
    /// An `i`.
    package var dbus: Value { .int32(self) }
}

extension UInt32: DBusType {
    /// `u`
    package static var dbusType: CompleteType { .uint32 }
    /// Takes over a `u`.
    package init?(dbus value: Value) {
        guard case .uint32(let number) = value else { return nil }
        self = number
    }
    /// A `u`.
    package var dbus: Value { .uint32(self) }
}

extension UInt64: DBusType {
    /// `t`
    package static var dbusType: CompleteType { .uint64 }
    /// Takes over a `t`.
    package init?(dbus value: Value) {
        guard case .uint64(let number) = value else { return nil }
        self = number
    }
    /// A `t`.
    package var dbus: Value { .uint64(self) }
}

extension Double: DBusType {
    /// `d`
    package static var dbusType: CompleteType { .double }
    /// Takes over a `d`, which may be NaN or infinite.
    package init?(dbus value: Value) {
        guard case .double(let number) = value else { return nil }
        self = number
    }
    /// A `d`.
    package var dbus: Value { .double(self) }
}

extension String: DBusType {
    /// `s`
    package static var dbusType: CompleteType { .string }
    /// Takes over an `s`.
    package init?(dbus value: Value) {
        guard case .string(let text) = value else { return nil }
        self = text
    }
    /// An `s`.
    package var dbus: Value { .string(self) }
}

extension ObjectPath: DBusType {
    /// `o`
    package static var dbusType: CompleteType { .objectPath }
    /// Takes over an `o`.
    package init?(dbus value: Value) {
        guard case .objectPath(let path) = value else { return nil }
        self = path
    }
    /// An `o`.
    package var dbus: Value { .objectPath(self) }
}

extension SharedDescriptor: DBusType {
    /// `h`
    package static var dbusType: CompleteType { .descriptor }
    /// Shares the descriptor of an `h`.
    package convenience init?(dbus value: Value) {
        guard case .descriptor(let descriptor) = value else { return nil }
        self.init(sharing: descriptor)
    }
    /// An `h`.
    package var dbus: Value { .descriptor(self) }
}

extension Array: DBusType where Element: DBusType {
    /// `a` and the type of the elements.
    package static var dbusType: CompleteType { .array(Element.dbusType) }
    /// Takes over an array.
    package init?(dbus value: Value) {
        guard case .array(let values, Element.dbusType) = value else { return nil }
        var elements: [Element] = []
        elements.reserveCapacity(values.count)
        for value in values {
            guard let element = Element(dbus: value) else { return nil }
            elements.append(element)
        }
        self = elements
    }
    /// An array.
    package var dbus: Value { .array(map(\.dbus), of: Element.dbusType) }
}

extension Dictionary: DBusType where Key == String, Value == DBusKit.Value {
    /// `a{sv}`
    package static var dbusType: CompleteType { .dictionary(key: .string, value: .variant) }
    /// Takes over an `a{sv}`, without its variants.
    package init?(dbus value: DBusKit.Value) {
        guard let named = value.named else { return nil }
        self = named
    }
    /// An `a{sv}`.
    package var dbus: DBusKit.Value { .named(self) }
}

/// A structure of two fields, such as a `(dd)`.
package struct Pair<First: DBusType, Second: DBusType>: DBusType {
    /// The first field.
    package let first: First
    /// The second field.
    package let second: Second

    /// Creates a structure.
    package init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    /// The types of both fields, in parentheses.
    package static var dbusType: CompleteType {
        .structure([First.dbusType, Second.dbusType])
    }
    /// Takes over a structure of these two types.
    package init?(dbus value: Value) {
        guard case .structure(let fields) = value, fields.count == 2,
            let first = First(dbus: fields[0]), let second = Second(dbus: fields[1])
        else { return nil }
        self.init(first, second)
    }
    /// A structure.
    package var dbus: Value { .structure([first.dbus, second.dbus]) }
}
