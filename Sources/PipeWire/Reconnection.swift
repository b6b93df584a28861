/// The pace at which a lost connection is tried again, and whether its loss is news.
struct Reconnection {
    private let delays: ClosedRange<Double>
    private var delay: Double
    private var isLost = false

    /// Creates the pace of a connection that was not tried yet. `delays` are the first and the
    /// longest delay, in seconds; each is twice the one before.
    init(delays: ClosedRange<Double>) {
        self.delays = delays
        delay = delays.lowerBound
    }

    /// Takes note of a loss, or of an attempt that failed. Returns the seconds until the next
    /// attempt, and `true` for the first since the connection worked or was created.
    mutating func lose() -> (delay: Double, isNews: Bool) {
        defer {
            delay = min(2 * delay, delays.upperBound)
            isLost = true
        }
        return (delay, !isLost)
    }

    /// Takes note that the connection works.
    mutating func succeed() { self = Reconnection(delays: delays) }

    /// Makes the next delays short again: the other side has just appeared.
    mutating func hasten() { delay = delays.lowerBound }
}
