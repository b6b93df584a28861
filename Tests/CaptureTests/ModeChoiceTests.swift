import CV4L2
import DualCamCore
import Frames
import Testing

@testable import Capture

@Suite struct ModeChoiceTests {
    /// The modes of a common USB 2 webcam.
    static let webcam = modes(
        "640x480@30/YUYV 640x480@15/YUYV 640x360@30/YUYV 1280x720@10/YUYV 1920x1080@5/YUYV "
            + "640x480@30/MJPG 1280x720@60/MJPG 1280x720@30/MJPG 1920x1080@30/MJPG 1920x1080@15/MJPG"
    )
    static let laptop = modes("1280x720@10/YUYV 640x480@30/YUYV 640x360@30/YUYV 320x240@30/YUYV")
    static let large = modes("1920x1080@30/NV12 3840x2160@30/NV12 1280x720@30/NV12")
    static let mute = modes("640x480@0/YUYV 1280x720@0/YUYV")

    static func modes(_ words: String) -> [CaptureMode] { words.split(separator: " ").map(mode) }

    static func mode(_ word: Substring) -> CaptureMode {
        let parts = word.split { "x@/".contains($0) }
        let padded = (parts[3] + "   ").utf8.prefix(4)
        let code = padded.enumerated().reduce(UInt32(0)) {
            $0 | UInt32($1.element) << UInt32(8 * $1.offset)
        }
        return CaptureMode(
            size: Size(width: Int(parts[0]) ?? 0, height: Int(parts[1]) ?? 0),
            rate: Double(parts[2]) ?? 0,
            format: PixelFormat(rawValue: code)
        )
    }

    @Test(
        "the mode fills the picture without waste",
        arguments: [
            (webcam, 1280, 720, 30, "1280x720@30/MJPG"),
            (webcam, 1280, 720, 60, "1280x720@60/MJPG"),
            (webcam, 1280, 720, 10, "1280x720@10/YUYV"),
            (webcam, 1920, 1080, 30, "1920x1080@30/MJPG"),
            (webcam, 640, 360, 30, "640x360@30/YUYV"),
            (webcam, 640, 480, 30, "640x480@30/YUYV"),
            (webcam, 640, 480, 15, "640x480@15/YUYV"),
            (webcam, 320, 180, 30, "640x360@30/YUYV"),
            (webcam, 800, 600, 30, "640x480@30/YUYV"),
            (laptop, 1280, 720, 30, "640x360@30/YUYV"),
            (laptop, 1280, 720, 10, "1280x720@10/YUYV"),
            (large, 1280, 720, 30, "1280x720@30/NV12"),
            (large, 2560, 1440, 30, "3840x2160@30/NV12"),
            (mute, 1280, 720, 30, "1280x720@0/YUYV"),
            // A rate that the driver does not tell counts as one that reaches what is asked for.
            (modes("1280x720@0/YUYV 1280x720@15/YUYV"), 1280, 720, 30, "1280x720@0/YUYV"),
            (modes("1280x720@15/YUYV 1280x720@0/YUYV"), 1280, 720, 60, "1280x720@0/YUYV"),
            (modes("1280x720@0/YUYV 640x360@30/YUYV"), 1280, 720, 30, "1280x720@0/YUYV"),
            (modes("640x360@0/YUYV 1280x720@60/YUYV"), 1280, 720, 30, "1280x720@60/YUYV"),
            (modes("1280x720@60/YUYV 1280x720@0/YUYV"), 1280, 720, 30, "1280x720@0/YUYV"),
            // Equally good: the first.
            (modes("1280x720@60/YUYV 1280x720@0/YUYV"), 1280, 720, 60, "1280x720@60/YUYV"),
            (modes("640x480@29.97/YUYV 640x480@60/YUYV"), 640, 480, 30, "640x480@29.97/YUYV"),
            (modes("640x480@30/GREY 640x360@15/YUYV"), 640, 480, 30, "640x360@15/YUYV"),
            (modes("640x360@30/GREY"), 640, 480, 30, "640x360@30/GREY"),
            (modes("1280x720@30/BA81 1280x720@30/MJPG"), 1280, 720, 30, "1280x720@30/MJPG"),
            (modes("1280x720@30/YUYV 1280x720@30/MJPG"), 1280, 720, 30, "1280x720@30/YUYV"),
            (modes("1280x720@30/P010 1280x720@30/NV12"), 1280, 720, 30, "1280x720@30/NV12"),
            (modes("1280x720@30/Z16 640x360@15/YUYV"), 1280, 720, 30, "640x360@15/YUYV"),
            (modes("1280x720@30/Y16 640x360@15/YUYV"), 1280, 720, 30, "640x360@15/YUYV"),
            (modes("1280x720@30/H264 640x480@30/MJPG"), 1280, 720, 30, "640x480@30/MJPG"),
        ]
    )
    func automatic(modes: [CaptureMode], width: Int, height: Int, rate: Int, expected: String) {
        let request = CaptureRequest(size: Size(width: width, height: height), rate: rate)
        #expect(chooseMode(modes, for: request)?.description == expected)
    }

