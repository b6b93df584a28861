import CLinux
package import Frames
import Glibc

/// An open file descriptor, closed with its owner.
package struct Descriptor: ~Copyable, Sendable {
    /// The number, valid while this value lives.
    package let number: CInt

    /// Takes ownership of the open descriptor `number`.
    package init(owning number: CInt) {
        precondition(number >= 0, "not a descriptor")
        self.number = number
    }

    deinit { close(number) }
}

/// A bell that any thread may ring and one thread waits for: eventfd(2). Rings do not add up:
/// however often it rang, one `silence()` silences it.
package final class Bell: Sendable {
    private let event: Descriptor

    /// Creates a silent bell. Throws EMFILE or ENFILE if there are no descriptors left.
    package init() throws(SystemError) {
        let number = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard number >= 0 else { throw .last("eventfd") }
        event = Descriptor(owning: number)
    }

    /// Readable while it rings; for poll(2) and epoll(7).
    package var descriptor: CInt { event.number }

    /// Rings. Never blocks or allocates. From any thread.
    package func ring() {
        var one: UInt64 = 1
        _ = retryingInterrupts { write(event.number, &one, 8) }
    }

    /// Waits until it rings, at most until `deadline` (`nil` for no limit), and silences it.
    ///
    /// - Returns: `true` if it rang.
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

    /// Silences the bell. Never blocks. The thread that waits.
    package func silence() {
        var count: UInt64 = 0
        _ = retryingInterrupts { read(event.number, &count, 8) }
    }
}
