import Frames
import Glibc
import Platform

/// The error of a wait that took too long.
package struct TimedOut: Error, CustomStringConvertible {
    /// The subject of the wait, and its duration.
    package let description: String

    /// Creates the error of a wait for `what` that ended after `seconds`.
    package init(_ what: String, after seconds: Double) {
        description = "waited \(seconds) s for \(what)"
    }
}

/// Polls for a value every few milliseconds until there is one.
///
/// `what` completes the sentence "waited for …". Blocks the calling thread.
///
/// - Throws: `TimedOut` after `seconds`.
@discardableResult
package func eventually<Value>(
    _ what: @autoclosure () -> String,
    within seconds: Double = 20,
    _ value: () throws -> Value?
) throws -> Value {
    let deadline = MonotonicClock.now + Timestamp(seconds: seconds)
    while true {
        if let value = try value() { return value }
        guard MonotonicClock.now < deadline else { throw TimedOut(what(), after: seconds) }
        usleep(2_000)
    }
}

/// Polls every few milliseconds until `condition` holds.
///
/// `what` completes the sentence "waited for …". Blocks the calling thread.
///
/// - Throws: `TimedOut` after `seconds`.
package func eventually(
    _ what: @autoclosure () -> String,
    within seconds: Double = 20,
    _ condition: () throws -> Bool
) throws {
    try eventually(what(), within: seconds) { try condition() ? () : nil }
}
