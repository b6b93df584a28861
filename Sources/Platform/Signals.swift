import CLinux
import Glibc

/// Signals that are waited for like other input: signalfd(2). Create it first in `main`, before any
/// thread starts: the signals are blocked in the calling thread and in those that it starts,
/// including PipeWire's, so that none of them kills the process.
package struct Signals: ~Copyable, Sendable {
    private let source: Descriptor

    /// Blocks `signals` and makes them readable. Throws EMFILE or ENFILE without descriptors.
    package init(_ signals: [CInt]) throws(SystemError) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        let error = pthread_sigmask(SIG_BLOCK, &set, nil)
        guard error == 0 else { throw SystemError("pthread_sigmask", errno: error) }
        let number = signalfd(-1, &set, CInt(SFD_CLOEXEC | SFD_NONBLOCK))
        guard number >= 0 else { throw .last("signalfd") }
        source = Descriptor(owning: number)
    }

    /// Readable while a signal is pending.
    package var descriptor: CInt { source.number }

    /// Waits for the next signal, and returns it.
    package func wait() -> CInt {
        while true {
            var entry = pollfd(fd: source.number, events: Int16(POLLIN), revents: 0)
            _ = poll(&entry, 1, -1)
            if let signal = next() { return signal }
        }
    }

    /// Returns the next pending signal, if any.
    package func next() -> CInt? {
        var entry = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        guard retryingInterrupts({ read(source.number, &entry, size) }) == size else { return nil }
        return CInt(entry.ssi_signo)
    }
}