    @Test(
        "a photograph has the most pixels there are, whatever is configured",
        arguments: [
            (webcam, 0, "1920x1080@30/MJPG"), (webcam, 1, "1920x1080@15/MJPG"),
            (webcam, 2, "1280x720@30/MJPG"), (laptop, 0, "1280x720@10/YUYV"),
            (large, 0, "3840x2160@30/NV12"), (mute, 0, "1280x720@0/YUYV"),
            (modes("1280x1024@30/GREY 640x480@30/YUYV"), 0, "640x480@30/YUYV"),
            (modes("1280x1024@30/GREY"), 0, "1280x1024@30/GREY"),
        ]
    )
    func full(modes: [CaptureMode], reduction: Int, expected: String) {
        var request = CaptureRequest(
            size: Size(width: 1280, height: 720),
            rate: 30,
            mode: .mode(size: Size(width: 640, height: 480), rate: 30, format: nil),
            reduction: reduction
        )
        request.isFull = true
        #expect(chooseMode(modes, for: request)?.description == expected)
    }

    @Test(
        "a configured mode is taken as it is, or not at all",
        arguments: [
            ("640x480@30", "640x480@30/YUYV"), ("640x480@30/MJPG", "640x480@30/MJPG"),
            ("1280x720@60", "1280x720@60/MJPG"), ("1920x1080@5", "1920x1080@5/YUYV"),
            ("640x480@29.97", "640x480@30/YUYV"), ("640x480@20", nil), ("800x600@30", nil),
            ("1280x720@30/YUYV", nil), ("640x480@30/NV12", nil),
        ]
    )
    func configured(word: String, expected: String?) throws {
        let request = CaptureRequest(
            size: Size(width: 1280, height: 720),
            rate: 30,
            mode: try CaptureModePreference(parsing: word)
        )
        #expect(chooseMode(Self.webcam, for: request)?.description == expected)
    }

    @Test func `a mode whose rate is not told is found by its size at any rate`() throws {
        let modes = Self.modes("640x480@30/YUYV 1280x720@0/YUYV")
        let wanted = try CaptureModePreference(parsing: "1280x720@25")
        let request = CaptureRequest(size: Size(width: 640, height: 480), rate: 30, mode: wanted)
        #expect(chooseMode(modes, for: request)?.description == "1280x720@0/YUYV")
    }

    @Test(
        "a compressed format is lighter where it is as fast",
        arguments: [
            ("640x480@30/YUYV 640x480@30/MJPG 640x480@20/YUYV", "640x480@30/MJPG"),
            ("640x480@30/YUYV 640x480@29.97/MJPG 640x480@20/YUYV", "640x480@29.97/MJPG"),
            ("640x480@30/YUYV 640x480@10/MJPG 640x480@20/YUYV", "640x480@20/YUYV"),
        ]
    )
    func compressed(modes: String, expected: String) {
        let size = Size(width: 640, height: 480)
        let request = CaptureRequest(size: size, rate: 30, reduction: 1)
        #expect(chooseMode(Self.modes(modes), for: request)?.description == expected)
    }

    @Test("without modes there is none")
    func none() {
        let request = CaptureRequest(size: Size(width: 1280, height: 720), rate: 30)
        #expect(chooseMode([], for: request) == nil)
    }

