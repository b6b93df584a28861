import CLinux
import CSystemd
import Frames
import Glibc

/// The connection to systemd, if it runs us: reports our state, and asks how often it wants a sign
/// of life (sd_notify(3)). Without systemd, nothing happens. From any thread.
package enum Supervisor {
    /// Reports that the daemon has started or reloaded; `status` is one line for people.
    package static func ready(status: String) { notify("READY=1", status: status) }

    /// Reports what the daemon is doing, in one line for people.
    package static func report(status: String) { notify(status: status) }

    /// Reports that the configuration is being reloaded; `ready(status:)` ends it. Sent explicitly,
    /// since Type=notify-reload is newer than systemd 252; this can go once 253 is required.
    package static func reloading() {
        notify("RELOADING=1", "MONOTONIC_USEC=\(MonotonicClock.now.nanoseconds / 1000)")
    }

    /// Reports that the daemon is stopping.
    package static func stopping(status: String) { notify("STOPPING=1", status: status) }

    /// Sends a sign of life; the working loop does so at least twice each `watchdogInterval`.
    package static func keepAlive() { notify("WATCHDOG=1") }

    /// The time without a sign of life after which systemd kills us, in seconds; `nil` for never.
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
        guard let path = environmentVariable("NOTIFY_SOCKET"), path.utf8.count > 1,
            path.hasPrefix("/") || path.hasPrefix("@")
        else { return }
        send((assignments + (status ?? [])).joined(separator: "\n"), to: path)
    }

    /// The time that a message may wait for room: enough for a slow manager, while one that no
    /// longer reads does not block the loop. sd_notify(3) itself waits without limit.
    private static let timeout = timeval(tv_sec: 0, tv_usec: 100_000)

    private static func send(_ text: String, to path: String) {
        let type = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let number = socket(AF_UNIX, type, 0)
        guard number >= 0 else { return }
        let socket = Descriptor(owning: number)
        var timeout = Self.timeout
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(socket.number, SOL_SOCKET, SO_SNDTIMEO, &timeout, size)

        let name = path.hasPrefix("@") ? "\0" + path.dropFirst() : path
        let bytes = Array(text.utf8)
        // An undeliverable message is lost, since there is no other place to report it.
        _ = withSocketAddress(name) { address, length in
            retryingInterrupts {
                sendto(socket.number, bytes, bytes.count, CInt(MSG_NOSIGNAL), address, length)
            }
        }
    }
}
