import CLinux
package import Frames
import Glibc

/// A moment of the wall clock, which people and files use.
package struct WallTime: Hashable, Sendable {
    /// The time in microseconds since 1970.
    package let microseconds: Int64

    package init(microseconds: Int64) { self.microseconds = microseconds }

    /// Creates the moment that `utc` wrote, to the second; `nil` for other text.
    package init?(utc text: String) {
        let numbers = text.prefix(19).split { !$0.isASCII || !$0.isNumber }.map { Int32($0) ?? -1 }
        guard text.hasSuffix("Z"), numbers.count == 6, (1900...9999).contains(numbers[0]),
            (1...12).contains(numbers[1]), (1...31).contains(numbers[2]),
            numbers[3...].allSatisfy({ (0...60).contains($0) })
        else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (
            numbers[0] - 1900, numbers[1] - 1, numbers[2]
        )
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (numbers[3], numbers[4], numbers[5])
        microseconds = Int64(timegm(&parts)) * 1_000_000
    }

    package static var now: WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }

    /// Converts `timestamp` of CLOCK_MONOTONIC by the difference that the two clocks have now.
    package init(_ timestamp: Timestamp) {
        let wall = WallTime.now.microseconds
        microseconds = wall - (MonotonicClock.now - timestamp).nanoseconds / 1000
    }

    /// The local time as part of a file name: "2026-11-21_143005.123".
    package var name: String {
        text("%Y-%m-%d_%H%M%S") + "." + milliseconds
    }

    /// The time in UTC as ISO 8601: "2026-11-21T13:30:05.123456Z".
    package var utc: String {
        text("%Y-%m-%dT%H:%M:%S", isLocal: false) + ".\(digits(fraction, 6))Z"
    }

    /// The local time and its distance from UTC: "2026-11-21T14:30:05+0100".
    package var localWithOffset: String { text("%Y-%m-%dT%H:%M:%S%z") }

    /// Returns the local time for people: "14:30" on the day of `now`, else "2026-11-21 14:30".
    package func minute(on now: WallTime) -> String {
        let day = text("%Y-%m-%d")
        let isToday = day == now.text("%Y-%m-%d")
        return (isToday ? "" : day + " ") + text("%H:%M")
    }

    /// Returns the local time as a frame's timecode at `rate` per second, 1 to 1000: "14:30:05:03".
    package func timecode(rate: Double) -> String {
        precondition((1...1000).contains(rate))
        let frame = Int(Double(fraction) * rate.rounded() / 1_000_000)
        return text("%H:%M:%S") + ":" + digits(frame, 2)
    }

    private var fraction: Int { Int(microseconds % 1_000_000) }

    private func digits(_ number: Int, _ count: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }

    /// The part of the second, in three digits.
    package var milliseconds: String { digits(fraction / 1000, 3) }

    /// Returns the local time, or that in UTC, in a format of strftime(3).
    package func text(_ format: String, isLocal: Bool = true) -> String {
        var seconds = time_t(microseconds / 1_000_000)
        var parts = tm()
        if isLocal { localtime_r(&seconds, &parts) } else { gmtime_r(&seconds, &parts) }
        var result = [CChar](repeating: 0, count: 64)
        let count = strftime(&result, result.count, format, &parts)
        return String(decoding: result.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
