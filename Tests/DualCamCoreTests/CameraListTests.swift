import Frames
import Testing

@testable import DualCamCore

@Suite("The list of cameras") struct CameraListTests: Reducing {
    var state = State.withTwoCameras()

    private func device(_ name: String, path: String = "/dev/video0") -> CameraDevice {
        CameraDevice(path: path, name: name, identity: "v4l2:\(name)", aliases: [name])
    }

    /// Has udev list `devices`, and returns the effects.
    @discardableResult
    private mutating func list(_ devices: CameraDevice..., at seconds: Double = 0) -> [Effect] {
        send(.cameras(.found(devices, from: .udev)), at: seconds)
    }

    /// Sets up the cameras as `change` says, and returns the effects.
    @discardableResult
    private mutating func configure(
        ignored: [String] = [],
        _ change: (inout PerRole<Configuration.Camera>) -> Void
    ) -> [Effect] {
        var cameras = state.search.cameras
        change(&cameras)
        return send(.cameras(.configured(cameras, ignored: ignored)))
    }

    /// Has a consumer take frames of the back camera, which is `device` and delivers.
    private mutating func watch(_ device: CameraDevice) {
        list(device)
        send(.stream(.start), .published, .consumed(true), .streaming(.back))
    }

    private var back: CameraState { state.cameras.back }
    private var own: SourceUse? { state.search.uses.back.own }

    @Test mutating func `One event has a camera that is unplugged in use keep its role`() {
        let desk = device("desk")
        watch(desk)
        #expect(own?.place == "/dev/video0" && back.name == "desk" && back.absence == nil)
        send(.interrupted(.back, .unplugged), at: 1)
        #expect(list(at: 2) == [.openCamera(.back), .retryCamera(.back)])
        #expect(back.identity == "v4l2:desk" && back.absence == .unplugged)
        #expect(own?.device == nil && own?.isKnown == true)
        // It comes back at another node.
        let back = device("desk", path: "/dev/video4")
        let updates = pass(.cameras(.found([back], from: .udev)), at: 3)[0]
        #expect(updates.first == .use(.back, state.search.uses.back))
        #expect(updates.contains(.useControls(.back)), "through the new node")
        #expect(own?.place == "/dev/video4" && self.back.absence == nil)
    }

    @Test mutating func `Nothing keeps a role for a camera that is gone once nobody looks`() {
        watch(device("desk"))
        list()
        #expect(back.identity == "v4l2:desk")
        send(.consumed(false))
        #expect(back.identity == "v4l2:desk", "they may be back at once")
        send(.graceOver)
        #expect(back.identity.isEmpty && own == nil && back.name.isEmpty && !back.isAssigned)
    }

    @Test mutating func `A camera that is there but to be ignored loses its role even in use`() {
        watch(device("desk"))
        #expect(configure(ignored: ["desk"]) { _ in } == [.close(.back)])
        #expect(own == nil && back.identity.isEmpty && back.absence == nil)
    }

    @Test mutating func `One event closes a camera in use for another one, and opens that`() {
        watch(device("desk"))
        let effects = list(device("door"))
        #expect(effects == [.close(.back), .openCamera(.back)])
        #expect(back.identity == "v4l2:door" && back.phase == .opening && back.mode == nil)
    }

    @Test mutating func `The last picture of another camera is not kept under privacy either`() {
        watch(device("desk"))
        send(.suspension(.privacy, true), .camera(.back, .closed))
        #expect(list(device("door")) == [.close(.back)])
        #expect(back.interruption == .privacy)
        #expect(send(.suspension(.privacy, false)) == [.openCamera(.back)])
    }

    @Test mutating func `A list that is the same changes nothing`() {
        watch(device("desk"))
        let before = state
        #expect(list(device("desk")) == [])
        #expect(state == before)
    }

    @Test mutating func `A camera that fails again and again is left, until it is plugged in anew`()
    {
        let stall = CameraEvent.interrupted(.stalled, reason: "", device: "v4l2:desk")
        configure { $0.front.source = .test(nil) }
        watch(device("desk"))
        // Where there is no other, it is tried on and on, and nobody is told of another.
        for second in 10...15 { send(.camera(.back, stall), at: Double(second)) }
        #expect(back.identity == "v4l2:desk" && back.problem.isEmpty)
        #expect(state.search.standings.map(\.isFailing) == [true])
        list(device("desk"), device("door", path: "/dev/video2"))
        #expect(back.identity == "v4l2:door")
        list(device("door", path: "/dev/video2"))
        list(device("desk"), device("door", path: "/dev/video2"))
        #expect(state.search.standings.map(\.isFailing) == [false, false])
    }

    @Test mutating func `A failing camera is left for another one, which is told`() {
        configure { $0.front.source = .test(nil) }
        watch(device("desk"))
        list(device("desk"), device("door", path: "/dev/video2"))
        #expect(back.identity == "v4l2:desk")
        var effects: [Effect] = []
        for second in 10...14 {
            let why = CameraEvent.interrupted(.stalled, reason: "", device: "v4l2:desk")
            effects = send(.camera(.back, why), at: Double(second))
        }
        #expect(effects == [.close(.back), .openCamera(.back)])
        #expect(back.identity == "v4l2:door")
        #expect(back.problem.hasPrefix("desk failed again and again, so another camera"))
    }

