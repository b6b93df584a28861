import Glibc

/// The error of a failed system call.
package struct SystemError: Error, Hashable, CustomStringConvertible {
    /// The call, as the manual names it ("epoll_create1", "VIDIOC_STREAMON").
    package let operation: String
    /// The object of the call, such as a path; empty if there is none.
    package let subject: String
    package let errno: CInt

    package init(_ operation: String, _ subject: String = "", errno: CInt) {
        self.operation = operation
        self.subject = subject
        self.errno = errno
    }

    /// Returns the error of the call just made on this thread.
    package static func last(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(operation, subject, errno: Glibc.errno)
    }

    /// "cannot open /dev/video0: another program is using it".
    package var description: String {
        describe(operation, subject, reason: reason(errno, of: operation, on: subject))
    }
}

/// Repeats `body` while a signal interrupts it (EINTR). Returns its last result.
package func retryingInterrupts<R: SignedInteger>(_ body: () -> R) -> R {
    while true {
        let result = body()
        if result != -1 || errno != EINTR { return result }
    }
}
