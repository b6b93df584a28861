import DualCamCore
import Frames
import Testing

@Suite("A video node") struct NodeFactsTests {
    private static func facts(
        _ card: String = "Desk",
        driver: String = "uvcvideo",
        interface: String = "",
        modes: [(Int, Int, StaticString)] = [(1280, 720, "MJPG")]
    ) -> NodeFacts {
        NodeFacts(
            driver: driver,
            card: card,
            interface: interface,
            modes: modes.map {
                CaptureMode(
                    size: Size(width: $0.0, height: $0.1),
                    rate: 30,
                    format: PixelFormat($0.2)
                )
            }
        )
    }

    private static let infraredNodes: [NodeFacts] = [
        facts("USB2.0 HD UVC WebCam: USB2.0 IR"),
        facts("Integrated IR Camera"),
        facts("Lenovo Infrared Cam"),
        facts("Windows Hello Face Camera"),
        facts("Integrated Camera: Integrated I"),
        facts("Integrated Camera", interface: "Integrated IR Camera"),
        facts(modes: [(640, 360, "GREY"), (640, 360, "MJPG")]),
        facts(modes: [(640, 480, "GREY")]),
        facts(modes: [(640, 480, "Y10")]),
        facts(modes: [(340, 340, "YUYV")]),
    ]

    private static let colourNodes: [NodeFacts] = [
        facts(),
        facts("Integrated Camera: Integrated C"),
        facts("Integrated_Webcam_HD: Integrate"),
        facts("Mirage"),
        facts("HP TrueVision FHD RGB-IR: HP Tr"),
        facts("Iriun Webcam"),
        facts(modes: [(340, 340, "YUYV"), (1280, 720, "MJPG")]),
        facts(modes: [(640, 480, "GREY"), (640, 480, "YUYV")]),
        facts(modes: [(480, 480, "MJPG")]),
    ]

    @Test("is infrared by its name or its formats", arguments: infraredNodes)
    func infrared(facts: NodeFacts) {
        #expect(facts.refusal == .infrared)
    }

    @Test(
        "is a camera in colour though its name or a format is like an infrared one's",
        arguments: colourNodes
    )
    func coloured(facts: NodeFacts) {
        #expect(facts.refusal == nil)
    }

    @Test("is infrared if it knows faces, and its neighbour does not or it shows little")
    func face() {
        var facts = Self.facts(modes: [(1280, 720, "MJPG")])
        facts.interfaceNumber = 2
        facts.usb = USBVideoFunctions(descriptors: USBVideoFunctionsTests.face)
        #expect(facts.refusal == nil, "its only camera, with both pictures")
        facts.modes[0].size = Size(width: 640, height: 360)
        #expect(facts.refusal == .infrared)
        facts.modes[0].size = Size(width: 1280, height: 720)
        let neighbour: [UInt8] = [9, 4, 0, 0, 1, 0x0e, 1, 0, 0]
        facts.usb = USBVideoFunctions(descriptors: neighbour + USBVideoFunctionsTests.face)
        #expect(facts.refusal == .infrared)
        facts.interfaceNumber = 0
        #expect(facts.refusal == nil)
    }

    @Test("says which formats it has when none can be read")
    func unreadable() {
        #expect(
            Self.facts(modes: [(640, 480, "P010"), (640, 480, "VP80")]).refusal
                == .unreadable([PixelFormat("P010"), PixelFormat("VP80")])
        )
        #expect(Self.facts(modes: []).refusal == .unreadable([]))
        #expect(
            Self.facts(modes: [(640, 480, "P010")]).refusal?.text == "no readable format, only P010"
        )
        #expect(Self.facts(modes: [(640, 480, "P010"), (640, 480, "NV12")]).refusal == nil)
    }

    @Test func `that shows sensor data is an old webcam on USB, and elsewhere needs a pipeline`() {
        #expect(Self.facts(driver: "unicam", modes: [(640, 480, "RG10")]).refusal == .needsPipeline)
        #expect(Self.facts(driver: "unicam", modes: [(640, 480, "UYVY")]).refusal == nil)
        var old = Self.facts(driver: "sonixb", modes: [(352, 288, "BA81")])
        old.usb = USBVideoFunctions()
        #expect(old.refusal == nil)
    }

    @Test func `that another program feeds is taken, unless it may show DualCam itself`() {
        let modes: [(Int, Int, StaticString)] = [(1280, 720, "YU12")]
        #expect(Self.facts("Phone", driver: "v4l2 loopback", modes: modes).refusal == nil)
        #expect(Self.facts("Phone", driver: "v4l2 loopback", modes: []).refusal == .unfed)
        #expect(
            Self.facts("OBS Virtual Camera", driver: "v4l2 loopback", modes: modes).refusal == .echo
        )
        #expect(Self.facts("DualCam", driver: "v4l2 loopback", modes: modes).refusal == .echo)
        var ours = Self.facts("Phone", driver: "v4l2 loopback", modes: modes)
        ours.isOurs = true
        #expect(ours.refusal == .ours)
    }

    @Test("is compared by its largest mode that looks like motion")
    func bestMode() {
        func mode(_ width: Int, _ rate: Double, _ format: PixelFormat = .mjpg) -> CaptureMode {
            CaptureMode(size: Size(width: width, height: 100), rate: rate, format: format)
        }
        func best(_ modes: [CaptureMode]) -> CaptureMode? {
            NodeFacts(driver: "", card: "", modes: modes).bestMode
        }
        #expect(best([]) == nil)
        #expect(best([mode(900, 5), mode(800, 30), mode(700, 60)]) == mode(800, 30))
        #expect(best([mode(900, 5), mode(800, 15)]) == mode(800, 15))
        #expect(best([mode(900, 30, PixelFormat("P010")), mode(800, 30)]) == mode(800, 30))
        #expect(best([mode(900, 0), mode(800, 30)]) == mode(900, 0))
    }
}

