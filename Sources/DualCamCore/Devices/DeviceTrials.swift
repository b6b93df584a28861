package import Frames

/// The failures of devices, by which one that fails again and again is left for another one.
package struct DeviceTrials: Hashable, Sendable {
    /// The identities of devices that failed too often, until they are plugged in again.
    package private(set) var failing: Set<String> = []
    private var failures: [String: [Timestamp]] = [:]
    private var openings: [String: Opening] = [:]

    private struct Opening: Hashable {
        var time: Timestamp
        /// `true` if the failure after it was counted.
        var isCounted = false
    }

    /// A device fails that many times within that many seconds. One that is tried again after
    /// growing delays gets there in some 4 s.
    private static let (limit, window) = (5, 60.0)
    /// The seconds after its opening within which it fails even if it delivered one good picture.
    private static let youth = 5.0

    package init() {}

    /// Records that the device of `identity` is being opened at `time`.
    package mutating func open(_ identity: String, at time: Timestamp) {
        openings[identity] = Opening(time: time)
    }

    /// Records that the device of `identity` delivers. A failure since its opening was a pause.
    package mutating func deliver(_ identity: String) {
        if openings[identity]?.isCounted == true { failures[identity]?.removeLast() }
        openings[identity]?.isCounted = false
    }

    /// Records that the device of `identity` does not deliver at `time`; `isPause` if it delivered
    /// until then. Each opening fails once, and a pause is no failure if it has delivered for a
    /// while. Returns `true` if the device is `failing` from now on.
    package mutating func fail(
        _ identity: String,
        at time: Timestamp,
        isPause: Bool = false
    ) -> Bool {
        if let opening = openings[identity] {
            if opening.isCounted { return false }
            if isPause, (time - opening.time).seconds > Self.youth { return false }
            openings[identity]?.isCounted = true
        }
        let recent = failures[identity, default: []].filter {
            (time - $0).seconds < Self.window
        }
        failures[identity] = recent + [time]
        guard recent.count + 1 >= Self.limit else { return false }
        return failing.insert(identity).inserted
    }

    /// Forgets the failures of all devices that are not among `present`: another try is worthwhile.
    package mutating func forget(except present: Set<String>) {
        failing.formIntersection(present)
        failures = failures.filter { present.contains($0.key) }
        openings = openings.filter { present.contains($0.key) }
    }
}
