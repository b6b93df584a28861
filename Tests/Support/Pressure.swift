import Foundation
import Frames
import Platform

/// How much programs of this machine had to wait for a processor, from when this was made on.
///
/// What measures time cannot tell a slow program from a machine with more to do than it can; this
/// can, by the kernel's pressure stall information (PSI).
package struct Pressure {
    private let start = Pressure.waited
    private let time = MonotonicClock.now

    /// Begins now.
    package init() {}

    /// The share of the time, 0 … 1, in which somebody waited; 0 where the kernel does not tell.
    package var share: Double {
        guard let start, let now = Pressure.waited else { return 0 }
        return Double(now - start) / 1_000_000 / (MonotonicClock.now - time).seconds
    }

    /// Whether times say little: the processors are wanted by more than they are, or slow, or the kernel does not tell.
    package var isHigh: Bool { start == nil || share > 0.5 || Self.slowness > 1.5 }

    /// Whether something took no longer than `limit`, in seconds, or than that on a machine as slow and as busy as this.
    package func allows(_ seconds: Double, of limit: Double) -> Bool {
        if seconds <= limit { return true }
        let room = limit * (isHigh ? 3 : 1) * Self.slowness
        print("took \(seconds) s of \(limit) s, which are \(room) s here")
        return seconds <= room
    }

    /// How many times longer than where limits are set a piece of work takes here and now, 1 at least.
    private static var slowness: Double {
        let usual = 0.002
        let times = (0..<20).map { _ in
            let start = MonotonicClock.now
            var state: UInt32 = 1
            for _ in 0..<1_000_000 {
                state ^= state &<< 13
                state ^= state &>> 17
                state ^= state &<< 5
            }
            precondition(state != 0)
            return (MonotonicClock.now - start).seconds
        }
        return max(1, times.reduce(0, +) / Double(times.count) / usual)
    }

    /// Microseconds since the machine started; nil where the kernel does not tell.
    private static var waited: Int? {
        let text = try? String(contentsOfFile: "/proc/pressure/cpu", encoding: .utf8)
        let total = text?.split(separator: "\n").first?.split(separator: "=").last
        return total.flatMap { Int($0) }
    }
}
