package import DBusKit
import Glibc
import Platform

/// A service of the desktop, played by python-dbusmock
/// (https://martinpitt.github.io/python-dbusmock). It has the names, objects and signals of the
/// real one, and follows the test's instructions.
///
/// - Context: Bound to the thread of the test.
package final class MockedService {
    /// The bus of the service.
    package enum Bus: Sendable { case session, system }

    private static let control = "org.freedesktop.DBus.Mock"
    package let name: String
    package let path: ObjectPath
    private let program: Child
    private let loop: EventLoop
    private let connection: BusConnection

    /// Starts it in `session` and waits until it owns `name`. Its main object, at `path`, has the
    /// interface `interface`, either from the dbusmock `template`, a name or a path, or empty.
    package init(
        _ name: String,
        at path: ObjectPath,
        interface: String,
        template: String? = nil,
        on bus: Bus,
        in session: PrivateSession
    ) throws {
        self.name = name
        self.path = path
        let what = template.map { ["--template", $0] } ?? [name, path.text, interface]
        // By its path: the module belongs to Debian's own Python.
        program = try session.run(
            "/usr/bin/python3",
            ["-m", "dbusmock", bus == .system ? "--system" : "--session"] + what
        )
        loop = try EventLoop()
        let variable =
            bus == .system ? "DBUS_SYSTEM_BUS_ADDRESS" : "DBUS_SESSION_BUS_ADDRESS"
        connection = try BusConnection(
            to: .address(session.environment[variable] ?? ""),
            loop: loop
        )
        try eventually("\(name)", within: 10) {
            if let exit = program.exit {
                throw ServiceFailed(description: "dbusmock: \(exit): \(program.errors)")
            }
            return (try? call("Ping", of: "org.freedesktop.DBus.Peer")) != nil
        }
    }

    deinit { end() }

    /// Kills it and waits until it is gone. Harmless if it is already.
    package func end() { program.end() }

    /// Calls a method, and returns its reply.
    @discardableResult
    package func call(
        _ member: String,
        of interface: String,
        at path: ObjectPath? = nil,
        _ arguments: [Value] = []
    ) throws -> [Value] {
        try connection.call(
            MethodCall(
                member,
                of: interface,
                at: path ?? self.path,
                on: name,
                arguments,
                startsService: false,
                timeout: 5
            )
        )
    }

    /// Defines a method of the object at `path`. Its reply is the value that `code`, in Python,
    /// assigns to `ret`.
    package func define(
        _ member: String,
        of interface: String,
        at path: ObjectPath? = nil,
        takes: String = "",
        gives: String = "",
        code: String
    ) throws {
        let words = [interface, member, takes, gives, code].map { Value.string($0) }
        try call("AddMethod", of: Self.control, at: path, words)
    }

    /// Makes the object at `path` send a signal with `values`, of the types in `signature`.
    package func emit(
        _ signal: String,
        of interface: String,
        at path: ObjectPath? = nil,
        _ signature: String,
        _ values: Value...
    ) throws {
        let arguments = values.map { Value.variant($0) }
        try call(
            "EmitSignal",
            of: Self.control,
            at: path,
            [
                .string(interface), .string(signal), .string(signature),
                .array(arguments, of: .variant),
            ]
        )
    }

    /// Changes a property of the object at `path`, with a signal of the change.
    package func set(
        _ property: String,
        of interface: String,
        at path: ObjectPath? = nil,
        to value: Value
    ) throws {
        let arguments: [Value] = [.string(interface), .string(property), .variant(value)]
        try call("Set", of: "org.freedesktop.DBus.Properties", at: path, arguments)
    }
}
