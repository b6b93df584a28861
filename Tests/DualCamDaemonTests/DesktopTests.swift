import Frames
import Glibc
import Platform
import TestSupport
import Testing

@testable import DBusKit
@testable import DualCamDaemon

/// A bus with one connection that follows the desktop's services, and those services, each a
/// connection of its own that the test can drop.
final class Desk {
    let loop: EventLoop
    let connection: BusConnection
    let address: BusConnection.Bus
    private let session: PrivateSession

    init(loop given: EventLoop? = nil) throws {
        session = try PrivateSession([.bus])
        loop = try given ?? EventLoop()
        address = .address(session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? "")
        connection = try BusConnection(to: address, loop: loop)
    }

    /// A service, until it is released.
    func service(_ name: String) throws -> DeskService {
        DeskService(try BusConnection(to: address, loop: loop), name)
    }

    func halt() { session.signal(.bus, SIGSTOP) }
    func resume() { session.signal(.bus, SIGCONT) }

    func end() { session.kill(.bus) }

    /// Runs the loop until all that was sent so far has been answered, and the answers to that.
    func settle() throws {
        for _ in 0..<4 {
            var isAnswered = false
            try connection.call(.bus("GetId", [])) { _ in isAnswered = true }
            try loop.wait(for: "the bus") { isAnswered }
        }
    }
}

final class DeskService {
    let server: ObjectServer
    private let connection: BusConnection
    private let name: String

    init(_ connection: BusConnection, _ name: String) {
        (self.connection, self.name) = (connection, name)
        server = ObjectServer(on: connection)
    }

    /// Takes the name, when the objects are there.
    func appear() throws { try connection.requestName(name) }
}

@Suite("logind", .timeLimit(.minutes(5)))
struct LoginTests {
    /// The part of logind that is asked for a user and a lock.
    static let manager = Interface(
        "org.freedesktop.login1.Manager",
        methods: [
            Interface.Method("GetUser", takes: ["uid": "u"], gives: ["path": "o"]),
            Interface.Method(
                "Inhibit",
                takes: ["what": "s", "who": "s", "why": "s", "mode": "s"],
                gives: ["lock": "h"]
            ),
        ],
        signals: [Interface.Signal("PrepareForSleep", ["start": "b"])],
        properties: [Interface.Property("PreparingForSleep", "b")]
    )
    private static let user = Interface(
        "org.freedesktop.login1.User",
        properties: [Interface.Property("Display", "(so)")]
    )
    private static let session = Interface(
        "org.freedesktop.login1.Session",
        properties: [Interface.Property("LockedHint", "b"), Interface.Property("Active", "b")]
    )
    private static let root: ObjectPath = "/org/freedesktop/login1"
    private static let ownUser: ObjectPath = "/org/freedesktop/login1/user/own"
    private static let ownSession: ObjectPath = "/org/freedesktop/login1/session/own"

    private let desk: Desk

    init() throws { desk = try Desk() }

    /// A logind with one session on the user's display. Counts the locks that it gives in `locks`.
    private func logind(_ locks: @escaping () -> Void = {}) throws -> DeskService {
        let logind = try desk.service("org.freedesktop.login1")
        logind.server.export(
            Self.manager,
            at: Self.root,
            properties: ["PreparingForSleep": .boolean(false)]
        ) { call in
            guard call.member == "Inhibit" else { return call.reply(.objectPath(Self.ownUser)) }
            locks()
            call.reply(.descriptor(SharedDescriptor(owning: dup(0))))
        }
        let display = Value.structure([.string("own"), .objectPath(Self.ownSession)])
        logind.server.export(Self.user, at: Self.ownUser, properties: ["Display": display])
        logind.server.export(
            Self.session,
            at: Self.ownSession,
            properties: ["LockedHint": .boolean(false), "Active": .boolean(true)]
        )
        try logind.appear()
        return logind
    }

    /// Has `logind` say that the machine goes to sleep, or has woken up. Its property says so, too:
    /// the first question for that may be answered after the signal.
    static func sleep(_ isOn: Bool, _ logind: DeskService, at path: ObjectPath) {
        logind.server.set(["PreparingForSleep": .boolean(isOn)], of: manager, at: path)
        logind.server.emit("PrepareForSleep", of: manager, at: path, .boolean(isOn))
    }

