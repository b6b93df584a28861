import Glibc
package import Platform
import Synchronization

/// A server on the loopback interface that does to each connection what a test wants.
package final class PictureServer: Sendable {
    /// A connection of a client.
    package struct Connection: Sendable {
        fileprivate let socket: CInt
        /// What the client has sent first, up to 8 KiB.
        package let request: String

        /// Waits for more from the client, up to 8 KiB; `nil` once it has gone.
        package func receive() -> String? {
            var bytes = [UInt8](repeating: 0, count: 8192)
            let count = recv(socket, &bytes, bytes.count, 0)
            return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
        }

        /// Sends `bytes`, however long that takes. Returns `false` once the client has gone.
        package func send(_ bytes: [UInt8]) -> Bool {
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }

        /// Sends `text`, as `send(_: [UInt8])` does.
        package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

        /// Sends a picture as a part of a body with the boundary "foo".
        package func send(part jpeg: [UInt8]) -> Bool {
            let header =
                "--foo\r\nContent-Type: image/jpeg\r\nContent-Length: \(jpeg.count)\r\n\r\n"
            return send(Array(header.utf8) + jpeg + [13, 10])
        }

        /// The beginning of a response whose body has the boundary "foo".
        package static let header =
            "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=foo\r\n\r\n"
    }

    private struct State {
        var open: Set<CInt> = []
        var count = 0
        var isClosed = false
    }

    /// Its port.
    package let port: Int
    private let listener: CInt
    private let state = Mutex(State())
    private let serve: @Sendable (Connection) -> Void

    /// Listens at `port` of 127.0.0.1 or ::1, or at a free one, and calls `serve` for each
    /// connection on a thread of its own, which closes it when that returns.
    ///
    /// - Throws: the errno of bind(2) or another call.
    package init(
        port: Int = 0,
        isIPv6: Bool = false,
        _ serve: @escaping @Sendable (Connection) -> Void
    ) throws(SystemError) {
        self.serve = serve
        let family = isIPv6 ? AF_INET6 : AF_INET
        listener = socket(family, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw .last("socket") }
        var one: CInt = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        // The port is at the same place in both.
        address.sin6_port = in_port_t(port).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        if !isIPv6 {
            withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    $0.pointee.sin_family = sa_family_t(AF_INET)
                    $0.pointee.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
                }
            }
            length = socklen_t(MemoryLayout<sockaddr_in>.size)
        }
        let listener = listener
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard result else {
            let error = SystemError.last("bind")
            Glibc.close(listener)
            throw error
        }
        self.port = Int(address.sin6_port.bigEndian)
        let thread = try Thread(name: "server") { [weak self] in Self.accept(listener) { self } }
        thread.detach()
    }

    /// Sends one JPEG over and over to "me", whose password is "s3cret".
    ///
    /// - Throws: the errno of bind(2) or another call.
    package convenience init(guarding picture: [UInt8]) throws(SystemError) {
        try self.init { connection in
            guard connection.request.contains("Authorization: Basic bWU6czNjcmV0\r\n") else {
                let basic = "WWW-Authenticate: Basic realm=\"x\"\r\n"
                _ = connection.send("HTTP/1.1 401 No\r\n\(basic)Connection: close\r\n\r\n")
                return
            }
            guard connection.send(Connection.header) else { return }
            while connection.send(part: picture) { usleep(30_000) }
        }
    }

    deinit { close() }

    package var count: Int { state.withLock { $0.count } }
    package var openCount: Int { state.withLock { $0.open.count } }

    /// Closes all connections, and accepts no more.
    package func close() {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.isClosed = true
            shutdown(listener, CInt(SHUT_RDWR))
            for socket in state.open { shutdown(socket, CInt(SHUT_RDWR)) }
        }
    }

    private static func accept(_ listener: CInt, _ server: () -> PictureServer?) {
        while true {
            let socket = Glibc.accept(listener, nil, nil)
            guard socket >= 0, let server = server() else { break }
            guard server.begin(socket) else {
                Glibc.close(socket)
                break
            }
            let thread = try? Thread(name: "connection") { server.run(socket) }
            thread?.detach()
        }
        Glibc.close(listener)
    }

    private func begin(_ socket: CInt) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.count += 1
            state.open.insert(socket)
            return true
        }
    }

    private func run(_ socket: CInt) {
        if let request = Connection(socket: socket, request: "").receive() {
            serve(Connection(socket: socket, request: request))
        }
        state.withLock { state in
            state.open.remove(socket)
            Glibc.close(socket)
        }
    }
}

/// A port for datagrams, as SRT needs one, which no other test takes while this object lives.
///
/// libsrt neither takes a socket over nor tells which port it got. So it is one of those that the
/// kernel gives nobody by itself (it does from 32768 on), and a name, which goes with this object
/// or its process, keeps it from other tests.
package final class DatagramPort: Sendable {
    package let number: Int
    private let name: Descriptor

    /// Takes a port that no program has.
    ///
    /// - Throws: EADDRINUSE when there is none.
    package init() throws(SystemError) {
        for number in 20_000..<30_000 {
            guard let name = try? claimed("dualcam-test-port-\(number)"), isFree(number)
            else { continue }
            self.name = name
            self.number = number
            return
        }
        throw SystemError("bind", errno: EADDRINUSE)
    }
}

/// Returns a socket that has the abstract name `name`, or throws where another one has.
private func claimed(_ name: String) throws(SystemError) -> Descriptor {
    let number = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { throw .last("socket") }
    let socket = Descriptor(owning: number)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0[1...].copyBytes(from: name.utf8) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
    let isBound = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, length) == 0 }
    }
    guard isBound else { throw .last("bind", name) }
    return socket
}

/// Returns `true` if no program has the port `port` for datagrams.
private func isFree(_ port: Int) -> Bool {
    let number = socket(AF_INET, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { return false }
    defer { close(number) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}
