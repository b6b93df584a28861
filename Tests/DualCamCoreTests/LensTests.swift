import Frames
import Testing

@testable import DualCamCore

@Suite("A camera's lenses") struct LensTests: Reducing {
    var state = State.withTwoCameras()
    var lens: LensState { state.cameras.back.lens }

    private func lenses(without missing: String = "") -> [Lens] {
        [("wide", 1.0), ("telephoto", 3), ("ultra-wide", 0.5)].map { name, factor in
            Lens(name, factor, device: name == "wide" ? "own" : nil, isThere: name != missing)
        }
    }

    /// Sets up a back camera with three lenses, with a consumer or without.
    private mutating func begin(isLookedAt: Bool = true) {
        find(lenses(), own: "own", at: 1)
        send(.stream(.start), .published, at: 1)
        guard isLookedAt else { return }
        send(.consumed(true), .streaming(.back), at: 2)
    }

    /// Has the next lens deliver, be ready, and cross over, at these times.
    private mutating func cross(at streaming: Double, _ ready: Double, _ crossed: Double) {
        send(.lensStreaming(.back), at: streaming)
        send(.lens(.back, .ready), at: ready)
        send(.lens(.back, .crossed), at: crossed)
    }

    @discardableResult
    private mutating func zoom(to zoom: Double, at seconds: Double) -> [Effect] {
        send(.lens(.back, .setZoom(zoom, middle: nil, duration: 0.3)), at: seconds)
    }

    private mutating func lose(_ why: Interruption, at seconds: Double) -> [Effect] {
        send(.lens(.back, .interrupted(why)), at: seconds)
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
        send(.lensStreaming(.back), at: 3.15)
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
        send(.lensStreaming(.back), at: 6)
        #expect(send(.lens(.back, .ready), at: 6.5) == [.startCrossing(.back, seconds: 0.2)])
        #expect(send(.lens(.back, .crossed), at: 6.7) == [.closeLens(.back)])
        #expect(abs(part(at: 6.7).width - 1 / 3.0) < 1e-9)
        #expect(part(at: 7.1) == .unit && lens.device == "own" && lens.pipeline == .a)
    }

    @Test mutating func aPlaceThatTheNextLensDoesNotSeeIsLeftInTime() {
        begin()
        let aside = NormalizedPoint(x: 0.9, y: 0.5)
        send(.lens(.back, .setZoom(2, middle: aside, duration: 0)), at: 3)
        #expect(abs(part(at: 3).maxX - 1) < 1e-9)
        zoom(to: 3, at: 4)
        let part = part(at: 4.5)
        #expect(abs(part.midX - 0.5) < 1e-9, "a telephoto's picture is in the middle")
    }

    @Test mutating func anotherMindOnTheWayCancels() {
        begin()
        zoom(to: 3, at: 3)
        #expect(zoom(to: 0.5, at: 3.1) == [.openLens(.back)])
        #expect(lens.incoming?.device == "ultra-wide")
        #expect(zoom(to: 2, at: 3.2) == [.closeLens(.back)])
        #expect(lens.incoming == nil && lens.selected?.name == "wide")
    }