    @Test("says that nobody is there while the session is locked, or another one is at the seat")
    func away() throws {
        let logind = try logind()
        var events: [Login.Event] = []
        let login = Login(on: desk.connection) { events.append($0) }
        try desk.loop.wait(for: "logind") { events.contains(.available(true)) }
        login.ask()
        try desk.loop.wait(for: "its answer") { events.contains(.away(false)) }
        for (isLocked, isActive) in [(true, true), (false, false), (true, false), (false, true)] {
            events = []
            logind.server.set(
                ["LockedHint": .boolean(isLocked), "Active": .boolean(isActive)],
                of: Self.session,
                at: Self.ownSession
            )
            try desk.loop.wait(for: "its word") { !events.isEmpty }
            try desk.settle()
            #expect(events.allSatisfy { $0 == .away(isLocked || !isActive) }, "\(events)")
        }
    }

    @Test("says nothing of a session that counts no more, and is silent where it gives no answer")
    func others() throws {
        let logind = try logind()
        var events: [Login.Event] = []
        let login = Login(on: desk.connection) { events.append($0) }
        try desk.loop.wait(for: "logind") { events.contains(.available(true)) }
        login.ask()
        try desk.loop.wait(for: "its answer") { events.contains(.away(false)) }
        let second: ObjectPath = "/org/freedesktop/login1/session/second"
        logind.server.export(
            Self.session,
            at: second,
            properties: ["LockedHint": .boolean(true), "Active": .boolean(true)]
        )
        func show(_ path: ObjectPath) {
            let display = Value.structure([.string("own"), .objectPath(path)])
            logind.server.set(["Display": display], of: Self.user, at: Self.ownUser)
        }
        events = []
        show(second)
        try desk.loop.wait(for: "the second") { events == [.away(true)] }
        events = []
        logind.server.set(["Active": .boolean(false)], of: Self.session, at: Self.ownSession)
        try desk.settle()
        #expect(events == [], "the first counts no more")
        show("/org/freedesktop/login1/session/none")
        try desk.loop.wait(for: "no answer") { events == [.silent] }
    }

    @Test("a session that does not say if it is active is")
    func unknown() throws {
        let logind = try desk.service("org.freedesktop.login1")
        let manager = Interface(
            "org.freedesktop.login1.Manager",
            methods: [Interface.Method("GetUser", takes: ["uid": "u"], gives: ["path": "o"])]
        )
        logind.server.export(manager, at: Self.root) { $0.reply(.objectPath(Self.ownUser)) }
        let display = Value.structure([.string("own"), .objectPath(Self.ownSession)])
        logind.server.export(Self.user, at: Self.ownUser, properties: ["Display": display])
        let session = Interface(
            "org.freedesktop.login1.Session",
            properties: [Interface.Property("Id", "s")]
        )
        logind.server.export(session, at: Self.ownSession, properties: ["Id": .string("own")])
        try logind.appear()
        var events: [Login.Event] = []
        let login = Login(on: desk.connection) { events.append($0) }
        try desk.loop.wait(for: "logind") { events.contains(.available(true)) }
        login.ask()
        try desk.loop.wait(for: "its answer") { events.count > 1 }
        #expect(events == [.available(true), .away(false)])
    }

    @Test("a user without a session on a display has none to be away from")
    func noDisplay() throws {
        let logind = try logind()
        var events: [Login.Event] = []
        let login = Login(on: desk.connection) { events.append($0) }
        logind.server.set(["LockedHint": .boolean(true)], of: Self.session, at: Self.ownSession)
        try desk.loop.wait(for: "logind") { events.contains(.available(true)) }
        login.ask()
        try desk.loop.wait(for: "its answer") { events.contains(.away(true)) }
        events = []
        let none = Value.structure([.string(""), .objectPath("/")])
        logind.server.set(["Display": none], of: Self.user, at: Self.ownUser)
        try desk.loop.wait(for: "the end of the session") { events == [.away(false)] }
        // It is on no display now, and says nothing of the user.
        logind.server.set(["Active": .boolean(false)], of: Self.session, at: Self.ownSession)
        try desk.settle()
        #expect(events == [.away(false)])
    }

    @Test("its sleep waits for us, each time, and it may go and come back")
    func sleep() throws {
        var locks = 0
        var logind: DeskService? = try logind { locks += 1 }
        var events: [Login.Event] = []
        let login = Login(on: desk.connection) { events.append($0) }
        try desk.loop.wait(for: "the first lock") { locks == 1 }
        for round in 1...2 {
            if let logind { Self.sleep(true, logind, at: Self.root) }
            try desk.loop.wait(for: "its sleep") { events.last == .sleeping(true) }
            login.releaseSleep()
            if let logind { Self.sleep(false, logind, at: Self.root) }
            try desk.loop.wait(for: "another lock") { locks == round + 1 }
            #expect(events.last == .sleeping(false))
        }
        logind = nil
        try desk.loop.wait(for: "its end") { events.last == .available(false) }
        locks = 0
        logind = try self.logind { locks += 1 }
        try desk.loop.wait(for: "it again") { events.last == .available(true) && locks == 1 }
        withExtendedLifetime(logind) {}
    }
}

