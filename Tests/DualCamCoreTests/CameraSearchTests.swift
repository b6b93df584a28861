import Frames
import Testing

@testable import DualCamCore

@Suite("The search for cameras") struct CameraSearchTests {
    private static let desk = CameraDevice(path: "/dev/video0", name: "Desk", identity: "v4l2:desk")
    private static let infrared = CameraDevice(
        path: "/dev/video2",
        name: "Lid IR",
        identity: "v4l2:infrared",
        refusal: .infrared
    )
    private static let silent = CameraDevice(
        path: "/dev/video4",
        name: "Metadata",
        identity: "v4l2:silent",
        refusal: .noPictures
    )

    private func search(
        _ devices: [CameraDevice] = [],
        back: SourceSpecification = .auto,
        front: SourceSpecification = .auto,
        failing: Set<String> = []
    ) -> CameraSearch {
        var configuration = Configuration()
        configuration.cameras.back.source = back
        configuration.cameras.front.source = front
        var search = CameraSearch(configuration.cameras)
        search.attached = devices
        search.isListed = true
        for device in failing { Self.fail(device, in: &search) }
        return search
    }

    /// Has `device` fail too often.
    private static func fail(_ device: String, in search: inout CameraSearch) {
        while !search.trials.failing.contains(device) {
            _ = search.trials.fail(device, at: .zero)
        }
    }

    private func problems(_ search: CameraSearch) -> [String] {
        let policy = search.policy(isInUse: true)
        let found = assign(
            search.devices,
            back: search.cameras.back.source,
            front: search.cameras.front.source,
            by: policy
        )
        return Role.allCases.map { search.problem(of: $0, found, by: policy) }
    }

    @Test func `A device that is named is missed once all are listed, until it was there`() {
        var search = search([Self.desk], back: .v4l2("dsk"))
        let text = "The back camera dsk was not found. There is Desk (desk). Did you mean desk?"
        #expect(problems(search) == [text, ""])
        search.isListed = false
        #expect(problems(search) == ["", ""])
        search.isListed = true
        search.namedDevices["v4l2:dsk"] = SourceUse(Self.infrared)
        #expect(problems(search) == ["", ""])
    }

    @Test func `A node that is named is missed once all are known, until it was there`() {
        var search = search(front: .pipewire("phone"))
        #expect(problems(search) == ["", ""])
        search.nodes = ["phon", "tablet"]
        let problem = problems(search)[1]
        #expect(
            problem.hasPrefix("The front camera ") && problem.contains("was not found. PipeWire")
        )
        #expect(problem.hasSuffix("Did you mean phon?"))
        search.knownNodes = ["phone"]
        #expect(problems(search) == ["", ""])
        search.knownNodes = []
        search.nodes = ["phone"]
        #expect(problems(search) == ["", ""])
    }

    @Test(arguments: [SourceSpecification.test(nil), .file("/a.jpg")])
    func `A source that is no device has no problem here`(source: SourceSpecification) {
        #expect(problems(search([Self.infrared], back: source, front: source)) == ["", ""])
    }

    @Test func `Where auto takes none of the cameras, the one that is missed first says why`() {
        let why = "\"auto\" takes no camera: Lid IR (/dev/video2): \(AutoRefusal.infrared.text)."
        let devices = [Self.infrared, Self.silent]
        #expect(problems(search(devices)) == [why, ""])
        #expect(problems(search(devices, back: .test(nil))) == ["", why])
        #expect(problems(search([Self.silent])) == ["", ""], "nobody expects a camera from it")
        #expect(problems(search([])) == ["", ""])
        #expect(problems(search(devices + [Self.desk])) == ["", ""])
    }

    @Test func `A device that was left says how it is tried again, while it still fails`() {
        var search = search([Self.desk], failing: ["v4l2:old"])
        search.left.back = SourceUse(
            CameraDevice(path: "/dev/video9", name: "Old", identity: "v4l2:old")
        )
        let text = "Old failed again and again, so another camera is the back camera now. "
        #expect(problems(search)[0].hasPrefix(text) && problems(search)[1].isEmpty)
        search.trials = DeviceTrials()
        #expect(problems(search) == ["", ""])
    }

    @Test func `What auto goes by comes from the configuration`() {
        var configuration = Configuration()
        configuration.ignoredCameras = ["loop"]
        configuration.cameras.back.lenses = [
            Configuration.LensSettings(name: "wide", factor: 1, source: .v4l2("own")),
            Configuration.LensSettings(name: "tele", factor: 3, source: .v4l2("tele")),
            Configuration.LensSettings(name: "crop", factor: 2, source: nil),
            Configuration.LensSettings(name: "phone", factor: 4, source: .pipewire("phone")),
        ]
        configuration.cameras.front.source = .test(nil)
        configuration.cameras.front.lenses = [
            Configuration.LensSettings(name: "wide", factor: 1, source: .v4l2("face"))
        ]
        var expected = AutoPolicy(ignored: ["loop"], failing: ["bad"], isIdle: false)
        // The lens of factor 1 of an automatic camera is that camera.
        expected.lenses = PerRole(back: ["tele"], front: ["face"])
        var search = CameraSearch(configuration.cameras, ignored: configuration.ignoredCameras)
        Self.fail("bad", in: &search)
        #expect(search.policy(isInUse: true) == expected)
        expected.isIdle = true
        #expect(search.policy(isInUse: false) == expected)
    }
}

@Suite("A command during a change of lenses") struct LensCommandTests {
    @Test(arguments: [
        (ControlCommand.iso(400), true), (.stepISO(1), true), (.shutter(4000), true),
        (.stepShutter(-1), true), (.whiteBalance(.auto), true), (.stepKelvin(1), true),
        (.compensation(1), true), (.automatic([.focus]), true), (.reset, true),
        (.focus(0.5), false), (.stepFocus(1), false), (.torch(true), false),
        (.raw("gain", 3), false), (.lock([]), false), (.lockOnly([]), false), (.unlock, false),
        (.restore, false), (.look, false),
    ])
    func `It reaches the incoming lens too, but for what is each lens's own`(
        command: ControlCommand,
        isForAll: Bool
    ) {
        #expect(command.isForAllLenses == isForAll)
    }
}
