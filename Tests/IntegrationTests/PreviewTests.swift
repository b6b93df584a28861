import CTurboJPEG
import Control
import DBusKit
import Foundation
import Glibc
import Platform
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of previews, of cameras that only PipeWire has.
    @Suite("Previews", .timeLimit(.minutes(2)))
    struct PreviewTests {
        /// The camera "desk" is the back one, and "phone" none; a consumer need not come.
        private func with(_ body: (Daemon) throws -> Void) throws {
            try withPhone { daemon, _ in try body(daemon) }
        }

        /// The same, with the program that is the camera "phone".
        private func withPhone(_ body: (Daemon, Child) throws -> Void) throws {
            let configuration = DaemonTests.still(back: "pipewire:desk", front: "test")
            try Daemon.with(configuration) { daemon in
                let picture = "\(daemon.session.directory)/red.jpg"
                let painter = try daemon.session.run(
                    "ffmpeg",
                    "-v",
                    "error",
                    "-f",
                    "lavfi",
                    "-i",
                    "color=red:s=640x360",
                    "-frames:v",
                    "1",
                    picture
                )
                try #require(painter.wait() == .status(0), "\(painter.errors)")
                func camera(_ name: String) throws -> Child {
                    try daemon.session.run(
                        Programs.path(of: "jpeg-node"),
                        [name, "640", "360", picture]
                    )
                }
                _ = try camera("desk")
                let phone = try camera("phone")
                try eventually("both cameras", within: 20) {
                    let devices = try daemon.get("Devices", of: .stream).array ?? []
                    let ids = devices.compactMap { $0.named?["id"]?.string }
                    return ids.contains("pipewire:desk") && ids.contains("pipewire:phone")
                }
                try body(daemon, phone)
            }
        }

        private func open(_ device: String, _ daemon: Daemon) throws -> PreviewReader {
            let answer = try daemon.send(
                "OpenPreview",
                of: StreamInterface.name,
                [.string(device), .named([:])]
            )
            let shared = answer.first.flatMap { SharedDescriptor(dbus: $0) }
            return PreviewReader(try #require(shared))
        }

        private func error(_ body: () throws -> Void) -> String {
            do {
                try body()
                return "none"
            } catch {
                let error = error as? DBusKit.DBusError
                return "\(error?.name.split(separator: ".").last ?? "") \(error?.message ?? "")"
            }
        }

        private func isShowing(_ daemon: Daemon) -> Bool {
            Holdings(of: daemon).names["thread preview"] != nil
        }

        /// Reads all that was sent, up to the end.
        private func readToEnd(_ reader: PreviewReader) throws {
            while try reader.picture() != nil {}
        }

        @Test("a camera that has no role is shown in small pictures, as long as somebody looks")
        func shown() throws {
            try with { daemon in
                let before = try Holdings.atRest(daemon)
                for _ in 1...2 {
                    let reader = try open("pipewire:phone", daemon)
                    for _ in 1...3 {
                        let picture = try #require(try reader.picture())
                        #expect(size(of: picture) == [320, 180])
                    }
                    #expect(isShowing(daemon))
                    reader.close()
                    try eventually("its end", within: 10) { !isShowing(daemon) }
                }
                func excess() -> [String] { Holdings(of: daemon).excess(over: before) }
                try eventually("the descriptors of before; there are more: \(excess())") {
                    Holdings(of: daemon).descriptors <= before.descriptors
                }
            }
        }

        @Test("what cannot be shown is refused, with the reason")
        func refusals() throws {
            try with { daemon in
                func refusal(_ device: String) -> String {
                    error { _ = try open(device, daemon) }
                }
                #expect(refusal("pipewire:nope").hasPrefix("NoCamera There is no camera “nope”."))
                #expect(refusal("nobody's").hasPrefix("NoCamera There is no camera"))
                for word in ["", "auto", "test:bars", "file:/x.jpg"] {
                    #expect(refusal(word).hasPrefix("OutOfRange Name a"), "\(word)")
                }
                #expect(refusal("pipewire:desk").contains("is the back camera already"))
                let reader = try open("pipewire:phone", daemon)
                defer { reader.close() }
                #expect(
                    refusal("pipewire:phone").hasPrefix("Busy A program already has a preview of")
                )
                try daemon.set("Enabled", of: .privacy, to: .boolean(true))
                #expect(refusal("pipewire:phone").hasPrefix("Locked Privacy is on."))
            }
        }

        @Test("privacy is on once its camera is closed")
        func privacy() throws {
            try with { daemon in
                let reader = try open("pipewire:phone", daemon)
                #expect(try reader.picture() != nil)
                try daemon.set("Enabled", of: .privacy, to: .boolean(true))
                #expect(reader.isAtEnd)
                try daemon.set("Enabled", of: .privacy, to: .boolean(false))
                let again = try open("pipewire:phone", daemon)
                #expect(try again.picture() != nil)
            }
        }

        @Test("a camera that gets a role is the role's at once, and a preview keeps none from it")
        func taken() throws {
            try with { daemon in
                let stream = try daemon.reader()
                defer { stream.close() }
                try eventually("the first camera", within: 20) {
                    try daemon.state(of: DualCam.backPath) == "streaming"
                }
                let reader = try open("pipewire:phone", daemon)
                try daemon.send(
                    "Use",
                    of: CameraInterface.name,
                    at: DualCam.frontPath,
                    [.string("pipewire:phone"), .named([:])]
                )
                try readToEnd(reader)
                try eventually("the camera in its role", within: 20) {
                    try daemon.state(of: DualCam.frontPath) == "streaming"
                }
            }
        }

        @Test("a camera that goes while somebody looks ends its preview")
        func unplugged() throws {
            try withPhone { daemon, phone in
                let reader = try open("pipewire:phone", daemon)
                #expect(try reader.picture() != nil)
                phone.end()
                try readToEnd(reader)
                try eventually("its end", within: 10) { !isShowing(daemon) }
                try eventually("a list without it", within: 10) {
                    error { _ = try open("pipewire:phone", daemon) }.hasPrefix("NoCamera")
                }
            }
        }

        @Test(
            "somebody who looks and never reads holds up nothing, and neither does one who leaves"
        )
        func careless() throws {
            try with { daemon in
                let address = daemon.session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
                let reader: PreviewReader
                do {
                    let other = try BusConnection(to: .address(address), loop: try EventLoop())
                    let answer = try other.call(
                        MethodCall(
                            "OpenPreview",
                            of: StreamInterface.name,
                            at: DualCam.path,
                            on: DualCam.busName,
                            [.string("pipewire:phone"), .named([:])],
                            timeout: 20
                        )
                    )
                    let shared = answer.first.flatMap { SharedDescriptor(dbus: $0) }
                    reader = PreviewReader(try #require(shared))
                    #expect(isShowing(daemon))
                }
                // The program has left the bus, and keeps the socket.
                try eventually("its end", within: 10) { !isShowing(daemon) }
                try readToEnd(reader)
            }
        }

        /// Returns the width and height of a JPEG.
        private func size(of jpeg: [UInt8]) -> [CInt] {
            let decoder = tjInitDecompress()
            defer { tjDestroy(decoder) }
            var (width, height, sampling, colors): (CInt, CInt, CInt, CInt) = (0, 0, 0, 0)
            tjDecompressHeader3(
                decoder,
                jpeg,
                UInt(jpeg.count),
                &width,
                &height,
                &sampling,
                &colors
            )
            return [width, height]
        }
    }
}
