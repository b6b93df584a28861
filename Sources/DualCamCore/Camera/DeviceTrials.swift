package import Frames

/// The failures of devices, by which one that fails again and again is left for another one.
package struct DeviceTrials: Hashable, Sendable {
    /// The identities of devices that failed too often, until they are plugged in again.
    package private(set) var failing: Set<String> = []
    private var failures: [String: [Timestamp]] = [:]

    /// A device fails that many times within that many seconds. One that is tried again after
    /// growing delays gets there in some 4 s.
    private static let (limit, window) = (5, 60.0)

    /// No failures yet.
    package init() {}

    /// Records that the device of `identity` does not deliver at `time`. Returns `true` if it is
    /// `failing` from now on.
    package mutating func fail(_ identity: String, at time: Timestamp) -> Bool {
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
    }
}