    @Test mutating func `Who asks for auto gets its choice, not the device left over`() {
        var best = device("best", path: "/dev/video2")
        best.bestMode = mode
        configure { $0.back.source = .v4l2("desk") }
        watch(device("desk"))
        list(device("desk"), best)
        configure { $0.back.source = .auto }
        #expect(back.identity == "v4l2:best")
    }

    @Test(
        arguments: [
            { $0.capture = .mode(size: Size(width: 640, height: 480), rate: 30, format: nil) },
            { $0.lenses = [.init(name: "a", factor: 2)] }, { $0.credentials = "/a" },
        ] as [@Sendable (inout Configuration.Camera) -> Void]
    )
    mutating func `Another mode or lens opens the same camera anew, and no other`(
        change: @Sendable (inout Configuration.Camera) -> Void
    ) {
        watch(device("desk"))
        #expect(configure { change(&$0.front) } == [])
        #expect(configure { $0.back.rotation = 90 } == [])
        #expect(configure { change(&$0.back) } == [.close(.back), .openCamera(.back)])
        #expect(back.identity == "v4l2:desk" && back.phase == .opening)
    }

    @Test mutating func `A preview of a device that is to be ignored ends`() {
        list(device("desk"), device("door"), device("third"))
        let preview = Preview(number: 3, device: "v4l2:third", program: "setup")
        send(.preview(.begun(preview)))
        #expect(configure(ignored: ["third"]) { _ in } == [.endPreview(number: 3)])
    }

    @Test mutating func `Another file is looked for while the disk of the first does not answer`() {
        #expect(configure { $0.back.source = .file("/a/b") } == [.lookForFile("/a/b")])
        #expect(configure { $0.back.aperture = 2 } == [], "it is being looked for")
        #expect(configure { $0.back.source = .file("/c/d") } == [.lookForFile("/c/d")])
        send(.cameras(.file("/a/b", isThere: false, hint: "There is c.")))
        #expect(back.absence == nil, "that one is not asked for any more")
        send(.cameras(.file("/c/d", isThere: false, hint: "There is e.")))
        #expect(back.absence == .notFound && state.search.fileHints.back == "There is e.")
        #expect(configure { $0.back.aperture = 4 } == [.lookForFile("/c/d")])
    }

    @Test mutating func `A node that was there is unplugged, and another one was never found`() {
        func nodes(_ names: Set<String>) -> Event {
            .cameras(.found([], from: .pipeWire(names: names)))
        }
        configure { $0.back.source = .pipewire("phone") }
        #expect(back.absence == nil, "nobody knows yet")
        send(nodes(["else"]))
        #expect(back.absence == .notFound && back.problem.contains("phone was not found"))
        send(nodes(["phone"]))
        #expect(back.absence == nil && back.problem.isEmpty)
        send(nodes([]))
        #expect(back.absence == .unplugged && back.problem.isEmpty)
    }

    @Test mutating func `A named device is missed once the list is whole`() {
        configure { $0.back.source = .v4l2("desk") }
        send(.cameras(.found([], from: .kernel(isWhole: false))))
        #expect(back.absence == nil && back.identity == "v4l2:desk" && back.problem.isEmpty)
        list()
        #expect(back.absence == .notFound && back.problem.contains("desk was not found"))
        list(device("desk"))
        #expect(back.absence == nil && back.problem.isEmpty)
        list()
        #expect(back.absence == .unplugged && back.problem.isEmpty, "it was there")
    }

    @Test mutating func `A test picture that does not exist is no camera, and says what there is`()
    {
        configure {
            $0.back.source = .test("bear")
            $0.front.source = .test(nil)
            $0.front.lenses = [.init(name: "a", factor: 2, source: .test("cat"))]
        }
        #expect(!back.isAssigned && back.phase == .unavailable)
        let text = "The back camera's source: there is no test picture bear: there are back, front"
        #expect(back.problem.hasPrefix(text))
        #expect(state.cameras.front.lens.present.map(\.name) == ["wide"])
        let refusals = state.search.uses.front.refusals
        #expect(refusals.count == 1 && refusals.first?.contains("picture cat") == true)
    }

    @Test mutating func `A lens that is pulled out keeps its identity, and is not there`() {
        configure { $0.back.lenses = [.init(name: "tele", factor: 3, source: .v4l2("tele"))] }
        watch(device("desk"))
        #expect(back.lens.all.map(\.isThere) == [true, false], "it was never seen")
        list(device("desk"), device("tele", path: "/dev/video2"))
        #expect(back.lens.all.map(\.device) == ["v4l2:desk", "v4l2:tele"])
        list(device("desk"))
        #expect(back.lens.all.map(\.device) == ["v4l2:desk", "v4l2:tele"])
        #expect(back.lens.all.map(\.isThere) == [true, false])
    }
}
