import Control
import DBusKit
import Platform
import TestSupport
import Testing

@Suite("Mirror of the daemon")
struct DaemonMirrorTests {
    @Test func aDaemonThatDoesNotAnswerIsSilentUntilItDoes() throws {
        try PrivateSession.with([.bus]) { session in
            let address = session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
            // Its loop does not run yet: the calls wait.
            let slow = try EventLoop()
            let service = try BusConnection(to: .address(address), loop: slow)
            let server = ObjectServer(on: service)
            try service.requestName(DualCam.busName)

            let loop = try EventLoop()
            let mirror = DaemonMirror(
                try BusConnection(to: .address(address), loop: loop),
                patience: 0.2
            )
            try eventually("silence", within: 10) {
                loop.runOnce(milliseconds: 10)
                return mirror.isSilent
            }
            #expect(mirror.isPresent != true)
            try eventually("an answer", within: 10) {
                slow.runOnce(milliseconds: 1)
                loop.runOnce(milliseconds: 1)
                return mirror.isPresent == true
            }
            #expect(!mirror.isSilent)
            withExtendedLifetime(server) {}
        }
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

        init(_ name: String, on address: String) throws {
            loop = try EventLoop()
            connection = try BusConnection(to: .address(address), loop: loop)
            server = ObjectServer(on: connection, managing: DualCam.path)
            server.export(Self.interface, at: DualCam.backPath, properties: ["Name": .string(name)])
            try connection.requestName(DualCam.busName)
        }

        /// Waits until the bus has all that was sent.
        func settle() throws { _ = try connection.call(.onBus("GetId")) }
    }

    /// Runs `loop` until all that was sent to `connection` so far has arrived.
    private func settle(_ connection: BusConnection, _ loop: EventLoop) throws {
        var isOver = false
        try connection.call(.onBus("GetId")) { _ in isOver = true }
        try eventually("an answer of the bus", within: 10) {
            loop.runOnce(milliseconds: 10)
            return isOver
        }
    }

    private func name(in mirror: DaemonMirror) -> String? {
        mirror.value("Name", of: Named.interface.name, at: DualCam.backPath)?.string
    }

    @Test func whatADaemonHasToldGoesWithIt() throws {
        try PrivateSession.with([.bus]) { session in
            let address = session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
            let loop = try EventLoop()
            let mirror = DaemonMirror(try BusConnection(to: .address(address), loop: loop))
            var daemon: Named? = try Named("first", on: address)
            try eventually("its name", within: 10) {
                daemon?.loop.runOnce(milliseconds: 1)
                loop.runOnce(milliseconds: 1)
                return mirror.isPresent == true
            }
            #expect(name(in: mirror) == "first")
            daemon = nil
            try eventually("its end", within: 10) {
                loop.runOnce(milliseconds: 10)
                return mirror.isPresent == false
            }
            #expect(name(in: mirror) == nil)
        }
    }

    @Test func whatIsAskedOfADaemonThatHangsIsNotDoneLater() throws {
        try PrivateSession.with([.bus]) { session in
            let address = session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
            let daemon = try Named("it", on: address)
            var isDone = false
            let scene = Interface(
                SceneInterface.name,
                methods: [Interface.Method("Reset", takes: ["options": "a{sv}"])]
            )
            daemon.server.export(scene, at: DualCam.path, onCall: { _ in isDone = true })
            let loop = try EventLoop()
            let mirror = DaemonMirror(try BusConnection(to: .address(address), loop: loop))
            try eventually("its name", within: 10) {
                daemon.loop.runOnce(milliseconds: 1)
                loop.runOnce(milliseconds: 1)
                return mirror.isPresent == true
            }
            var error: DBusError?
            mirror.call(\SceneInterface.reset, ()) { answer in
                if case .failure(let reason) = answer { error = reason }
            }
            try eventually("silence", within: 10) {
                loop.runOnce(milliseconds: 10)
                return mirror.isSilent && error != nil
            }
            #expect(error?.name.hasSuffix(".NoReply") == true)
            mirror.probe()
            try eventually("an answer", within: 10) {
                daemon.loop.runOnce(milliseconds: 1)
                loop.runOnce(milliseconds: 1)
                return !mirror.isSilent
            }
            try daemon.settle()
            #expect(!isDone)
        }
    }

    @Test func aLateAnswerOfTheDaemonBeforeIsPassedOver() throws {
        try PrivateSession.with([.bus]) { session in
            let address = session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
            let first = try Named("first", on: address)
            let loop = try EventLoop()
            let connection = try BusConnection(to: .address(address), loop: loop)
            let mirror = DaemonMirror(connection)
            var isAsked = false
            first.server.onRead = { isAsked = true }
            // The answer before this one's is the owner's name.
            try settle(connection, loop)
            _ = try first.connection.call(.onBus("ReleaseName", .string(DualCam.busName)))
            let second = try Named("second", on: address)
            try eventually("the second daemon", within: 10) {
                second.loop.runOnce(milliseconds: 1)
                loop.runOnce(milliseconds: 1)
                return mirror.isPresent == true
            }
            #expect(name(in: mirror) == "second")
            try eventually("the first one's answers", within: 10) {
                first.loop.runOnce(milliseconds: 10)
                return isAsked
            }
            try first.settle()
            try settle(connection, loop)
            #expect(name(in: mirror) == "second" && mirror.isPresent == true)
        }
    }
}

extension MethodCall {
    fileprivate static func onBus(_ member: String, _ arguments: Value...) -> MethodCall {
        let bus = "org.freedesktop.DBus"
        return MethodCall(member, of: bus, at: "/org/freedesktop/DBus", on: bus, arguments)
    }
}
