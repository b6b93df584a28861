package import Frames

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

/// The pauses between the pictures of a camera that nobody asked for its rate. Pure.
package struct LivePauses {
    /// The seconds of the longest one, of which the latest weigh most; `nil` until it is known.
    package var longest: Double? { isKnown ? pause : nil }
    private var pause = 0.0
    private var start: Timestamp?
    private var last: Timestamp?
    private var isKnown = false

    /// The seconds after which a camera's way is known, whether or not it began with a few pictures
    /// at once.
    private static let settling = 0.2

    /// Creates pauses before the first picture.
    package init() {}

    /// Counts a picture that came at `time`.
    package mutating func count(_ time: Timestamp) {
        if let last { pause = max((time - last).seconds, 0.95 * pause) }
        last = time
        let start = self.start ?? time
        self.start = start
        isKnown = isKnown || (time - start).seconds >= Self.settling
    }

    /// The seconds without a sign of life after which the camera is given up: one that was cut off
    /// is to be back soon, and a slow one is to be waited for.
    package var patience: Double { longest.map { max(3, min(5 * $0, 30)) } ?? 20 }
}
