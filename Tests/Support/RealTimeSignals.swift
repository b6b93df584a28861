import Synchronization

/// The signals of threads that ran for too long, which go to the whole process.
package enum RealTimeSignals {
    private static let lock = Mutex(())

    /// Runs `body` while no other test sends one, or depends on there being none.
    package static func alone(_ body: () throws -> Void) rethrows {
        try lock.withLock { _ in try body() }
    }
}
