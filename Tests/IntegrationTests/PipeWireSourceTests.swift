import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of a camera that is a PipeWire node.
    @Suite("PipeWire sources", .timeLimit(.minutes(2)))
    struct PipeWireSourceTests {
        private static let configuration = DaemonTests.still(back: "pipewire:phone", front: "test")

        /// Starts a camera that another program publishes: `picture`, one of ffmpeg's sources, in
        /// `format`.
        private func phone(
            _ daemon: Daemon,
            _ format: String,
            width: Int = 640,
            picture: String = "color=white:",
            _ options: [String] = []
        ) throws -> Child {
            let path = try paint("\(picture)s=\(width)x360", "phone.\(format)", daemon)
            return try node(daemon, "phone", width, 360, path, ["raw=\(format)"] + options)
        }

        /// Paints one picture as ffmpeg's `filter` gives it into the file `name`, and returns its
        /// path. What ends in the name of a raw format has pixels alone.
        private func paint(_ filter: String, _ name: String, _ daemon: Daemon) throws -> String {
            let path = "\(daemon.session.directory)/\(name)"
            let raw = [
                "BGRx": "bgr0", "RGB": "rgb24", "YUY2": "yuyv422", "UYVY": "uyvy422",
                "NV12": "nv12", "I420": "yuv420p",
            ]
            let form =
                name.split(separator: ".").last.flatMap { raw[String($0)] }.map {
                    ["-pix_fmt", $0, "-f", "rawvideo"]
                }
                ?? ["-q:v", "2", "-pix_fmt", "yuvj420p"]
            try ffmpeg(["-y", "-f", "lavfi", "-i", filter, "-frames:v", "1"] + form + [path])
            return path
        }

        /// Starts a camera that has the picture in `path`.
        private func node(
            _ daemon: Daemon,
            _ name: String,
            _ width: Int,
            _ height: Int,
            _ path: String,
            _ options: [String] = []
        ) throws -> Child {
            try daemon.session.run(
                Programs.path(of: "jpeg-node"),
                [name, "\(width)", "\(height)", path] + options
            )
        }

        private static let alone =
            "[output]\nwidth = 640\nheight = 360\n" + configuration
            + "layout = \"single\"\nbackground = \"crop\"\n"

        /// A phone's node says how its pictures lie: mirrored, then turned anticlockwise, with a
        /// border that is not to be shown.
        @Test(
            arguments: ["BGRx", "jpg"],
            [(0, "null"), (1, "transpose=cclock"), (5, "hflip,transpose=cclock")]
        )
        func aPictureIsUprightHoweverItLies(_ form: String, _ row: (Int, String)) throws {
            let (transform, turn) = row
            let (width, height) = transform & 1 == 0 ? (640, 360) : (360, 640)
            try Daemon.with(Self.alone) { daemon in
                let border = "pad=\(width + 40):\(height + 48):16:24:lime"
                let picture = try paint(
                    "smptebars=s=640x360,\(turn),\(border)",
                    "bars.\(form)",
                    daemon
                )
                let phone = try node(
                    daemon,
                    "phone",
                    width + 40,
                    height + 48,
                    picture,
                    ["transform=\(transform)", "crop=16,24,\(width),\(height)"]
                        + (form == "BGRx" ? ["raw"] : [])
                )
                let reader = try daemon.reader()
                let (yellow, red) = (Color(162, 44, 142), Color(65, 100, 212))
                let shown = try reader.picture("yellow", within: 30, while: phone) {
                    $0[137, 20].distance(to: yellow) < 12
                }
                for row in Swift.stride(from: 4, to: 220, by: 12) {
                    #expect(shown[137, row].distance(to: yellow) < 12, "row \(row)")
                    #expect(shown[502, row].distance(to: red) < 12, "row \(row)")
                }
            }
        }

        /// Most pictures of H.264 are made from those before, so none may be left out.
        @Test func `A node of H.264 is a camera`() throws {
            try Daemon.with(Self.alone) { daemon in
                let movie = "\(daemon.session.directory)/movie.h264"
                try ffmpeg([
                    "-f", "lavfi", "-i", "color=white:s=642x362:r=30:d=1", "-f",
                    "lavfi", "-i", "color=red:s=642x362:r=30:d=1", "-filter_complex",
                    "[0][1]concat", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "60", "-bf",
                    "0", "-sc_threshold", "0", "-x264-params", "aud=1", movie,
                ])
                let phone = try node(daemon, "phone", 642, 362, movie, ["h264"])
                let reader = try daemon.reader()
                for color in [Color.gray(235), Color(81, 90, 240), Color.gray(235)] {
                    _ = try reader.picture("\(color)", within: 30, while: phone) {
                        $0[320, 180].distance(to: color) < 12 && $0[8, 350].distance(to: color) < 12
                    }
                }
                #expect(try daemon.back.get(\.pixelFormat) == "H264")
                #expect(try daemon.state(of: DualCam.backPath) == "streaming")
            }
        }

        @Test func aNodeChangesItsFormatInFlight() throws {
            try Daemon.with(Self.alone) { daemon in
                let white = try paint("color=white:s=640x360", "white.BGRx", daemon)
                let red = try paint("color=red:s=320x180", "red.BGRx", daemon)
                let phone = try node(
                    daemon,
                    "phone",
                    640,
                    360,
                    white,
                    ["raw", "then=60,320,180,\(red)"]
                )
                let reader = try daemon.reader()
                _ = try reader.picture("white", within: 30, while: phone) {
                    $0[320, 180].distance(to: Color.gray(235)) < 12
                }
                _ = try reader.picture("red", within: 30, while: phone) {
                    $0[320, 180].distance(to: Color(81, 90, 240)) < 12
                }
                #expect(try daemon.back.get(\.width) == 320)
                #expect(try daemon.state(of: DualCam.backPath) == "streaming")
            }
        }

        /// Some nodes do not say how long a row is.
        @Test(arguments: [
            ("I420", 642, false), ("NV12", 642, true), ("YUY2", 642, false), ("UYVY", 644, true),
            ("RGB", 642, true), ("RGB", 642, false), ("BGRx", 644, false),
        ])
        func coloursLieWhereTheyBelong(_ format: String, width: Int, isNamed: Bool) throws {
            try Daemon.with(Self.alone) { daemon in
                let phone = try phone(
                    daemon,
                    format,
                    width: width,
                    picture: "smptebars=",
                    isNamed ? [] : ["unnamed"]
                )
                let reader = try daemon.reader()
                try eventually("its picture", within: 30, while: phone) {
                    try daemon.state(of: DualCam.backPath) == "streaming"
                }
                #expect(try daemon.back.get(\.width) == UInt32(width))
                // Seven bars, of which the second is yellow and the sixth red.
                let (yellow, red) = (Color(162, 44, 142), Color(65, 100, 212))
                let picture = try reader.picture("yellow", within: 20, while: phone) {
                    $0[137, 20].distance(to: yellow) < 8
                }
                for row in stride(from: 4, to: 220, by: 12) {
                    #expect(picture[137, row].distance(to: yellow) < 8, "row \(row)")
                    #expect(picture[502, row].distance(to: red) < 8, "row \(row)")
                }
            }
        }

        @Test func aPipeWireThatSaysNothingHoldsNothingUp() throws {
            try PrivateSession.with([.bus]) { session in
                let silent = try SilentSocket("\(session.directory)/silent")
                let daemon = try Daemon(
                    Self.configuration,
                    in: session,
                    node: false,
                    adding: ["PIPEWIRE_REMOTE": silent.path]
                )
                _ = try session.run(
                    Programs.path(of: "dualcamctl"),
                    ["photo", "--of", "back", "-o", "\(session.directory)/photo.jpg"]
                )
                try daemon.back.wait(for: \.state, "opening", within: 20)
                #expect(try daemon.end().exit == .status(0))
                #expect(!daemon.program.errors.contains("does not close"))
            }
        }

        @Test func autoTakesACameraThatOnlyPipeWireHas() throws {
            let configuration = DaemonTests.still(back: "auto", front: "test")
            try Daemon.with(configuration) { daemon in
                let white = try paint("color=white:s=642x360", "white.jpg", daemon)
                _ = try daemon.reader()
                // It goes, and comes again.
                for _ in 0..<2 {
                    let phone = try node(daemon, "phone", 642, 360, white)
                    try eventually("its picture", within: 30, while: phone) {
                        try daemon.state(of: DualCam.backPath) == "streaming"
                    }
                    #expect(try daemon.back.get(\.name) != "")
                    #expect(try daemon.back.get(\.pixelFormat) == "MJPG")
                    try eventually("the delay of a picture") {
                        try (1...10_000_000).contains(daemon.back.get(\.delay))
                    }
                    phone.end()
                    try daemon.back.wait(for: \.state, "interrupted", within: 20)
                }
            }
        }

        @Test func autoTakesNoProgramThatGivesOurStreamOn() throws {
            try Daemon.with(DaemonTests.still(back: "auto", front: "test")) { daemon in
                let relay = try daemon.session.gstreamer(
                    "pipewiresrc target-object=dualcam ! videoconvert ! pipewiresink mode=provide "
                        + "stream-properties=p,media.class=Video/Source,media.role=Camera,node.name=relay"
                )
                func reason() throws -> String? {
                    let devices = try daemon.get("Devices", of: .stream).array ?? []
                    let relay = devices.first { $0.named?["id"] == .string("pipewire:relay") }
                    return relay?.named?["reason"]?.string
                }
                try eventually("its refusal", within: 30, while: relay) {
                    try reason() == "may show DualCam's own stream"
                }
                #expect(try daemon.state(of: DualCam.backPath) == "unavailable")
            }
        }

        @Test func theyAreListedOnlyWhileASourceIsAuto() throws {
            let fixed = DaemonTests.still(back: "test", front: "test")
            try Daemon.with(fixed) { daemon in
                let phone = try phone(daemon, "YUY2")
                func isListed() throws -> Bool {
                    let devices = try daemon.get("Devices", of: .stream).array ?? []
                    return devices.contains { $0.named?["id"] == .string("pipewire:phone") }
                }
                let before = try Holdings.atRest(daemon)
                #expect(try !isListed() && before.names["thread registry"] == 1)
                for _ in 0..<3 {
                    try daemon.reload(DaemonTests.still(back: "auto", front: "test"))
                    try eventually("PipeWire's camera", while: phone) { try isListed() }
                    try daemon.reload(fixed)
                    try eventually("its absence") { try !isListed() }
                }
                #expect(Holdings(of: daemon).names["thread registry"] == 1)
                func excess() -> [String] { Holdings(of: daemon).excess(over: before) }
                try eventually("the descriptors of before; there are more: \(excess())") {
                    Holdings(of: daemon).descriptors <= before.descriptors + 4
                }
            }
        }

        @Test(arguments: ["dualcam", "dualcam.front"])
        func itIsNeverOurOwn(_ node: String) throws {
            let sources = DaemonTests.still(back: "pipewire:\(node)", front: "test")
            let configuration = sources.replacing("[scene]", with: "node = true\n[scene]")
            try Daemon.with(configuration) { daemon in
                _ = try daemon.reader()
                try daemon.back.wait(for: \.state, "interrupted", within: 20)
                try eventually("its reason in the log", within: 10) {
                    daemon.program.errors.contains("it is our own")
                }
            }
        }
    }
}

/// A socket that accepts connections and never sends anything.
final class SilentSocket {
    let path: String
    private let socket: Descriptor

    init(_ path: String) throws {
        self.path = path
        // No program that a test starts holds it open.
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let number = Glibc.socket(AF_UNIX, kind, 0)
        guard number >= 0 else { throw SystemError.last("socket") }
        socket = Descriptor(owning: number)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0, listen(number, 8) == 0 else { throw SystemError.last("bind", path) }
    }

    /// `true` once a program has connected.
    var hasCaller: Bool {
        var entry = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }
}
