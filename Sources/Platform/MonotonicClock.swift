import CLinux
package import Frames
import Glibc

/// CLOCK_MONOTONIC, the clock of V4L2's and PipeWire's timestamps.
package enum MonotonicClock {
    /// The current time. Cheap (vDSO). From any thread.
    package static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Timestamp(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
