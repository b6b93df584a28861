import CSystemd
import Frames

/// systemd, where it runs us: told how we are, and asked how often it wants a sign of life
/// (sd_notify(3)). Without it, nothing happens. From any thread.
package enum Supervisor {
    /// Started, or the configuration read anew; `status` in one line for people.
    package static func ready(status: String) { notify("READY=1", status: status) }

    /// What the daemon is doing, in one line for people.
    package static func report(status: String) { notify(status: status) }

    /// The configuration is being read anew; `ready(status:)` ends it. By hand, since
    /// Type=notify-reload is newer than systemd 252.
    package static func reloading() {
        notify("RELOADING=1", "MONOTONIC_USEC=\(MonotonicClock.now.nanoseconds / 1000)")
    }

    /// Ending.
    package static func stopping(status: String) { notify("STOPPING=1", status: status) }

    /// A sign of life. By the loop that does the work, at least twice each `watchdogInterval`.
    package static func keepAlive() { notify("WATCHDOG=1") }

    /// After how many seconds without a sign of life we are taken for dead and killed; `nil`: never.
    package static var watchdogInterval: Double? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return Double(microseconds) / 1_000_000
    }

    private static func notify(_ assignments: String..., status: String? = nil) {
        // A line end would begin another assignment.
        let status = status.map {
            ["STATUS=" + $0.split(whereSeparator: \.isNewline).joined(separator: " ")]
        }
        sd_notify(0, (assignments + (status ?? [])).joined(separator: "\n"))
    }
}
