import Glibc

/// A system call that failed: which, on what, and why.
package struct SystemError: Error, Hashable, CustomStringConvertible {
    /// The call, as the manual names it ("epoll_create1", "VIDIOC_STREAMON").
    package let operation: String
    /// What it was applied to, such as a path; empty where there is nothing to name.
    package let subject: String
    /// Its errno.
    package let errno: CInt

    /// The failure of `operation` on `subject` with `errno`.
    package init(_ operation: String, _ subject: String = "", errno: CInt) {
        self.operation = operation
        self.subject = subject
        self.errno = errno
    }

    /// The failure of the call just made, on this thread.
    package static func last(_ operation: String, _ subject: String = "") -> SystemError {
        SystemError(operation, subject, errno: Glibc.errno)
    }

    /// "open /dev/video0: Device or resource busy".
    package var description: String { describe(operation, subject, errno: errno) }
}

/// What errors say to people of `operation`, on `subject` where there is something to name: why it failed, by
/// `errno` where it is not 0 and by `detail`, or `otherwise` where there is neither.
package func describe(
    _ operation: String,
    _ subject: String,
    errno: CInt,
    detail: String = "",
    otherwise: String = "unknown"
) -> String {
    let action = subject.isEmpty ? operation : "\(operation) \(subject)"
    let reasons = [errno == 0 ? "" : String(cString: strerror(errno)), detail]
        .filter { !$0.isEmpty }
    return "\(action): \(reasons.isEmpty ? otherwise : reasons.joined(separator: "; "))"
}

/// Calls `body` again for as long as a signal interrupts it (EINTR); returns what it returned last.
package func retryingInterrupts<R: SignedInteger>(_ body: () -> R) -> R {
    while true {
        let result = body()
        if result != -1 || errno != EINTR { return result }
    }
}
