import CLinux
import Frames
import Glibc
import Platform

/// What ended a wait.
enum WaitResult {
    /// The descriptor has something to say, as poll(2) flags.
    case ready(CInt)
    /// The bell rang, and is silent again.
    case rang
    /// The time came.
    case due
}

/// Waits until `deadline`, until `bell` rings, or until `descriptor` (-1: none) becomes readable or fails.
///
/// The bell comes first when several happen at once. Precise to what ppoll(2) is; no allocation.
func wait(for descriptor: CInt, bell: Bell, until deadline: Timestamp) -> WaitResult {
    var watched = (
        pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0),
        // A negative descriptor is passed over.
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    )
    while true {
        let left = max(0, (deadline - MonotonicClock.now).nanoseconds)
        let count = withUnsafeMutableBytes(of: &watched) {
            clinux_poll($0.assumingMemoryBound(to: pollfd.self).baseAddress, 2, left)
        }
        if count > 0 {
            guard watched.0.revents == 0 else {
                bell.silence()
                return .rang
            }
            return .ready(CInt(watched.1.revents))
        }
        // Interrupted by a signal, it waits for what is left.
        if count == 0 || errno != EINTR { return .due }
    }
}
