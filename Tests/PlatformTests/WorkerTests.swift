import Frames
import Platform
import Synchronization
import Testing

private var watchdog: Timestamp { MonotonicClock.now + Timestamp(seconds: 20) }

@Suite("Worker") struct WorkerTests {
    @Test func aWorkerIsWokenAndEndsWhenItIsTold() throws {
        let worker = try Worker(name: "w")
        let wanted = Mutex(0)
        let done = try Bell()
        let seen = Mutex<[Int]>([])
        try worker.start {
            while !worker.isEnding {
                worker.bell.wait(until: nil)
                let value = wanted.withLock { $0 }
                seen.withLock { $0.append(value) }
                done.ring()
            }
        }
        for value in 1...3 {
            wanted.withLock { $0 = value }
            worker.wake()
            #expect(done.wait(until: watchdog))
            #expect(seen.withLock { $0.last } == value)
        }
        #expect(!worker.join(until: .zero), "it has not been told to end")
        worker.end()
        #expect(worker.join(until: watchdog))
        // A worker without a thread has nothing to wait for.
        #expect(worker.join(until: .zero))
    }

    @Test func aWorkerThatDoesNotEndCanBeLeft() throws {
        let worker = try Worker(name: "w")
        let (gate, hasEnded) = (try Bell(), try Bell())
        try worker.start {
            gate.wait(until: watchdog)
            hasEnded.ring()
        }
        worker.end()
        #expect(!worker.join(until: MonotonicClock.now + Timestamp(seconds: 0.01)))
        worker.leave()
        gate.ring()
        #expect(hasEnded.wait(until: watchdog))
    }

    @Test func aLoopsWorkerDoesWhatWasPostedInOrderThenItsLastAndThenNoMore() throws {
        final class Listed {
            let onEnd: @Sendable () -> Void
            var values: [Int] = []
            init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
            deinit { onEnd() }
        }
        let worker = try LoopWorker<Listed>(name: "w")
        let released = Mutex(0)
        let result = Mutex<[Int]>([])
        try worker.start(first: { $0.values.append(0) }) { _ in
            Listed { released.withLock { $0 += 1 } }
        }
        for value in 1...100 { #expect(worker.post { $0.values.append(value) }) }
        worker.end { listed in
            listed.values.append(-1)
            let values = listed.values
            result.withLock { $0 = values }
        }
        #expect(!worker.post { $0.values.append(999) }, "posted after the end")
        // Only the first end counts.
        worker.end { _ in result.withLock { $0 = [] } }
        #expect(worker.join(until: watchdog))
        #expect(result.withLock { $0 } == Array(0...100) + [-1])
        #expect(released.withLock { $0 } == 1, "the state outlives its thread")
    }

    @Test func aLoopsWorkerHasTimers() throws {
        final class Timed {
            var timer: EventLoop.Timer?
            init(_ loop: EventLoop, _ fired: Bell) throws(SystemError) {
                timer = try loop.timer { fired.ring() }
            }
        }
        let fired = try Bell()
        let worker = try LoopWorker<Timed>(name: "w")
        try worker.start { loop throws(SystemError) in try Timed(loop, fired) }
        worker.post { $0.timer?.arm(after: 0.001) }
        #expect(fired.wait(until: watchdog))
        worker.end()
        worker.join()
    }

    @Test func aStateThatCannotBeMadeIsThrownAndLeavesNoThread() throws {
        let worker = try LoopWorker<Int>(name: "w")
        #expect(throws: SystemError.self) {
            try worker.start { _ throws(SystemError) in throw SystemError("open", errno: 24) }
        }
        #expect(worker.join(until: .zero))
    }
}
