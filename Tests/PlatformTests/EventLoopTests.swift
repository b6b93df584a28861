import Frames
import Glibc
import Platform
import Synchronization
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
}
