import Frames
import Glibc
import Platform
import TestSupport
import Testing

@testable import DBusKit
@testable import DualCamDaemon

@Suite("Real-time priority", .serialized, .timeLimit(.minutes(5)))
struct RealTimeKitTests {
    private struct Request: Hashable {
        let process: Int?
        let thread: Int?
        let priority: Int?
    }

    private let desk: Desk
    private let threads = RealTimeThreads()
    private let worker: Worker

    private final class Told { var last: RealTimeKit.Outcome? }
    private let told = Told()

    init() throws {
        desk = try Desk()
        worker = try Worker(name: "timed")
        try start(worker)
    }

    private func start(_ worker: Worker) throws {
        let count = threads.members.count
        try worker.start(timed: threads) { [worker] in
            while !worker.isEnding { worker.bell.wait(until: nil) }
        }
        try eventually("the thread") { threads.members.count == count + 1 }
    }

    /// Has priority asked for, with the RTKit of this bus.
    private func kit(interval: Double = 10) throws -> RealTimeKit {
        try kit(on: desk.connection, interval: interval)
    }

    private func kit(on system: BusConnection?, interval: Double = 10) throws -> RealTimeKit {
        told.last = nil
        let kit = try RealTimeKit(
            for: threads,
            session: desk.connection,
            loop: desk.loop,
            interval: interval
        ) { [told] in told.last = $0 }
        kit.ask(on: system)
        return kit
    }

    private func end(_ workers: Worker...) {
        for worker in workers {
            worker.end()
            worker.join()
        }
    }

    /// A service that gives `priority` at most, for runs of 0.2 s, or refuses a thread.
    private func service(
        _ name: String,
        _ path: ObjectPath,
        _ interface: String,
        priority: Int32,
        refuses: @escaping () -> Bool = { false },
        _ asked: @escaping (Request) -> Void
    ) throws -> DeskService {
        let service = try desk.service(name)
        service.server.export(
            Interface(
                interface,
                methods: [
                    Interface.Method(
                        "MakeThreadRealtimeWithPID",
                        takes: ["process": "t", "thread": "t", "priority": "u"]
                    )
                ],
                properties: [
                    Interface.Property("MaxRealtimePriority", "i"),
                    Interface.Property("RTTimeUSecMax", "x"),
                ]
            ),
            at: path,
            properties: ["MaxRealtimePriority": .int32(priority), "RTTimeUSecMax": .int64(200_000)]
        ) { call in
            let numbers = call.arguments.map(\.integer)
            asked(Request(process: numbers[0], thread: numbers[1], priority: numbers[2]))
            if refuses() { call.fail(.failed("no")) } else { call.reply() }
        }
        try service.appear()
        return service
    }

    private func rtkit(
        priority: Int32,
        refuses: @escaping () -> Bool = { false },
        _ asked: @escaping (Request) -> Void
    ) throws -> DeskService {
        try service(
            "org.freedesktop.RealtimeKit1",
            "/org/freedesktop/RealtimeKit1",
            "org.freedesktop.RealtimeKit1",
            priority: priority,
            refuses: refuses,
            asked
        )
    }

    private func portal(_ asked: @escaping (Request) -> Void) throws -> DeskService {
        try service(
            "org.freedesktop.portal.Desktop",
            "/org/freedesktop/portal/desktop",
            "org.freedesktop.portal.Realtime",
            priority: 20,
            asked
        )
    }

    private func request(_ index: Int, priority: Int) -> Request {
        Request(process: Int(getpid()), thread: Int(threads.members[index].id), priority: priority)
    }

    @Test("is asked for once for each thread, now and later, and no higher than is given")
    func rtkit() throws {
        var asked: [Request] = []
        let service = try rtkit(priority: 3) { asked.append($0) }
        let kit = try kit()
        try desk.loop.wait(for: "RTKit") { told.last?.raised == ["timed"] }
        #expect(asked == [request(0, priority: 3)])
        #expect(told.last?.provider == "RTKit" && told.last?.refusal == "")
        let later = try Worker(name: "later")
        try start(later)
        try desk.loop.wait(for: "the later one") { told.last?.raised == ["timed", "later"] }
        #expect(asked == [request(0, priority: 3), request(1, priority: 3)])
        // Each is asked for again where the system bus was lost.
        kit.ask(on: desk.connection)
        try desk.loop.wait(for: "both again") { asked.count == 4 }
        try desk.settle()
        #expect(Set(asked).count == 2 && asked.count == 4)
        end(worker, later)
        withExtendedLifetime(service) {}
    }

