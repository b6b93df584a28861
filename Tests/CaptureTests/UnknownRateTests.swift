import DualCamCore
import Frames
import Testing

@testable import Capture

@Suite("A mode whose rate the driver does not tell")
struct UnknownRateTests {
    @Test(
        "counts as one that reaches the rate asked for, at any rate",
        arguments: [
            ("1280x720@0/YUYV 1280x720@15/YUYV", 30, "1280x720@0/YUYV"),
            ("1280x720@15/YUYV 1280x720@0/YUYV", 60, "1280x720@0/YUYV"),
            ("1280x720@0/YUYV 640x360@30/YUYV", 30, "1280x720@0/YUYV"),
            ("640x360@0/YUYV 1280x720@60/YUYV", 30, "1280x720@60/YUYV"),
            ("1280x720@60/YUYV 1280x720@0/YUYV", 30, "1280x720@0/YUYV"),
            // Equally good: the first.
            ("1280x720@60/YUYV 1280x720@0/YUYV", 60, "1280x720@60/YUYV"),
        ]
    )
    func choice(_ modes: String, _ rate: Int, _ expected: String) {
        let request = CaptureRequest(size: Size(width: 1280, height: 720), rate: rate)
        let chosen = chooseMode(ModeChoiceTests.modes(modes), for: request)
        #expect(chosen?.description == expected)
    }

    @Test("is found by a user who asks for its size at any rate")
    func asked() throws {
        let modes = ModeChoiceTests.modes("640x480@30/YUYV 1280x720@0/YUYV")
        let request = CaptureRequest(
            size: Size(width: 640, height: 480),
            rate: 30,
            mode: try CaptureModePreference(parsing: "1280x720@25")
        )
        #expect(chooseMode(modes, for: request)?.description == "1280x720@0/YUYV")
    }
}
