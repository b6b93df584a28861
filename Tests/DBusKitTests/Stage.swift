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

    /// Returns the call of a lamp's method.
    static func lampCall(
        _ member: String,
        _ arguments: [Value] = [.named([:])],
        timeout: Double = 10
    ) -> MethodCall {
        MethodCall(member, of: lamp.name, at: desk, on: name, arguments, timeout: timeout)
    }

    /// Calls a method from `client`, and runs the loop until the reply has arrived.
    func call(
        _ member: String,
        of interface: String = lamp.name,
        at path: ObjectPath = desk,
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

    /// Exports a lamp, and returns a client.
    func lampClient() throws -> BusConnection {
        exportLamp()
        return try client()
    }

    /// Runs a program on the bus to its end while the loop runs, and returns its exit and output.
    /// Spaces divide its arguments.
    func run(_ line: String) throws -> (exit: Child.Exit?, output: String, errors: String) {
        let words = line.split(separator: " ").map(String.init)
        let child = try session.run(words[0], Array(words.dropFirst()))
        try wait(for: line) { child.exit != nil }
        return (child.exit, child.output, child.errors)
    }
}
