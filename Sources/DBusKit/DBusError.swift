/// A D-Bus error: a name for programs and a sentence for people.
package struct DBusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name, such as "org.freedesktop.DBus.Error.InvalidArgs".
    package let name: String
    /// The message, in one sentence, as which it is sent, cut to 1024 characters.
    package let message: String

    /// Creates an error. `name` must be a valid error name if the error is to be sent.
    package init(_ name: String, _ message: String) {
        self.name = name
        self.message = message
    }

    package var description: String { message.isEmpty ? name : message }

    /// The error for other failures.
    package static func failed(_ message: String) -> DBusError { standard("Failed", message) }
    /// The error for an argument of the wrong type or value.
    package static func invalidArguments(_ message: String) -> DBusError {
        standard("InvalidArgs", message)
    }
    /// The error for a request over a limit.
    package static func limitsExceeded(_ message: String) -> DBusError {
        standard("LimitsExceeded", message)
    }
    /// The error for a closed connection.
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
    static func noSteps(_ name: String) -> DBusError { invalidArguments("\(name) has no steps") }
    static var noMemory: DBusError { standard("NoMemory", "out of memory") }

    private static func standard(_ name: String, _ message: String) -> DBusError {
        DBusError("org.freedesktop.DBus.Error." + name, message)
    }
}
