import Frames
import Glibc
import Platform
import Testing

/// A socket like that of systemd.
private struct UnreadSocket {
    private let number: CInt

    init() {
        number = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // An abstract name: "@" in the variable, NUL in the address.
        let name = "dualcam-test-\(getpid())"
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path[1...].copyBytes(from: Array(name.utf8))
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, length) }
        }
        precondition(number >= 0 && result == 0)
        setenv("NOTIFY_SOCKET", "@" + name, 1)
    }

    func next() -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(number, &bytes, bytes.count, CInt(MSG_DONTWAIT))
        return count < 0 ? "" : String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}

@Suite struct SupervisorTests {
    @Test func systemdIsToldWhatItUnderstands() async {
        await #expect(processExitsWith: .success) {
            let socket = UnreadSocket()
            Supervisor.ready(status: "Streaming to 2 consumers")
            precondition(socket.next() == "READY=1\nSTATUS=Streaming to 2 consumers")
            Supervisor.report(status: "a\nREADY=0\n")
            precondition(socket.next() == "STATUS=a READY=0")
            Supervisor.keepAlive()
            precondition(socket.next() == "WATCHDOG=1")
            let start = MonotonicClock.now
            Supervisor.reloading()
            let end = MonotonicClock.now
            let words = socket.next().split(whereSeparator: { $0 == "\n" || $0 == "=" })
            precondition(words.count == 4 && words[0...2] == ["RELOADING", "1", "MONOTONIC_USEC"])
            // In microseconds, of the clock that systemd compares it with.
            let moments = start.nanoseconds / 1000...end.nanoseconds / 1000
            precondition(moments.contains(Int64(words[3]) ?? 0))
            Supervisor.stopping(status: "")
            precondition(socket.next() == "STOPPING=1\nSTATUS=")
            precondition(socket.next() == "")
        }
    }

    @Test func aManagerThatReadsNoMoreHoldsNobodyUp() async {
        await #expect(processExitsWith: .success) {
            let socket = UnreadSocket()
            alarm(20)
            let room = content("/proc/sys/net/unix/max_dgram_qlen").flatMap { Int($0) } ?? 10
            for _ in 0..<room { Supervisor.keepAlive() }
            let start = MonotonicClock.now
            for _ in 0..<5 { Supervisor.keepAlive() }
            precondition((MonotonicClock.now - start).seconds < 10)
            precondition(socket.next() == "WATCHDOG=1")
        }
    }

    @Test func withoutSystemdNothingHappens() async {
        await #expect(processExitsWith: .success) {
            unsetenv("NOTIFY_SOCKET")
            unsetenv("WATCHDOG_USEC")
            Supervisor.ready(status: "x")
            Supervisor.keepAlive()
            precondition(Supervisor.watchdogInterval == nil)
            setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1)
            Supervisor.ready(status: "x")
        }
    }

    @Test func theWatchdogIsOursWhenItNamesUs() async {
        await #expect(processExitsWith: .success) {
            setenv("WATCHDOG_USEC", "15000000", 1)
            setenv("WATCHDOG_PID", "\(getpid())", 1)
            precondition(Supervisor.watchdogInterval == 15)
            setenv("WATCHDOG_PID", "1", 1)
            precondition(Supervisor.watchdogInterval == nil)
        }
    }
}
