import DualCamCore
import Frames
import Testing

@Suite("The HUD over time") struct HudTests: Reducing {
    var state = State.withTwoCameras()

    private func pose(at seconds: Double) -> HudState.Pose? {
        state.scene.hud.pose(at: Timestamp(seconds: seconds))
    }

    /// Returns the controls of a camera whose ISO was set, with everything else automatic.
    private func camera(iso: Int) throws -> CameraControls {
        var device = ScriptedControls(ScriptedControls.full)
        var controls = CameraControls()
        try device.give(.iso(iso), &controls)
        return controls
    }

    /// Gives the controls of a camera with this ISO, at `seconds`.
    private mutating func show(iso: Int, at seconds: Double) throws {
        let device = state.cameras.back.lens.device
        send(.controls(.back, .read(identity: device, try camera(iso: iso))), at: seconds)
    }

    @Test mutating func itComesAndGoesEasedWithinHalfASecond() throws {
        #expect(pose(at: 0) == nil)
        send(.pro(.setEnabled(true)), at: 10)
        let coming = stride(from: 10, through: 10.5, by: 0.02).map { pose(at: $0)?.opacity ?? 0 }
        #expect(coming.first == 0 && coming.last == 1 && coming == coming.sorted())
        #expect(coming.contains { 0.2 < $0 && $0 < 0.8 })
        send(.pro(.setEnabled(false)), at: 20)
        #expect((pose(at: 20.1)?.opacity ?? 0) < 1)
        #expect(pose(at: 20.5) == nil)
    }

    /// Whoever waits for the picture (`Scene.Settle`) waits for its values and for the dial.
    @Test(arguments: [HudMode.pro, .always])
    mutating func theSceneIsStillOnceItHasComeOrGone(_ mode: HudMode) {
        send(.set(\.scene.hud, mode), at: 0)
        for (isOn, seconds) in [(true, 10.0), (false, 20)] {
            send(.pro(.setEnabled(isOn)), at: seconds)
            for (later, isStill) in [(0.15, false), (0.35, true)] {
                let time = Timestamp(seconds: seconds + later)
                #expect(state.scene.isStill(at: time) == isStill, "\(isOn) \(later)")
            }
        }
    }

    @Test mutating func theModeOfTheHudDecides() {
        send(.pro(.setEnabled(true)), .set(\.scene.hud, .off), at: 0)
        #expect(pose(at: 1) == nil)
        send(.set(\.scene.hud, .always), .pro(.setEnabled(false)), at: 2)
        #expect(pose(at: 3)?.opacity == 1 && state.scene.hud.content?.scale == nil)
        send(.set(\.scene.hud, .pro), at: 4)
        #expect(pose(at: 5) == nil)
    }

    @Test mutating func aConsumerThatDrawsTheValuesItselfHidesThemUntilItIsGone() {
        send(.pro(.setEnabled(true)), .pro(.claimHud(consumer: ":1.7")), at: 0)
        #expect(pose(at: 1) == nil && state.pro.hudConsumers == [":1.7"])
        send(.pro(.claimHud(consumer: ":1.9")), .pro(.claimHud(consumer: ":1.7")), at: 1)
        send(.pro(.releaseHud(consumer: ":1.7")), at: 2)
        #expect(pose(at: 3) == nil && state.pro.hudConsumers == [":1.9"])
        // What is to be seen always is for whoever watches.
        send(.set(\.scene.hud, .always), at: 3)
        #expect(pose(at: 4)?.opacity == 1)
        send(.set(\.scene.hud, .pro), .pro(.releaseHud(consumer: ":1.9")), at: 4)
        #expect(pose(at: 5)?.opacity == 1)
        // Neither saved, nor part of a scene.
        let before = SavedState(state)
        send(.pro(.claimHud(consumer: ":1.7")), at: 5)
        #expect(SavedState(state) == before)
    }

    @Test mutating func aDialLeftAloneFadesAndIsBackAtOnce() throws {
        send(.pro(.setEnabled(true)), .controls(.back, .dialTurned(.iso, limit: nil)), at: 0)
        #expect(pose(at: 2.9)?.dialOpacity == 1)
        let idle = try #require(pose(at: 3.5))
        #expect(abs(idle.dialOpacity - 0.3) < 0.001 && idle.attention == 0 && idle.opacity == 1)
        send(.controls(.back, .dialTurned(.iso, limit: nil)), at: 4)
        #expect(pose(at: 4)?.dialOpacity == 1 && pose(at: 4)?.attention == 1)
        // The dial of the other camera is not shown.
        send(.controls(.front, .dialTurned(.focus, limit: nil)), at: 8)
        #expect(state.pro.dial == .iso && (pose(at: 8)?.dialOpacity ?? 1) < 0.31)
    }

    @Test mutating func theScaleSlidesToItsStop() throws {
        send(.pro(.setEnabled(true)))
        try show(iso: 100, at: 0)
        #expect(pose(at: 1)?.position == 0)
        try show(iso: 125, at: 2)
        let way = stride(from: 2, through: 2.12, by: 0.02).map { pose(at: $0)?.position ?? -1 }
        #expect(way == way.sorted() && way.first == 0 && way.contains { 0.1 < $0 && $0 < 0.9 })
        #expect(pose(at: 2.13)?.position == 1)
        // The new text is there at once.
        #expect(state.scene.hud.content?.fields.first?.text == "ISO 125")
        #expect(state.scene.hud.content?.scale?.value == "125")
    }

