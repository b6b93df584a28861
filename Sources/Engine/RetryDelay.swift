package import Frames

/// The delays before a camera that failed is tried again.
package struct RetryDelay {
    /// At first, and at most. The longest is short enough that a camera which another program has
    /// released is back within 2 s.
    private static let range = 0.25...1.0
    /// At most, for a camera that answers, and whose answer another try would not change.
    private static let longest = 30.0
    private var seconds = range.lowerBound

    package init() {}

    /// Returns the delay before the next try, after one that went well for `time` or not at all, or
    /// was answered by a refusal.
    package mutating func next(after time: Timestamp, isRefusal: Bool = false) -> Timestamp {
        // A camera that had worked for a while gets the short delay again.
        if time.seconds > (isRefusal ? 60 : 5) { self = RetryDelay() }
        defer { seconds = min(2 * seconds, isRefusal ? Self.longest : Self.range.upperBound) }
        return Timestamp(seconds: seconds)
    }
}
