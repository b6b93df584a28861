import Foundation
import Glibc

/// A server of one page on the loopback, which receives the page's reports.
///
/// The page waits for the reply to each report, which is sent when the next report is asked for. So
/// the page pauses while the test does something, and continues when the test needs another report.
final class PageServer {
    struct Report: Decodable {
        /// "opened", "counted", "picture" or "failed".
        let kind: String
        /// "opened": the labels of all cameras.
        let cameras: [String]?
        /// "opened": the label, size and frame rate of the camera in use.
        let label: String?
        let width, height: Int?
        let frameRate: Double?
        /// "opened": the number of requests for a camera until there was one.
        let tries: Int?
        /// "counted": the number of frames so far.
        let frames: Int?
        /// "picture": the middle pixel of each cell of a grid, row by row: red, green, blue.
        let columns, rows: Int?
        let colors: [Int]?
        /// "failed": the error.
        let message: String?
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let address: String
    private let page: Data
    private let listener: CInt
    /// The bytes received so far on each open connection.
    private var received: [CInt: Data] = [:]
    private var unanswered: CInt?

    /// Listens on a port of the system's choice, and serves `page`.
    init(page: Data) throws {
        self.page = page
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.listener = listener
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutableBytes(of: &name) { bytes in
            let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            return bind(listener, address, length) == 0 && listen(listener, 16) == 0
                && getsockname(listener, address, &length) == 0
        }
        guard isListening else {
            throw Failure(description: "no port to listen on: \(String(cString: strerror(errno)))")
        }
        address = "http://127.0.0.1:\(UInt16(bigEndian: name.sin_port))/"
    }

    deinit {
        for connection in received.keys { close(connection) }
        close(listener)
    }

    /// Replies to the last report with `answer`, and waits at most `seconds` for the next; `nil` if
    /// none came.
    ///
    /// - Throws: `Failure` when the page reports one.
    func next(within seconds: Double, answering answer: String = "") throws -> Report? {
        if let unanswered { respond(on: unanswered, Data(answer.utf8)) }
        unanswered = nil
        let deadline = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < deadline {
            var waiting = ([listener] + received.keys).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            guard poll(&waiting, nfds_t(waiting.count), 100) > 0 else { continue }
            for ready in waiting where ready.revents != 0 {
                if ready.fd == listener {
                    let connection = accept(listener, nil, nil)
                    if connection >= 0 { received[connection] = Data() }
                } else if let report = try read(from: ready.fd) {
                    unanswered = ready.fd
                    return report
                }
            }
        }
        return nil
    }

    /// Reads from `connection`, and returns the report if it is complete now.
    private func read(from connection: CInt) throws -> Report? {
        var part = [UInt8](repeating: 0, count: 65536)
        let count = recv(connection, &part, part.count, 0)
        guard count > 0 else {
            // A browser opens connections in advance, and closes those it does not need.
            received[connection] = nil
            close(connection)
            return nil
        }
        let request = (received[connection] ?? Data()) + part[..<count]
        received[connection] = request
        guard let end = request.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: request[..<end.lowerBound], as: UTF8.self)
            .split(separator: "\r\n")
        let length = lines.lazy.map { $0.lowercased().split(separator: ": ") }
            .first { $0.first == "content-length" }
            .flatMap { $0.last }.flatMap { Int($0) }
        let body = request[end.upperBound...]
        guard body.count >= length ?? 0 else { return nil }
        guard lines.first?.hasPrefix("POST ") == true else {
            respond(on: connection, lines.first?.hasPrefix("GET / ") == true ? page : Data())
            return nil
        }
        let report = try JSONDecoder().decode(Report.self, from: Data(body))
        if report.kind == "failed" { throw Failure(description: report.message ?? "failed") }
        return report
    }

    private func respond(on connection: CInt, _ content: Data) {
        let head = """
            HTTP/1.1 200 OK\r
            Content-Type: text/html; charset=utf-8\r
            Content-Length: \(content.count)\r
            Connection: close\r
            \r

            """
        let response = Data(head.utf8) + content
        // The loopback's buffers hold a page of this size; a browser that has gone needs none.
        _ = response.withUnsafeBytes {
            send(connection, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
        }
        received[connection] = nil
        close(connection)
    }
}
