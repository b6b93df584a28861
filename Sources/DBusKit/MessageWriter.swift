import CDBus

enum MessageWriter {
    /// Appends `value` at `iterator`. Throws `InvalidArgs` for a variant or signature that is too
    /// long, `NoMemory`. The message is then of no use.
    static func append(_ value: Value, to iterator: inout DBusMessageIter) throws(DBusError) {
        switch value {
        case .byte(let number): try basic(TypeCode.byte, number, &iterator)
        case .boolean(let flag): try basic(TypeCode.boolean, dbus_bool_t(flag ? 1 : 0), &iterator)
        case .int16(let number): try basic(TypeCode.int16, number, &iterator)
        case .uint16(let number): try basic(TypeCode.uint16, number, &iterator)
        case .int32(let number): try basic(TypeCode.int32, number, &iterator)
        case .uint32(let number): try basic(TypeCode.uint32, number, &iterator)
        case .int64(let number): try basic(TypeCode.int64, number, &iterator)
        case .uint64(let number): try basic(TypeCode.uint64, number, &iterator)
        case .double(let number): try basic(TypeCode.double, number, &iterator)
        case .string(let text): try self.text(TypeCode.string, wireText(text), &iterator)
        case .objectPath(let path): try text(TypeCode.objectPath, path.text, &iterator)
        case .signature(let signature):
            // A signature made from types in code may be longer than D-Bus permits.
            try text(TypeCode.signature, Signature(parsing: signature.text).text, &iterator)
        case .descriptor(let descriptor):
            try basic(TypeCode.descriptor, descriptor.number, &iterator)
        case .variant(let inner):
            let code = try Signature(parsing: inner.type.code).text
            try container(TypeCode.variant, code, [inner], &iterator)
        case .array(let elements, let type):
            try container(TypeCode.array, type.code, elements, &iterator)
        case .dictionary(let entries, let key, let value):
            try dictionary(entries, code: "{\(key.code)\(value.code)}", &iterator)
        case .structure(let fields):
            try container(TypeCode.structure, nil, fields, &iterator)
        }
    }

    private static func basic<T>(
        _ code: CInt,
        _ value: T,
        _ iterator: inout DBusMessageIter
    ) throws(DBusError) {
        let isAppended = withUnsafePointer(to: value) {
            dbus_message_iter_append_basic(&iterator, code, $0) != 0
        }
        guard isAppended else { throw .noMemory }
    }

    private static func text(
        _ code: CInt,
        _ text: String,
        _ iterator: inout DBusMessageIter
    ) throws(DBusError) {
        let isAppended = text.withCString { text in
            withUnsafePointer(to: text) {
                dbus_message_iter_append_basic(&iterator, code, $0) != 0
            }
        }
        guard isAppended else { throw .noMemory }
    }

    private static func container(
        _ code: CInt,
        _ contents: String?,
        _ values: [Value],
        _ iterator: inout DBusMessageIter
    ) throws(DBusError) {
        var inner = DBusMessageIter()
        guard dbus_message_iter_open_container(&iterator, code, contents, &inner) != 0 else {
            throw .noMemory
        }
        do {
            for value in values { try append(value, to: &inner) }
        } catch {
            dbus_message_iter_abandon_container(&iterator, &inner)
            throw error
        }
        guard dbus_message_iter_close_container(&iterator, &inner) != 0 else { throw .noMemory }
    }

    private static func dictionary(
        _ entries: [Value: Value],
        code: String,
        _ iterator: inout DBusMessageIter
    ) throws(DBusError) {
        var inner = DBusMessageIter()
        guard dbus_message_iter_open_container(&iterator, TypeCode.array, code, &inner) != 0
        else { throw .noMemory }
        do {
            for (key, value) in entries.sorted(by: { isOrdered($0.key, $1.key) }) {
                try container(TypeCode.entry, nil, [key, value], &inner)
            }
        } catch {
            dbus_message_iter_abandon_container(&iterator, &inner)
            throw error
        }
        guard dbus_message_iter_close_container(&iterator, &inner) != 0 else { throw .noMemory }
    }

    private static func isOrdered(_ a: Value, _ b: Value) -> Bool {
        switch (a, b) {
        case (.string(let a), .string(let b)): a < b
        case (.objectPath(let a), .objectPath(let b)): a < b
        default: (a.integer ?? 0) < (b.integer ?? 0)
        }
    }
}
