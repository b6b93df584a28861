import Frames
import Testing

@testable import DualCamCore

@Suite("A camera's lenses")
struct LensTests {
    var state = State.withTwoCameras()
    let mode = CaptureMode(size: Size(width: 1280, height: 720), rate: 30, format: .yuyv)
    var lens: LensState { state.cameras.back.lens }

    private func lenses(without missing: String = "") -> [Lens] {
        [("wide", 1.0), ("telephoto", 3), ("ultra-wide", 0.5)].map { name, factor in
            Lens(
                name: name,
                factor: factor,
                device: name == "wide" ? "own" : name,
                deviceFactor: factor,
                isThere: name != missing
            )
        }
    }

    @discardableResult
    private mutating func send(_ events: Event..., at seconds: Double) -> [Effect] {
        events.flatMap { reduce(&state, $0, at: Timestamp(seconds: seconds)) }
    }

    /// Sets up a back camera with three lenses, with a consumer or without.
    private mutating func begin(isLookedAt: Bool = true) {
        send(
            .camera(.back, .identified("own")),
            .lens(.back, .found(lenses())),
            .camera(.back, .assigned(name: "Desk")),
            .stream(.start),
            .node(nil, .published(id: 7)),
            at: 1
        )
        guard isLookedAt else { return }
        send(.node(nil, .consumed(true)), .camera(.back, .streaming(mode, insteadOf: nil)), at: 2)
    }

    private mutating func zoom(to zoom: Double, at seconds: Double) -> [Effect] {
        send(.lens(.back, .setZoom(zoom, middle: nil, duration: 0.3)), at: seconds)
    }

    /// Returns the visible part of the picture that is shown.
    private func part(at seconds: Double) -> Rect {
        let time = Timestamp(seconds: seconds)
        let framing = state.scene.framings.back
        return framing.part(at: time, of: framing.pipeline(at: time))
    }

    @Test mutating func oneLensIsWideAndZoomsDigitally() {
        #expect(lens.zoomRange == 1...8 && lens.present.isEmpty && !lens.isFallback)
        begin()
        #expect(lens.zoomRange == 0.5...24)
        #expect(lens.present.map(\.name) == ["ultra-wide", "wide", "telephoto"])
        #expect(lens.selected?.name == "wide" && lens.device == "own")
    }

    @Test mutating func aLensComesBehindTheScenesAndCrossesOver() {
        begin()
        #expect(zoom(to: 3, at: 3) == [.openLens(.back)])
        #expect(lens.incoming?.device == "telephoto" && lens.device == "own" && !lens.isFallback)
        // The lens that is shown is cropped towards it.
        #expect(abs(part(at: 3.3).width - 1 / 3.0) < 1e-9)
        #expect(send(.lens(.back, .ready), at: 3.1) == [], "it delivers nothing yet")
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 3.15)
        #expect(send(.lens(.back, .ready), at: 3.2) == [], "the zoom is under way")
        #expect(send(.lens(.back, .ready), at: 3.4) == [.startCrossing(.back, seconds: 0.2)])
        #expect(send(.lens(.back, .ready), at: 3.5) == [], "it has begun")
        let time = Timestamp(seconds: 3.5)
        #expect(state.scene.framings.back.pipeline(at: time) == .a)
        #expect(state.scene.scene(at: time)[0].next?.pipeline == .b)
        #expect(send(.lens(.back, .crossed), at: 3.6) == [.closeLens(.back)])
        #expect(lens.device == "telephoto" && lens.pipeline == .b && lens.incoming == nil)
        #expect(state.cameras.back.phase == .streaming && state.cameras.back.identity == "own")
        #expect(part(at: 3.6) == .unit)
        #expect(lens.isOtherOpen)
        send(.lens(.back, .closed), at: 3.7)
        #expect(!lens.isOtherOpen)

