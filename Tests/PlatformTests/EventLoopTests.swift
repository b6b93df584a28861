import Frames
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@Suite("Event loop") struct EventLoopTests {
    @Test func aTimerCallsOnceEachTimeItIsArmed() throws {
        let loop = try EventLoop()
        var calls = 0
        let timer = try loop.timer {
            calls += 1
            loop.stop()
        }
        let start = MonotonicClock.now
        timer.arm(after: 0.02)
        loop.run()
        #expect(calls == 1)
        #expect((MonotonicClock.now - start).seconds >= 0.02)
        loop.runOnce(milliseconds: 30)
        #expect(calls == 1)
    }

    @Test(
        "a timer that is armed anew or disarmed in the round in which it expired does not fire",
        arguments: [true, false]
    )
    func rearmed(_ isArmedAnew: Bool) throws {
        let loop = try EventLoop()
        let bell = try Bell()
        var (calls, rings) = (0, 0)
        let timer = try loop.timer { calls += 1 }
        try loop.watch(bell.descriptor, for: .readable) { _ in
            bell.silence()
            rings += 1
            if isArmedAnew { timer.arm(after: 3600) } else { timer.disarm() }
        }
        // The bell is first in the round, and the timer has expired when it is waited for.
        bell.ring()
        timer.arm(at: MonotonicClock.now)
        usleep(10_000)
        loop.runOnce(milliseconds: 1000)
        #expect(calls == 0 && rings == 1)
        // It still works.
        timer.arm(at: .zero)
        loop.runOnce(milliseconds: 10_000)
        #expect(calls == 1)
    }

    @Test("timers fire in the order of their times, and one that is armed for now lets others fire")
    func several() throws {
        let loop = try EventLoop()
        var fired: [Int] = []
        let timers = try (0..<4).map { number in try loop.timer { fired.append(number) } }
        var again: EventLoop.Timer?
        var rounds = 0
        again = try loop.timer {
            rounds += 1
            if rounds < 5 { again?.arm(at: .zero) }
        }
        let now = MonotonicClock.now
        for (number, time) in [(0, 0.06), (1, 0.02), (2, 0.04), (3, 0.03)] {
            timers[number].arm(at: now + Timestamp(seconds: time))
        }
        timers[3].disarm()
        again?.arm(at: .zero)
        loop.runOnce(milliseconds: 1000)
        #expect(rounds == 1)
        while fired.count < 3 { loop.runOnce(milliseconds: 1000) }
        #expect(fired == [1, 2, 0] && rounds == 5)
        // Nothing is left that wakes the loop.
        loop.runOnce(milliseconds: 0)
        var event = pollfd(fd: loop.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&event, 1, 50) == 0)
    }

    @Test("a timer that is released while others fire does not fire")
    func released() throws {
        let loop = try EventLoop()
        var (fired, other) = (0, nil as EventLoop.Timer?)
        let first = try loop.timer {
            fired += 1
            other = nil
        }
        other = try loop.timer { fired += 10 }
        first.arm(at: .zero)
        other?.arm(at: .zero)
        loop.runOnce(milliseconds: 1000)
        loop.runOnce(milliseconds: 20)
        #expect(fired == 1)
    }

    @Test func anotherThreadReachesTheLoop() throws {
        let loop = try EventLoop()
        let order = Mutex<[Int]>([])
        let mailbox = loop.mailbox
        let thread = try Thread(name: "poster") {
            for i in 0..<100 { mailbox.post { order.withLock { $0.append(i) } } }
        }
        while order.withLock({ $0.count }) < 100 { loop.runOnce(milliseconds: 1000) }
        thread.join()
        #expect(order.withLock { $0 } == Array(0..<100))
    }

    @Test func aWatchCancelledInItsRoundIsNotCalled() throws {
        let loop = try EventLoop()
        let bells = [try Bell(), try Bell()]
        var watches: [EventLoop.Watch] = []
        var calls = 0
        for bell in bells {
            watches.append(
                try loop.watch(bell.descriptor, for: .readable) { _ in
                    calls += 1
                    for watch in watches { watch.cancel() }
                }
            )
        }
        for bell in bells { bell.ring() }
        loop.runOnce(milliseconds: 1000)
        #expect(calls == 1)
    }

    @Test func `a descriptor that takes an old number gets no event of the old one`() throws {
        let loop = try EventLoop()
        var pipes = [try unsharedPipe(), try unsharedPipe()]
        var (numbers, watches): ([CInt], [EventLoop.Watch]) = (pipes.map(\.reader), [])
        var calls: [String] = []
        for number in numbers {
            watches.append(
                try loop.watch(number, for: .readable) { _ in
                    calls.append("old")
                    for (watch, pipe) in zip(watches, pipes) {
                        watch.cancel()
                        close(pipe.reader)
                        close(pipe.writer)
                    }
                    // Both numbers are free, and taken again by what has nothing to read.
                    var ends: [CInt] = [-1, -1]
                    guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
                        return
                    }
                    pipes = [(ends[0], ends[1])]
                    for end in ends where numbers.contains(end) {
                        _ = try? loop.watch(end, for: .readable) { _ in calls.append("new") }
                    }
                    numbers = numbers.filter { ends.contains($0) }
                }
            )
        }
        for pipe in pipes { _ = Glibc.write(pipe.writer, [1], 1) }
        loop.runOnce(milliseconds: 1000)
        #expect(calls == ["old"] && !numbers.isEmpty)
        for pipe in pipes {
            close(pipe.reader)
            close(pipe.writer)
        }
    }

    @Test func `a stop before the run is not lost, and counts once`() throws {
        let loop = try EventLoop()
        loop.stop()
        loop.run()
        let timer = try loop.timer { loop.stop() }
        let start = MonotonicClock.now
        timer.arm(after: 0.01)
        loop.run()
        #expect((MonotonicClock.now - start).seconds >= 0.01)
    }
}
