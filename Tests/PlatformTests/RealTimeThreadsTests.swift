import Frames
import Platform
import Synchronization
import TestSupport
import Testing

@Suite("Real-time threads", .serialized, .timeLimit(.minutes(5)))
struct RealTimeThreadsTests {
    private let threads = RealTimeThreads()
    private var watchdog: Timestamp { MonotonicClock.now + Timestamp(seconds: 20) }

    @Test func `are listed while they run, and whoever follows them hears of each`() throws {
        let first = try Worker(name: "first")
        let seen = Mutex<[String]>([])
        let change = try Bell()
        try first.start(timed: threads) { while !first.isEnding { first.bell.wait(until: nil) } }
        while threads.members.isEmpty, MonotonicClock.now < watchdog { change.wait(until: soon) }
        threads.follow { member in
            seen.withLock { $0.append(member.name) }
            change.ring()
        }
        #expect(seen.withLock { $0 } == ["first"], "it runs already")
        let second = try LoopWorker<Void>(name: "second")
        try second.start(timed: threads) { _ in }
        while seen.withLock({ $0.count }) < 2, MonotonicClock.now < watchdog {
            change.wait(until: soon)
        }
        #expect(threads.members.map(\.name) == ["first", "second"])
        #expect(Set(threads.members.map(\.id)).count == 2)
        first.end()
        first.join()
        #expect(threads.members.map(\.name) == ["second"])
        second.end()
        second.join()
        #expect(threads.members.isEmpty)
    }

    @Test("have the priority that the system grants, and no other thread has it")
    func priority() throws { try RealTimeSignals.alone { try raise() } }

    private func raise() throws {
        let worker = try Worker(name: "timed")
        let found = Mutex<[Scheduling?]>([])
        let ready = try Bell()
        try worker.start(timed: threads) {
            ready.ring()
            worker.bell.wait(until: nil)
        }
        ready.wait(until: watchdog)
        let member = try #require(threads.members.first)
        #expect(RealTimeThreads.scheduling(of: member.id) == .ordinary)
        let isGranted = grant(member)
        let wanted: Scheduling = isGranted ? .realTime : .ordinary
        #expect(RealTimeThreads.scheduling(of: member.id) == wanted)
        worker.end()
        worker.join()
        // A thread that has ended has none, and a new one is ordinary. It may be joined a moment
        // before the kernel has forgotten it.
        try eventually("its end") { RealTimeThreads.scheduling(of: member.id) == nil }
        #expect(throws: SystemError.self) { try RealTimeThreads.raise(member.id, to: 5) }
        let next = try Worker(name: "next")
        try next.start(timed: threads) { [threads] in
            found.withLock { $0 = threads.members.map { RealTimeThreads.scheduling(of: $0.id) } }
        }
        next.join()
        #expect(found.withLock { $0 } == [.ordinary])
    }

    @Test("become ordinary when one takes a processor for itself, and the process lives")
    func overrun() throws { try RealTimeSignals.alone { try takeTheProcessor() } }

    private func takeTheProcessor() throws {
        let overruns = RealTimeThreads.overruns
        try RealTimeThreads.limitTime(to: 400_000)
        let idle = try Worker(name: "idle")
        let busy = try Worker(name: "busy")
        try idle.start(timed: threads) { idle.bell.wait(until: nil) }
        let isRealTime = Atomic(false)
        let end = watchdog
        try busy.start(timed: threads) { [threads] in
            busy.bell.wait(until: nil)
            guard let id = threads.members.first(where: { $0.name == "busy" })?.id else { return }
            while RealTimeThreads.scheduling(of: id) == .realTime, MonotonicClock.now < end {
                isRealTime.store(true, ordering: .relaxed)
            }
        }
        while threads.members.count < 2, MonotonicClock.now < end {}
        let areGranted = threads.members.map { grant($0) }
        busy.wake()
        busy.join()
        #expect(MonotonicClock.now < end, "it was never stopped")
        #expect(isRealTime.load(ordering: .relaxed) == areGranted.contains(true))
        // Another thread may handle the signal, and counts it when all are ordinary.
        let count = areGranted.contains(true) ? 1 : 0
        try eventually("the count") { RealTimeThreads.overruns - overruns >= count }
        #expect(RealTimeThreads.overruns - overruns == count)
        for member in threads.members {
            #expect(RealTimeThreads.scheduling(of: member.id) == .ordinary, "\(member.name)")
        }
        idle.end()
        idle.join()
    }

    private var soon: Timestamp { MonotonicClock.now + Timestamp(seconds: 0.01) }

    /// Returns `true` if this process may give real-time priority, which takes rights.
    private func grant(_ member: RealTimeThreads.Member) -> Bool {
        do throws(SystemError) {
            try RealTimeThreads.raise(member.id, to: 5)
            return true
        } catch {
            return false
        }
    }
}