        // On the way back the telephoto lens keeps its view until the cross-fade is over; then the
        // zoom goes out.
        #expect(zoom(to: 1, at: 5) == [.openLens(.back)])
        #expect(part(at: 5.5) == .unit)
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 6)
        #expect(send(.lens(.back, .ready), at: 6.5) == [.startCrossing(.back, seconds: 0.2)])
        #expect(send(.lens(.back, .crossed), at: 6.7) == [.closeLens(.back)])
        #expect(abs(part(at: 6.7).width - 1 / 3.0) < 1e-9)
        #expect(part(at: 7.1) == .unit && lens.device == "own" && lens.pipeline == .a)
    }

    @Test mutating func aPlaceThatTheNextLensDoesNotSeeIsLeftInTime() {
        begin()
        _ = send(
            .lens(.back, .setZoom(2, middle: NormalizedPoint(x: 0.9, y: 0.5), duration: 0)),
            at: 3
        )
        #expect(abs(part(at: 3).maxX - 1) < 1e-9)
        _ = zoom(to: 3, at: 4)
        let part = part(at: 4.5)
        #expect(abs(part.midX - 0.5) < 1e-9, "a telephoto's picture is in the middle")
    }

    @Test mutating func anotherMindOnTheWayCancels() {
        begin()
        _ = zoom(to: 3, at: 3)
        #expect(zoom(to: 0.5, at: 3.1) == [.openLens(.back)])
        #expect(lens.incoming?.device == "ultra-wide")
        #expect(zoom(to: 2, at: 3.2) == [.closeLens(.back)])
        #expect(lens.incoming == nil && lens.selected?.name == "wide")
    }

    @Test mutating func withoutRoomForBothThePictureHoldsSharp() {
        begin()
        _ = zoom(to: 3, at: 3)
        #expect(
            send(.lens(.back, .interrupted(.bandwidth)), at: 3.2)
                == [.closeCamera(.back, keepsPicture: true)]
        )
        send(.camera(.back, .closed), at: 3.3)
        #expect(state.cameras.back.phase == .streaming)
        let layer = state.scene.scene(at: Timestamp(seconds: 9))[0]
        #expect(layer.veil == 0 && layer.notice == nil)
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 4)
        _ = send(.lens(.back, .ready), at: 4.5)
        _ = send(.lens(.back, .crossed), at: 4.7)
        #expect(lens.device == "telephoto" && state.cameras.back.phase == .streaming)
        // In the other direction it fails for another reason, and so does the next best: the
        // earlier lens is reopened.
        _ = zoom(to: 1, at: 5)
        _ = send(.lens(.back, .interrupted(.bandwidth)), at: 5.2)
        #expect(
            send(.lens(.back, .interrupted(.busy)), at: 5.4)
                == [.startLensRetry(.back), .openLens(.back)]
        )
        #expect(lens.incoming?.device == "ultra-wide")
        #expect(
            send(.lens(.back, .interrupted(.busy)), at: 5.5)
                == [.startLensRetry(.back), .closeLens(.back), .openCamera(.back)]
        )
        #expect(lens.device == "telephoto" && lens.isFallback)
    }

    @Test mutating func aBusyLensIsCutFromAnotherAndTriedAgain() {
        begin()
        _ = zoom(to: 3, at: 3)
        #expect(
            send(.lens(.back, .interrupted(.busy)), at: 3.2)
                == [.startLensRetry(.back), .closeLens(.back)]
        )
        #expect(lens.isFallback && lens.selected?.name == "telephoto" && lens.device == "own")
        #expect(abs(part(at: 4).width - 1 / 3.0) < 1e-9)
        #expect(send(.lens(.back, .retry), at: 9) == [.openLens(.back)])
        #expect(!lens.isFallback)
    }

    @Test mutating func aLensThatIsPulledOutIsReplacedAndComesBack() {
        begin()
        _ = zoom(to: 3, at: 3)
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 3.3)
        _ = send(.lens(.back, .ready), at: 4)
        _ = send(.lens(.back, .crossed), at: 4.2)
        #expect(
            send(.camera(.back, .interrupted(.unplugged, reason: "gone")), at: 5)
                == [.startLensRetry(.back), .openLens(.back)]
        )
        #expect(lens.incoming?.device == "own" && lens.isFallback)
        #expect(state.scene.scene(at: Timestamp(seconds: 6.5))[0].veil == 0, "not at once")
        send(.lens(.back, .found(lenses(without: "telephoto"))), at: 5.1)
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 5.5)
        _ = send(.lens(.back, .ready), at: 6)
        _ = send(.lens(.back, .crossed), at: 6.2)
        #expect(lens.device == "own" && state.cameras.back.phase == .streaming)
        #expect(lens.selected?.name == "telephoto" && lens.isFallback)
        #expect(lens.present.map(\.name) == ["ultra-wide", "wide"])
        #expect(send(.lens(.back, .retry), at: 10) == [], "it is not there")
        #expect(send(.lens(.back, .found(lenses())), at: 20) == [.openLens(.back)])
        #expect(!lens.isFallback)
    }

    /// Returns controls with a zoom at this factor, for request `number`.
    private func controls(zoom: Double, number: Int, isOthers: Bool = false) -> CameraControls {
        var controls = CameraControls()
        let value = Int((100 * zoom).rounded())
        controls.read([
            DeviceControl(id: 9, name: "zoom", purpose: .zoom, range: 100...500, value: value)
        ])
        controls.zoomNumber = number
        controls.isZoomOthers = isOthers
        return controls
    }

    @Test mutating func aZoomOfTheDevicesOwnTakesOverFromTheCrop() throws {
        send(.camera(.back, .identified("own")), .camera(.back, .assigned(name: "Desk")), at: 1)
        send(.stream(.start), .node(nil, .published(id: 7)), .node(nil, .consumed(true)), at: 1)
        send(.lens(.back, .found(lenses().filter { $0.name == "wide" })), at: 1)
        send(.camera(.back, .streaming(mode, insteadOf: nil)), at: 2)
        #expect(state.zoomRequest(.back) == nil, "nobody asked")
        send(.controls(.back, .read(identity: "own", controls(zoom: 1, number: 0))), at: 2.5)
        #expect(lens.zoomRange == 1...40)
        _ = zoom(to: 4, at: 3)
        let request = try #require(state.zoomRequest(.back))
        #expect(request.factor == 1 && request.framing.zoom == 4)
        #expect(abs(part(at: 3.5).width - 0.25) < 1e-9)
        for hardware in [1.05, 2, 4] {
            let read = controls(zoom: hardware, number: request.number)
            send(.controls(.back, .read(identity: "own", read)), at: 3.5 + hardware)
            #expect(abs(part(at: 3.5 + hardware).width - hardware / 4) < 1e-9)
        }
        // On the way back it is ahead of the requested zoom.
        _ = zoom(to: 2, at: 9)
        #expect(part(at: 9.5) == .unit && lens.zoom == 2)
    }

    @Test mutating func aZoomThatAnotherTurnsIsWhatIsWanted() throws {
        begin()
        let found = controls(zoom: 1.5, number: 0, isOthers: true)
        send(.controls(.back, .read(identity: "own", found)), at: 2)
        #expect(lens.zoom == 1.5 && part(at: 2) == .unit && state.zoomRequest(.back) == nil)
        _ = zoom(to: 2, at: 3)
        // The same report arrives once more, too late.
        send(.controls(.back, .read(identity: "own", found)), at: 3)
        #expect(lens.zoom == 2)
        let number = try #require(state.zoomRequest(.back)).number
        let turned = controls(zoom: 2.5, number: number, isOthers: true)
        send(.controls(.back, .read(identity: "own", turned)), at: 4)
        #expect(lens.zoom == 2.5 && part(at: 4) == .unit && lens.incoming == nil)
        _ = zoom(to: 2.5, at: 5)
        #expect(try #require(state.zoomRequest(.back)).number > number)
    }

    @Test mutating func lensesCrossOverOnceTheirZoomsShowWhatIsWanted() throws {
        begin()
        _ = zoom(to: 3, at: 3)
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 3.3)
        let request = try #require(state.incomingZoomRequest(.back))
        #expect(request.factor == 3 && request.number == state.zoomRequest(.back)?.number)
        // It was left at twice the zoom.
        send(.controls(.back, .read(identity: "telephoto", controls(zoom: 2, number: 1))), at: 3.4)
        #expect(send(.lens(.back, .ready), at: 4) == [])
        send(.controls(.back, .read(identity: "telephoto", controls(zoom: 1, number: 1))), at: 4.4)
        #expect(send(.lens(.back, .ready), at: 4.5) != [])
        _ = send(.lens(.back, .crossed), at: 4.7)
        _ = zoom(to: 6, at: 5)
        let turned = controls(zoom: 2, number: lens.zoomNumber)
        send(.controls(.back, .read(identity: "telephoto", turned)), at: 6)
        #expect(part(at: 6) == .unit && lens.zoomRange.upperBound == 8 * 15)
        // The camera is gone: its last zoom is not waited for.
        send(.camera(.back, .interrupted(.unplugged, reason: "gone")), at: 7)
        _ = zoom(to: 1, at: 7.1)
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 7.5)
        #expect(send(.lens(.back, .ready), at: 8) != [])
    }

    @Test mutating func lensesCrossOverInTheEndThoughAZoomIsStuck() {
        begin()
        _ = zoom(to: 3, at: 3)
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 3.3)
        let stuck = controls(zoom: 2, number: lens.zoomNumber)
        send(.controls(.back, .read(identity: "telephoto", stuck)), at: 3.4)
        #expect(
            send(.lens(.back, .ready), at: 4) == [] && send(.lens(.back, .ready), at: 6.9) == []
        )
        #expect(send(.lens(.back, .ready), at: 7) != [])
        _ = send(.lens(.back, .crossed), at: 7.2)
        #expect(lens.zoom == 3 && part(at: 8) == .unit)
    }

    @Test mutating func aLensThatComesDuringAPhotographOfAllPixelsIsAskedForThem() {
        begin()
        _ = zoom(to: 3, at: 3)
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 3.3)
        _ = send(.lens(.back, .ready), at: 4)
        _ = send(.photographs(.take([.back], full: [.back])), at: 4.1)
        #expect(send(.lens(.back, .crossed), at: 4.2) == [.closeLens(.back), .adaptCamera(.back)])
        send(.camera(.back, .adapted(isFull: true)), at: 4.5)
        #expect(state.cameras.back.full == .on)
        _ = zoom(to: 1, at: 5)
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 5.3)
        _ = send(.lens(.back, .ready), at: 6)
        _ = send(.photographs(.take([])), at: 6.1)
        #expect(send(.lens(.back, .crossed), at: 6.2) == [.closeLens(.back)])
        #expect(state.cameras.back.full == .off)
    }

    @Test mutating func aZoomThatNobodyAskedForIsNotRemembered() {
        begin()
        let turned = controls(zoom: 1.5, number: 0, isOthers: true)
        send(.controls(.back, .read(identity: "own", turned)), at: 2.5)
        #expect(lens.zoom == 1.5 && SavedState(state).zooms.isEmpty)
        send(.camera(.back, .identified("other")), .camera(.back, .identified("own")), at: 3)
        #expect(lens.zoom == 1 && state.zoomRequest(.back) == nil)
        send(.lens(.back, .found(lenses())), at: 3)
        _ = zoom(to: 2, at: 4)
        send(.camera(.back, .identified("other")), .camera(.back, .identified("own")), at: 5)
        #expect(lens.zoom == 2 && state.zoomRequest(.back) != nil)
    }

    @Test mutating func nobodyLooksAndTheLensIsAnotherAtOnce() {
        begin(isLookedAt: false)
        #expect(zoom(to: 3, at: 3) == [])
        #expect(lens.device == "telephoto" && lens.incoming == nil)
        #expect(part(at: 3) == .unit)
        #expect(send(.node(nil, .consumed(true)), at: 4).contains(.openCamera(.back)))
        // A change under way ends when the last consumer leaves.
        send(.camera(.back, .streaming(mode, insteadOf: nil)), at: 4.2)
        _ = zoom(to: 1, at: 5)
        let effects = send(.node(nil, .consumed(false)), .node(nil, .graceOver), at: 6)
        #expect(effects.contains(.closeLens(.back)))
        #expect(lens.device == "own" && lens.incoming == nil && part(at: 6) == .unit)
    }

    @Test mutating func whatIsSetByHandGoesAlongButForTheFocus() throws {
        begin()
        var device = ScriptedControls(ScriptedControls.full)
        var controls = CameraControls()
        for command in [ControlCommand.iso(800), .shutter(8000), .focus(0.3)] {
            try device.give(command, &controls)
        }
        send(.controls(.back, .read(identity: "own", controls)), at: 3)
        _ = zoom(to: 3, at: 4)
        let manual = try #require(lens.incoming?.controls.manual)
        #expect(manual.iso == 800 && manual.shutter == 8000 && manual.focus == nil)
        // Values set before it delivers are carried over, too.
        try device.give(.iso(400), &controls)
        send(.controls(.back, .read(identity: "own", controls)), at: 4.5)
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 4.6)
        #expect(lens.incoming?.controls.manual.iso == 400)
        var other = CameraControls(manual: manual)
        other.read(ScriptedControls(ScriptedControls.gain(0...10)).controls)
        send(.controls(.back, .read(identity: "telephoto", other)), at: 5)
        #expect(state.cameras.back.controls.manual.focus == 0.3, "what is shown is as it was")
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 5)
        _ = send(.lens(.back, .ready), at: 5.5)
        _ = send(.lens(.back, .crossed), at: 5.7)
        #expect(state.cameras.back.controls.manual == manual)
        #expect(state.cameras.back.controls.device.map(\.name) == ["gain"])
    }

    @Test mutating func aLensInTheDarkIsCutFromAWiderOneUntilThereIsLight() throws {
        begin()
        _ = zoom(to: 3, at: 3)
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 3.3)
        _ = send(.lens(.back, .ready), at: 4)
        _ = send(.lens(.back, .crossed), at: 4.2)
        /// Reports the brightness at these times, and returns the effects.
        func see(_ luma: Double, _ seconds: [Double], _ state: inout State) -> [Effect] {
            seconds.flatMap {
                reduce(&state, .lens(.back, .light(luma)), at: Timestamp(seconds: $0))
            }
        }
        #expect(see(20, [5, 6], &state) == [])
        #expect(see(40, [6.5], &state) == [], "a lighter picture between")
        #expect(see(20, [7, 8], &state) == [])
        #expect(see(20, [9], &state) == [.openLens(.back)])
        #expect(lens.incoming?.device == "own" && lens.isFallback)
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 9.3)
        _ = send(.lens(.back, .ready), at: 10)
        _ = send(.lens(.back, .crossed), at: 10.2)
        // A little more light is not enough, and it has to last.
        #expect(see(40, [11, 15, 20], &state) == [])
        #expect(see(80, [21, 23], &state) == [])
        #expect(see(80, [24.1], &state) == [.openLens(.back)] && !lens.isFallback)
        // Without success: the next attempt comes later.
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 24.3)
        _ = send(.lens(.back, .ready), at: 25)
        _ = send(.lens(.back, .crossed), at: 25.2)
        #expect(see(20, [26, 28.1], &state) == [.openLens(.back)])
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 28.3)
        _ = send(.lens(.back, .ready), at: 29)
        _ = send(.lens(.back, .crossed), at: 29.2)
        #expect(see(80, [30, 33.5, 35.9], &state) == [])
        // A new request retries it at once.
        #expect(zoom(to: 3, at: 36) == [.openLens(.back)])
    }

    @Test mutating func whatCouldBeLighterOrIsMeantToBeDarkIsNotTooDark() throws {
        begin()
        _ = zoom(to: 3, at: 3)
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 3.3)
        _ = send(.lens(.back, .ready), at: 4)
        _ = send(.lens(.back, .crossed), at: 4.2)
        var device = ScriptedControls(ScriptedControls.exposure() + ScriptedControls.gain())
        func isTooDark(_ controls: CameraControls) -> Bool {
            var state = state
            let read = Event.controls(.back, .read(identity: "telephoto", controls))
            _ = reduce(&state, read, at: Timestamp(seconds: 5))
            return [5.0, 6, 7.1].contains {
                reduce(&state, .lens(.back, .light(20)), at: Timestamp(seconds: $0)) != []
            }
        }
        var controls = CameraControls()
        controls.read(device.controls)
        #expect(!isTooDark(controls), "there is gain left")
        device["gain"] = 255
        controls.read(device.controls)
        #expect(!isTooDark(controls), "there is time left")
        device["exposure_time_absolute"] = 330
        controls.read(device.controls)
        #expect(isTooDark(controls))
        try device.give(.shutter(30_000), &controls)
        #expect(!isTooDark(controls), "the photographer wants it so")
    }

    @Test mutating func theWidestLensStaysWhereverItIsDark() {
        begin()
        _ = zoom(to: 0.5, at: 2.5)
        send(.lens(.back, .streaming(mode, insteadOf: nil)), at: 2.6)
        _ = send(.lens(.back, .ready), at: 2.8)
        _ = send(.lens(.back, .crossed), at: 3)
        for second in 4...9 { #expect(send(.lens(.back, .light(17)), at: Double(second)) == []) }
    }

    @Test("where no lens is wide enough, the widest shows the view")
    mutating func tooNarrow() {
        func lens(_ name: String, _ factor: Double) -> Lens {
            Lens(name: name, factor: factor, device: name, deviceFactor: factor)
        }
        begin()
        send(.lens(.back, .found([lens("telephoto", 3), lens("portrait", 2)])), at: 3)
        #expect(self.lens.wanted.device == "portrait")
        #expect(self.lens.incoming?.device == "portrait")
    }

    @Test(
        "another lens takes over where it can help",
        arguments: Interruption.allCases.filter { $0 != .none && $0 != .bandwidth }
    )
    mutating func fallback(why: Interruption) {
        begin()
        let effects = send(.camera(.back, .interrupted(why, reason: "no")), at: 3)
        guard [.unplugged, .notFound, .busy, .denied].contains(why) else {
            #expect(effects == [] && lens.failed == [])
            return
        }
        #expect(effects == [.startLensRetry(.back), .openLens(.back)])
        #expect(lens.failed == ["own"] && lens.incoming?.device == "ultra-wide")
        // It works again.
        send(.camera(.back, .streaming(mode, insteadOf: nil)), at: 4)
        #expect(lens.failed == [] && lens.incoming == nil)
    }

    @Test("another camera in the role inherits nothing of the lenses of the one before")
    mutating func otherCamera() {
        begin()
        send(.camera(.back, .interrupted(.busy, reason: "no")), at: 3)
        send(.controls(.back, .read(identity: "own", controls(zoom: 4, number: 0))), at: 3)
        state.cameras.back.lens.dark = "own"
        #expect(lens.failed == ["own"] && lens.reaches["own"] != nil)
        send(.camera(.back, .identified("other")), at: 4)
        #expect(lens.failed == [] && lens.reaches == [:] && lens.dark == nil && lens.all == [])
        #expect(lens.device == "other" && lens.factor == 1 && lens.zoom == 1)
        #expect(lens.middle == .middle && !lens.isZoomAsked)
    }

    @Test("a lens that is plugged in again is no longer a failed one")
    mutating func pluggedIn() {
        begin()
        state.cameras.back.lens.failed = ["own", "telephoto"]
        send(.lens(.back, .found(lenses(without: "telephoto"))), at: 3)
        #expect(lens.failed == ["own", "telephoto"])
        send(.lens(.back, .found(lenses())), at: 4)
        #expect(lens.failed == ["own"], "this one has been there all the time")
    }

    @Test("a dark picture is left after two seconds, and tried again after ever longer ones")
    mutating func darkness() {
        begin()
        var lens = state.cameras.back.lens
        func see(_ luma: Double, at seconds: Double, isAtEnd: Bool = true) {
            lens.see(luma, isAtEnd: isAtEnd, at: Timestamp(seconds: seconds))
        }
        see(29, at: 10)
        see(29, at: 11.9)
        #expect(lens.dark == nil)
        see(29, at: 12)
        #expect(lens.dark == "own")
        lens.device = "ultra-wide"
        // Brightness between the limits decides nothing.
        see(60, at: 13)
        see(60, at: 20)
        #expect(lens.dark == "own")
        see(61, at: 21)
        see(61, at: 23.9)
        #expect(lens.dark == "own")
        see(61, at: 24)
        #expect(lens.dark == nil)
        lens.device = "own"
        see(29, at: 25, isAtEnd: false)
        see(29, at: 28, isAtEnd: false)
        #expect(lens.dark == nil, "the exposure may still get longer")
        see(29, at: 29)
        see(29, at: 30)
        see(30, at: 30.5)
        see(29, at: 31)
        see(29, at: 32.9)
        #expect(lens.dark == nil, "it was bright enough in between")
        see(29, at: 33)
        lens.device = "ultra-wide"
        see(61, at: 34)
        see(61, at: 39.9)
        #expect(lens.dark == "own")
        see(61, at: 40)
        #expect(lens.dark == nil, "twice as long")
        lens.forgetDark()
        #expect(lens.lightSince == nil)
        // A new view waits for light as long as the first one did.
        lens.device = "own"
        see(29, at: 50)
        see(29, at: 52)
        #expect(lens.dark == "own")
        lens.device = "ultra-wide"
        see(61, at: 53)
        see(61, at: 56)
        #expect(lens.dark == nil)
        // Often left, it waits for a minute at most.
        for round in 1...8 {
            let time = 100 * Double(round)
            lens.device = "own"
            see(29, at: time)
            see(29, at: time + 2)
            #expect(lens.dark == "own")
            lens.device = "ultra-wide"
            see(61, at: time + 3)
            see(61, at: time + 63)
            #expect(lens.dark == nil, "the \(round). time")
        }
    }
}
