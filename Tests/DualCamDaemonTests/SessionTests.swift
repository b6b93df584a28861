import DualCamCore
import Glibc
import Platform
import TestSupport
import Testing

@testable import DBusKit
@testable import DualCamDaemon

@MainActor
@Suite("Sleep", .timeLimit(.minutes(5)))
struct SleepTests {
    private static let path: ObjectPath = "/org/freedesktop/login1"

    private let desk: Desk
    private let machine: Desk
    private let scripted: Scripted
    private var suspensions: Set<Suspension> { scripted.daemon.state.suspensions }

    init() throws {
        desk = try Desk()
        machine = try Desk(loop: desk.loop)
        scripted = try Scripted(loop: desk.loop)
    }

    private func session() throws -> Session {
        try Session(scripted.daemon, on: desk.connection, loop: desk.loop, bus: machine.address)
    }

    /// A logind that gives `lock` to who asks for the first one, and has no session.
    private func logind(_ lock: CInt) throws -> DeskService {
        let logind = try machine.service("org.freedesktop.login1")
        var lock: SharedDescriptor? = SharedDescriptor(owning: lock)
        logind.server.export(
            LoginTests.manager,
            at: Self.path,
            properties: ["PreparingForSleep": .boolean(false)]
        ) { call in
            guard call.member == "Inhibit", let given = lock else {
                return call.fail(DBusError("org.freedesktop.login1.NoSuchUser", "no session"))
            }
            lock = nil
            call.reply(.descriptor(given))
        }
        try logind.appear()
        return logind
    }

    private func sleep(_ logind: DeskService) throws {
        LoginTests.sleep(true, logind, at: Self.path)
        try desk.loop.wait(for: "sleep") { suspensions.contains(.asleep) }
    }

    @Test("waits until the last camera is closed")
    func cameras() throws {
        let (lock, writer) = try unsharedPipe()
        defer { close(lock) }
        func isHeld() -> Bool {
            var entry = pollfd(fd: lock, events: 0, revents: 0)
            return poll(&entry, 1, 0) == 0
        }
        let logind = try logind(writer)
        let session = try session()
        try desk.loop.wait(for: "logind") { suspensions.isEmpty }
        // It has its lock by then.
        try machine.settle()
        #expect(isHeld())
        scripted.stream()
        #expect(!scripted.daemon.state.areCamerasClosed)
        try sleep(logind)
        #expect(isHeld())
        scripted.daemon.send(.camera(.back, .closed))
        #expect(isHeld())
        scripted.daemon.send(.camera(.front, .closed))
        try desk.loop.wait(for: "the end of the lock") { !isHeld() }
        withExtendedLifetime(session) {}
    }

    @Test func `is over for the cameras when nobody is left who would say so`() throws {
        let logind = try logind(dup(0))
        let session = try session()
        try desk.loop.wait(for: "logind") { suspensions.isEmpty }
        try sleep(logind)
        machine.end()
        try desk.loop.wait(for: "its end") { suspensions.isEmpty }
        withExtendedLifetime(session) {}
    }
}
