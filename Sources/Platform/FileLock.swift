import Glibc

/// A lock of an open file: fcntl(2), F_OFD_SETLK. It belongs to the open file description, so
/// that it goes with the last descriptor, in whichever process that is.
package enum FileLock {
    /// The result of an attempt to lock.
    package enum Outcome: Hashable, Sendable {
        /// The file is ours alone.
        case locked
        /// Someone else has the lock.
        case taken
        /// The file system has no locks.
        case unsupported
    }

    // Hidden without _GNU_SOURCE, under which Glibc's types differ from those in Swift's module.
    private static let (setLock, setLockWaiting): (CInt, CInt) = (37, 38)

    /// Tries to lock the whole file behind `descriptor`, which is open for writing. With `waiting`,
    /// waits while someone else has the lock.
    package static func take(_ descriptor: CInt, waiting: Bool = false) -> Outcome {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        let command = waiting ? setLockWaiting : setLock
        guard retryingInterrupts({ fcntl(descriptor, command, &lock) }) != 0 else {
            return .locked
        }
        return errno == EAGAIN || errno == EACCES ? .taken : .unsupported
    }
}
