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
        Double(Pressure.waited - start) / 1_000_000 / (MonotonicClock.now - time).seconds
    }

    /// Whether times say little, since the processors are wanted by more than they are.
    package var isHigh: Bool { share > 0.5 }

    /// Microseconds since the machine started.
    private static var waited: Int {
        let text = try? String(contentsOfFile: "/proc/pressure/cpu", encoding: .utf8)
        let total = text?.split(separator: "\n").first?.split(separator: "=").last
        return total.flatMap { Int($0) } ?? 0
    }
}
