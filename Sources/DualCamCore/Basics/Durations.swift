/// A histogram of durations. The number of buckets is fixed, so adding a duration is one increment,
/// and nothing grows. Buckets are log-linear, eight to each doubling. A quantile is at most an
/// eighth too large, or below 8 µs at most 1 µs. A value without a clock or a lock of its own.
package struct Durations: Sendable {
    /// The counts by bucket: 0 to 7 µs each, then eight for each of 21 doublings, up to 16 s.
    private var buckets: [176 of UInt32] = .init(repeating: 0)
    package private(set) var count: UInt64 = 0
    /// The longest duration, in nanoseconds; exact.
    package private(set) var longest: Int64 = 0

    package init() {}

    /// Adds a duration of `nanoseconds`; a negative one counts as 0. Does not allocate.
    package mutating func add(_ nanoseconds: Int64) {
        let bucket = Self.bucket(of: max(0, nanoseconds))
        if buckets[bucket] < .max { buckets[bucket] += 1 }
        count += 1
        longest = max(longest, nanoseconds)
    }

    /// Returns the microseconds that `fraction` (0 … 1) of the durations did not exceed: the end of
    /// their bucket, but at most the longest duration; 0 if there are none.
    package func quantile(_ fraction: Double) -> UInt64 {
        let total = buckets.indices.reduce(UInt64(0)) { $0 + UInt64(buckets[$1]) }
        guard total > 0 else { return 0 }
        let wanted = max(1, UInt64((Double(total) * fraction).rounded(.up)))
        var seen: UInt64 = 0
        for index in buckets.indices {
            seen += UInt64(buckets[index])
            if seen >= wanted { return min(Self.end(of: index), microseconds(longest)) }
        }
        return microseconds(longest)
    }

    private func microseconds(_ nanoseconds: Int64) -> UInt64 {
        UInt64(max(0, nanoseconds + 999) / 1000)
    }

    private static func bucket(of nanoseconds: Int64) -> Int {
        let time = UInt64(nanoseconds) / 1000
        guard time >= 8 else { return Int(time) }
        // The three bits after the highest one select the eighth of the doubling.
        let octave = 61 - time.leadingZeroBitCount
        return min(8 * octave + Int(time >> UInt64(octave - 1)) - 8, 175)
    }

    /// Returns the first whole microsecond beyond bucket `index`.
    private static func end(of index: Int) -> UInt64 {
        guard index >= 8 else { return UInt64(index + 1) }
        let octave = index / 8
        return UInt64(index % 8 + 8 + 1) << UInt64(octave - 1)
    }
}
