import Frames
import Platform
import Synchronization

/// A value on its way from another thread, which the start waits for, but not for ever.
final class Awaited<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let bell: Bell

    init() throws(SystemError) { bell = try Bell() }

    /// Sets the value, and wakes who waits for it. From any thread.
    func deliver(_ value: Value) {
        self.value.withLock { $0 = value }
        bell.ring()
    }

    /// Returns the value, or `nil` if it does not come within `seconds`.
    func wait(_ seconds: Double) -> Value? {
        let deadline = MonotonicClock.now + Timestamp(seconds: seconds)
        while MonotonicClock.now < deadline {
            if let value = value.withLock({ $0 }) { return value }
            bell.wait(until: deadline)
        }
        return value.withLock { $0 }
    }
}