    @Test mutating func withoutRoomForBothThePictureHoldsSharp() {
        begin()
        zoom(to: 3, at: 3)
        #expect(lose(.bandwidth, at: 3.2) == [.closeCamera(.back, keepsPicture: true)])
        send(.camera(.back, .closed), at: 3.3)
        #expect(state.cameras.back.phase == .streaming)
        let layer = layers(at: 9)[0]
        #expect(layer.veil == 0 && layer.notice == nil)
        cross(at: 4, 4.5, 4.7)
        #expect(lens.device == "telephoto" && state.cameras.back.phase == .streaming)
        // In the other direction it fails for another reason, and so does the next best: the
        // earlier lens is reopened.
        zoom(to: 1, at: 5)
        send(.lens(.back, .interrupted(.bandwidth)), at: 5.2)
        #expect(lose(.busy, at: 5.4) == [.startLensRetry(.back), .openLens(.back)])
        #expect(lens.incoming?.device == "ultra-wide")
        #expect(
            lose(.busy, at: 5.5) == [.startLensRetry(.back), .closeLens(.back), .openCamera(.back)]
        )
        #expect(lens.device == "telephoto" && lens.isFallback)
    }

    @Test mutating func aBusyLensIsCutFromAnotherAndTriedAgain() {
        begin()
        zoom(to: 3, at: 3)
        #expect(lose(.busy, at: 3.2) == [.startLensRetry(.back), .closeLens(.back)])
        #expect(lens.isFallback && lens.selected?.name == "telephoto" && lens.device == "own")
        #expect(abs(part(at: 4).width - 1 / 3.0) < 1e-9)
        #expect(send(.lens(.back, .retry), at: 9) == [.openLens(.back)])
        #expect(!lens.isFallback)
    }

    @Test mutating func aLensThatIsPulledOutIsReplacedAndComesBack() {
        begin()
        zoom(to: 3, at: 3)
        cross(at: 3.3, 4, 4.2)
        #expect(
            send(.interrupted(.back, .unplugged), at: 5) == [
                .startLensRetry(.back), .openLens(.back),
            ]
        )
        #expect(lens.incoming?.device == "own" && lens.isFallback)
        #expect(layers(at: 6.5)[0].veil == 0, "not at once")
        find(lenses(without: "telephoto"), own: "own", at: 5.1)
        cross(at: 5.5, 6, 6.2)
        #expect(lens.device == "own" && state.cameras.back.phase == .streaming)
        #expect(lens.selected?.name == "telephoto" && lens.isFallback)
        #expect(lens.present.map(\.name) == ["ultra-wide", "wide"])
        #expect(send(.lens(.back, .retry), at: 10) == [], "it is not there")
        #expect(find(lenses(), own: "own", at: 20) == [.openLens(.back)])
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

    private mutating func report(_ name: String, _ read: CameraControls, at seconds: Double) {
        send(.controls(.back, .read(identity: name, read)), at: seconds)
    }

    @Test mutating func aZoomOfTheDevicesOwnTakesOverFromTheCrop() throws {
        send(.assigned(.back, "Desk", id: "own"), at: 1)
        send(.stream(.start), .published, .consumed(true), at: 1)
        send(.streaming(.back), at: 2)
        #expect(state.zoomRequest(.back) == nil, "nobody asked")
        report("own", controls(zoom: 1, number: 0), at: 2.5)
        #expect(lens.zoomRange == 1...40)
        zoom(to: 4, at: 3)
        let request = try #require(state.zoomRequest(.back))
        #expect(request.factor == 1 && request.framing.zoom == 4)
        #expect(abs(part(at: 3.5).width - 0.25) < 1e-9)
        for hardware in [1.05, 2, 4] {
            let read = controls(zoom: hardware, number: request.number)
            report("own", read, at: 3.5 + hardware)
            #expect(abs(part(at: 3.5 + hardware).width - hardware / 4) < 1e-9)
        }
        // On the way back it is ahead of the requested zoom.
        zoom(to: 2, at: 9)
        #expect(part(at: 9.5) == .unit && lens.zoom == 2)
    }

    @Test mutating func aZoomThatAnotherTurnsIsWhatIsWanted() throws {
        begin()
        let found = controls(zoom: 1.5, number: 0, isOthers: true)
        report("own", found, at: 2)
        #expect(lens.zoom == 1.5 && part(at: 2) == .unit && state.zoomRequest(.back) == nil)
        zoom(to: 2, at: 3)
        // The same report arrives once more, too late.
        report("own", found, at: 3)
        #expect(lens.zoom == 2)
        let number = try #require(state.zoomRequest(.back)).number
        let turned = controls(zoom: 2.5, number: number, isOthers: true)
        report("own", turned, at: 4)
        #expect(lens.zoom == 2.5 && part(at: 4) == .unit && lens.incoming == nil)
        zoom(to: 2.5, at: 5)
        #expect(try #require(state.zoomRequest(.back)).number > number)
    }

    @Test mutating func lensesCrossOverOnceTheirZoomsShowWhatIsWanted() throws {
        begin()
        zoom(to: 3, at: 3)
        send(.lensStreaming(.back), at: 3.3)
        let request = try #require(state.incomingZoomRequest(.back))
        #expect(request.factor == 3 && request.number == state.zoomRequest(.back)?.number)
        // It was left at twice the zoom.
        report("telephoto", controls(zoom: 2, number: 1), at: 3.4)
        #expect(send(.lens(.back, .ready), at: 4) == [])
        report("telephoto", controls(zoom: 1, number: 1), at: 4.4)
        #expect(send(.lens(.back, .ready), at: 4.5) != [])
        send(.lens(.back, .crossed), at: 4.7)
        zoom(to: 6, at: 5)
        let turned = controls(zoom: 2, number: lens.zoomNumber)
        report("telephoto", turned, at: 6)
        #expect(part(at: 6) == .unit && lens.zoomRange.upperBound == 8 * 15)
        // The camera is gone: its last zoom is not waited for.
        send(.interrupted(.back, .unplugged), at: 7)
        zoom(to: 1, at: 7.1)
        send(.lensStreaming(.back), at: 7.5)
        #expect(send(.lens(.back, .ready), at: 8) != [])
    }

    @Test mutating func lensesCrossOverInTheEndThoughAZoomIsStuck() {
        begin()
        zoom(to: 3, at: 3)
        send(.lensStreaming(.back), at: 3.3)
        let stuck = controls(zoom: 2, number: lens.zoomNumber)
        report("telephoto", stuck, at: 3.4)
        #expect(
            send(.lens(.back, .ready), at: 4) == [] && send(.lens(.back, .ready), at: 6.9) == []
        )
        #expect(send(.lens(.back, .ready), at: 7) != [])
        send(.lens(.back, .crossed), at: 7.2)
        #expect(lens.zoom == 3 && part(at: 8) == .unit)
    }

    @Test mutating func aLensThatComesDuringAPhotographOfAllPixelsIsAskedForThem() {
        begin()
        zoom(to: 3, at: 3)
        send(.lensStreaming(.back), at: 3.3)
        send(.lens(.back, .ready), at: 4)
        send(.photographs(.take([.back], full: [.back])), at: 4.1)
        #expect(send(.lens(.back, .crossed), at: 4.2) == [.closeLens(.back), .adaptCamera(.back)])
        send(.camera(.back, .adapted(isFull: true)), at: 4.5)
        #expect(state.cameras.back.full == .on)
        zoom(to: 1, at: 5)
        send(.lensStreaming(.back), at: 5.3)
        send(.lens(.back, .ready), at: 6)
        send(.photographs(.take([])), at: 6.1)
        #expect(send(.lens(.back, .crossed), at: 6.2) == [.closeLens(.back)])
        #expect(state.cameras.back.full == .off)
    }

    @Test mutating func aZoomThatNobodyAskedForIsNotRemembered() {
        begin()
        let turned = controls(zoom: 1.5, number: 0, isOthers: true)
        report("own", turned, at: 2.5)
        #expect(lens.zoom == 1.5 && SavedState(state).cameras.isEmpty)
        send(.assigned(.back, id: "other"), .assigned(.back, id: "own"), at: 3)
        #expect(lens.zoom == 1 && state.zoomRequest(.back) == nil)
        find(lenses(), own: "own", at: 3)
        zoom(to: 2, at: 4)
        send(.assigned(.back, id: "other"), .assigned(.back, id: "own"), at: 5)
        #expect(lens.zoom == 2 && state.zoomRequest(.back) != nil)
    }

    @Test mutating func nobodyLooksAndTheLensIsAnotherAtOnce() {
        begin(isLookedAt: false)
        #expect(zoom(to: 3, at: 3) == [])
        #expect(lens.device == "telephoto" && lens.incoming == nil)
        #expect(part(at: 3) == .unit)
        #expect(send(.consumed(true), at: 4).contains(.openCamera(.back)))
        // A change under way ends when the last consumer leaves.
        send(.streaming(.back), at: 4.2)
        zoom(to: 1, at: 5)
        #expect(send(.consumed(false), .graceOver, at: 6).contains(.closeLens(.back)))
        #expect(lens.device == "own" && lens.incoming == nil && part(at: 6) == .unit)
    }

    @Test mutating func whatIsSetByHandGoesAlongButForTheFocus() throws {
        begin()
        var device = ScriptedControls(ScriptedControls.full)
        var controls = CameraControls()
        for command in [ControlCommand.iso(800), .shutter(8000), .focus(0.3)] {
            try device.give(command, &controls)
        }
        report("own", controls, at: 3)
        zoom(to: 3, at: 4)
        let manual = try #require(lens.incoming?.controls.manual)
        #expect(manual.iso == 800 && manual.shutter == 8000 && manual.focus == nil)
        // Values set before it delivers are carried over, too.
        try device.give(.iso(400), &controls)
        report("own", controls, at: 4.5)
        send(.lensStreaming(.back), at: 4.6)
        #expect(lens.incoming?.controls.manual.iso == 400)
        var other = CameraControls(manual: manual)
        other.read(ScriptedControls(ScriptedControls.gain(0...10)).controls)
        report("telephoto", other, at: 5)
        #expect(state.cameras.back.controls.manual.focus == 0.3, "what is shown is as it was")
        cross(at: 5, 5.5, 5.7)
        #expect(state.cameras.back.controls.manual == manual)
        #expect(state.cameras.back.controls.device.map(\.name) == ["gain"])
    }

    @Test mutating func aLensInTheDarkIsCutFromAWiderOneUntilThereIsLight() throws {
        begin()
        zoom(to: 3, at: 3)
        cross(at: 3.3, 4, 4.2)
        /// Reports the brightness at these times, and returns the effects.
        func see(_ luma: Double, _ seconds: [Double], _ state: inout State) -> [Effect] {
            seconds.flatMap { state.take(.lens(.back, .light(luma)), at: $0) }
        }
        #expect(see(20, [5, 6], &state) == [])
        #expect(see(40, [6.5], &state) == [], "a lighter picture between")
        #expect(see(20, [7, 8], &state) == [])
        #expect(see(20, [9], &state) == [.openLens(.back)])
        #expect(lens.incoming?.device == "own" && lens.isFallback)
        cross(at: 9.3, 10, 10.2)
        // A little more light is not enough, and it has to last.
        #expect(see(40, [11, 15, 20], &state) == [])
        #expect(see(80, [21, 23], &state) == [])
        #expect(see(80, [24.1], &state) == [.openLens(.back)] && !lens.isFallback)
        // Without success: the next attempt comes later.
        cross(at: 24.3, 25, 25.2)
        #expect(see(20, [26, 28.1], &state) == [.openLens(.back)])
        cross(at: 28.3, 29, 29.2)
        #expect(see(80, [30, 33.5, 35.9], &state) == [])
        // A new request retries it at once.
        #expect(zoom(to: 3, at: 36) == [.openLens(.back)])
    }

    @Test mutating func whatCouldBeLighterOrIsMeantToBeDarkIsNotTooDark() throws {
        begin()
        zoom(to: 3, at: 3)
        cross(at: 3.3, 4, 4.2)
        var device = ScriptedControls(ScriptedControls.exposure() + ScriptedControls.gain())
        func isTooDark(_ controls: CameraControls) -> Bool {
            var state = state
            let read = Event.controls(.back, .read(identity: "telephoto", controls))
            state.take(read, at: 5)
            return [5.0, 6, 7.1].contains { state.take(.lens(.back, .light(20)), at: $0) != [] }
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
        zoom(to: 0.5, at: 2.5)
        cross(at: 2.6, 2.8, 3)
        for second in 4...9 { #expect(send(.lens(.back, .light(17)), at: Double(second)) == []) }
    }

    @Test mutating func `where no lens is wide enough, the widest shows the view`() {
        begin()
        find([Lens("telephoto", 3), Lens("portrait", 2)], own: "own", isThere: false, at: 3)
        #expect(lens.wanted.device == "portrait")
        #expect(lens.incoming?.device == "portrait")
    }

    @Test(arguments: Interruption.allCases.filter { $0 != .none && $0 != .bandwidth })
    mutating func `another lens takes over where it can help`(why: Interruption) {
        begin()
        let effects = send(.interrupted(.back, why), at: 3)
        guard [.unplugged, .notFound, .busy, .denied].contains(why) else {
            #expect(effects == [] && lens.failed == [])
            return
        }
        #expect(effects == [.startLensRetry(.back), .openLens(.back)])
        #expect(lens.failed == ["own"] && lens.incoming?.device == "ultra-wide")
        // It works again.
        send(.streaming(.back), at: 4)
        #expect(lens.failed == [] && lens.incoming == nil)
    }

    @Test("another camera in the role inherits nothing of the lenses of the one before")
    mutating func otherCamera() {
        begin()
        send(.interrupted(.back, .busy), at: 3)
        report("own", controls(zoom: 4, number: 0), at: 3)
        state.cameras.back.lens.dark = "own"
        #expect(lens.failed == ["own"] && lens.reaches["own"] != nil)
        send(.assigned(.back, id: "other"), at: 4)
        #expect(lens.failed == [] && lens.reaches == [:] && lens.dark == nil)
        #expect(lens.present.map(\.device) == ["other"])
        #expect(lens.device == "other" && lens.factor == 1 && lens.zoom == 1)
        #expect(lens.middle == .middle && !lens.isZoomAsked)
    }

    @Test mutating func `a lens that is plugged in again is no longer a failed one`() {
        begin()
        state.cameras.back.lens.failed = ["own", "telephoto"]
        find(lenses(without: "telephoto"), own: "own", at: 3)
        #expect(lens.failed == ["own", "telephoto"])
        find(lenses(), own: "own", at: 4)
        #expect(lens.failed == ["own"], "this one has been there all the time")
    }

    @Test("a dark picture is left after two seconds, and tried again after ever longer ones")
    mutating func darkness() {
        begin()
        var lens = state.cameras.back.lens
        func see(_ luma: Double, at times: Double..., isAtEnd: Bool = true) {
            for time in times { lens.see(luma, isAtEnd: isAtEnd, at: Timestamp(seconds: time)) }
        }
        see(29, at: 10, 11.9)
        #expect(lens.dark == nil)
        see(29, at: 12)
        #expect(lens.dark == "own")
        lens.device = "ultra-wide"
        // Brightness between the limits decides nothing.
        see(60, at: 13, 20)
        #expect(lens.dark == "own")
        see(61, at: 21, 23.9)
        #expect(lens.dark == "own")
        see(61, at: 24)
        #expect(lens.dark == nil)
        lens.device = "own"
        see(29, at: 25, 28, isAtEnd: false)
        #expect(lens.dark == nil, "the exposure may still get longer")
        see(29, at: 29, 30)
        see(30, at: 30.5)
        see(29, at: 31, 32.9)
        #expect(lens.dark == nil, "it was bright enough in between")
        see(29, at: 33)
        lens.device = "ultra-wide"
        see(61, at: 34, 39.9)
        #expect(lens.dark == "own")
        see(61, at: 40)
        #expect(lens.dark == nil, "twice as long")
        lens.forgetDark()
        #expect(lens.lightSince == nil)
        // A new view waits for light as long as the first one did.
        lens.device = "own"
        see(29, at: 50, 52)
        #expect(lens.dark == "own")
        lens.device = "ultra-wide"
        see(61, at: 53, 56)
        #expect(lens.dark == nil)
        // Often left, it waits for a minute at most.
        for round in 1...8 {
            let time = 100 * Double(round)
            lens.device = "own"
            see(29, at: time, time + 2)
            #expect(lens.dark == "own")
            lens.device = "ultra-wide"
            see(61, at: time + 3, time + 63)
            #expect(lens.dark == nil, "the \(round). time")
        }
    }
}