@Suite("A program on the bus", .timeLimit(.minutes(5)))
struct PeerTests {
    private static let interface = Interface(
        "org.example.Peer",
        methods: [Interface.Method("Ping")],
        signals: [Interface.Signal("Said", ["word": "s"])],
        properties: [Interface.Property("Word", "s")]
    )
    private static let path: ObjectPath = "/org/example/Peer"

    private let desk: Desk

    init() throws { desk = try Desk() }

    private func service(_ name: String, word: String) throws -> DeskService {
        let service = try desk.service(name)
        service.server.export(Self.interface, at: Self.path, properties: ["Word": .string(word)]) {
            $0.reply()
        }
        return service
    }

    private func say(_ word: String, _ service: DeskService) throws {
        service.server.emit("Said", of: Self.interface, at: Self.path, .string(word))
        try desk.settle()
    }

    @Test("is believed while it has its name, and no other in its place")
    func poses() throws {
        let real = try service("org.example.Peer", word: "real")
        let other = try service("org.example.Other", word: "other")
        var owners: [Bool] = []
        var words: [String] = []
        let peer = Peer("org.example.Peer", on: desk.connection) { owners.append($0) }
        peer.subscribe("org.example.Peer", at: Self.path) {
            words.append($0.arguments.first?.string ?? "")
        }
        try desk.loop.wait(for: "the bus") { owners == [false] }
        try other.appear()
        try say("too early", real)
        #expect(words == [] && owners == [false])
        try real.appear()
        try desk.loop.wait(for: "its name") { owners == [false, true] }
        try say("posed", other)
        try say("said", real)
        #expect(words == ["said"])
        var read: Result<Value, DBusError>?
        peer.read("Word", of: "org.example.Peer", at: Self.path) { read = $0 }
        try desk.loop.wait(for: "a value") { read != nil }
        #expect((try? read?.get())?.string == "real")
        read = nil
        peer.read("None", of: "org.example.Peer", at: Self.path) { read = $0 }
        try desk.loop.wait(for: "a refusal") { read != nil }
        #expect((try? read?.get()) == nil)
        peer.unsubscribe()
        try say("unheard", real)
        #expect(words == ["said"])
    }

    @Test("that is asked for before it has a name gives no answer, and is not started")
    func absent() throws {
        var owners: [Bool] = []
        let peer = Peer("org.example.Peer", on: desk.connection) { owners.append($0) }
        var answers = 0
        peer.ask("Ping", of: "org.example.Peer", at: Self.path) { result in
            #expect((try? result.get()) == nil)
            answers += 1
        }
        try desk.loop.wait(for: "an answer") { answers == 1 && owners == [false] }
        try desk.settle()
        #expect(answers == 1)
    }

    @Test("that has its name is found, however slow the bus is")
    func slowBus() throws {
        let service = try service("org.example.Peer", word: "real")
        try service.appear()
        desk.halt()
        defer { desk.resume() }
        var owners: [Bool] = []
        let peer = Peer("org.example.Peer", on: desk.connection, timeout: 0.2) {
            owners.append($0)
        }
        // The first time-out may come before that of the peer's own question.
        for _ in 1...2 {
            var error: DBusError?
            peer.ask("Ping", of: "org.example.Peer", at: Self.path) { result in
                if case .failure(let reason) = result { error = reason }
            }
            try desk.loop.wait(for: "the time-out") { error != nil }
            #expect(error?.name.hasSuffix(".NoReply") == true)
        }
        #expect(owners == [])
        desk.resume()
        try desk.loop.wait(for: "its owner") { !owners.isEmpty }
        #expect(owners == [true])
        withExtendedLifetime((service, peer)) {}
    }
}