    @Test(arguments: [
        (Dial.iso, Bound.maximum, 1.0), (.iso, .minimum, -1), (.shutter, .minimum, 1),
        (.shutter, .maximum, -1), (.focus, .maximum, 1), (.whiteBalance, .minimum, -1),
    ])
    mutating func anEndGivesWayAndComesBack(dial: Dial, limit: Bound, direction: Double) throws {
        send(.pro(.setEnabled(true)))
        try show(iso: 400, at: 0)
        send(.controls(.back, .dialTurned(dial, limit: limit)))
        let pushes = stride(from: 0, through: 0.18, by: 0.01).map { pose(at: $0)?.push ?? 0 }
        #expect((pushes.map { $0 * direction }.max() ?? 0) > 0.8)
        #expect(pose(at: 0.1)?.heat == 1)
        #expect(abs(pose(at: 0.2)?.push ?? 1) < 0.001 && pose(at: 1)?.heat == 0)
        #expect(state.scene.hud.content?.scale?.note == "at its end")
        send(.controls(.back, .dialTurned(dial, limit: nil)), at: 2)
        #expect(state.scene.hud.content?.scale?.note != "at its end")
    }

    @Test mutating func itIsTheMainCamerasAndLeavesOutWhatIsUnknown() throws {
        send(.assigned(.back, "Desk"), .assigned(.front, "Face"), .pro(.setEnabled(true)))
        send(.controls(.back, .set(ControlSettings(), aperture: 1.8)))
        try show(iso: 400, at: 0)
        let texts = state.scene.hud.content?.fields.map(\.text)
        #expect(texts == ["ISO 400", "1/60", "f/1.8", "4600K", "AF"])
        send(.scene(.swap(instantly: true)), at: 1)
        // A camera without controls has a white balance all the same, in software.
        #expect(state.scene.hud.content?.fields.map(\.text) == ["AWB"])
        #expect(state.dial == .whiteBalance && state.pro.dial == .iso)
        send(.set(\.scene.hud, .always), .pro(.setEnabled(false)), at: 2)
        #expect(state.scene.hud.content?.fields == [])
        send(.scene(.swap(instantly: true)), at: 3)
        #expect(state.dial == .iso)
    }

    /// What each camera has, and the dial on which Pro mode opens.
    @Test(arguments: [
        (["exposure", "focus"], Dial.shutter), (["focus"], .focus), (["gain", "focus"], .iso),
        ([], .whiteBalance),
    ])
    mutating func proOpensOnTheFirstDialThatTheCameraHas(has: [String], first: Dial) throws {
        var controls = CameraControls()
        controls.read(
            has.enumerated().map { index, name in
                DeviceControl(
                    id: UInt32(index + 1),
                    name: name,
                    purpose: name == "exposure" ? .exposureTime : name == "focus" ? .focus : .gain,
                    range: 1...10000,
                    value: 40
                )
            }
        )
        send(.pro(.setEnabled(true)), .controls(.back, .read(identity: "", controls)), at: 0)
        #expect(state.dial == first)
        let scale = try #require(state.scene.hud.content?.scale)
        #expect(scale.dial == first && !scale.marks.isEmpty)
        #expect(state.scene.hud.content?.fields.contains { $0.dial == first } ?? false)
    }

    @Test(arguments: Suspension.allCases)
    mutating func itLeavesWithPrivacyAndComesBack(why: Suspension) {
        send(.pro(.setEnabled(true)), .set(\.scene.hud, .always), at: 0)
        #expect(pose(at: 1)?.opacity == 1)
        send(.suspension(why, true), at: 2)
        #expect(pose(at: 2.5) == nil)
        send(.suspension(why, false), at: 3)
        #expect(pose(at: 3.5)?.opacity == 1)
    }

    @Test mutating func aRecordingIsMarkedAlsoWithoutTheHud() {
        func opacity(at seconds: Double) -> Double {
            state.scene.mark.opacity(at: Timestamp(seconds: seconds))
        }
        send(.recording(.start([.stream], sound: false)), .recording(.startTimedOut), at: 10)
        #expect(opacity(at: 10.5) == 1 && state.scene.mark.mark?.text == "0:00")
        for (seconds, text) in [(7, "0:07"), (754, "12:34"), (3723, "1:02:03")] {
            send(.recording(.tick), at: 10 + Double(seconds))
            #expect(state.scene.mark.mark?.text == text)
        }
        send(.recording(.pause(true)), at: 3733)
        send(.recording(.tick), at: 3800)
        #expect(state.scene.mark.mark?.isPaused == true)
        #expect(state.scene.mark.mark?.text == "1:02:03")
        send(.recording(.pause(false)), at: 3800)
        #expect(state.scene.mark.mark?.isPaused == false)
        #expect(state.scene.mark.mark?.isRight == false)
        var style = state.scene.style
        style.insetCorner = .topLeft
        send(.assigned(.back, "Desk"), .assigned(.front, "Face"), at: 4000)
        send(.set(\.scene.style, style), at: 4000)
        #expect(state.scene.mark.mark?.isRight == true, "it leaves the inset free")
        style.recordMark = false
        send(.set(\.scene.style, style), at: 4001)
        #expect(opacity(at: 4001.5) == 0)
        send(.set(\.scene.hud, .always), at: 4002)
        #expect(opacity(at: 4002.5) == 1, "the HUD shows it in any case")
        send(.recording(.stop), at: 4003)
        #expect(opacity(at: 4003.5) == 0)
    }

    @Test mutating func placesAreKeptForTheWidestValue() throws {
        send(.pro(.setEnabled(true)))
        try show(iso: 100, at: 0)
        let rooms = state.scene.hud.content?.fields.map(\.room)
        try show(iso: 3200, at: 1)
        #expect(state.scene.hud.content?.fields.map(\.room) == rooms)
        let fields = state.scene.hud.content?.fields ?? []
        #expect(fields.allSatisfy { $0.text.count <= $0.room })
    }
}
