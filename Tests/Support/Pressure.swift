import Foundation
import Frames
import Platform

/// The share of time for which programs of this machine waited for a processor since this was
/// created.
///
/// A measured time alone does not tell a slow program from an overloaded machine. The kernel's
/// pressure stall information (PSI) does.
package struct Pressure {
    private let start = Pressure.waited
    private let time = MonotonicClock.now

    /// Begins the measurement.
    package init() {}

    /// The share of the time, 0 … 1, in which some program waited; 0 if the kernel does not provide
    /// it.
    package var share: Double {
        guard let start, let now = Pressure.waited else { return 0 }
        return Double(now - start) / 1_000_000 / (MonotonicClock.now - time).seconds
    }

    /// `true` if measured times mean little: the processors are overloaded or slow, or the kernel
    /// does not provide the pressure.
    package var isHigh: Bool { start == nil || share > 0.5 || Self.slowness > 1.5 }

    /// Returns `true` if `seconds` is within `limit`, which is extended on a slow or busy machine.
    package func allows(_ seconds: Double, of limit: Double) -> Bool {
        if seconds <= limit { return true }
        let room = limit * (isHigh ? 3 : 1) * Self.slowness
        print("took \(seconds) s of \(limit) s, which are \(room) s here")
        return seconds <= room
    }

    /// The time that a piece of work takes here and now, relative to the machine for which limits
    /// are set; at least 1.
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

    /// The total waiting time since the machine started, in microseconds; `nil` if the kernel does
    /// not provide it.
    private static var waited: Int? {
        let text = try? String(contentsOfFile: "/proc/pressure/cpu", encoding: .utf8)
        let total = text?.split(separator: "\n").first?.split(separator: "=").last
        return total.flatMap { Int($0) }
    }
}
