import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of what is at the other end of the network: it may be anything.
    @Suite("The other end of the network", .timeLimit(.minutes(2)))
    struct NetworkPeerTests {
        private typealias Connection = PictureServer.Connection

        private static let size = Size(width: 64, height: 36)

        private static func configuration(_ url: String, _ folder: ScratchDirectory) -> String {
            """
            [output]
            width = 640
            height = 360
            [cameras.back]
            source = "url:\(url)"
            credentials = "\(folder.path)/camera"
            [cameras.front]
            source = "test"
            [scene]
            layout = "single"
            """
        }

        /// A folder with the credentials me:s3cret.
        private static func folder() throws -> ScratchDirectory {
            let folder = try ScratchDirectory()
            try folder.put("me:s3cret\n", "camera")
            return folder
        }

        /// What a server does, and the words for it.
        private struct Conduct: Sendable {
            var scheme = "http"
            let name: String
            let words: String
            /// Gets the connection, and the port of another server.
            let serve: @Sendable (Connection, Int) -> Void

            static func http(
                _ name: String,
                _ words: String,
                _ serve: @escaping @Sendable (Connection, Int) -> Void
            ) -> Conduct { Conduct(name: name, words: words, serve: serve) }

            /// Answers each RTSP request, of which it gets the method and the path, and the port of
            /// another server, with a status, further headers, and a body.
            static func rtsp(
                _ name: String,
                _ words: String,
                _ answer: @escaping @Sendable (String, String, Int) -> (String, String, String)
            ) -> Conduct {
                Conduct(scheme: "rtsp", name: name, words: words) { connection, other in
                    var request: String? = connection.request
                    while let text = request {
                        let words = text.split(separator: " ")
                        let number =
                            text.split(separator: "\r\n")
                            .first { $0.hasPrefix("CSeq:") } ?? "CSeq: 1"
                        guard words.count > 1 else { return }
                        let path = words[1].split(separator: "/").last ?? ""
                        let (status, more, body) = answer(String(words[0]), String(path), other)
                        let head = "RTSP/1.0 \(status)\r\n\(number)\r\nSession: 1\r\n\(more)"
                        let length = "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
                        guard connection.send(head + length) else { return }
                        request = connection.receive()
                    }
                }
            }
        }

        private static let digest =
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"x\", qop=\"auth\", stale=true, nonce="

        /// Answers RTSP requests for the session description `sdp` as it should be.
        private static func described(_ sdp: String, _ method: String) -> (String, String, String) {
            switch method {
            case "DESCRIBE":
                let session = "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n\(sdp)"
                return ("200 OK", "Content-Type: application/sdp\r\n", session)
            case "SETUP": return ("200 OK", "Transport: RTP/AVP/TCP;interleaved=0-1\r\n", "")
            default: return ("200 OK", "", "")
            }
        }

        private static let h264 = "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
        private static let sound = "m=audio 0 RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\n"
        private static let vp8 = "m=video 0 RTP/AVP 96\r\na=rtpmap:96 VP8/90000\r\n"

        private static let conducts: [Conduct] = [
            .http("wants the password again", "again and again") { connection, _ in
                _ = connection.send(
                    "\(digest)\"\(UInt64.random(in: 0...UInt64.max))\"\r\nConnection: close\r\n\r\n"
                )
            },
            .http("wants it again on one connection", "again and again") { connection, _ in
                repeat {
                    guard
                        connection.send(
                            "\(digest)\"\(UInt64.random(in: 0...UInt64.max))\"\r\nContent-Length: 0\r\n\r\n"
                        )
                    else { return }
                } while connection.receive() != nil
            },
            .http("has an endless word", "refuses the user") { connection, _ in
                guard connection.send("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\n\r\n") else {
                    return
                }
                while connection.send(String(repeating: "x", count: 10_000)) {}
            },
            .http("goes on for ever", "again and again") { connection, _ in
                while connection.send("HTTP/1.1 100 Continue\r\n\r\n") {}
            },
            .http("has endless chunks", "no picture") { connection, _ in
                let type = "Content-Type: multipart/x-mixed-replace; boundary=foo\r\n"
                let head = "HTTP/1.1 200 OK\r\n\(type)Transfer-Encoding: chunked\r\n\r\n1;"
                guard connection.send(head) else { return }
                while connection.send([UInt8](repeating: 0x78, count: 1 << 16)) {}
            },
            .http("has empty parts", "no JPEG") { connection, _ in
                guard connection.send(Connection.header) else { return }
                let part = "--foo\r\nContent-Type: image/jpeg\r\nContent-Length: -1\r\n\r\n"
                while connection.send(String(repeating: part, count: 100)) {}
            },
            .http("leads elsewhere", "another place, http://localhost") { connection, other in
                let place = "Location: http://localhost:\(other)/video\r\n"
                _ = connection.send("HTTP/1.1 302 Found\r\n\(place)\r\n")
            },
            .http("leads elsewhere with a user", "another place") { connection, other in
                let place = "Location: http://127.0.0.1@localhost:\(other)/video\r\n"
                _ = connection.send("HTTP/1.1 302 Found\r\n\(place)\r\n")
            },
            .http("tells the password", "another place") { connection, _ in
                let place = "Location: http://elsewhere.example/s3cret/\r\n"
                _ = connection.send("HTTP/1.1 302 Found\r\n\(place)\r\n")
            },
            .http("a page", "from localhost") { connection, _ in
                let type = "Content-Type: text/html; charset=utf-8\r\n"
                _ = connection.send("HTTP/1.1 200 OK\r\n\(type)\r\n<html>")
            },
            .http("one picture", "one picture, not with a video") { connection, _ in
                let type = "Content-Type: image/jpeg\r\nContent-Length: 5\r\n"
                _ = connection.send("HTTP/1.1 200 OK\r\n\(type)\r\nsorry")
            },
            .http("a page that is forbidden", "(403)") { connection, _ in
                _ = connection.send("HTTP/1.1 403 No\r\nContent-Length: 5\r\n\r\nsorry")
            },
            .http("an error", "an error of its own (500)") { connection, _ in
                _ = connection.send("HTTP/1.1 500 No\r\nContent-Length: 5\r\n\r\nsorry")
            },
            .http("too many", "busy") { connection, _ in
                _ = connection.send("HTTP/1.1 503 No\r\nContent-Length: 5\r\n\r\nsorry")
            },
            .http("closes at once", "127.0.0.1") { _, _ in },
            .http("leads to a file", "another place") { connection, _ in
                _ = connection.send("HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n")
            },
            .http("leads to itself", "without end") { connection, _ in
                let place = "Location: /\r\nContent-Length: 0\r\n"
                _ = connection.send("HTTP/1.1 302 Found\r\n\(place)\r\n")
            },
            .http("has an endless header", "127.0.0.1") { connection, _ in
                guard connection.send("HTTP/1.1 200 OK\r\n") else { return }
                while connection.send("X-Header: " + String(repeating: "x", count: 1000) + "\r\n") {
                }
            },
            .http("has an endless line", "127.0.0.1") { connection, _ in
                while connection.send("HTTP/1.1 " + String(repeating: "x", count: 4000)) {}
            },
            .http("has no pictures in its parts", "damaged") { connection, _ in
                guard connection.send(Connection.header) else { return }
                while connection.send(part: Array("this is no picture".utf8)) { usleep(30_000) }
            },
            .http("has pictures of 65535x65535 pixels", "they are too large") { connection, _ in
                guard connection.send(Connection.header) else { return }
                var jpeg = counted(0, size)
                // Height and width follow the marker FFC0, its length and a precision.
                let start = jpeg.indices.first { jpeg[$0] == 0xff && jpeg[$0 + 1] == 0xc0 } ?? 0
                for index in start + 5..<start + 9 { jpeg[index] = 0xff }
                while connection.send(part: jpeg) { usleep(30_000) }
            },
            .rtsp("leads elsewhere at once", "to another address") { _, _, other in
                ("302 Found", "Location: rtsp://127.0.0.1:\(other)/live\r\n", "")
            },
            .rtsp("leads elsewhere later", "to another address") { method, _, other in
                guard method == "DESCRIBE" else { return ("200 OK", "", "") }
                return ("302 Found", "Location: rtsp://localhost:\(other)/live\r\n", "")
            },
            .rtsp("leads to a name", "to another address") { _, _, _ in
                ("301 Found", "Location: rtsp://elsewhere.example/live\r\n", "")
            },
            .rtsp("leads in a circle", "redirects without end") { _, _, _ in
                ("302 Found", "Location: rtsp://127.0.0.1:\(port.withLock { $0 })/live\r\n", "")
            },
            .rtsp("leads to another path", "(404)") { method, path, _ in
                guard path == "live" else { return ("404 No", "", "") }
                return ("302 Found", "Location: rtsp://127.0.0.1:\(port.withLock { $0 })/b\r\n", "")
            },
            .rtsp("sends datagrams only", "over TCP") { method, _, _ in
                method == "SETUP" ? ("461 Unsupported transport", "", "") : described(h264, method)
            },
            .rtsp("answers with datagrams", "no answer that makes sense") { method, _, other in
                guard method == "SETUP" else { return described(h264, method) }
                let ports = "client_port=\(other)-\(other + 1);server_port=\(other)-\(other + 1)"
                return ("200 OK", "Transport: RTP/AVP;unicast;source=127.0.0.1;\(ports)\r\n", "")
            },
            .rtsp("VP8", "its video is VP8") { method, _, _ in described(vp8, method) },
            .rtsp("sound", "no video") { method, _, _ in described(sound, method) },
            .rtsp("nothing there", "(404)") { _, _, _ in ("404 No", "", "") },
            .rtsp("refuses", "refuses the request") { method, _, _ in
                method == "PLAY" ? ("455 No", "", "") : described(h264, method)
            },
            .rtsp("an error", "an error of its own") { _, _, _ in ("500 No", "", "") },
            .rtsp("wants a password for ever", "another user or password") { _, _, _ in
                let nonce = UInt64.random(in: 0...UInt64.max)
                return (
                    "401 No",
                    "WWW-Authenticate: Digest realm=\"x\", stale=true, nonce=\"\(nonce)\"\r\n",
                    ""
                )
            },
        ]
        private static let port = Mutex(0)

        /// The words never say that a camera was not reached, or does not answer: all do.
        @Test func whateverItDoesItIsToldAndNobodyElseIsReached() throws {
            let other = try PictureServer { _ in }
            let datagrams = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(other.port).bigEndian
            address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
            let isBound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(datagrams, $0, 16) }
            }
            try #require(isBound == 0)
            defer { close(datagrams) }
            let folder = try Self.folder()
            let first = "http://127.0.0.1:\(other.port)/"
            try Daemon.with(Self.configuration(first, folder)) { daemon in
                var reader: StreamReader?
                for conduct in Self.conducts {
                    let name = "\(conduct.scheme) \(conduct.name)"
                    let server = try PictureServer { conduct.serve($0, other.port) }
                    defer { server.close() }
                    Self.port.withLock { $0 = server.port }
                    let host = name == "http a page" ? "localhost" : "127.0.0.1"
                    let url = "\(conduct.scheme)://\(host):\(server.port)/live"
                    try daemon.reload(Self.configuration(url, folder))
                    if reader == nil { reader = try daemon.reader() }
                    let problem = try eventually("\(name): “\(conduct.words)”", within: 60) {
                        try daemon.problems.first { $0.contains(conduct.words) }
                    }
                    #expect(
                        !problem.contains("reach") && !problem.contains("not answer"),
                        "\(name): \(problem)"
                    )
                    // Damage of pictures says nothing of where they come from.
                    #expect(
                        problem.contains("\(server.port)") || problem.contains("no picture came"),
                        "\(name): \(problem)"
                    )
                    #expect(server.count < 200, "\(name)")
                }
                #expect(other.count == 0)
                var byte: UInt8 = 0
                #expect(recv(datagrams, &byte, 1, CInt(MSG_DONTWAIT)) == -1 && errno == EAGAIN)
                #expect(!daemon.program.errors.contains("s3cret"))
            }
        }

        @Test func anAddressWhereNothingListensIsNotReached() throws {
            let folder = try Self.folder()
            let server = try PictureServer { _ in }
            server.close()
            for scheme in ["http", "rtsp"] {
                let url = "\(scheme)://127.0.0.1:\(server.port)/live"
                try Daemon.with(Self.configuration(url, folder)) { daemon in
                    _ = try daemon.reader()
                    try eventually("the words") {
                        try daemon.complains(of: "annot reach 127.0.0.1:\(server.port)")
                    }
                }
            }
        }

        /// Over IPv6, after a redirection on the same camera with a password, and very slowly.
        @Test func aSlowCameraIsWaitedFor() throws {
            let picture = counted(1, Self.size)
            let served = Mutex(0)
            let server = try PictureServer(isIPv6: true) { connection in
                var request: String? = connection.request
                while let text = request {
                    if !text.contains("Authorization: Basic bWU6czNjcmV0\r\n") {
                        let basic = "WWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n"
                        guard connection.send("HTTP/1.1 401 No\r\n\(basic)\r\n") else { return }
                    } else if text.hasPrefix("GET /live ") {
                        let place = "Location: /other?a=1\r\nContent-Length: 0\r\n"
                        guard connection.send("HTTP/1.1 302 Found\r\n\(place)\r\n") else { return }
                    } else {
                        break
                    }
                    request = connection.receive()
                }
                guard request?.hasPrefix("GET /other?a=1 ") ?? false else { return }
                served.withLock { $0 += 1 }
                guard connection.send(Connection.header) else { return }
                for seconds in [4, 7, 1] as [UInt32] {
                    sleep(seconds)
                    guard connection.send(part: picture) else { return }
                }
                _ = connection.receive()
            }
            let folder = try Self.folder()
            let url = "http://[::1]:\(server.port)/live"
            try Daemon.with(Self.configuration(url, folder)) { daemon in
                _ = try daemon.reader()
                try daemon.back.wait(for: \.state, "streaming", within: 15)
                let start = MonotonicClock.now
                while (MonotonicClock.now - start).seconds < 8 {
                    #expect(try daemon.state(of: DualCam.backPath) == "streaming")
                    usleep(200_000)
                }
                #expect(try daemon.problems == [])
                #expect(served.withLock { $0 } == 1)
            }
        }
    }
}
