/// An error as D-Bus carries it: a name for programs, a sentence for people.
package struct DBusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Such as "org.freedesktop.DBus.Error.InvalidArgs".
    package let name: String
    /// What happened, in one sentence. Sent cut to 1024 characters.
    package let message: String

    /// An error called `name`, which must be a valid error name when it is sent.
    package init(_ name: String, _ message: String) {
        self.name = name
        self.message = message
    }

    /// "org.freedesktop.DBus.Error.InvalidArgs: Swap takes (a{sv}), not (s)".
    package var description: String { "\(name): \(message)" }

    /// Something else went wrong.
    package static func failed(_ message: String) -> DBusError { standard("Failed", message) }
    /// An argument of the wrong type or of no meaning.
    package static func invalidArguments(_ message: String) -> DBusError {
        standard("InvalidArgs", message)
    }
    /// A request larger than we look at.
    package static func limitsExceeded(_ message: String) -> DBusError {
        standard("LimitsExceeded", message)
    }
    /// The connection is closed.
    package static func disconnected(_ message: String) -> DBusError {
        standard("Disconnected", message)
    }
    static func unknownObject(_ message: String) -> DBusError { standard("UnknownObject", message) }
    static func unknownInterface(_ message: String) -> DBusError {
        standard("UnknownInterface", message)
    }
    static func unknownMethod(_ message: String) -> DBusError { standard("UnknownMethod", message) }
    static func unknownProperty(_ message: String) -> DBusError {
        standard("UnknownProperty", message)
    }
    static func propertyReadOnly(_ message: String) -> DBusError {
        standard("PropertyReadOnly", message)
    }
    static var noMemory: DBusError { standard("NoMemory", "out of memory") }

    private static func standard(_ name: String, _ message: String) -> DBusError {
        DBusError("org.freedesktop.DBus.Error." + name, message)
    }
}
