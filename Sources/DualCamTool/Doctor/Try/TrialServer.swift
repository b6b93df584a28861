import Glibc
import Platform

/// A server of one page on the loopback, which takes one report. Its address has a secret, so that
/// no page of another origin gets it or reports in its place. Other users of the machine may read
/// the address in the browser's command line: what they report is printed, and no more.
final class TrialServer {
    /// The address of the page.
    let address: String
    private let page: [UInt8]
    private let listener: Descriptor
    private let secret: String
    private var connections: [Connection] = []

    private final class Connection {
        let descriptor: Descriptor
        var received: [UInt8] = []
        init(owning number: CInt) { descriptor = Descriptor(owning: number) }
    }

    /// The most bytes of a request, and the most connections at a time.
    private static let limits = (bytes: 1 << 16, connections: 32)

    /// Listens on a port of the system's choice, and serves `page`.
    ///
    /// - Throws: `Failure` if there is no port.
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
        secret = String(UInt64.random(in: 0 ... .max), radix: 36)
        address = "http://127.0.0.1:\(UInt16(bigEndian: name.sin_port))/\(secret)/"
        self.page = Array(page.utf8)
    }

    /// The descriptors to wait for.
    var descriptors: [CInt] { [listener.number] + connections.map { $0.descriptor.number } }

    /// Serves what is ready, without waiting, and returns the body of a report if one has come.
    func serve() -> [UInt8]? {
        while true {
            let number = accept(listener.number, nil, nil)
            guard number >= 0 else { break }
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            _ = fcntl(number, F_SETFL, O_NONBLOCK)
            let new = Connection(owning: number)
            // The others wait for a browser that opened them in advance.
            if connections.count >= Self.limits.connections { connections.removeFirst() }
            connections.append(new)
        }
        var report: [UInt8]?
        connections.removeAll { connection in
            isOver(connection, &report)
        }
        return report
    }

    /// Reads from `connection`, and answers. Returns `true` when it is over.
    private func isOver(_ connection: Connection, _ report: inout [UInt8]?) -> Bool {
        var part = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = recv(connection.descriptor.number, &part, part.count, 0)
            if count < 0 { return errno != EAGAIN && errno != EINTR }
            guard count > 0 else { return true }
            connection.received += part[..<count]
            guard connection.received.count <= Self.limits.bytes else { return true }
            guard let request = TrialRequest(connection.received) else { continue }
            if request.line.hasPrefix("POST /\(secret)/report ") {
                report = request.body
                respond(connection, "200 OK", [])
            } else if request.line.hasPrefix("GET /\(secret)/ ") {
                respond(connection, "200 OK", page)
            } else {
                respond(connection, "404 Not Found", [])
            }
            return true
        }
    }

    private func respond(_ connection: Connection, _ status: String, _ content: [UInt8]) {
        let head = """
            HTTP/1.1 \(status)\r
            Content-Type: text/html; charset=utf-8\r
            Content-Length: \(content.count)\r
            Connection: close\r
            \r

            """
        let bytes = Array(head.utf8) + content
        // The loopback's buffers hold a page of this size; a browser that has gone needs none.
        _ = send(connection.descriptor.number, bytes, bytes.count, CInt(MSG_NOSIGNAL))
    }
}

/// A request of HTTP.
struct TrialRequest: Equatable {
    /// Its first line.
    let line: String
    let body: [UInt8]

    /// Reads a request; `nil` while it is not complete.
    init?(_ bytes: [UInt8]) {
        let mark = Array("\r\n\r\n".utf8)
        guard let end = bytes.firstRange(of: mark) else { return nil }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        let lines = head.split(separator: "\r\n")
        var length = 0
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "content-length" else { continue }
            length = Int(parts[1].filter { $0 != " " }) ?? 0
        }
        let rest = bytes[end.upperBound...]
        guard length <= rest.count else { return nil }
        line = lines.first.map(String.init) ?? ""
        body = Array(rest.prefix(max(0, length)))
    }
}
