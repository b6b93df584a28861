import CLinux
import Frames
import Glibc
import Platform

enum WaitResult {
    /// The descriptor is ready or failed, with these poll(2) flags.
    case ready(CInt)
    /// The bell rang; it is silent again.
    case rang
    case due
}

/// Waits until `deadline`, until `bell` rings, or until `descriptor` (-1 for none) is readable, has
/// an event, or fails.
///
/// The bell comes first if several happen at once. As precise as ppoll(2); does not allocate.
func wait(for descriptor: CInt, bell: Bell, until deadline: Timestamp) -> WaitResult {
    var watched = (
        pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0),
        // poll(2) ignores a negative descriptor.
        pollfd(fd: descriptor, events: Int16(POLLIN | POLLPRI), revents: 0)
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
        // After a signal, the wait goes on for the rest of the time.
        if count == 0 || errno != EINTR { return .due }
    }
}
