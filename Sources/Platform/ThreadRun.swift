import CLinux
import Glibc

/// The run of a thread that keeps time: the processor time that it has used since it last waited. A
/// thread that always finds work, such as a decoder that is slower than its camera, never waits.
/// For the kernel it has then run without a pause, even if others had the processor meanwhile, and
/// RLIMIT_RTTIME would end its priority (`RealTimeThreads.limitTime(to:)`). Bound to the thread.
package struct ThreadRun {
    private var waits = -1
    private var begin: Int64 = 0

    /// The nanoseconds of a run after which the thread has to wait. The least that providers of
    /// priority allow before a signal is 50 ms, and the next piece of work comes on top.
    private static let longest: Int64 = 20_000_000
    /// The nanoseconds of the wait: long enough for a real one, and soon over.
    private static let pause = 100_000

    /// Creates a run that begins with the first `rest()`.
    package init() {}

    /// Sleeps a moment if the run has become long. Call before each work. Does not allocate.
    package mutating func rest() {
        var now: Int64 = 0
        let waits = clinux_thread_waits(&now)
        if waits != self.waits {
            self.waits = waits
            begin = now
        } else if now - begin >= Self.longest {
            var pause = timespec(tv_sec: 0, tv_nsec: Self.pause)
            nanosleep(&pause, nil)
        }
    }
}
