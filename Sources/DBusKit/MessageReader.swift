import CDBus

/// Reads the values of a message that libdbus has validated: text is UTF-8, paths and signatures
/// are valid, containers are at most 64 levels deep.
struct MessageReader {
    var remaining: Int
    /// The descriptors that may still be read: a message may name one of them a thousand times.
    var remainingDescriptors = 8

    /// Returns the remaining values at the level of `iterator`.
    mutating func row(_ iterator: inout DBusMessageIter) throws(DBusError) -> [Value] {
        var values: [Value] = []
        while dbus_message_iter_get_arg_type(&iterator) != TypeCode.end {
            values.append(try value(&iterator))
            dbus_message_iter_next(&iterator)
        }
        return values
    }

    private mutating func value(_ iterator: inout DBusMessageIter) throws(DBusError) -> Value {
        remaining -= 1
        guard remaining >= 0 else { throw .limitsExceeded("more than a hundred thousand values") }
        switch dbus_message_iter_get_arg_type(&iterator) {
        case TypeCode.byte: return .byte(basic(&iterator, 0))
        case TypeCode.boolean: return .boolean(basic(&iterator, dbus_bool_t()) != 0)
        case TypeCode.int16: return .int16(basic(&iterator, 0))
        case TypeCode.uint16: return .uint16(basic(&iterator, 0))
        case TypeCode.int32: return .int32(basic(&iterator, 0))
        case TypeCode.uint32: return .uint32(basic(&iterator, 0))
        case TypeCode.int64: return .int64(basic(&iterator, 0))
        case TypeCode.uint64: return .uint64(basic(&iterator, 0))
        case TypeCode.double: return .double(basic(&iterator, 0))
        case TypeCode.string: return .string(try text(&iterator))
        case TypeCode.objectPath:
            guard let path = ObjectPath(try text(&iterator)) else { throw .malformed }
            return .objectPath(path)
        case TypeCode.signature: return .signature(try Signature(parsing: try text(&iterator)))
        case TypeCode.descriptor:
            // The descriptor is a duplicate, owned by the reader, or -1 if no more could be opened.
            remainingDescriptors -= 1
            guard remainingDescriptors >= 0 else {
                throw .limitsExceeded("more than eight descriptors")
            }
            let number: CInt = basic(&iterator, -1)
            guard number >= 0 else { throw .failed("a descriptor could not be received") }
            return .descriptor(SharedDescriptor(owning: number))
        case TypeCode.variant:
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            return .variant(try value(&inner))
        case TypeCode.array: return try array(&iterator)
        case TypeCode.structure:
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            return .structure(try row(&inner))
        default: throw .malformed
        }
    }

    private mutating func array(_ iterator: inout DBusMessageIter) throws(DBusError) -> Value {
        guard let text = dbus_message_iter_get_signature(&iterator) else { throw .noMemory }
        defer { dbus_free(text) }
        let type = try CompleteType(parsing: String(cString: text))
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&iterator, &inner)
        switch type {
        case .array(let element):
            return .array(try row(&inner), of: element)
        case .dictionary(let key, let value):
            return .dictionary(try entries(&inner), key: key, value: value)
        default: throw .malformed
        }
    }

    private mutating func entries(
        _ iterator: inout DBusMessageIter
    ) throws(DBusError) -> [Value: Value] {
        var entries: [Value: Value] = [:]
        while dbus_message_iter_get_arg_type(&iterator) == TypeCode.entry {
            var inner = DBusMessageIter()
            dbus_message_iter_recurse(&iterator, &inner)
            let pair = try row(&inner)
            guard pair.count == 2 else { throw .malformed }
            // The last value of a repeated key counts.
            entries[pair[0]] = pair[1]
            dbus_message_iter_next(&iterator)
        }
        return entries
    }

    private func basic<T: BitwiseCopyable>(_ iterator: inout DBusMessageIter, _ initial: T) -> T {
        var value = initial
        dbus_message_iter_get_basic(&iterator, &value)
        return value
    }

    private func text(_ iterator: inout DBusMessageIter) throws(DBusError) -> String {
        guard let text = basic(&iterator, UnsafePointer<CChar>?.none) else { throw .malformed }
        return String(cString: text)
    }
}

extension DBusError {
    fileprivate static var malformed: DBusError {
        .invalidArguments("a message that contradicts itself")
    }
}
