import Control
import DBusKit
import Platform
import TestSupport
import Testing

@Suite("Mirror of the daemon")
struct DaemonMirrorTests {
    private let session: PrivateSession
    private let address: BusConnection.Bus
    private let loop: EventLoop
    private let connection: BusConnection

    init() throws {
        session = try PrivateSession([.bus])
        address = .address(session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? "")
        loop = try EventLoop()
        connection = try BusConnection(to: address, loop: loop)
    }

    /// A daemon that knows its name, in a loop of its own.
    private struct Named {
        static let interface = Interface(
            "org.dualcam.Test1",
            properties: [Interface.Property("Name", "s")]
        )
        let loop: EventLoop
        let connection: BusConnection
        let server: ObjectServer

        init(_ name: String, on address: BusConnection.Bus) throws {
            loop = try EventLoop()
            connection = try BusConnection(to: address, loop: loop)
            server = ObjectServer(on: connection, managing: DualCam.path)
            server.export(Self.interface, at: DualCam.backPath, properties: ["Name": .string(name)])
            try connection.requestName(DualCam.busName)
        }

        func settle() throws { _ = try connection.call(.onBus("GetId")) }
    }

    /// Runs the loop until all that was sent to `connection` so far has arrived.
    private func settle() throws {
        var isOver = false
        try connection.call(.onBus("GetId")) { _ in isOver = true }
        try loop.wait(for: "an answer of the bus", within: 10) { isOver }
    }

    /// Runs both loops until `condition` holds.
    private func wait(with daemon: Named?, until condition: () -> Bool) throws {
        try loop.wait(for: "the daemon", within: 10) {
            daemon?.loop.runOnce(milliseconds: 1)
            return condition()
        }
    }

    private func name(in mirror: DaemonMirror) -> String? {
        mirror.value("Name", of: Named.interface.name, at: DualCam.backPath)?.string
    }

    @Test func aDaemonThatDoesNotAnswerIsSilentUntilItDoes() throws {
        // Its loop does not run yet: the calls wait.
        let daemon = try Named("slow", on: address)
        let mirror = DaemonMirror(connection, patience: 0.2)
        try loop.wait(for: "silence", within: 10) { mirror.isSilent }
        #expect(mirror.isPresent != true)
        try wait(with: daemon) { mirror.isPresent == true }
        #expect(!mirror.isSilent)
    }

    @Test func whatADaemonHasToldGoesWithIt() throws {
        let mirror = DaemonMirror(connection)
        var daemon: Named? = try Named("first", on: address)
        try wait(with: daemon) { mirror.isPresent == true }
        #expect(name(in: mirror) == "first")
        daemon = nil
        try loop.wait(for: "its end", within: 10) { mirror.isPresent == false }
        #expect(name(in: mirror) == nil)
    }

    @Test func whatIsAskedOfADaemonThatHangsIsNotDoneLater() throws {
        let daemon = try Named("it", on: address)
        var isDone = false
        let scene = Interface(
            SceneInterface.name,
            methods: [Interface.Method("Reset", takes: ["options": "a{sv}"])]
        )
        daemon.server.export(scene, at: DualCam.path, onCall: { _ in isDone = true })
        let mirror = DaemonMirror(connection)
        try wait(with: daemon) { mirror.isPresent == true }
        var error: DBusError?
        mirror.call(\SceneInterface.reset, ()) { answer in
            if case .failure(let reason) = answer { error = reason }
        }
        try loop.wait(for: "silence", within: 10) { mirror.isSilent && error != nil }
        #expect(error?.name.hasSuffix(".NoReply") == true)
        mirror.probe()
        try wait(with: daemon) { !mirror.isSilent }
        try daemon.settle()
        #expect(!isDone)
    }

    @Test func aLateAnswerOfTheDaemonBeforeIsPassedOver() throws {
        let first = try Named("first", on: address)
        let mirror = DaemonMirror(connection)
        var isAsked = false
        first.server.onRead = { isAsked = true }
        // The answer before this one's is the owner's name.
        try settle()
        _ = try first.connection.call(.onBus("ReleaseName", .string(DualCam.busName)))
        let second = try Named("second", on: address)
        try wait(with: second) { mirror.isPresent == true }
        #expect(name(in: mirror) == "second")
        try first.loop.wait(for: "the first one's answers", within: 10) { isAsked }
        try first.settle()
        try settle()
        #expect(name(in: mirror) == "second" && mirror.isPresent == true)
    }
}

extension MethodCall {
    fileprivate static func onBus(_ member: String, _ arguments: Value...) -> MethodCall {
        let bus = "org.freedesktop.DBus"
        return MethodCall(member, of: bus, at: "/org/freedesktop/DBus", on: bus, arguments)
    }
}
