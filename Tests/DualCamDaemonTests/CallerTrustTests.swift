import DBusKit
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@testable import DualCamCore
@testable import DualCamDaemon

/// A bus with a program on it that is looked at as the test says.
@MainActor
private final class Visited {
    /// What looking at the program finds: a sandbox or none, or nothing while it hangs.
    enum Look { case sandbox, free, hanging }

    let look = Mutex(Look.free)
    /// The process whose root hangs.
    let hanging = Mutex<UInt32?>(nil)
    let count = Mutex(0)
    let caller: BusConnection
    private let session: PrivateSession
    private let loop: EventLoop
    private let server: ObjectServer
    private var trust: CallerTrust?

    init(timeout: Double, _ change: (inout Configuration) -> Void = { _ in }) throws {
        session = try PrivateSession([.bus])
        loop = try EventLoop()
        let address = session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
        let connection = try BusConnection(to: .address(address), loop: loop)
        caller = try BusConnection(to: .address(address), loop: loop)
        server = ObjectServer(on: connection)
        var configuration = Configuration()
        change(&configuration)
        let daemon = try DualCamDaemon.Daemon(configuration, loop: loop)
        trust = CallerTrust(daemon, server, on: connection, loop: loop, timeout: timeout) {
            [self] program in
            count.withLock { $0 += 1 }
            while look.withLock({ $0 == .hanging })
                || hanging.withLock({ $0 != nil && $0 == program.process })
            { usleep(1000) }
            return look.withLock { $0 == .sandbox }
        }
    }

    /// Returns the decisions about as many calls at once of the program called `name`, by default
    /// the caller.
    func decisions(_ count: Int, _ name: String? = nil) throws -> [Bool] {
        var decisions: [Bool] = []
        let name = name ?? caller.uniqueName
        for _ in 0..<count { server.isTrusted?(name) { decisions.append($0) } }
        try loop.wait(for: "the decisions") { decisions.count >= count }
        return decisions
    }

    func connect() throws -> BusConnection {
        try BusConnection(
            to: .address(session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""),
            loop: loop
        )
    }

    func ask(_ name: String, _ done: @escaping (Bool) -> Void) { server.isTrusted?(name, done) }

    func run() { loop.runOnce(milliseconds: 5) }

    /// Returns the unique name of another program, which runs from now on.
    func otherProgram() throws -> String {
        func names() throws -> Set<String> {
            var names: Set<String>?
            try caller.call(.bus("ListNames", [])) { answer in
                let all = (try? answer.get())?.first?.array ?? []
                names = Set(all.compactMap(\.string).filter { $0.hasPrefix(":") })
            }
            try loop.wait(for: "the names") { names != nil }
            return names ?? []
        }
        let before = try names()
        // Longer than any test: one that ended by itself would be a child whose end nobody has
        // seen, and Swift Testing (6.3.1), which waits for any child, would see that of no other.
        try session.run("gdbus", "wait", "--session", "--timeout", "1000", "org.example.None")
        return try eventually("another program") { try names().subtracting(before).first }
    }

    func decision(_ name: String? = nil) throws -> Bool { try decisions(1, name)[0] }
}

@MainActor
@Suite("Trust in callers", .timeLimit(.minutes(5)))
struct CallerTrustTests {
    @Test("is for those outside sandboxes, and each is looked at once")
    func decided() throws {
        for look in [Visited.Look.free, .sandbox] {
            let visited = try Visited(timeout: 10)
            visited.look.withLock { $0 = look }
            for _ in 1...3 { #expect(try visited.decision() == (look == .free)) }
            #expect(visited.count.withLock { $0 } == 1)
        }
    }

    @Test func `is decided once for many calls at a time, however many there are`() throws {
        let visited = try Visited(timeout: 10)
        #expect(try visited.decisions(100) == Array(repeating: true, count: 100))
        #expect(visited.count.withLock { $0 } == 1)
    }

    @Test func `is not for one that cannot be looked at, until it can`() throws {
        let visited = try Visited(timeout: 0.05)
        visited.look.withLock { $0 = .hanging }
        defer { visited.look.withLock { $0 = .free } }
        #expect(try !visited.decision())
        #expect(try !visited.decision())
        #expect(visited.count.withLock { $0 } == 2)
        visited.look.withLock { $0 = .free }
        #expect(try eventually("a thread that answers") { try visited.decision() ? true : nil })
        #expect(try !visited.decision(":1.999"), "there is no such program")
    }

    @Test("waits on a limited number of threads")
    func threads() throws {
        let visited = try Visited(timeout: 0.005)
        visited.look.withLock { $0 = .hanging }
        defer { visited.look.withLock { $0 = .free } }
        for _ in 0..<CallerTrust.mostThreads + 5 { #expect(try !visited.decision()) }
        // A thread may begin after the decision that did not wait for it.
        let all = try eventually("the threads") {
            visited.count.withLock { $0 >= CallerTrust.mostThreads ? $0 : nil }
        }
        #expect(all == CallerTrust.mostThreads)
        visited.look.withLock { $0 = .free }
        #expect(try eventually("a thread that is free") { try visited.decision() ? true : nil })
    }

    @Test func `many connections of one program wait for its threads`() throws {
        let visited = try Visited(timeout: 30)
        visited.look.withLock { $0 = .hanging }
        let others = try (0..<2 * CallerTrust.mostThreads).map { _ in try visited.connect() }
        var decisions: [Bool] = []
        for other in others { visited.ask(other.uniqueName) { decisions.append($0) } }
        try eventually("the threads") {
            visited.run()
            return visited.count.withLock { $0 == CallerTrust.mostThreads }
        }
        visited.look.withLock { $0 = .free }
        try eventually("all decisions") {
            visited.run()
            return decisions.count == others.count
        }
        #expect(decisions.allSatisfy { $0 })
    }

    @Test func `of one program that hangs refuses no other`() throws {
        let visited = try Visited(timeout: 0.005)
        visited.hanging.withLock { $0 = UInt32(getpid()) }
        defer { visited.hanging.withLock { $0 = nil } }
        for _ in 0..<300 { #expect(try !visited.decision()) }
        #expect(visited.count.withLock { $0 } <= CallerTrust.mostThreads)
        let other = try visited.otherProgram()
        #expect(try eventually("the other one") { try visited.decision(other) ? true : nil })
    }

    @Test("is for all where the configuration says so, and nobody is looked at")
    func all() throws {
        let visited = try Visited(timeout: 10) { $0.sandboxAccess = .all }
        visited.look.withLock { $0 = .sandbox }
        #expect(try visited.decision())
        #expect(visited.count.withLock { $0 } == 0)
    }
}
