import DualCamCore
import Frames
import Testing

@Suite("The output clock") struct OutputClockTests {
    /// Runs a clock of 30 ticks per second with arrivals at these times, in seconds. Returns the
    /// times of its ticks.
    func ticks(arrivals: [Double], until end: Double) -> [Double] {
        var clock = OutputClock(rate: 30, now: .zero)
        var ticks: [Double] = []
        var pending = arrivals[...]
        while true {
            let next = pending.first ?? .infinity
            let now = min(next, clock.due.seconds)
            if now >= end { return ticks }
            let time = Timestamp(seconds: now)
            if next <= clock.due.seconds {
                pending = pending.dropFirst()
                guard clock.frameArrived(at: time) else { continue }
            }
            clock.tick(at: max(time, now == clock.due.seconds ? clock.due : time))
            ticks.append(now)
        }
    }

    func rate(_ ticks: [Double]) -> Double {
        Double(ticks.count - 1) / ((ticks.last ?? 0) - (ticks.first ?? 0))
    }

    @Test func withoutACameraTheRateIsExact() {
        let ticks = ticks(arrivals: [], until: 10)
        #expect(abs(rate(ticks) - 30) < 0.001)
    }

    @Test(arguments: [30.0, 29.97, 60.0, 59.94])
    func aCameraThatKeepsTheRateIsFollowedWithoutDelay(_ cameraRate: Double) {
        let arrivals = (0..<Int(cameraRate * 10)).map { 0.0123 + Double($0) / cameraRate }
        let ticks = ticks(arrivals: arrivals, until: 9.9).filter { $0 > 1 }
        let known = Set(arrivals)
        #expect(ticks.allSatisfy(known.contains), "every frame is made as a picture arrives")
        #expect(abs(rate(ticks) - cameraRate / (cameraRate / 30).rounded()) < 0.01)
    }

    @Test func `a camera is followed after a few frames, however late the first one was`() {
        for late in [-0.01, -0.002, 0.002, 0.01, 0.02] {
            var arrivals = (0..<60).map { 0.02 + Double($0) / 30 }
            arrivals[0] += late
            let ticks = ticks(arrivals: arrivals, until: 2).filter { $0 > 0.35 }
            let known = Set(arrivals)
            #expect(ticks.count >= 49 && ticks.allSatisfy(known.contains), "\(late)")
        }
    }

    @Test(arguments: [7.5, 15, 24, 25, 28.0, 32.0, 50.0])
    func aCameraOfAnotherRateDoesNotChangeTheOutputs(_ cameraRate: Double) {
        let arrivals = (0..<Int(cameraRate * 10)).map { 0.0123 + Double($0) / cameraRate }
        let ticks = ticks(arrivals: arrivals, until: 10).filter { $0 > 1 }
        #expect(abs(rate(ticks) - 30) < 0.05)
    }

    @Test func aCameraThatStopsIsNotWaitedFor() {
        let arrivals = (0..<90).map { Double($0) / 30 }
        let ticks = ticks(arrivals: arrivals, until: 6)
        let gaps = zip(ticks.dropFirst(), ticks).map { $0 - $1 }
        #expect((gaps.max() ?? 9) <= 1.26 / 30, "at most a quarter of an interval late")
        #expect(abs(rate(ticks.filter { $0 > 3.2 }) - 30) < 0.05)
    }

    @Test func jitterDoesNotDoubleOrStarve() {
        var seed: UInt64 = 7
        let arrivals = (0..<300).map { index in
            seed = seed &* 6_364_136_223_846_793_005 &+ 1
            return Double(index) / 30 + Double(seed >> 40) / Double(1 << 24) * 0.008
        }
        let ticks = ticks(arrivals: arrivals, until: 10).filter { $0 > 1 }
        let gaps = zip(ticks.dropFirst(), ticks).map { $0 - $1 }
        #expect((gaps.min() ?? 0) >= 0.6 / 30 - 1e-6)
        #expect((gaps.max() ?? 9) <= 1.26 / 30)
        #expect(abs(rate(ticks) - 30) < 0.3)
    }

