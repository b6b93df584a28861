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

        @Test(arguments: ["YUY2", "UYVY", "NV12", "I420"])
        func aNodeIsACamera(_ format: String) throws {
            try Daemon.with(Self.configuration) { daemon in
                let phone = try phone(daemon, format)
                let reader = try daemon.reader()
                defer { reader.close() }
                try eventually("its picture", within: 30, while: phone) {
                    try daemon.state(of: DualCam.backPath) == "streaming"
                }
                #expect(try daemon.get("Width", of: .camera, at: DualCam.backPath) == .uint32(640))
                try eventually("white", within: 15, while: phone) {
                    let frame = try reader.next()
                    // In the middle, and without colour.
                    let at = 360 * frame.stride + 640 * 2
                    return frame.bytes[at] > 225 && (126...130).contains(frame.bytes[at + 1])
                        && (126...130).contains(frame.bytes[at + 3])
                }
            }
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
            let painter = try daemon.session.run(
                "ffmpeg",
                ["-v", "error", "-y", "-f", "lavfi", "-i", filter, "-frames:v", "1"] + form + [path]
            )
            try #require(painter.wait() == .status(0), "\(painter.errors)")
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

        /// The whole stream is the camera.
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
                defer { reader.close() }
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
                let painter = try daemon.session.run(
                    "ffmpeg",
                    [
                        "-v", "error", "-f", "lavfi", "-i", "color=white:s=642x362:r=30:d=1", "-f",
                        "lavfi", "-i", "color=red:s=642x362:r=30:d=1", "-filter_complex",
                        "[0][1]concat", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "60", "-bf",
                        "0", "-sc_threshold", "0", "-x264-params", "aud=1", movie,
                    ]
                )
                try #require(painter.wait() == .status(0), "\(painter.errors)")
                let phone = try node(daemon, "phone", 642, 362, movie, ["h264"])
                let reader = try daemon.reader()
                defer { reader.close() }
                for color in [Color.gray(235), Color(81, 90, 240), Color.gray(235)] {
                    _ = try reader.picture("\(color)", within: 30, while: phone) {
                        $0[320, 180].distance(to: color) < 12 && $0[8, 350].distance(to: color) < 12
                    }
                }
                let format = try daemon.get("PixelFormat", of: .camera, at: DualCam.backPath)
                #expect(format == .string("H264"))
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
                defer { reader.close() }
                _ = try reader.picture("white", within: 30, while: phone) {
                    $0[320, 180].distance(to: Color.gray(235)) < 12
                }
                _ = try reader.picture("red", within: 30, while: phone) {
                    $0[320, 180].distance(to: Color(81, 90, 240)) < 12
                }
                #expect(try daemon.get("Width", of: .camera, at: DualCam.backPath) == .uint32(320))
                #expect(try daemon.state(of: DualCam.backPath) == "streaming")
            }
        }

        /// One good picture at each opening is no reason to go on with a camera for ever.
        @Test func aCameraThatFailsAfterEachFirstPictureIsLeftForAnother() throws {
            try Daemon.with(DaemonTests.still(back: "auto", front: "test")) { daemon in
                func name() throws -> DBusKit.Value {
                    try daemon.get("Name", of: .camera, at: DualCam.backPath)
                }
                let picture = try paint("color=white:s=640x360", "white.jpg", daemon)
                let broken = try node(daemon, "broken", 640, 360, picture, ["good=1"])
                let reader = try daemon.reader()
                defer { reader.close() }
                try eventually("its picture", within: 30, while: broken) {
                    try daemon.state(of: DualCam.backPath) == "streaming"
                }
                let before = try name()
                let sound = try node(daemon, "sound", 640, 360, picture)
                // Each of the five failures takes 3 s, and a pause.
                try eventually("another camera", within: 60, while: sound) { try name() != before }
                try eventually("its picture", within: 20) {
                    try daemon.state(of: DualCam.backPath) == "streaming"
                }
                #expect(try daemon.problems.contains { $0.contains("failed again and again") })
            }
        }

        /// libcamera's software gives RGB alone, and phones JPEGs.
        @Test func aNodeOfJPEGsIsACamera() throws {
            try Daemon.with(Self.configuration) { daemon in
                let picture = try paint("color=white:s=642x360", "white.jpg", daemon)
                let phone = try daemon.session.run(
                    Programs.path(of: "jpeg-node"),
                    ["phone", "642", "360", picture]
                )
                let reader = try daemon.reader()
                defer { reader.close() }
                try eventually("its picture", within: 30, while: phone) {
                    try daemon.state(of: DualCam.backPath) == "streaming"
                }
                let format = try daemon.get("PixelFormat", of: .camera, at: DualCam.backPath)
                #expect(format == .string("MJPG"))
                try eventually("white", within: 15, while: phone) {
                    let frame = try reader.next()
                    return frame.bytes[360 * frame.stride + 640 * 2] > 210
                }
                try eventually("the delay of a picture") {
                    let delay = try daemon.get("Delay", of: .camera, at: DualCam.backPath).integer
                    return (1...10_000_000).contains(delay ?? 0)
                }
            }
        }

        /// One width whose row length GStreamer rounds up, and one whose it does not. Older
        /// versions of GStreamer do not say how long a row is.
        @Test(
            arguments: ["I420", "NV12", "YUY2", "RGB", "BGRx"],
            [(642, true), (642, false), (644, true), (644, false)]
        )
        func coloursLieWhereTheyBelongAtAnyWidth(_ format: String, _ row: (Int, Bool)) throws {
            let (width, isNamed) = row
            let configuration =
                "[output]\nwidth = 640\nheight = 360\n" + Self.configuration
                + "layout = \"single\"\nbackground = \"crop\"\n"
            try Daemon.with(configuration) { daemon in
                let phone = try phone(
                    daemon,
                    format,
                    width: width,
                    picture: "smptebars=",
                    isNamed ? [] : ["unnamed"]
                )
                let reader = try daemon.reader()
                defer { reader.close() }
                try eventually("its picture", within: 30, while: phone) {
                    try daemon.state(of: DualCam.backPath) == "streaming"
                }
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
                try eventually("the camera's opening", within: 20) {
                    try daemon.state(of: DualCam.backPath) == "opening"
                }
                #expect(try daemon.end().exit == .status(0))
                #expect(!daemon.program.errors.contains("does not close"))
            }
        }

        @Test func aNodeThatWasNeverThereIsNotFoundEvenUnwatched() throws {
            try Daemon.with(
                Self.configuration.replacing("pipewire:phone", with: "pipewire:pohne")
            ) { daemon in
                func interruption() throws -> Value {
                    try daemon.get("Interruption", of: .camera, at: DualCam.backPath)
                }
                try eventually("not found") { try interruption() == .string("not-found") }
                #expect(try daemon.state(of: DualCam.backPath) == "unavailable")
                #expect(
                    try daemon.complains(
                        of: "The back camera pipewire:pohne was not found. PipeWire has no camera."
                    )
                )
                let phone = try phone(daemon, "YUY2")
                try eventually("the nearest node", within: 30, while: phone) {
                    try daemon.complains(of: "PipeWire has phone. Did you mean phone?")
                }
                // It is there once its name is right, still unwatched.
                let tool = Programs.path(of: "dualcamctl")
                _ = try daemon.session.output(tool, "use", "back", "pipewire:phone")
                try eventually("found") { try interruption() == .string("none") }
                #expect(try !daemon.complains(of: "not found"))
                phone.end()
                try eventually("unplugged", within: 30) {
                    try interruption() == .string("unplugged")
                }
            }
        }

        @Test func itGoesAndComesAgain() throws {
            try Daemon.with(Self.configuration) { daemon in
                let reader = try daemon.reader()
                defer { reader.close() }
                func becomes(_ state: String) throws {
                    try eventually("the camera to be \(state)", within: 30) {
                        try daemon.state(of: DualCam.backPath) == state
                    }
                }
                try becomes("interrupted")
                for _ in 0..<2 {
                    let phone = try phone(daemon, "NV12")
                    try becomes("streaming")
                    phone.end()
                    try becomes("interrupted")
                }
            }
        }

        @Test func autoTakesACameraThatOnlyPipeWireHas() throws {
            let configuration = DaemonTests.still(back: "auto", front: "test")
            try Daemon.with(configuration) { daemon in
                let white = try paint("color=white:s=642x360", "white.jpg", daemon)
                let phone = try node(daemon, "phone", 642, 360, white)
                let reader = try daemon.reader()
                defer { reader.close() }
                try eventually("its picture", within: 30, while: phone) {
                    try daemon.state(of: DualCam.backPath) == "streaming"
                }
                #expect(try daemon.get("Name", of: .camera, at: DualCam.backPath) != .string(""))
                phone.end()
                try eventually("its absence", within: 20) {
                    try daemon.state(of: DualCam.backPath) == "interrupted"
                }
            }
        }

        @Test func theyAreLookedForOnlyWhileASourceIsAuto() throws {
            let fixed = DaemonTests.still(back: "test", front: "test")
            try Daemon.with(fixed) { daemon in
                func isLooking() -> Bool {
                    Holdings(of: daemon).names["thread node-cameras"] != nil
                }
                let before = try Holdings.atRest(daemon)
                #expect(!isLooking())
                for _ in 0..<3 {
                    try daemon.reload(DaemonTests.still(back: "auto", front: "test"))
                    try eventually("a look at PipeWire's cameras") { isLooking() }
                    try daemon.reload(fixed)
                    try eventually("its end") { !isLooking() }
                }
                func excess() -> [String] { Holdings(of: daemon).excess(over: before) }
                try eventually("the descriptors of before; there are more: \(excess())") {
                    Holdings(of: daemon).descriptors <= before.descriptors + 4
                }
            }
        }

        @Test func itIsNeverOurOwn() throws {
            try Daemon.with(DaemonTests.still(back: "pipewire:dualcam", front: "test")) { daemon in
                let reader = try daemon.reader()
                defer { reader.close() }
                try eventually("the refusal", within: 20) {
                    try daemon.state(of: DualCam.backPath) == "interrupted"
                }
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
        let number = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
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
}
