import Frames
import Glibc
package import Platform

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
/// - Throws: `TimedOut` after `seconds`; `ServiceFailed`, with its output, once `fixture` has ended
///   and there still is no value: nothing will come of it.
@discardableResult
package func eventually<Value>(
    _ what: @autoclosure () -> String,
    within seconds: Double = 20,
    while fixture: Child? = nil,
    _ value: () throws -> Value?
) throws -> Value {
    let deadline = MonotonicClock.now + Timestamp(seconds: seconds)
    while true {
        // First, so that what it did before its end counts.
        let end = fixture?.exit
        if let value = try value() { return value }
        if let fixture, let end {
            throw ServiceFailed(
                description: "\(fixture.name) ended (\(end)) while the test waited for \(what()); "
                    + "it wrote:\n\(fixture.output)\(fixture.errors)"
            )
        }
        guard MonotonicClock.now < deadline else { throw TimedOut(what(), after: seconds) }
        usleep(2_000)
    }
}

/// Polls every few milliseconds until `condition` holds.
///
/// `what` completes the sentence "waited for …". Blocks the calling thread.
///
/// - Throws: `TimedOut` after `seconds`; `ServiceFailed`, with its output, once `fixture` has ended
///   and the condition still does not hold.
package func eventually(
    _ what: @autoclosure () -> String,
    within seconds: Double = 20,
    while fixture: Child? = nil,
    _ condition: () throws -> Bool
) throws {
    try eventually(what(), within: seconds, while: fixture) { try condition() ? () : nil }
}

extension EventLoop {
    /// Runs until `condition` holds.
    ///
    /// - Throws: `TimedOut` after `seconds`.
    package func wait(
        for what: @autoclosure () -> String,
        within seconds: Double = 20,
        until condition: () throws -> Bool
    ) throws {
        let deadline = MonotonicClock.now + Timestamp(seconds: seconds)
        while try !condition() {
            guard MonotonicClock.now < deadline else { throw TimedOut(what(), after: seconds) }
            runOnce(milliseconds: 5)
        }
    }
}