    @Test(arguments: [
        "Z16", "INZI", "Y8I", "Y12I", "P010", "NV21", "NV24", "VYUY", "Y10", "Y12", "BG12",
        "NM21", "AB24", "VP80", "MPG2", "411P",
    ])
    func `a format that nothing here reads is never chosen`(format: String) throws {
        for isFull in [false, true] {
            var request = CaptureRequest(size: Size(width: 640, height: 480), rate: 30)
            request.isFull = isFull
            #expect(chooseMode(Self.modes("640x480@30/\(format)"), for: request) == nil)
        }
        let request = CaptureRequest(
            size: Size(width: 640, height: 480),
            rate: 30,
            mode: try CaptureModePreference(parsing: "640x480@30/\(format)")
        )
        #expect(chooseMode(Self.modes("640x480@30/\(format)"), for: request) == nil)
    }

    @Test func `a device that offers nothing readable says what it offers, and is not started`() {
        let script = ScriptedDevice(PixelFormat("Z16"))
        let device = VideoDevice(path: "/dev/video9", calls: script)
        let request = CaptureRequest(size: Size(width: 640, height: 480), rate: 30)
        let error = #expect(throws: CaptureError.self) { try V4L2Source.stream(device, request) }
        #expect(error?.code == .noMode && error?.interruption == .unsupported)
        #expect(error?.description.contains("only Z16, which cannot be read") == true)
        #expect(!script.log.contains(cv4l2_s_fmt))
    }

    @Test("the infrared picture among a camera's sizes is left out, unless it is all there is")
    func infraredSize() throws {
        let script = ScriptedDevice()
        script.size = Size(width: 340, height: 340)
        let device = VideoDevice(path: "/dev/video9", calls: script)
        let request = CaptureRequest(size: Size(width: 340, height: 340), rate: 30)
        #expect(try device.modes(for: request).map(\.description) == ["340x340@30/YUYV"])
        script.otherSizes = [Size(width: 640, height: 480)]
        #expect(try device.modes(for: request).map(\.description) == ["640x480@30/YUYV"])
    }

    /// Returns the mode among these for 640x480 at 30, `reduction` steps down.
    private func chosen(_ words: String, _ reduction: Int) -> String {
        let size = Size(width: 640, height: 480)
        let request = CaptureRequest(size: size, rate: 30, reduction: reduction)
        return chooseMode(Self.modes(words), for: request)?.description ?? ""
    }

    @Test("for want of bandwidth: compressed, then slower, then smaller")
    func reduction() {
        let raw = "640x480@30/YUYV 640x480@15/YUYV 320x240@30/YUYV"
        let both = raw + " " + raw.replacing("YUYV", with: "MJPG")
        #expect(
            (0...4).map { chosen(both, $0) } == [
                "640x480@30/YUYV", "640x480@30/MJPG", "640x480@15/MJPG", "320x240@30/MJPG",
                "320x240@30/MJPG",
            ]
        )
        #expect(
            (0...3).map { chosen(raw, $0) } == [
                "640x480@30/YUYV", "640x480@15/YUYV", "320x240@30/YUYV", "320x240@30/YUYV",
            ]
        )
    }

    @Test func `for want of bandwidth the picture gets smaller before it stops moving`() {
        let slow = "640x480@30/YUYV 640x480@15/YUYV 640x480@5/YUYV 320x240@30/YUYV"
        #expect(
            (0...2).map { chosen(slow, $0) } == [
                "640x480@30/YUYV", "640x480@15/YUYV", "320x240@30/YUYV",
            ]
        )
        // Ten frames a second are just enough.
        let ten = "640x480@30/YUYV 640x480@10/YUYV 320x240@30/YUYV"
        #expect(
            (0...2).map { chosen(ten, $0) } == [
                "640x480@30/YUYV", "640x480@10/YUYV", "320x240@30/YUYV",
            ]
        )
        // Nothing lighter is no reason to take something heavier.
        #expect(chosen("320x240@10/YUYV 640x480@30/YUYV", 9) == "320x240@10/YUYV")
        // JPEGs do not go back to raw pictures.
        #expect(chosen("640x480@30/MJPG 320x240@30/YUYV", 1) == "640x480@30/MJPG")
    }

    @Test func `a nominal rate is reached by one just below it`() {
        let size = Size(width: 640, height: 480)
        let request = CaptureRequest(size: size, rate: 30)
        let modes = Self.modes("640x480@60/YUYV 640x480@29.97/YUYV 640x480@24/YUYV")
        #expect(chooseMode(modes, for: request)?.description == "640x480@29.97/YUYV")
        // Too few frames are worse than too many.
        let others = Self.modes("640x480@60/YUYV 640x480@24/YUYV")
        #expect(chooseMode(others, for: request)?.description == "640x480@60/YUYV")
    }
}
