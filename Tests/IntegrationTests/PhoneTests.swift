import Control
import DBusKit
import Foundation
import Frames
import Glibc
import TestJPEGs
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of a phone that sends by itself; BrowserTests have one with a browser.
    @Suite("Phones", .timeLimit(.minutes(3)))
    struct PhoneTests {
        private static let configuration = """
            [output]
            width = 640
            height = 360
            [cameras.back]
            source = "phone"
            [cameras.front]
            source = "test"
            [scene]
            layout = "single"
            """
        private static let size = Size(width: 640, height: 360)
        private static let area = Rect(x: 0, y: 0, width: 640, height: 360)
        private static func place(_ port: Int) -> String { "\(PrivateNetwork.address):\(port)" }

        private func with(front: String = "test", _ body: (Daemon) throws -> Void) throws {
            try PrivateSession.with { session in
                let configuration = Self.configuration.replacing(#""test""#, with: "\"\(front)\"")
                let daemon = try Daemon(configuration, in: session, network: true)
                try body(daemon)
            }
        }

        /// Starts a phone in the daemon's network: see `Tests/Phone/phone.py`.
        private func phone(
            _ daemon: Daemon,
            _ what: String,
            _ more: [String],
            port: Int = 8447
        ) throws -> Child {
            let script = repository.appending(path: "Tests/Phone/phone.py").path
            let command =
                PrivateNetwork.of(daemon.program.id)
                + ["python3", script, Self.place(port), what] + more
            return try daemon.session.run(command[0], Array(command.dropFirst()))
        }

        private func answer(
            _ daemon: Daemon,
            _ what: String,
            _ more: String...,
            port: Int = 8447
        ) throws -> [String: Any] {
            let child = try phone(daemon, what, more, port: port)
            let status = try child.wait(within: 60)
            try #require(status == .status(0), "\(child.errors)")
            let found = try JSONSerialization.jsonObject(with: Data(child.output.utf8))
            return try #require(found as? [String: Any])
        }

        /// Adds a phone, and returns its key.
        private func pair(_ daemon: Daemon, _ name: String = "", port: Int = 8447) throws -> String
        {
            let reply = try daemon.call("Pair", of: .phone, options: ["name": .string(name)])
            let url = try #require(reply.first?.string)
            let start = "https://\(Self.place(port))/"
            try #require(url.hasPrefix(start) && url.count == start.count + 22, "\(url)")
            let code = String(url.dropFirst(start.count))
            func status(_ code: String) throws -> Int? {
                try answer(daemon, "pair", code, port: port)["status"] as? Int
            }
            #expect(try status(String(code.reversed())) == 401)
            let paired = try answer(daemon, "pair", code, port: port)
            #expect(try status(code) == 401, "it works once")
            return try #require(paired["key"] as? String)
        }

        private func isListening(_ daemon: Daemon) throws -> Bool {
            let file = "/proc/\(daemon.program.id)/net/tcp"
            return try String(contentsOfFile: file, encoding: .utf8).contains(":20FF 00000000:0000")
        }

        private func helper(of daemon: Daemon) throws -> pid_t? {
            try daemon.session.output("pgrep", "-P", "\(daemon.program.id)")
                .split(separator: "\n").first.flatMap { pid_t($0) }
        }

        private func picture(
            in daemon: Daemon,
            _ number: Int = 7,
            _ size: Size = size
        ) throws -> String {
            let path = "\(daemon.session.directory)/picture-\(number).jpg"
            try Data(counted(number, size)).write(to: URL(filePath: path))
            return path
        }

        /// Waits until the stream shows the picture of this number and size in `area`.
        private func expect(
            _ reader: StreamReader,
            _ number: Int,
            _ size: Size = size,
            _ area: Rect = area
        ) throws {
            try eventually("picture \(number)") {
                let picture = StreamPicture(try reader.next(), size: Self.size)
                return picture.counter(of: size, in: area) == number
            }
        }

        @Test func aPhoneIsACameraUntilItIsForgotten() throws {
            try with { daemon in
                #expect(try !isListening(daemon))
                let key = try pair(daemon)
                #expect(try isListening(daemon))
                let helper = try #require(try helper(of: daemon))
                let status = try String(contentsOfFile: "/proc/\(helper)/status", encoding: .utf8)
                #expect(status.contains("Seccomp:\t2") && status.contains("NoNewPrivs:\t1"))

                let reader = try daemon.reader()
                defer { reader.close() }
                let upright = Self.size.transposed
                let phone = try phone(
                    daemon,
                    "send",
                    [key, picture(in: daemon), picture(in: daemon, 9, upright)]
                )
                func streams(_ phone: Child) throws {
                    try eventually("the camera to stream", while: phone) {
                        try daemon.state(of: DualCam.backPath) == "streaming"
                    }
                }
                try streams(phone)
                // It is turned, and turned back.
                try expect(reader, 7)
                try expect(reader, 9, upright, Rect(x: 218.75, y: 0, width: 202.5, height: 360))
                try expect(reader, 7)
                try daemon.call("Cancel", of: .phone)

                // The zoom, the light and the other camera are commands to the page.
                func asks(_ words: String) throws {
                    try eventually("the phone to be asked for \(words): \(phone.output)") {
                        phone.output.split(separator: "\n").last?.contains(words) == true
                    }
                }
                try asks("\"run\":true")
                _ = try daemon.session.output(Programs.path(of: "dualcamctl"), "zoom", "2")
                try asks("\"zoom\":2.0")
                _ = try daemon.session.output(Programs.path(of: "dualcamctl"), "torch", "on")
                try asks("\"light\":true")
                _ = try daemon.session.output(
                    Programs.path(of: "dualcamctl"),
                    "controls",
                    "--set",
                    "camera=1"
                )
                try asks("\"side\":\"front\"")

                // Nothing is sent while its picture is hidden, and soon its camera is off.
                try daemon.call("Swap", of: .scene)
                try asks("\"rate\":0")
                try asks("\"run\":false")
                #expect(try daemon.state(of: DualCam.backPath) == "streaming")
                try daemon.call("Swap", of: .scene)
                try asks("\"run\":true")
                try expect(reader, 7)

                // With privacy nothing is left, and the phone was told first.
                try daemon.set("Enabled", of: .privacy, to: .boolean(true))
                try eventually("nothing to listen") { try !isListening(daemon) }
                #expect(phone.output.split(separator: "\n").last?.contains("\"run\":false") == true)
                try daemon.set("Enabled", of: .privacy, to: .boolean(false))
                try eventually("the port") { try isListening(daemon) }
                let again = try self.phone(daemon, "send", [key, picture(in: daemon)])
                try streams(again)
                try daemon.send("Forget", of: PhoneInterface.name, [.string(""), .named([:])])
                #expect(try again.wait() != .status(0))
                // Nothing listens for a phone that has no key, though its camera is wanted.
                try eventually("nothing to listen") { try !isListening(daemon) }
                let late = try self.phone(daemon, "send", [key, picture(in: daemon)])
                #expect(try late.wait() == .status(1) && late.errors.contains("refused"))
            }
        }

        @Test func twoPhonesAreTwoCameras() throws {
            try with(front: "phone:work") { daemon in
                let keys = [try pair(daemon), try pair(daemon, "work", port: 8448)]
                let reader = try daemon.reader()
                defer { reader.close() }
                let phones = try [8447, 8448].enumerated().map {
                    try phone(daemon, "send", [keys[$0], picture(in: daemon)], port: $1)
                }
                for (phone, path) in zip(phones.reversed(), [DualCam.frontPath, DualCam.backPath]) {
                    try daemon.call("Swap", of: .scene)
                    try eventually("\(path)", while: phone) {
                        try daemon.state(of: path) == "streaming"
                    }
                }
            }
        }

        @Test func aPictureThatWasUnderWayForLongIsLeftOut() throws {
            try with { daemon in
                let key = try pair(daemon)
                let reader = try daemon.reader()
                defer { reader.close() }
                let files = try [7, 9, 11].map { try picture(in: daemon, $0) }
                let phone = try phone(daemon, "late", [key] + files)
                var seen: [Int] = []
                try eventually("the first one, twice", while: phone) {
                    let picture = StreamPicture(try reader.next(), size: Self.size)
                    let number = picture.counter(of: Self.size, in: Self.area)
                    // Before the phone there is another picture.
                    if let number, [7, 9, 11].contains(number), number != seen.last {
                        seen.append(number)
                    }
                    return seen.count { $0 == 7 } > 1
                }
                #expect(seen == [7, 11, 7])
            }
        }

        @Test func aPictureThatCostsTooMuchKeepsNothingFromTheNext() throws {
            try with { daemon in
                let key = try pair(daemon)
                let reader = try daemon.reader()
                defer { reader.close() }
                // Much more memory than was asked for, for few bytes.
                var large = counted(7, Self.size)
                let header = try #require(
                    large.indices.dropLast().first { large[$0...$0 + 1] == [0xff, 0xc0] }
                )
                large.replaceSubrange(header + 5..<header + 9, with: [0xff, 0xdc, 0xff, 0xdc])
                let file = "\(daemon.session.directory)/large.jpg"
                try Data(large).write(to: URL(filePath: file))
                let phone = try phone(daemon, "send", [key, picture(in: daemon), file])
                for state in ["streaming", "interrupted", "streaming"] {
                    try eventually("the camera: \(state)", while: phone) {
                        try daemon.state(of: DualCam.backPath) == state
                    }
                }
                reader.flush()
                try expect(reader, 7)
                #expect(reader.longestWait() < 5)
            }
        }

        @Test func aCertificateWithoutItsKeyIsMadeAnew() throws {
            try with { daemon in
                let folder = "\(daemon.session.directory)/home/.local/state/dualcam"
                try FileManager.default.createDirectory(
                    atPath: folder,
                    withIntermediateDirectories: true
                )
                _ = try daemon.session.output(
                    "sh",
                    "-c",
                    "openssl req -x509 -newkey rsa:2048 -nodes -days 900 -subj /CN=a "
                        + "-keyout /dev/null -out \(folder)/phone.pem"
                )
                _ = try pair(daemon)
            }
        }

        @Test func whatAHostilePhoneCanTryIsRefused() throws {
            try with { daemon in
                let key = try pair(daemon)
                let found = try answer(daemon, "attack", key, picture(in: daemon))
                let wanted: [String: Int] = [
                    "right": 200, "no key": 401, "no page": 400, "another page": 409,
                    "wrong host": 421, "wrong origin": 403, "wrong path": 404, "wrong method": 405,
                    "too long": 413, "without length": 411, "length that lies": 400,
                    "long header": 431, "no JPEG": 200, "words too long": 413, "plain HTTP": 0,
                    "old TLS": 0, "keyless": 25, "right again": 200, "overtaken": 409,
                ]
                for (name, status) in wanted {
                    #expect(found[name] as? Int == status, "\(name): \(found[name] ?? "")")
                }
                #expect((10...20).contains(found["drips"] as? Int ?? 0), "\(found)")
                #expect(try daemon.get("State", of: .phone).string == "ready")
                #expect(try answer(daemon, "idle", key)["seconds"] as? Double ?? 30 < 15)
                // Some were tried before.
                let guesses = try answer(daemon, "guess")["guesses"] as? Int
                #expect((1...20).contains(guesses ?? 0), "\(guesses ?? -1)")
                #expect(try helper(of: daemon) != nil)
            }
        }
    }
}
