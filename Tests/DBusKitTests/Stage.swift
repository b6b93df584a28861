import DBusKit
import Frames
import Platform
import TestSupport
import Testing

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

    func client() throws -> BusConnection {
        try BusConnection(to: Stage.address(session), loop: loop)
    }

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
        try loop.wait(for: "the answer of \(member)") { answer != nil }
        return try #require(answer)
    }

    func settle(_ client: BusConnection) throws {
        for connection in [connection, client] {
            _ = try call("Ping", of: "org.freedesktop.DBus.Peer", at: "/", from: connection)
        }
        for _ in 0..<5 { loop.runOnce(milliseconds: 1) }
    }

    func lampClient() throws -> BusConnection {
        exportLamp()
        return try client()
    }

    /// Runs a program on the bus to its end while the loop runs, and returns its exit and output.
    /// Spaces divide its arguments.
    func run(_ line: String) throws -> (exit: Child.Exit?, output: String, errors: String) {
        let words = line.split(separator: " ").map(String.init)
        let child = try session.run(words[0], Array(words.dropFirst()))
        try loop.wait(for: line) { child.exit != nil }
        return (child.exit, child.output, child.errors)
    }
}
