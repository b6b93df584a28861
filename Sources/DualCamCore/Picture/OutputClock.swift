package import Frames

/// The schedule of output frames, and their timestamps.
///
/// Frames come at the exact rate. They follow the main camera while it keeps that rate or a
/// multiple of it, so that a picture is shown as it arrives and not up to an interval later. When
/// the camera is late, a timer takes over.
///
/// A value without a clock of its own: callers pass the time. Does not allocate.
package struct OutputClock: Sendable {
    /// The nanoseconds from one output frame to the next.
    package let interval: Int64
    /// The time at which the next frame is due unless the camera brings it forward.
    package private(set) var due: Timestamp
    private var lastTick: Timestamp
    private var lastStamp = Timestamp.zero
    private var lastArrival: Timestamp?
    /// The main camera's interval in nanoseconds, smoothed; 0 until two of its frames have arrived.
    private var cameraInterval: Double = 0
    /// The number of spans that it was smoothed from, as far as that counts.
    private var spans = 0

    /// The relative error of a camera's rate up to which the output follows it.
    private static let lockRange = 0.015
    /// The earliest that an arrival may bring a frame forward, in intervals after the last one.
    private static let earliest = 0.6
    /// The time that a frame waits past its due time for an expected arrival, in intervals.
    private static let slack = 0.25
    /// The weight of a span between two arrivals among all before, once there were many.
    private static let weight = 1.0 / 16

    /// A clock of `rate` frames per second, whose first frame is due at `now`.
    package init(rate: Int, now: Timestamp) {
        precondition(rate > 0)
        interval = 1_000_000_000 / Int64(rate)
        due = now
        lastTick = Timestamp(nanoseconds: now.nanoseconds - interval)
    }

    /// `true` while the output follows the main camera's frames.
    package var isLocked: Bool {
        guard cameraInterval > 0 else { return false }
        let ratio = Double(interval) / cameraInterval
        let multiple = ratio.rounded()
        return multiple >= 1 && abs(ratio / multiple - 1) < Self.lockRange
    }

    /// Notes an arrival of the main camera's. Returns `true` if an output frame is to be made now.
    package mutating func frameArrived(at now: Timestamp) -> Bool {
        if let last = lastArrival {
            let span = Double((now - last).nanoseconds)
            // A pause says nothing about the rate.
            if span > 4 * Double(interval) {
                (cameraInterval, spans) = (0, 0)
            } else {
                // The first frame of a camera that starts may take much longer than the next: each
                // span counts more than those before it.
                spans = min(spans + 1, Int(2 / Self.weight))
                let weight = max(Self.weight, 2 / Double(spans + 1))
                cameraInterval += (span - cameraInterval) * weight
            }
        }
        lastArrival = now
        return isLocked
            && Double((now - lastTick).nanoseconds) >= Self.earliest * Double(interval)
    }

    /// Forgets the camera's rate, because another camera became the main one.
    package mutating func mainChanged() {
        lastArrival = nil
        (cameraInterval, spans) = (0, 0)
    }

    /// Notes that an output frame is made `now`, and schedules the next one.
    package mutating func tick(at now: Timestamp) {
        let broughtForward = now < due
        let expected = isLocked && (lastArrival.map { (now - $0).nanoseconds < interval } ?? false)
        // Without a camera to follow, go by the schedule and not by the time of waking up, so that
        // the rate is exact. A lapse of more than two intervals is not made up for.
        let base =
            broughtForward || expected || (now - due).nanoseconds > 2 * interval ? now : due
        let wait = expected ? Int64(Double(interval) * (1 + Self.slack)) : interval
        lastTick = now
        due = Timestamp(nanoseconds: base.nanoseconds + wait)
    }

    /// Returns the timestamp of the frame made `now`: the time at which its main picture was taken,
    /// if plausible, and always later than the one before.
    package mutating func stamp(taken: Timestamp?, now: Timestamp) -> Timestamp {
        var stamp = Timestamp(nanoseconds: lastStamp.nanoseconds + interval)
        if let taken, taken <= now, (now - taken).nanoseconds < 500_000_000 { stamp = taken }
        if stamp > now || (now - stamp).nanoseconds > 500_000_000 { stamp = now }
        // Keep half an interval between timestamps: consumers compute rates from them.
        stamp = max(stamp, Timestamp(nanoseconds: lastStamp.nanoseconds + interval / 2))
        lastStamp = stamp
        return stamp
    }
}