    @Test func stampsRiseWhateverTheCameraSays() {
        var clock = OutputClock(rate: 30, now: .zero)
        var last = Timestamp(nanoseconds: -1)
        let taken: [Double?] = [9.99, 9.99, 5, 20, nil, nil, 10.2, 0, 10.3, nil, 3]
        for (index, taken) in taken.enumerated() {
            let now = Timestamp(seconds: 10 + Double(index) / 30)
            let stamp = clock.stamp(taken: taken.map(Timestamp.init(seconds:)), now: now)
            #expect(stamp > last)
            #expect(abs((now - stamp).seconds) < 0.6)
            last = stamp
        }
    }
}

@Suite("The stamps of output frames") struct StampTests {
    private func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: seconds) }

    @Test("are the times at which the pictures were taken")
    func taken() {
        var clock = OutputClock(rate: 30, now: .zero)
        for index in 1...90 {
            let now = at(10 + Double(index) / 30)
            let taken = now - at(0.05)
            #expect(clock.stamp(taken: taken, now: now) == taken)
        }
    }

    @Test func `are the present where a picture is of the future, or of half a second ago`() {
        for taken in [10.001, 11, 9.499, 3] {
            var clock = OutputClock(rate: 30, now: .zero)
            #expect(clock.stamp(taken: at(taken), now: at(10)) == at(10), "\(taken)")
        }
        var clock = OutputClock(rate: 30, now: .zero)
        #expect(clock.stamp(taken: at(9.501), now: at(10)) == at(9.501))
        let next = Timestamp(nanoseconds: 9_501_000_000 + 33_333_333 / 2)
        #expect(clock.stamp(taken: nil, now: at(9.51)) == next, "half an interval on")
    }

    @Test func `go on by an interval without a picture, and never by less than half of one`() {
        var clock = OutputClock(rate: 50, now: .zero)
        let first = clock.stamp(taken: at(9.9), now: at(10))
        #expect(clock.stamp(taken: nil, now: at(10.02)) == first + at(0.02))
        #expect(clock.stamp(taken: at(9.92), now: at(10.04)) == first + at(0.03))
    }

    @Test("a lapse, such as sleep, is not made up for", arguments: [0.05, 0.09, 0.2, 5, 3600])
    func lapse(_ length: Double) {
        var clock = OutputClock(rate: 30, now: at(100))
        for index in 0..<30 { clock.tick(at: at(100 + Double(index) / 30)) }
        var now = clock.due + at(length)
        var ticks = 0
        let end = now + at(0.5)
        while now < end {
            clock.tick(at: now)
            ticks += 1
            now = max(now, clock.due)
        }
        // Up to two intervals are caught up with, so that the rate is exact.
        #expect((15...17).contains(ticks), "\(ticks) ticks in half a second")
    }

    @Test func `another main camera's rate is learned anew`() {
        var clock = OutputClock(rate: 30, now: .zero)
        for index in 0..<30 { _ = clock.frameArrived(at: at(Double(index) / 30)) }
        #expect(clock.isLocked)
        clock.mainChanged()
        #expect(!clock.isLocked)
        #expect(!clock.frameArrived(at: at(2)) && !clock.isLocked)
        #expect(!clock.frameArrived(at: at(2 + 1.0 / 24)) && !clock.isLocked)
    }

    @Test("a pause says nothing about the rate")
    func pause() {
        var clock = OutputClock(rate: 30, now: .zero)
        for index in 0..<30 { _ = clock.frameArrived(at: at(Double(index) / 30)) }
        _ = clock.frameArrived(at: at(10))
        #expect(!clock.isLocked)
        _ = clock.frameArrived(at: at(10 + 1.0 / 30))
        #expect(clock.isLocked)
    }
}
