import Frames
import Glibc
import Platform

/// Something that a test waited for and that did not come.
package struct TimedOut: Error, CustomStringConvertible {
    /// What was waited for, and for how long.
    package let description: String

    /// The end of a wait for `what` after `seconds`.
    package init(_ what: String, after seconds: Double) {
        description = "waited \(seconds) s for \(what)"
    }
}

/// Asks for a value every few milliseconds until there is one; throws `TimedOut` after `seconds`.
///
/// `what` completes the sentence "waited for …". Blocks the calling thread.
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

/// Asks every few milliseconds until `condition` holds; throws `TimedOut` after `seconds`.
///
/// `what` completes the sentence "waited for …". Blocks the calling thread.
package func eventually(
    _ what: @autoclosure () -> String,
    within seconds: Double = 20,
    _ condition: () throws -> Bool
) throws {
    try eventually(what(), within: seconds) { try condition() ? () : nil }
}
