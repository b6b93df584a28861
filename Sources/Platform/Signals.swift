import CLinux
import Glibc

/// Signals that are waited for like any other input: signalfd(2).
///
/// To be made first thing in `main`, before any thread starts: they are blocked in the calling
/// thread and in those that it starts, PipeWire's among them, so that none of them dies of one.
package struct Signals: ~Copyable {
    private let source: Descriptor

    /// Blocks `signals` and waits for them. Throws when the process is out of descriptors.
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

    /// Readable while a signal waits.
    package var descriptor: CInt { source.number }

    /// The next signal that waits, if any.
    package func next() -> CInt? {
        var entry = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        guard retryingInterrupts({ read(source.number, &entry, size) }) == size else { return nil }
        return CInt(entry.ssi_signo)
    }
}
