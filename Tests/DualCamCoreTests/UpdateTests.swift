import Frames
import Testing

@testable import DualCamCore

@Suite("What a change of the state is passed on as") struct UpdateTests: Reducing {
    var state = State.withTwoCameras()

    /// Applies events, and returns what the last one has to be passed on as, except for the scene.
    @discardableResult
    mutating func apply(_ events: Event..., at seconds: Double = 0) -> [Update] {
        events.map { pass($0, at: seconds)[0] }.last?.filter { $0 != .showScene } ?? []
    }

    mutating func stream() {
        find(lenses, own: "own")
        send(.stream(.start), .published, .consumed(true), .streaming(.back))
    }

    let lenses = [Lens("wide", 1, device: "own"), Lens("telephoto", 3, device: "tele")]

    @Test("nothing comes of what changes nothing")
    mutating func nothing() {
        stream()
        #expect(pass(.node(nil, .consumers(1))) == [[]])
        #expect(apply(.camera(.front, .closed), .set(\.scene.style, SceneStyle())) == [])
    }

    @Test("the scene is drawn again when it changes")
    mutating func scene() {
        #expect(pass(.set(\.cameras.back.mirror, true)) == [[.showRoom(.back), .showScene]])
    }

    @Test("the room is hidden, and again where upright is elsewhere, and shown")
    mutating func room() {
        #expect(apply(.set(\.cameras.back.roomBlur, 1)) == [])
        #expect(apply(.set(\.cameras.back.room, .blur)) == [.showRoom(.back)])
        #expect(state.cameras.back.roomLook.blur == 1)
        #expect(apply(.set(\.cameras.back.rotation, 90)) == [.showRoom(.back)])
        #expect(state.cameras.back.roomLook.transform == .clockwise90)
        #expect(apply(.set(\.cameras.back.room, .asIs)) == [.showRoom(.back)])
        // A person may be cut out of it.
        #expect(apply(.set(\.cameras.back.rotation, 0)) == [.showRoom(.back)])
    }

    @Test mutating func `who begins to watch has cameras looked for, and who ends does not`() {
        apply(.stream(.start), .published)
        #expect(apply(.consumed(true)) == [.lookForCameras])
        #expect(apply(.consumed(false)) == [])
        #expect(apply(.node(.front, .consumed(true))) == [.lookForCameras])
    }

