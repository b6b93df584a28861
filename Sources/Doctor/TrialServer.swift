import Control
import Glibc
import Platform

/// A server of one page on the loopback, which takes one report. Its address has a secret, so that
/// no page of another origin gets it or reports in its place. Other users of the machine may read
/// the address in the browser's command line: what they report is printed, and no more.
final class TrialServer {
    let address: String
    private let page: String
    private let listener: Descriptor
    private let secret = String(UInt64.random(in: 0 ... .max), radix: 36)
    private var connections: [Connection] = []

    private final class Connection {
        let descriptor: Descriptor
        var received: [UInt8] = []
        init(owning number: CInt) { descriptor = Descriptor(owning: number) }
    }

    /// The most bytes of a request, and the most connections at a time.
    private static let limits = (bytes: 1 << 16, connections: 32)

    /// Listens on a port of the system's choice, and serves `page`.
    init(page: String) throws(Failure) {
        let flags = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let number = socket(AF_INET, CInt(flags), 0)
        guard number >= 0 else { throw .last("socket", "") }
        listener = Descriptor(owning: number)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutableBytes(of: &name) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return bind(number, address, length) == 0 && listen(number, 16) == 0
                && getsockname(number, address, &length) == 0
        }
        guard isListening else { throw .last("bind", "the loopback interface") }
        address = "http://127.0.0.1:\(UInt16(bigEndian: name.sin_port))/\(secret)/"
        self.page = page
    }

    var descriptors: [CInt] { [listener.number] + connections.map { $0.descriptor.number } }

    /// Serves what is ready, without waiting, and returns the body of a report if one has come.
    func serve() -> [UInt8]? {
        while case let number = accept(listener.number, nil, nil), number >= 0 {
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            _ = fcntl(number, F_SETFL, O_NONBLOCK)
            // The others wait for a browser that opened them in advance.
            if connections.count >= Self.limits.connections { connections.removeFirst() }
            connections.append(Connection(owning: number))
        }
        var report: [UInt8]?
        connections.removeAll { isOver($0, &report) }
        return report
    }

    /// Reads from `connection`, and answers. Returns `true` when it is over.
    private func isOver(_ connection: Connection, _ report: inout [UInt8]?) -> Bool {
        let number = connection.descriptor.number
        var part = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = recv(number, &part, part.count, 0)
            if count < 0 { return errno != EAGAIN && errno != EINTR }
            connection.received += part[..<count]
            guard count > 0, connection.received.count <= Self.limits.bytes else { return true }
            guard let request = TrialRequest(connection.received) else { continue }
            let isReport = request.line.hasPrefix("POST /\(secret)/report ")
            if isReport { report = request.body }
            let isPage = request.line.hasPrefix("GET /\(secret)/ ")
            let content = isPage ? page : ""
            let answer = """
                HTTP/1.1 \(isReport || isPage ? "200 OK" : "404 Not Found")\r
                Content-Type: text/html; charset=utf-8\r
                Content-Length: \(content.utf8.count)\r
                Connection: close\r
                \r
                \(content)
                """
            // The loopback's buffers hold a page of this size; a browser that has gone needs none.
            _ = send(number, answer, answer.utf8.count, CInt(MSG_NOSIGNAL))
            return true
        }
    }
}

struct TrialRequest {
    let line: String
    let body: [UInt8]

    /// Reads a request; `nil` while it is not complete.
    init?(_ bytes: [UInt8]) {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        line = String(head.prefix { $0 != "\r\n" })
        let digits = head.firstMatch(of: /(?im)^content-length: *(\d+) *$/)?.1
        let length = digits.flatMap { Int($0) } ?? 0
        let rest = bytes[end.upperBound...]
        guard length <= rest.count else { return nil }
        body = Array(rest.prefix(length))
    }
}
