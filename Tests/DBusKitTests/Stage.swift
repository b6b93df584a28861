import DBusKit
import Frames
import Platform
import TestSupport
import Testing

/// A bus of its own, a loop, and a connection that serves objects.
final class Stage {
    static let name = "org.example.Thing1"
    let session: PrivateSession
    let loop: EventLoop
    let connection: BusConnection
    let server: ObjectServer

    init() throws {
        session = try PrivateSession([.bus])
        loop = try EventLoop()
        connection = try BusConnection(to: Stage.address(session), loop: loop)
        server = ObjectServer(on: connection, managing: "/org/example/Thing1")
        try connection.requestName(Stage.name)
    }

    static func address(_ session: PrivateSession) -> BusConnection.Bus {
        .address(session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? "")
    }

    /// Returns another connection on the same loop.
    func client() throws -> BusConnection {
        try BusConnection(to: Stage.address(session), loop: loop)
    }

    /// Runs the loop until `condition` holds.
    ///
    /// - Throws: An error after ten seconds.
    func wait(for what: String, until condition: () -> Bool) throws {
        let deadline = MonotonicClock.now + Timestamp(seconds: 10)
        while !condition() {
            guard MonotonicClock.now < deadline else { throw TimedOut(what, after: 10) }
            loop.runOnce(milliseconds: 20)
        }
    }

    /// Calls a method from `client`, and runs the loop until the reply has arrived.
    func call(
        _ member: String,
        of interface: String,
        at path: ObjectPath,
        _ arguments: [Value] = [],
        from client: BusConnection
    ) throws -> Result<[Value], DBusError> {
        var answer: Result<[Value], DBusError>?
        let call = MethodCall(member, of: interface, at: path, on: Stage.name, arguments)
        try client.call(call) { answer = $0 }
        try wait(for: "the answer of \(member)") { answer != nil }
        return try #require(answer)
    }

    /// Runs the loop until all messages sent so far have arrived everywhere.
    func settle(_ client: BusConnection) throws {
        for connection in [connection, client] {
            _ = try call("Ping", of: "org.freedesktop.DBus.Peer", at: "/", from: connection)
        }
        for _ in 0..<5 { loop.runOnce(milliseconds: 1) }
    }

    /// Runs a program on the bus to its end while the loop runs, and returns its exit and output.
    func run(
        _ program: String,
        _ arguments: String...
    ) throws -> (
        exit: Child.Exit?, output: String, errors: String
    ) {
        let child = try session.run(program, arguments)
        try wait(for: program) { child.exit != nil }
        return (child.exit, child.output, child.errors)
    }
}
