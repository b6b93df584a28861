package import Frames

/// When output frames are made, and what time they carry.
///
/// At the exact rate; in step with the main camera as long as that keeps the rate (or a multiple
/// of it), so that a picture is shown as it arrives and not up to an interval later. When the
/// camera is late, a timer takes over, and nobody waits.
///
/// A value without a clock of its own: it is told the time. Does not allocate.
package struct OutputClock: Sendable {
    /// Nanoseconds from one output frame to the next.
    package let interval: Int64
    /// When the next frame is due if the camera does not bring it forward.
    package private(set) var due: Timestamp
    private var lastTick: Timestamp
    private var lastStamp = Timestamp.zero
    private var lastArrival: Timestamp?
    /// The main camera's interval, smoothed; 0 until two of its frames came.
    private var cameraInterval: Double = 0

    /// How far a camera's rate may be off for the output to follow it.
    private static let lockRange = 0.015
    /// How early, in intervals, an arrival may bring a frame forward.
    private static let earliest = 0.6
    /// How long past its time, in intervals, a frame waits for an expected arrival.
    private static let slack = 0.25

    /// A clock of `rate` frames a second, whose first frame is due at `now`.
    package init(rate: Int, now: Timestamp) {
        precondition(rate > 0)
        interval = 1_000_000_000 / Int64(rate)
        due = now
        lastTick = Timestamp(nanoseconds: now.nanoseconds - interval)
    }

    /// Whether the output follows the main camera's frames.
    package var isLocked: Bool {
        guard cameraInterval > 0 else { return false }
        let ratio = Double(interval) / cameraInterval
        let multiple = ratio.rounded()
        return multiple >= 1 && abs(ratio / multiple - 1) < Self.lockRange
    }

    /// A frame of the main camera came. True when the output frame is to be made now.
    package mutating func frameArrived(at now: Timestamp) -> Bool {
        if let last = lastArrival {
            let span = Double((now - last).nanoseconds)
            // A pause is no rate.
            if span > 4 * Double(interval) || cameraInterval == 0 {
                cameraInterval = span > 4 * Double(interval) ? 0 : span
            } else {
                cameraInterval += (span - cameraInterval) / 16
            }
        }
        lastArrival = now
        return isLocked
            && Double((now - lastTick).nanoseconds) >= Self.earliest * Double(interval)
    }

    /// Another camera is the main one now.
    package mutating func mainChanged() {
        lastArrival = nil
        cameraInterval = 0
    }

    /// An output frame is made `now`; sets when the next one is due.
    package mutating func tick(at now: Timestamp) {
        let broughtForward = now < due
        let expected = isLocked && (lastArrival.map { (now - $0).nanoseconds < interval } ?? false)
        // Without a camera to follow, the schedule is kept, not the moment we woke up; a lapse
        // of more than two intervals is not made up for.
        let base =
            broughtForward || expected || (now - due).nanoseconds > 2 * interval ? now : due
        let wait = expected ? Int64(Double(interval) * (1 + Self.slack)) : interval
        lastTick = now
        due = Timestamp(nanoseconds: base.nanoseconds + wait)
    }

    /// The time that the frame made `now` carries: when its main picture was taken, if that is
    /// plausible; always later than the one before.
    package mutating func stamp(taken: Timestamp?, now: Timestamp) -> Timestamp {
        var stamp = Timestamp(nanoseconds: lastStamp.nanoseconds + interval)
        if let taken, taken <= now, (now - taken).nanoseconds < 500_000_000 { stamp = taken }
        if stamp > now || (now - stamp).nanoseconds > 500_000_000 { stamp = now }
        // Half an interval apart at least: consumers compute rates from these.
        stamp = max(stamp, Timestamp(nanoseconds: lastStamp.nanoseconds + interval / 2))
        lastStamp = stamp
        return stamp
    }
}