@Suite("Screen savers", .timeLimit(.minutes(5)))
struct ScreenSaverTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    private func saver(
        _ name: String,
        _ path: ObjectPath,
        isActive: Bool
    ) throws -> (service: DeskService, set: (Bool) -> Void) {
        let interface = Interface(
            name,
            methods: [Interface.Method("GetActive", gives: ["active": "b"])],
            signals: [Interface.Signal("ActiveChanged", ["active": "b"])]
        )
        let service = try desk.service(name)
        service.server.export(interface, at: path) { $0.reply(.boolean(isActive)) }
        try service.appear()
        return (
            service,
            { [server = service.server] in
                server.emit("ActiveChanged", of: interface, at: path, .boolean($0))
            }
        )
    }

    @Test("cover the session while any of them does, wherever it has its object")
    func any() throws {
        var changes: [Bool] = []
        let savers = ScreenSavers(on: desk.connection) { changes.append($0) }
        let kde = try saver(
            "org.freedesktop.ScreenSaver",
            "/org/freedesktop/ScreenSaver",
            isActive: false
        )
        var gnome: (service: DeskService, set: (Bool) -> Void)? = try saver(
            "org.gnome.ScreenSaver",
            "/org/gnome/ScreenSaver",
            isActive: true
        )
        try desk.loop.wait(for: "one that covered it before") { changes == [true] }
        kde.set(true)
        try desk.settle()
        gnome?.set(false)
        try desk.settle()
        #expect(changes == [true], "the other one still covers it")
        gnome?.set(true)
        try desk.settle()
        kde.set(false)
        try desk.settle()
        #expect(changes == [true])
        // One that has gone covers nothing.
        gnome = nil
        try desk.loop.wait(for: "its end") { changes == [true, false] }
        kde.set(true)
        try desk.loop.wait(for: "the other") { changes == [true, false, true] }
        withExtendedLifetime(savers) {}
    }

    @Test("are found at the path of older programs, too")
    func older() throws {
        var changes: [Bool] = []
        let savers = ScreenSavers(on: desk.connection) { changes.append($0) }
        let old = try saver("org.freedesktop.ScreenSaver", "/ScreenSaver", isActive: true)
        try desk.loop.wait(for: "what it says") { changes == [true] }
        old.set(false)
        try desk.loop.wait(for: "what it signals") { changes == [true, false] }
        withExtendedLifetime(savers) {}
    }
}

@Suite("The sensor of orientation", .timeLimit(.minutes(5)))
struct SensorProxyTests {
    private static let interface = Interface(
        "net.hadess.SensorProxy",
        methods: [
            Interface.Method("ClaimAccelerometer"), Interface.Method("ReleaseAccelerometer"),
        ],
        properties: [
            Interface.Property("HasAccelerometer", "b"),
            Interface.Property("AccelerometerOrientation", "s"),
        ]
    )
    private static let path: ObjectPath = "/net/hadess/SensorProxy"

    private let desk: Desk

    init() throws { desk = try Desk() }

    private func sensor(_ calls: @escaping (String) -> Void) throws -> DeskService {
        let service = try desk.service("net.hadess.SensorProxy")
        service.server.export(
            Self.interface,
            at: Self.path,
            properties: [
                "HasAccelerometer": .boolean(true), "AccelerometerOrientation": .string("normal"),
            ]
        ) { call in
            calls(call.member)
            call.reply()
        }
        try service.appear()
        return service
    }

    @Test("is claimed while somebody wants it, again when it comes back, and believed only then")
    func claims() throws {
        var calls: [String] = []
        var events: [SensorProxy.Event] = []
        let proxy = SensorProxy(on: desk.connection) { events.append($0) }
        var sensor: DeskService? = try sensor { calls.append($0) }
        try desk.loop.wait(for: "the sensor") { events.contains(.available(true)) }
        func turn(_ word: String) throws {
            sensor?.server.set(
                ["AccelerometerOrientation": .string(word)],
                of: Self.interface,
                at: Self.path
            )
            try desk.settle()
        }
        try turn("left-up")
        #expect(calls == [] && !events.contains(.orientation("left-up")))
        proxy.isClaimed = true
        try desk.loop.wait(for: "its value") { events.last == .orientation("left-up") }
        try turn("normal")
        #expect(calls == ["ClaimAccelerometer"] && events.last == .orientation("normal"))
        sensor = nil
        try desk.loop.wait(for: "its end") { events.last == .available(false) }
        sensor = try self.sensor { calls.append($0) }
        try desk.loop.wait(for: "another claim") {
            calls == ["ClaimAccelerometer", "ClaimAccelerometer"]
        }
        try desk.loop.wait(for: "its value") { events.last == .orientation("normal") }
        proxy.isClaimed = false
        try desk.loop.wait(for: "its release") { calls.last == "ReleaseAccelerometer" }
        events = []
        try turn("bottom-up")
        #expect(!events.contains(.orientation("bottom-up")))
    }
}
