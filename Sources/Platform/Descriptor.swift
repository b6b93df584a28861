import CLinux
package import Frames
import Glibc

/// An open file descriptor, closed when its owner goes.
package struct Descriptor: ~Copyable, Sendable {
    /// The number. Valid while this value lives.
    package let number: CInt

    /// Takes ownership of `number`, which is open.
    package init(owning number: CInt) {
        precondition(number >= 0, "not a descriptor")
        self.number = number
    }

    deinit { close(number) }
}

/// A bell that any thread may ring and one thread waits for: eventfd(2).
///
/// Rings add up to one: however often it rang, `silence()` returns it to rest.
package final class Bell: Sendable {
    private let event: Descriptor

    /// A silent bell. Throws when the process is out of descriptors.
    package init() throws(SystemError) {
        let number = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard number >= 0 else { throw .last("eventfd") }
        event = Descriptor(owning: number)
    }

    /// Readable while it rings; for poll(2) and epoll(7).
    package var descriptor: CInt { event.number }

    /// Rings. Never blocks, never allocates; from any thread.
    package func ring() {
        var one: UInt64 = 1
        _ = retryingInterrupts { write(event.number, &one, 8) }
    }

    /// Waits until it rings, at most until `deadline` (`nil`: without end), and silences it.
    ///
    /// Returns whether it rang.
    @discardableResult
    package func wait(until deadline: Timestamp?) -> Bool {
        while true {
            var milliseconds: CInt = -1
            if let deadline {
                let left = deadline.nanoseconds - MonotonicClock.now.nanoseconds
                if left <= 0 { return false }
                milliseconds = CInt(min(left / 1_000_000 + 1, 3_600_000))
            }
            var entry = pollfd(fd: event.number, events: Int16(POLLIN), revents: 0)
            if retryingInterrupts({ poll(&entry, 1, milliseconds) }) > 0 {
                silence()
                return true
            }
        }
    }

    /// Back to rest. Never blocks. By the thread that waits.
    package func silence() {
        var count: UInt64 = 0
        _ = retryingInterrupts { read(event.number, &count, 8) }
    }
}
