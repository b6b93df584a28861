package import Frames
import Glibc
package import Platform
import Synchronization

/// A socket like that of a service manager, which receives a program's notifications.
package final class NotifySocket: Sendable {
    package let path: String
    private final class Inbox: Sendable {
        let lines = Mutex<[String]>([])
        let readiness = Mutex(Timestamp.zero)
    }

    private let number: CInt
    private let inbox = Inbox()
    private let thread = Mutex<Thread?>(nil)

    /// Creates a socket at `path`, which must fit into 107 bytes. It is read at once: a sender
    /// blocks when a dozen messages lie unread.
    package init(path: String) throws(SystemError) {
        self.path = path
        let type = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let number = socket(AF_UNIX, type, 0)
        self.number = number
        guard number >= 0 else { throw .last("socket") }
        unlink(path)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, length) }
        }
        guard result == 0 else { throw .last("bind", path) }
        let started = try Thread(name: "notify") { [inbox] in
            var bytes = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(number, &bytes, bytes.count, 0)
                guard count > 0 else { return }
                let lines = String(decoding: bytes.prefix(count), as: UTF8.self)
                    .split(separator: "\n").map(String.init)
                if lines.contains("READY=1") {
                    inbox.readiness.withLock { $0 = MonotonicClock.now }
                }
                inbox.lines.withLock { $0 += lines }
            }
        }
        thread.withLock { $0 = started }
    }

    deinit {
        shutdown(number, CInt(SHUT_RDWR))
        thread.withLock { $0 }?.join()
        Glibc.close(number)
    }

    /// All assignments so far, in order: "READY=1", "STATUS=…".
    package var lines: [String] { inbox.lines.withLock { $0 } }

    /// The time of the last "READY=1"; zero before the first.
    package var readiness: Timestamp { inbox.readiness.withLock { $0 } }
}
