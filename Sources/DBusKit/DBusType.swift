/// A Swift type whose values are D-Bus values of one type.
package protocol DBusType: Sendable {
    static var dbusType: CompleteType { get }
    /// Takes over a value of that type; `nil` for a value of any other.
    init?(dbus value: Value)
    var dbus: Value { get }
}

extension Bool: DBusType {
    package static var dbusType: CompleteType { .boolean }
    package init?(dbus value: Value) {
        guard case .boolean(let flag) = value else { return nil }
        self = flag
    }
    package var dbus: Value { .boolean(self) }
}

extension Int32: DBusType {
    package static var dbusType: CompleteType { .int32 }
    package init?(dbus value: Value) {
        guard case .int32(let number) = value else { return nil }
        self = number
    }
    package var dbus: Value { .int32(self) }
}

extension UInt32: DBusType {
    package static var dbusType: CompleteType { .uint32 }
    package init?(dbus value: Value) {
        guard case .uint32(let number) = value else { return nil }
        self = number
    }
    package var dbus: Value { .uint32(self) }
}

extension UInt64: DBusType {
    package static var dbusType: CompleteType { .uint64 }
    package init?(dbus value: Value) {
        guard case .uint64(let number) = value else { return nil }
        self = number
    }
    package var dbus: Value { .uint64(self) }
}

extension Double: DBusType {
    package static var dbusType: CompleteType { .double }
    /// Takes over a `d`, which may be NaN or infinite.
    package init?(dbus value: Value) {
        guard case .double(let number) = value else { return nil }
        self = number
    }
    package var dbus: Value { .double(self) }
}

/// A value of any type, a `v`.
package struct Variant: DBusType {
    package let value: Value
    package init(_ value: Value) { self.value = value }
    package static var dbusType: CompleteType { .variant }
    package init?(dbus value: Value) {
        guard case .variant(let inner) = value else { return nil }
        self.init(inner)
    }
    package var dbus: Value { .variant(value) }
}

extension String: DBusType {
    package static var dbusType: CompleteType { .string }
    package init?(dbus value: Value) {
        guard case .string(let text) = value else { return nil }
        self = text
    }
    package var dbus: Value { .string(self) }
}

extension ObjectPath: DBusType {
    package static var dbusType: CompleteType { .objectPath }
    package init?(dbus value: Value) {
        guard case .objectPath(let path) = value else { return nil }
        self = path
    }
    package var dbus: Value { .objectPath(self) }
}

extension SharedDescriptor: DBusType {
    package static var dbusType: CompleteType { .descriptor }
    /// Shares the descriptor of an `h`.
    package convenience init?(dbus value: Value) {
        guard case .descriptor(let descriptor) = value else { return nil }
        self.init(sharing: descriptor)
    }
    package var dbus: Value { .descriptor(self) }
}

extension Array: DBusType where Element: DBusType {
    package static var dbusType: CompleteType { .array(Element.dbusType) }
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
    package var dbus: Value { .array(map(\.dbus), of: Element.dbusType) }
}

extension Dictionary: DBusType where Key == String, Value == DBusKit.Value {
    package static var dbusType: CompleteType { .dictionary(key: .string, value: .variant) }
    /// Takes over an `a{sv}`, without its variants.
    package init?(dbus value: DBusKit.Value) {
        guard let named = value.named else { return nil }
        self = named
    }
    package var dbus: DBusKit.Value { .named(self) }
}

/// A structure of two fields, such as a `(dd)`.
package struct Pair<First: DBusType, Second: DBusType>: DBusType {
    package let first: First
    package let second: Second

    package init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    package static var dbusType: CompleteType {
        .structure([First.dbusType, Second.dbusType])
    }
    package init?(dbus value: Value) {
        guard case .structure(let fields) = value, fields.count == 2,
            let first = First(dbus: fields[0]), let second = Second(dbus: fields[1])
        else { return nil }
        self.init(first, second)
    }
    package var dbus: Value { .structure([first.dbus, second.dbus]) }
}
