import CLinux
import CSystemd
import Frames
import Glibc

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
        guard let path = getenv("NOTIFY_SOCKET").map({ String(cString: $0) }),
            path.utf8.count > 1, path.hasPrefix("/") || path.hasPrefix("@")
        else { return }
        send((assignments + (status ?? [])).joined(separator: "\n"), to: path)
    }

    /// For how long a message may wait for room: that of a manager which is only slow comes, and one
    /// that reads no more does not hold the loop up. sd_notify(3) itself waits without end.
    private static let timeout = timeval(tv_sec: 0, tv_usec: 100_000)

    private static func send(_ text: String, to path: String) {
        let type = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let number = socket(AF_UNIX, type, 0)
        guard number >= 0 else { return }
        let socket = Descriptor(owning: number)
        var timeout = Self.timeout
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(socket.number, SOL_SOCKET, SO_SNDTIMEO, &timeout, size)

        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        // The kernel's own names begin with a NUL.
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = MemoryLayout<sa_family_t>.size + name.count
        let bytes = Array(text.utf8)
        // A message that cannot be delivered is lost: there is nobody else to tell.
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                retryingInterrupts {
                    sendto(
                        socket.number,
                        bytes,
                        bytes.count,
                        CInt(MSG_NOSIGNAL),
                        address,
                        socklen_t(length)
                    )
                }
            }
        }
    }
}