    @Test("comes from the portal where there is no RTKit, or no system bus")
    func portal() throws {
        var asked: [Request] = []
        let service = try portal { asked.append($0) }
        for system in [desk.connection, nil] {
            asked = []
            let kit = try kit(on: system)
            try desk.loop.wait(for: "the portal") { told.last?.raised == ["timed"] }
            #expect(told.last?.provider == "portal")
            #expect(asked == [request(0, priority: 5)])
            withExtendedLifetime(kit) {}
        }
        end(worker)
        withExtendedLifetime(service) {}
    }

    @Test("is lost by all where one runs for too long, and asked for again after a while")
    func overrun() throws { try RealTimeSignals.alone { try loseIt() } }

    private func loseIt() throws {
        var asked: [Request] = []
        let service = try rtkit(priority: 5) { asked.append($0) }
        let kit = try kit(interval: 0.05)
        try desk.loop.wait(for: "RTKit") { told.last?.raised == ["timed"] }
        for count in 2...3 {
            // As the kernel does: to the process, whose threads may block it.
            kill(getpid(), SIGXCPU)
            try desk.loop.wait(for: "the overrun") { told.last?.raised.isEmpty ?? false }
            #expect(told.last?.refusal == "threads ran for too long")
            #expect(asked.count == count - 1)
            try desk.loop.wait(for: "another request") { told.last?.raised == ["timed"] }
            #expect(asked.count == count && Set(asked) == [request(0, priority: 5)])
            #expect(told.last?.refusal == "" && told.last?.provider == "RTKit")
        }
        end(worker)
        withExtendedLifetime((service, kit)) {}
    }

    @Test("is not looked at while the threads rest, and at once when they do no more")
    func rest() throws { try RealTimeSignals.alone { try rests() } }

    private func rests() throws {
        let service = try rtkit(priority: 5) { _ in }
        let kit = try kit(interval: 0.02)
        try desk.loop.wait(for: "RTKit") { told.last?.raised == ["timed"] }
        func run(_ seconds: Double) {
            let end = MonotonicClock.now + Timestamp(seconds: seconds)
            while MonotonicClock.now < end { desk.loop.runOnce(milliseconds: 5) }
        }
        kit.isResting = true
        run(0.1)
        kill(getpid(), SIGXCPU)
        run(0.1)
        #expect(told.last?.raised == ["timed"])
        kit.isResting = false
        #expect(told.last?.refusal == "threads ran for too long")
        try desk.loop.wait(for: "another request") { told.last?.raised == ["timed"] }
        end(worker)
        withExtendedLifetime((service, kit)) {}
    }

    @Test func `is no longer said of a thread that is refused it later`() throws {
        var isRefused = false
        let service = try rtkit(priority: 5, refuses: { isRefused }) { [worker] _ in
            // Nor does the process get it for a thread that has ended meanwhile.
            if isRefused { end(worker) }
        }
        let kit = try kit()
        try desk.loop.wait(for: "RTKit") { told.last?.raised == ["timed"] }
        isRefused = true
        kit.ask(on: desk.connection)
        try desk.loop.wait(for: "the refusal") { told.last?.refusal != "" }
        #expect(told.last?.raised == [])
        withExtendedLifetime((service, kit)) {}
    }

    @Test("is taken by the process itself where it is refused, or the refusal is reported")
    func refused() throws { try RealTimeSignals.alone { try refuse() } }

    private func refuse() throws {
        let service = try rtkit(priority: 5, refuses: { true }) { _ in }
        let kit = try kit()
        try desk.loop.wait(for: "an outcome") { told.last != nil }
        let outcome = try #require(told.last)
        if outcome.raised.isEmpty {
            #expect(outcome.provider == nil && outcome.refusal.contains("no"))
        } else {
            #expect(outcome.provider == "process")
            #expect(RealTimeThreads.scheduling(of: threads.members[0].id) != .ordinary)
        }
        end(worker)
        withExtendedLifetime((service, kit)) {}
    }
}
