import Frames
import Testing

@testable import Capture

@Suite("The pace of a camera on the network") struct PaceTests {
    /// The pace after `seconds` of pictures at `rate`, which go on from `start`.
    private func count(_ pace: inout Pace, _ rate: Double, from start: Double, for seconds: Double)
    {
        for number in 0..<Int(rate * seconds) {
            pace.count(Timestamp(seconds: start + Double(number) / rate))
        }
    }

    @Test("is what comes, whatever was announced", arguments: [0.5, 12, 29.97, 30, 60, 120])
    func rates(rate: Double) throws {
        var pace = Pace()
        #expect(pace.rate == nil)
        count(&pace, rate, from: 100, for: 10)
        let found = try #require(pace.rate)
        #expect(abs(found - rate) <= max(0.05 * rate, 0.1), "\(found)")
    }

    @Test("follows a camera that becomes slower")
    func slower() throws {
        var pace = Pace()
        count(&pace, 30, from: 100, for: 10)
        count(&pace, 12, from: 110, for: 12)
        #expect(pace.rate == 12)
    }

    @Test func `leaves pictures out that were held back before the first`() {
        var pace = Pace()
        for _ in 0..<40 { pace.count(Timestamp(seconds: 100)) }
        count(&pace, 30, from: 100.03, for: 5)
        #expect(pace.rate == 30)
    }

    @Test("has a patience of some pauses, and forgets a long one")
    func patience() {
        var pace = Pace()
        // Whatever came at once at the start, a slow camera may have sent.
        for _ in 0..<3 {
            pace.count(Timestamp(seconds: 99))
            #expect(pace.patience == 4)
        }
        pace = Pace()
        count(&pace, 30, from: 100, for: 1)
        #expect(pace.patience == 0.4)
        pace.count(Timestamp(seconds: 105))
        #expect(pace.patience > 3 && pace.patience <= 10)
        count(&pace, 30, from: 105.03, for: 10)
        #expect(pace.patience == 0.4)
        pace.count(Timestamp(seconds: 200))
        #expect(pace.patience == 10)
    }
}