@Suite("The descriptors of a USB device") struct USBVideoFunctionsTests {
    /// A control interface, then Microsoft's unit with one input and the control for faces.
    static let face: [UInt8] = [
        9, 4, 2, 0, 1, 0x0e, 1, 0, 0,
        27, 0x24, 6, 14, 0xdc, 0x95, 0x3f, 0x0f, 0x32, 0x26, 0x4e, 0x4c, 0x92, 0xc9, 0xa0, 0x47,
        0x82,
        0xf4, 0x3b, 0xc8, 3, 1, 2, 2, 0x26, 0, 0,
    ]

    @Test("tell which of its cameras knows faces")
    func face() {
        let device: [UInt8] = [18, 1] + Array(repeating: 0, count: 16)
        let functions = USBVideoFunctions(descriptors: device + Self.face)
        #expect(functions.controls == [2] && functions.facing == [2])
        var other = Self.face
        other[33] = 0x06
        #expect(USBVideoFunctions(descriptors: other).facing == [])
        // A unit that belongs to an interface of another class.
        var keyboard = Self.face
        keyboard[5] = 3
        #expect(USBVideoFunctions(descriptors: keyboard).controls == [])
    }

    @Test("are not believed: cut anywhere, with any byte changed, they are read to their end")
    func foreign() {
        for count in 0...Self.face.count {
            let cut = USBVideoFunctions(descriptors: Self.face.prefix(count))
            #expect(cut.facing.isEmpty || count == Self.face.count)
        }
        for index in Self.face.indices {
            for value in [UInt8.min, 1, 2, 0x24, 0x7f, .max] {
                var bytes = Self.face
                bytes[index] = value
                #expect(USBVideoFunctions(descriptors: bytes).controls.count <= 1)
            }
        }
        let long = [UInt8](repeating: 2, count: 1 << 20)
        #expect(USBVideoFunctions(descriptors: long).controls.isEmpty)
    }
}

@Suite("A device that fails") struct DeviceTrialsTests {
    @Test("is left after five failures in a minute, until it is plugged in again")
    func failing() {
        var trials = DeviceTrials()
        func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: seconds) }
        let results = (1...6).map { trials.fail("a", at: at(Double($0))) }
        #expect(results == [false, false, false, false, true, false])
        #expect(trials.failing == ["a"])
        trials.forget(except: ["a", "b"])
        #expect(trials.failing == ["a"])
        trials.forget(except: ["b"])
        #expect(trials.failing == [])
        #expect(trials.fail("a", at: at(7)) == false)
    }

    @Test func `now and then is kept`() {
        var trials = DeviceTrials()
        #expect(!(1...20).contains { trials.fail("a", at: Timestamp(seconds: Double($0) * 20)) })
        #expect(trials.failing.isEmpty)
    }

    @Test("is left though it gives a picture each time", arguments: [(3.5, true), (6, false)])
    func afterAPicture(seconds: Double, isLeft: Bool) {
        var trials = DeviceTrials()
        var time = Timestamp(seconds: 100)
        for _ in 0..<6 {
            trials.open("a", at: time)
            trials.deliver("a")
            time = time + Timestamp(seconds: seconds)
            _ = trials.fail("a", at: time, isPause: true)
            time = time + Timestamp(seconds: 0.5)
        }
        #expect(trials.failing.isEmpty != isLeft)
    }

    @Test func `fails once for each opening, and not if it goes on after a pause`() {
        var trials = DeviceTrials()
        trials.open("a", at: Timestamp(seconds: 1))
        for second in 2..<12 { _ = trials.fail("a", at: Timestamp(seconds: Double(second))) }
        #expect(trials.failing.isEmpty)
        for second in 12..<32 {
            trials.open("a", at: Timestamp(seconds: Double(second)))
            trials.deliver("a")
            _ = trials.fail("a", at: Timestamp(seconds: Double(second) + 0.6), isPause: true)
            trials.deliver("a")
        }
        #expect(trials.failing.isEmpty)
    }
}
