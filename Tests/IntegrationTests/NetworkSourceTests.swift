import Capture
import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import Synchronization
import TestJPEGs
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of a camera that sends JPEGs over HTTP.
    @Suite("Network sources", .timeLimit(.minutes(2)))
    struct NetworkSourceTests {
        private static let size = Size(width: 640, height: 360)

        private func configuration(
            _ port: Int,
            _ path: String = "/video",
            more: String = ""
        ) -> String {
            """
            [output]
            width = 640
            height = 360
            [cameras.back]
            source = "url:http://localhost:\(port)\(path)"
            \(more)
            [cameras.front]
            source = "test"
            [scene]
            layout = "single"
            """
        }

        private final class Camera: Sendable {
            let server: PictureServer
            let gate: Gate
            var port: Int { server.port }

            final class Gate: Sendable {
                /// The picture that was shown last; without one, pictures are sent by the clock.
                let shown = Mutex<Int?>(nil)

                /// Waits while two pictures before this one have not been shown.
                func waitForTurn(_ number: Int) {
                    while let shown = shown.withLock({ $0 }), (number - shown) & 255 > 2 {
                        usleep(1_000)
                    }
                }
            }

            init(port: Int = 0) throws {
                let gate = Gate()
                let pictures = (0..<256).map { counted($0, NetworkSourceTests.size) }
                server = try PictureServer(port: port) { connection in
                    guard connection.send(PictureServer.Connection.header) else { return }
                    gate.shown.withLock { $0 = $0.map { _ in 255 } }
                    let start = MonotonicClock.now
                    for number in 0... {
                        gate.waitForTurn(number)
                        let due = start + Timestamp(seconds: Double(number) / 30)
                        let left = (due - MonotonicClock.now).seconds
                        if left > 0 { usleep(UInt32(left * 1e6)) }
                        guard connection.send(part: pictures[number % 256]) else { return }
                    }
                }
                self.gate = gate
            }
        }

        private func reaches(
            _ daemon: Daemon,
            _ state: String,
            within seconds: Double = 20,
            while server: Child? = nil
        ) throws {
            try eventually("the camera to be \(state)", within: seconds, while: server) {
                try daemon.state(of: DualCam.backPath) == state
            }
        }

        /// Reads `count` pictures of different numbers, and has the camera go on as they are shown:
        /// it waits for that, so that no delay on the way is made up for by more pictures. `tell`
        /// gets each number, and `nil` at the end.
        private func expectShownSoon(
            _ count: Int,
            by reader: StreamReader,
            _ tell: (Int?) throws -> Void
        ) throws {
            reader.flush()
            let area = Rect(x: 0, y: 0, width: 640, height: 360)
            var last: Int?
            for _ in 0..<count {
                last = try eventually("another picture than \(last ?? -1)") {
                    let picture = StreamPicture(try reader.next(), size: Self.size)
                    let number = picture.counter(of: Self.size, in: area)
                    if number != last { try number.map(tell) }
                    return number == last ? nil : number
                }
            }
            try tell(nil)
        }

        /// For as many seconds as DUALCAM_NETWORK_SECONDS says.
        @Test func itsMemoryDoesNotGrow() throws {
            let camera = try Camera()
            let variable = ProcessInfo.processInfo.environment["DUALCAM_NETWORK_SECONDS"]
            let seconds = variable.flatMap(Double.init) ?? 4
            try Daemon.with(configuration(camera.port)) { daemon in
                let reader = try daemon.reader()
                try reaches(daemon, "streaming")
                let helper = try #require(Self.children(of: daemon.program.id).first)
                func memory() -> [Int] { [daemon.program.id, helper].map(Self.memory) }
                func pass(_ pictures: Int) throws {
                    let start = reader.count
                    try eventually("pictures", within: Double(pictures) + 20) {
                        reader.count >= start + pictures
                    }
                }
                // What is needed once is there by then.
                try pass(60)
                let before = memory()
                try pass(Int(seconds * 30))
                let after = memory()
                print("kilobytes of daemon and helper: \(before), \(after)")
                #expect(Self.children(of: daemon.program.id).contains(helper))
                for (one, other) in zip(before, after) {
                    #expect(one > 0 && other <= one + 4096, "\(before), \(after)")
                }
            }
        }

        private static func children(of process: pid_t) -> [pid_t] {
            let tasks = "/proc/\(process)/task"
            return entries(of: tasks).flatMap { name in
                wholeText(of: "\(tasks)/\(name)/children").split(separator: " ").compactMap {
                    pid_t($0)
                }
            }
        }

        private static func memory(of process: pid_t) -> Int {
            let status = wholeText(of: "/proc/\(process)/status")
            let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
            return line.flatMap { Int($0.split(whereSeparator: \.isWhitespace)[1]) } ?? 0
        }

        @Test func pictureAfterPictureIsShownSoon() throws {
            let camera = try Camera()
            try Daemon.with(configuration(camera.port)) { daemon in
                #expect(camera.server.count == 0, "connected while nobody looks")
                let reader = try daemon.reader()
                try reaches(daemon, "streaming")
                #expect(try daemon.back.get(\.width) == 640)
                try eventually("its rate") {
                    let told = try daemon.get("FrameRate", of: .camera, at: DualCam.backPath)
                    return (27...33).contains(told.integer ?? 0)
                }
                try expectShownSoon(90, by: reader) { number in
                    camera.gate.shown.withLock { $0 = number }
                }
                #expect(camera.server.count == 1)
                reader.close()
                try eventually("the connection to end", within: 5) { camera.server.openCount == 0 }
            }
        }

        @Test func aCameraThatWasGoneIsBackAtTheNextTry() throws {
            var camera = try Camera()
            let port = camera.port
            try Daemon.with(configuration(port)) { daemon in
                _ = try daemon.reader()
                for _ in 0..<2 {
                    try reaches(daemon, "streaming")
                    camera.server.close()
                    try reaches(daemon, "interrupted")
                    // On a busy machine the pictures stop for a while before the call is refused.
                    try daemon.back.wait(for: \.interruption, "unreachable")
                    try eventually("the reason") {
                        try daemon.complains(
                            of: "Back camera not reachable: cannot reach localhost:\(port): it "
                                + "refuses the connection."
                        )
                    }
                    camera = try Camera(port: port)
                    try reaches(daemon, "streaming")
                    // `RetryTests` has the time between two tries.
                    #expect(camera.server.count <= 2)
                }
            }
        }

        @Test func picturesMayBeUnusualLargeAndSmall() throws {
            var large = UnusualJPEG("large", [(1, 1, 1, 90)])
            large.size = Size(width: 8192, height: 4320)
            let smallest = Size(width: 32, height: 2)
            let pictures =
                [UnusualJPEG.shown[0], large].map { ($0.size, $0.bytes) }
                + [(smallest, counted(0, smallest))]
            let servers = try pictures.map { _, bytes in
                try PictureServer { connection in
                    guard connection.send(PictureServer.Connection.header) else { return }
                    while connection.send(part: bytes) { usleep(200_000) }
                }
            }
            defer { for server in servers { server.close() } }
            try Daemon.with(configuration(servers[0].port)) { daemon in
                _ = try daemon.reader()
                for ((size, _), server) in zip(pictures, servers) {
                    try daemon.reload(configuration(server.port))
                    try eventually("pictures of \(size)", within: 30) {
                        try daemon.back.get(\.width) == UInt32(size.width)
                    }
                    try reaches(daemon, "streaming")
                }
            }
        }

        /// Pictures for "me", whose password is "s3cret".
        private func guarded() throws -> PictureServer {
            try PictureServer(guarding: counted(3, Self.size))
        }

        @Test func `A camera is tried before it is kept, and its password is the user's alone`()
            throws
        {
            let server = try guarded()
            try Daemon.with("# mine\n[cameras.back]\nsource = \"test\"\n") { daemon in
                let address = "url:http://localhost:\(server.port)/"
                func login(_ password: String) -> [String: Value] {
                    ["user": .string("me"), "password": .string(password)]
                }
                func preview(_ login: [String: Value]) throws -> PreviewReader {
                    PreviewReader(
                        try daemon.stream.call(\.openPreview, address, options: login)
                    )
                }
                #expect(refusal { _ = try preview([:]) } == "Denied")
                #expect(refusal { _ = try preview(login("wr0ng")) } == "Denied")
                let reader = try preview(login("s3cret"))
                #expect(try reader.picture() != nil)
                let wrong = refusal { try daemon.back.call(\.use, "test", options: login("x")) }
                #expect(wrong == "OutOfRange")

                // The preview ends by itself, and the camera has the one connection that it allows.
                _ = try daemon.reader()
                try daemon.back.call(\.use, address, options: login("s3cret"))
                try reaches(daemon, "streaming")
                let folder = daemon.session.directory
                let file = "\(folder)/localhost-\(server.port).login"
                #expect(try String(contentsOfFile: file, encoding: .utf8) == "me:s3cret\n")
                var status = stat()
                #expect(stat(file, &status) == 0 && status.st_mode & 0o7777 == 0o600)
                let text = try String(contentsOfFile: "\(folder)/dualcam.toml", encoding: .utf8)
                #expect(text.contains("credentials = \"\(file)\""))
                let objects = try daemon.send(
                    "GetManagedObjects",
                    of: "org.freedesktop.DBus.ObjectManager"
                )
                let seen = "\(text)\(objects)\(daemon.program.errors)"
                #expect(!seen.contains("s3cret") && !seen.contains("wr0ng"))

                // Nobody else gets it, but the camera does, again.
                let other = "url:http://localhost:\(server.port + 1)/"
                try daemon.back.call(\.use, other)
                #expect(
                    try !String(contentsOfFile: "\(folder)/dualcam.toml", encoding: .utf8)
                        .contains(file)
                )
                try daemon.back.call(\.use, address)
                try reaches(daemon, "streaming")
            }
        }

        @Test func `A password stays with its host when two cameras swap`() throws {
            let configuration = """
                [cameras.back]
                source = "url:http://localhost:9/a"
                credentials = "/one"
                [cameras.front]
                source = "url:http://localhost:10/b"
                """
            try Daemon.with(configuration) { daemon in
                try daemon.camera(DualCam.frontPath).call(\.use, "url:http://localhost:9/a")
                let file = "\(daemon.session.directory)/dualcam.toml"
                let parts = try String(contentsOfFile: file, encoding: .utf8)
                    .components(separatedBy: "[cameras.front]")
                #expect(parts.count == 2 && parts[0].contains(":10/b") && parts[1].contains(":9/a"))
                #expect(!parts[0].contains("/one") && parts[1].contains("credentials = \"/one\""))
            }
        }

        @Test func aPasswordStaysWithTheCamera() throws {
            let server = try guarded()
            let folder = try ScratchDirectory()
            let file = try folder.put("me:s3cret\n", "phone")
            chmod(file, 0o644)
            let credentials = "credentials = \"\(file)\""
            try Daemon.with(configuration(server.port, "/?key=k3y", more: credentials)) { daemon in
                _ = try daemon.reader()
                try reaches(daemon, "interrupted")
                try eventually("the refusal") { try daemon.complains(of: "chmod 600") }
                #expect(server.count == 0)
                chmod(file, 0o600)
                try reaches(daemon, "streaming")
                var seen = daemon.program.errors
                for process in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
                    for name in ["cmdline", "environ"] where pid_t(process) != getpid() {
                        guard pid_t(process) != nil else { continue }
                        seen += wholeText(of: "/proc/\(process)/\(name)")
                    }
                }
                let objects = try daemon.send(
                    "GetManagedObjects",
                    of: "org.freedesktop.DBus.ObjectManager"
                )
                seen += "\(objects)"
                let tool = Programs.path(of: "dualcamctl")
                seen += try daemon.session.output(tool, "status", "--json")
                #expect(seen.contains("/?…"))
                #expect(!seen.contains("s3cret") && !seen.contains("k3y"))
            }
        }

        /// Numbered pictures over RTSP, which are black and white by tens. While a file has the
        /// number of the one shown last, it is four ahead at most. Its output is its port, and a
        /// line for each client.
        private static let rtsp = """
            import gi, sys, threading, time
            gi.require_version("GstRtspServer", "1.0")
            from gi.repository import GLib, Gst, GstRtspServer
            Gst.init(None)
            encoder, port, user, block, shown = *sys.argv[1:4], int(sys.argv[4]), sys.argv[5]
            caps = "video/x-raw,format=I420,width=640,height=360,framerate=30/1"
            source = "appsrc name=source is-live=true do-timestamp=true format=time caps=" + caps
            class Factory(GstRtspServer.RTSPMediaFactory):
                def do_create_element(self, url):
                    return Gst.parse_launch("( %s ! %s name=pay0 )" % (source, encoder))
                def do_configure(self, media):
                    source = media.get_element().get_by_name_recurse_up("source")
                    threading.Thread(target=push, args=[source], daemon=True).start()
            def picture(number):
                row = b"".join(bytes([235 if number >> (15 - bit) & 1 else 16]) * block for bit in range(16))
                row += bytes([128]) * (640 - len(row))
                luma = 235 if number // 10 % 2 else 16
                return row * block + bytes([luma]) * 640 * (360 - block) + bytes([128]) * 640 * 180
            def is_ahead(number):
                try: return number > int(open(shown).read()) + 4
                except (OSError, ValueError): return False
            def push(source):
                start = time.monotonic()
                for number in range(10 ** 6):
                    data = picture(number)
                    time.sleep(max(0, start + number / 30 - time.monotonic()))
                    while is_ahead(number): time.sleep(0.002)
                    if source.emit("push-buffer", Gst.Buffer.new_wrapped(data)): return
            server = GstRtspServer.RTSPServer(address="127.0.0.1", service=port)
            factory = Factory(shared=True)
            if user:
                auth, token = GstRtspServer.RTSPAuth(), GstRtspServer.RTSPToken()
                token.set_string("media.factory.role", "user")
                name, password = user.split(":", 1)
                auth.add_basic(GstRtspServer.RTSPAuth.make_basic(name, password), token)
                server.set_auth(auth)
                permissions = GstRtspServer.RTSPPermissions()
                permissions.add_permission_for_role("user", "media.factory.access", True)
                permissions.add_permission_for_role("user", "media.factory.construct", True)
                factory.set_permissions(permissions)
            server.get_mount_points().add_factory("/live", factory)
            server.attach(None)
            server.connect("client-connected", lambda *_: print("client", flush=True))
            print(server.get_bound_port(), flush=True)
            GLib.MainLoop().run()
            """

        /// Starts a server of `rtsp` with `encoder` at `port`, or at a free one, for `user`,
        /// "USER:PASSWORD", or for all. Returns it with its port.
        private func rtspServer(
            _ session: PrivateSession,
            _ encoder: String,
            port: Int = 0,
            user: String = ""
        ) throws -> (server: Child, port: Int) {
            // Debian's own Python has the bindings.
            let server = try session.run(
                "/usr/bin/python3",
                [
                    "-c", Self.rtsp, encoder, "\(port)", user,
                    "\(FrameCounter.block(in: Self.size))", "\(session.directory)/shown",
                ]
            )
            let given = try eventually("the server's port; it wrote: \(server.errors)") {
                server.output.contains("\n") ? Int(server.output.prefix { $0 != "\n" }) : nil
            }
            return (server, given)
        }

        private func rtspConfiguration(_ port: Int, more: String = "") -> String {
            configuration(port, "/live", more: more).replacingOccurrences(
                of: "http:",
                with: "rtsp:"
            )
        }

        private static let h264 = "x264enc tune=zerolatency speed-preset=ultrafast ! rtph264pay"

        /// JPEGs, and H.264, which is decoded.
        @Test(arguments: ["jpegenc ! rtpjpegpay", h264])
        func aStreamOverRTSPIsACamera(_ encoder: String) throws {
            try PrivateSession.with { session in
                var (server, port) = try rtspServer(session, encoder)
                let daemon = try Daemon(rtspConfiguration(port), in: session)
                let reader = try daemon.reader()
                try reaches(daemon, "streaming")
                try expectShownSoon(90, by: reader) { number in
                    try put(number.map(String.init) ?? "", at: "\(session.directory)/shown")
                }
                server.end()
                try reaches(daemon, "interrupted")
                try daemon.back.wait(for: \.interruption, "unreachable")
                (server, port) = try rtspServer(session, encoder, port: port)
                try reaches(daemon, "streaming")
                #expect(server.output.split(separator: "\n").count { $0 == "client" } <= 2)
            }
        }

        @Test(arguments: [true, false]) func aPasswordOpensAStreamOverRTSP(_ isRight: Bool) throws {
            let folder = try ScratchDirectory()
            let given = "me:\(isRight ? "s3cr@t w:rd" : "other")\n"
            let file = try folder.put(given, "camera")
            try PrivateSession.with { session in
                let (_, port) = try rtspServer(session, Self.h264, user: "me:s3cr@t w:rd")
                let more = "credentials = \"\(file)\""
                let daemon = try Daemon(rtspConfiguration(port, more: more), in: session)
                _ = try daemon.reader()
                try reaches(daemon, isRight ? "streaming" : "interrupted")
                if !isRight {
                    let why = try daemon.get("Interruption", of: .camera, at: DualCam.backPath)
                    #expect(why == .string("denied"))
                }
                #expect(!daemon.program.errors.contains("s3cr"))
            }
        }

        /// A camera that compresses although nobody asked for that: gzip, of blocks that are stored
        /// as they are (RFC 1951).
        @Test func aCompressedVideoIsRead() throws {
            let header = PictureServer.Connection.header
                .replacing("\r\n\r\n", with: "\r\nContent-Encoding: gzip\r\n\r\n")
            let picture = counted(1, Self.size)
            let head = "--foo\r\nContent-Length: \(picture.count)\r\n\r\n"
            let part = Array(head.utf8) + picture
            let server = try PictureServer { connection in
                let start = Array(header.utf8) + [31, 139, 8, 0, 0, 0, 0, 0, 0, 255]
                guard connection.send(start) else { return }
                let count = UInt16(part.count)
                let block = [0, count, count >> 8, ~count, ~count >> 8].map { UInt8($0 & 255) }
                while connection.send(block + part) { usleep(30_000) }
            }
            try Daemon.with(configuration(server.port)) { daemon in
                _ = try daemon.reader()
                try reaches(daemon, "streaming")
            }
        }

        /// Black and white, ten pictures each, over SRT, and with a passphrase in a file.
        @Test(arguments: [false, true])
        func aStreamOverSRTIsACamera(_ isSecret: Bool) throws {
            let claim = try DatagramPort()
            let port = claim.number
            defer { withExtendedLifetime(claim) {} }
            let folder = try ScratchDirectory()
            let file = try folder.put(":a long & odd passphrase\n", "camera")
            let box = "drawbox=c=black:t=fill:enable='lt(mod(n,20),10)'"
            var arguments = ["-v", "error", "-re", "-f", "lavfi", "-i"]
            arguments.append("color=white:s=640x360:r=30,\(box)")
            arguments += ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency"]
            arguments += ["-pix_fmt", "yuv420p", "-g", "30", "-f", "mpegts"]
            if isSecret { arguments += ["-passphrase", "a long & odd passphrase"] }
            arguments.append("srt://127.0.0.1:\(port)?mode=listener")
            let server = try Child("ffmpeg", arguments)
            defer { server.end() }
            let source = configuration(
                port,
                "",
                more: isSecret ? "credentials = \"\(file)\"" : ""
            ).replacingOccurrences(of: "http://localhost", with: "srt://127.0.0.1")
            try Daemon.with(source) { daemon in
                let reader = try daemon.reader()
                try reaches(daemon, "streaming", within: 40, while: server)
                for isWhite in [true, false, true] {
                    try eventually("a picture", within: 20, while: server) {
                        let luma = StreamPicture(try reader.next(), size: Self.size)[320, 180].y
                        return isWhite ? luma > 200 : luma < 40
                    }
                }
                #expect(!daemon.program.errors.contains("passphrase"))
                server.end()
                try reaches(daemon, "interrupted")
            }
        }

        /// A camera with a certificate for `localhost` that nobody has signed but itself.
        @Test func aCertificateHasToBeTrusted() throws {
            let folder = try ScratchDirectory()
            let script = """
                import ssl, socket, sys, time, threading
                listener = socket.create_server(("127.0.0.1", 0))
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(sys.argv[1] + "/cert", sys.argv[1] + "/key")
                print(listener.getsockname()[1], flush=True)
                picture = open(sys.argv[1] + "/picture", "rb").read()
                def serve(plain):
                    try:
                        c = context.wrap_socket(plain, server_side=True)
                        c.recv(8192)
                        c.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Type: multipart/x-mixed-replace;boundary=a\\r\\n\\r\\n")
                        while True:
                            c.sendall(b"--a\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(picture) + picture)
                            time.sleep(0.03)
                    except OSError: pass
                while True: threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()
                """
            try folder.put(counted(1, Self.size), "picture")
            let made = try Child(
                "openssl",
                [
                    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost", "-keyout", "\(folder.path)/key",
                    "-out", "\(folder.path)/cert",
                ]
            )
            try made.wait()
            let server = try Child("python3", ["-c", script, folder.path])
            let port = try eventually("the server's port; \(server.errors)") {
                Int(server.output.prefix { $0 != "\n" })
            }
            let secure = configuration(port).replacingOccurrences(of: "http:", with: "https:")
            for isTrusted in [false, true] {
                try PrivateSession.with { session in
                    let variables = isTrusted ? ["SSL_CERT_FILE": "\(folder.path)/cert"] : [:]
                    let daemon = try Daemon(secure, in: session, adding: variables)
                    _ = try daemon.reader()
                    try reaches(daemon, isTrusted ? "streaming" : "interrupted")
                    #expect(try daemon.complains(of: "is not trusted") == !isTrusted)
                }
            }
        }
    }
}

/// Returns a JPEG of `size` with the counter `number`, grey around it.
func counted(_ number: Int, _ size: Size) -> [UInt8] {
    let block = FrameCounter.block(in: size)
    return jpeg(
        of: frame(size: size, format: .gray) { _, x, y in
            guard y < block, x < 16 * block else { return 128 }
            return number >> (15 - x / block) & 1 == 1 ? 235 : 16
        }
    )
}