    @Test("the mirror follows the node, and a new node shows all values")
    mutating func node() {
        apply(.stream(.start))
        #expect(
            apply(.published) == [.mirror(true), .watchViewers(nodes: [7]), .showControls(nil)]
        )
        #expect(
            apply(.node(nil, .published(id: 8))) == [.watchViewers(nodes: [8]), .showControls(nil)]
        )
        #expect(apply(.node(.back, .published(id: 9))) == [.watchViewers(nodes: [8, 9])])
        #expect(
            apply(.node(nil, .lost(reason: "no"))) == [.mirror(false), .watchViewers(nodes: [9])]
        )
    }

    @Test("torches go off, and phones are told, when a first suspension begins")
    mutating func torches() {
        #expect(apply(.suspension(.privacy, true)) == [.allowPhones(false), .turnTorchesOff])
        #expect(apply(.suspension(.asleep, true)) == [])
        let ended = apply(.suspension(.privacy, false), .suspension(.asleep, false))
        #expect(ended == [.allowPhones(true)])
        #expect(apply(.suspension(.locked, true)) == [.allowPhones(false), .turnTorchesOff])
    }

    @Test("controls follow what decides about them")
    mutating func controls() {
        stream()
        #expect(apply(.streaming(.back)) == [])
        var slower = mode
        slower.rate = 15
        #expect(apply(.streaming(.back, slower)) == [.useControls(.back)])
        #expect(apply(.pro(.setEnabled(true))) == [.useControls(.back), .useControls(.front)])
        var settings = ControlSettings()
        settings.isFocusReversed = true
        let set = Event.controls(.front, .set(settings, aperture: 2))
        #expect(apply(set) == [.useControls(.front)])
    }

    @Test("a change of lens passes on controls, light and the recording's pipeline")
    mutating func lens() {
        stream()
        let zoom = Event.lens(.back, .setZoom(3, middle: nil, duration: 0))
        #expect(apply(zoom) == [.useControls(.back), .useIncomingControls(.back)])
        #expect(apply(.lensStreaming(.back), at: 1) == [.useIncomingControls(.back)])
        apply(.lens(.back, .ready), at: 2)
        let crossed = apply(.lens(.back, .crossed), at: 3)
        #expect(crossed.contains(.moveTap(.back, from: .a)))
        #expect(crossed.contains(.useControls(.back)))
        #expect(crossed.contains(.watchLight(.back, true)), "a narrower lens may be too dark")
        #expect(apply(.consumed(false), .graceOver, at: 4) == [])
        #expect(apply(.camera(.back, .closed), at: 5).contains(.watchLight(.back, false)))
    }

    @Test("a device that another one replaces without a cross-fade loses its manual values")
    mutating func leaving() {
        find(lenses, own: "own")
        // While the camera is closed, there is nothing to cross over from.
        let closed = apply(.lens(.back, .setZoom(3, middle: nil, duration: 0)))
        #expect(closed.first == .leaveControls(.back, .a))
        stream()
        state.cameras.back.lens.incoming = nil
        apply(.lens(.back, .setZoom(1, middle: nil, duration: 0)))
        let more = lenses + [Lens("far", 6)]
        find(more, own: "own")
        #expect(state.cameras.back.lens.incoming?.device == "own")
        let next = apply(.lens(.back, .setZoom(6, middle: nil, duration: 0)))
        #expect(next.first == .leaveControls(.back, state.cameras.back.lens.pipeline.other))
    }

    @Test("a node shows the values of its camera, and the stream's those of the main one")
    mutating func published() throws {
        stream()
        apply(.assigned(.front, "Face"))
        var device = ScriptedControls(ScriptedControls.full)
        var read = CameraControls()
        try device.give(.iso(400), &read)
        let event = Event.controls(.back, .read(identity: "own", read))
        #expect(apply(event) == [.showControls(nil), .showControls(.back)])
        #expect(apply(event) == [])
        let names = state.publishedControls(of: .back).map(\.name)
        #expect(names == [.whiteBalance, .gain, .exposure, .focus])
        let gain = try #require(state.publishedControls(of: .back).first { $0.name == .gain })
        #expect(gain.value == 400 && gain.range == 100...3200)
        #expect(state.publishedControls(of: .front).map(\.name) == [.whiteBalance])
        #expect(apply(.scene(.setSwapped(true, instantly: true))) == [.showControls(nil)])
    }

    @Test(arguments: [
        Double.nan, .infinity, -.infinity, .greatestFiniteMagnitude, 1e30, -1e30, 1.1e9,
    ])
    func `a value that no camera could take is no command`(_ value: Double) {
        for name in NodeProperty.Name.allCases {
            #expect(ControlCommand(setting: name, to: value) == nil)
        }
    }

    @Test func `a value that an application writes is a command`() {
        #expect(ControlCommand(setting: .exposure, to: 4000) == .shutter(4000))
        #expect(ControlCommand(setting: .gain, to: 400) == .iso(400))
        #expect(ControlCommand(setting: .whiteBalance, to: 5000) == .whiteBalance(.kelvin(5000)))
        #expect(ControlCommand(setting: .focus, to: 0.5) == .focus(0.5))
    }
}

@Suite("What another configuration changes") struct ReconfigurationTests {
    private let old = Configuration()

    private func changes(_ change: (inout Configuration) -> Void) -> Reconfiguration {
        var new = old
        change(&new)
        return new.changes(from: old)
    }

    @Test("nothing, if it is the same")
    func same() { #expect(changes { _ in } == Reconfiguration()) }

    @Test("the node and the mirror")
    func nodes() {
        let output = changes { $0.output.frameRate = 25 }
        #expect(output.replacesStream && output.replacesMirror && output.events == [])
        let loopback = changes { $0.loopback = .auto }
        #expect(!loopback.replacesStream && loopback.replacesMirror)
        let offered = changes { $0.cameras.front.isOffered = true }
        #expect(offered.offersCameras && !offered.replacesStream)
    }

    @Test("a torch that is another LED")
    func torch() {
        #expect(changes { $0.cameras.back.torch = "a" }.formerTorches == [])
        var lit = old
        lit.cameras.back.torch = "a"
        #expect(old.changes(from: lit).formerTorches == [.back])
        #expect(lit.changes(from: lit).formerTorches == [])
    }

    @Test("the look, the HUD, live photos and the controls")
    func events() {
        let changed: [(inout Configuration) -> Void] = [
            { $0.scene.style.layout = .single }, { $0.scene.hud = .off },
            { $0.capture.takesLivePhotos = true }, { $0.cameras.back.rotation = 90 },
            { $0.cameras.front.mirror = false }, { $0.cameras.front.isInk = true },
        ]
        for change in changed {
            var new = old
            change(&new)
            #expect(changes(change).events == [.configured(new.settings)])
        }
        let aperture = changes { $0.cameras.back.aperture = 2.8 }
        #expect(aperture.events == [.controls(.back, .set(ControlSettings(), aperture: 2.8))])
        let range = changes { $0.cameras.front.isoRange = 200...800 }
        var settings = ControlSettings()
        settings.isoRange = 200...800
        #expect(range.events == [.controls(.front, .set(settings, aperture: 0))])
    }

    @Test("at the start, all settings of controls")
    func start() {
        let changes = old.changes(from: nil)
        #expect(changes.events.count == 2 && !changes.replacesStream)
    }
}
