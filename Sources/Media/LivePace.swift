import Frames

/// The lag of a reader behind a stream that comes as it is filmed. Pure.
///
/// The time that the stream tells and ours run apart slowly, and the way through a network grows
/// longer at times: neither is a lag that reading faster would make up for. What has been waiting
/// to be read is.
struct LivePace {
    /// The seconds by which pictures come later than they could.
    private(set) var lag = 0.0
    /// The least difference between the two times so far, which may rise a little with each second.
    private var least: Double?
    private var last = 0.0
    /// The number of late packets in a row that the reader had to wait for.
    private var waits = 0

    /// The seconds by which two clocks may run apart in a second, at most.
    private static let drift = 0.0005
    /// The number of them after which nothing is left to be made up for: the way is longer.
    private static let settled = 5
    /// The seconds from which a packet is late.
    private static let lateness = 0.05
    /// A difference of so many seconds is another count of time.
    private static let leap = 10.0

    /// Counts a packet that the stream's time `time` belongs to, read at `now`, both in seconds.
    /// `hasWaited` if it had not been there yet.
    mutating func count(_ time: Double, at now: Double, hasWaited: Bool) {
        let difference = now - time
        let floor = least.map { $0 + Self.drift * max(0, now - last) } ?? difference
        last = now
        waits = hasWaited && difference - floor > Self.lateness ? waits + 1 : 0
        let isNew = waits >= Self.settled || abs(difference - floor) > Self.leap
        least = isNew ? difference : min(floor, difference)
        lag = difference - (least ?? difference)
    }
}
