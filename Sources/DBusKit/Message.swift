import CDBus
import Platform

/// The part of a call that its answer needs.
struct ReplyAddress {
    /// The unique name of the caller; empty without a bus.
    let sender: String
    let member: String
    /// `false` if the caller ignores answers.
    let wantsReply: Bool
    fileprivate let serial: dbus_uint32_t

    init(of call: Message) {
        sender = call.sender ?? ""
        member = call.member ?? "The call"
        wantsReply = call.wantsReply
        serial = dbus_message_get_serial(call.pointer)
    }
}

/// An owned message, the only code that uses DBusMessage. Bound to the connection's thread.
final class Message {
    /// The raw message, valid during the life of this object.
    let pointer: OpaquePointer

    /// Takes ownership of one reference to `pointer`.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    /// Retains `pointer`, as given to callbacks.
    init(retaining pointer: OpaquePointer) { self.pointer = dbus_message_ref(pointer) }

    deinit { dbus_message_unref(pointer) }

    /// Creates a method call. Throws `InvalidArgs` for an invalid name or argument, `NoMemory`.
    convenience init(_ call: MethodCall) throws(DBusError) {
        guard isValid(call.destination, dbus_validate_bus_name) else {
            throw .invalidArguments("“\(call.destination)” is not a bus name")
        }
        guard isValid(call.interface, dbus_validate_interface) else {
            throw .invalidArguments("“\(call.interface)” is not an interface name")
        }
        guard isValid(call.member, dbus_validate_member) else {
            throw .invalidArguments("“\(call.member)” is not a member name")
        }
        guard
            let pointer = dbus_message_new_method_call(
                call.destination,
                call.path.text,
                call.interface,
                call.member
            )
        else { throw .noMemory }
        self.init(owning: pointer)
        dbus_message_set_auto_start(pointer, call.startsService ? 1 : 0)
        try append(call.arguments)
    }

    /// Creates a signal. Throws `InvalidArgs` for a value that cannot be sent, `NoMemory`.
    convenience init(
        signal member: String,
        of interface: String,
        at path: ObjectPath,
        _ values: [Value]
    ) throws(DBusError) {
        precondition(isValid(interface, dbus_validate_interface), "not an interface: \(interface)")
        precondition(isValid(member, dbus_validate_member), "not a member: \(member)")
        guard let pointer = dbus_message_new_signal(path.text, interface, member) else {
            throw .noMemory
        }
        self.init(owning: pointer)
        try append(values)
    }

    /// Creates an answer. Throws `InvalidArgs` for a value that cannot be sent, `NoMemory`.
    convenience init(replyTo address: ReplyAddress, _ values: [Value]) throws(DBusError) {
        try self.init(DBUS_MESSAGE_TYPE_METHOD_RETURN, to: address)
        try append(values)
    }

    /// Creates an answer that is an error, cut to 1024 characters. Throws `NoMemory`.
    convenience init(_ error: DBusError, replyTo address: ReplyAddress) throws(DBusError) {
        precondition(isValid(error.name, dbus_validate_error_name), "not a name: \(error.name)")
        try self.init(DBUS_MESSAGE_TYPE_ERROR, to: address)
        guard dbus_message_set_error_name(pointer, error.name) != 0 else { throw .noMemory }
        try append([.string(String(error.message.unicodeScalars.prefix(1024)))])
    }

    /// As dbus_message_new_method_return(), but without the call.
    private convenience init(_ kind: CInt, to address: ReplyAddress) throws(DBusError) {
        guard let pointer = dbus_message_new(kind) else { throw .noMemory }
        self.init(owning: pointer)
        dbus_message_set_no_reply(pointer, 1)
        guard dbus_message_set_reply_serial(pointer, address.serial) != 0,
            address.sender.isEmpty || dbus_message_set_destination(pointer, address.sender) != 0
        else { throw .noMemory }
    }

    /// The message type: DBUS_MESSAGE_TYPE_….
    var kind: CInt { dbus_message_get_type(pointer) }
    var path: ObjectPath? { text(dbus_message_get_path).flatMap(ObjectPath.init) }
    var interface: String? { text(dbus_message_get_interface) }
    var member: String? { text(dbus_message_get_member) }
    /// The unique name of the sender, guaranteed by the bus.
    var sender: String? { text(dbus_message_get_sender) }
    /// The signature of the body, such as "sa{sv}".
    var signature: String { text(dbus_message_get_signature) ?? "" }
    var wantsReply: Bool { dbus_message_get_no_reply(pointer) == 0 }

    private func text(_ field: (OpaquePointer?) -> UnsafePointer<CChar>?) -> String? {
        field(pointer).map { String(cString: $0) }
    }

    /// The error in the message, or `nil` for other types of message.
    var error: DBusError? {
        guard kind == DBUS_MESSAGE_TYPE_ERROR else { return nil }
        let name = text(dbus_message_get_error_name) ?? "org.freedesktop.DBus.Error.Failed"
        let message = (try? values())?.first?.string
        return DBusError(name, message ?? "")
    }

    /// Returns the values of the body. Throws `LimitsExceeded` above 100,000 values: no caller
    /// needs as many, and at the size that the bus permits they would take gigabytes.
    func values() throws(DBusError) -> [Value] {
        var iterator = DBusMessageIter()
        guard dbus_message_iter_init(pointer, &iterator) != 0 else { return [] }
        var reader = MessageReader(remaining: 100_000)
        return try reader.row(&iterator)
    }

    /// Appends `values` to the body. Throws `InvalidArgs` for values that are inconsistent or
    /// cannot be represented, `NoMemory`. The message must then not be sent.
    func append(_ values: [Value]) throws(DBusError) {
        guard values.allSatisfy(\.isConsistent) else {
            throw .invalidArguments("a value whose elements are not what it declares, or too deep")
        }
        _ = try Signature(parsing: Signature(values.map(\.type)).text)
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(pointer, &iterator)
        for value in values { try MessageWriter.append(value, to: &iterator) }
    }
}

/// Returns `text` without U+0000, which D-Bus cannot send: U+FFFD takes its place.
func wireText(_ text: String) -> String {
    guard text.utf8.contains(0) else { return text }
    return String(
        String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 })
    )
}

/// The DBUS_TYPE_… constants, whose casts Swift does not import.
enum TypeCode {
    static let byte = CInt(UInt8(ascii: "y"))
    static let boolean = CInt(UInt8(ascii: "b"))
    static let int16 = CInt(UInt8(ascii: "n"))
    static let uint16 = CInt(UInt8(ascii: "q"))
    static let int32 = CInt(UInt8(ascii: "i"))
    static let uint32 = CInt(UInt8(ascii: "u"))
    static let int64 = CInt(UInt8(ascii: "x"))
    static let uint64 = CInt(UInt8(ascii: "t"))
    static let double = CInt(UInt8(ascii: "d"))
    static let string = CInt(UInt8(ascii: "s"))
    static let objectPath = CInt(UInt8(ascii: "o"))
    static let signature = CInt(UInt8(ascii: "g"))
    static let descriptor = CInt(UInt8(ascii: "h"))
    static let variant = CInt(UInt8(ascii: "v"))
    static let array = CInt(UInt8(ascii: "a"))
    static let structure = CInt(UInt8(ascii: "r"))
    static let entry = CInt(UInt8(ascii: "e"))
    static let end: CInt = 0
}
