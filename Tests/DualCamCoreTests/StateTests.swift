import Frames
import Testing

@testable import DualCamCore

@Suite("The reducer") struct StateTests: Reducing {
    var state = State.withTwoCameras()
    let jpeg = CaptureMode(size: Size(width: 1280, height: 720), rate: 30, format: .mjpg)

    /// Applies events a second apart, and returns their effects.
    @discardableResult
    mutating func apply(_ events: Event...) -> [Effect] {
        events.enumerated().flatMap { index, event in
            reduce(&state, event, at: Timestamp(seconds: Double(index)))
        }
    }

    /// Sets up a stream with a consumer and a back camera, and a front one if asked for.
    mutating func lookedAt(withFront: Bool = false) {
        apply(.assigned(.back, "Desk"))
        if withFront { apply(.assigned(.front, "Face")) }
        apply(.stream(.start), .published, .consumed(true))
    }

    @Test mutating func startAndStopAnnounceInOrder() {
        #expect(apply(.stream(.start)) == [.announce(.willStart), .publishNode])
        #expect(state.streamPhase == .starting)
        #expect(apply(.published) == [.announce(.didStart)])
        #expect(state.streamPhase == .idle && state.isActive)
        #expect(apply(.stream(.start)) == [])
        #expect(apply(.stream(.stop)) == [.announce(.willStop), .endGrace, .withdrawNode])
        #expect(state.streamPhase == .stopped && !state.isActive)
        #expect(apply(.withdrawn) == [.announce(.didStop)])
        #expect(apply(.stream(.stop)) == [])
    }

    @Test mutating func aStartWhileStoppingWaitsForTheEnd() {
        apply(.stream(.start), .published, .stream(.stop))
        #expect(apply(.stream(.start)) == [])
        #expect(apply(.withdrawn) == [.announce(.didStop), .announce(.willStart), .publishNode])
    }

    @Test mutating func restoreAsksForTheWindowAndStopsNothing() {
        apply(.stream(.start), .published)
        #expect(apply(.stream(.restore)) == [.announce(.restoreRequested)])
        #expect(state.isActive)
    }

    @Test(
        "a photograph in the largest mode has the last picture stay, and the former mode come back"
    )
    mutating func fullPhotograph() {
        lookedAt()
        let large = CaptureMode(size: Size(width: 1920, height: 1080), rate: 5, format: .yuyv)
        let take = Event.photographs(.take([.back], full: [.back]))
        let events: [(Event, [Effect], CameraState.Full, CameraPhase)] = [
            (.streaming(.back), [], .off, .streaming),
            (.camera(.back, .adapted(isFull: false)), [], .off, .streaming),
            (take, [.adaptCamera(.back)], .asked, .streaming),
            // A report from before is not taken for the reply.
            (.camera(.back, .adapted(isFull: false)), [], .asked, .streaming),
            (.camera(.back, .opening), [], .asked, .opening),
            (.streaming(.back, large), [], .asked, .streaming),
            (.camera(.back, .adapted(isFull: true)), [], .on, .streaming),
            (.photographs(.take([])), [.adaptCamera(.back)], .left, .streaming),
            (.camera(.back, .opening), [], .left, .opening),
            (.streaming(.back), [], .left, .streaming),
            (.camera(.back, .adapted(isFull: false)), [], .off, .streaming),
        ]
        for (number, (event, effects, full, phase)) in events.enumerated() {
            let time = Timestamp(seconds: 10 + 2 * Double(number))
            #expect(reduce(&state, event, at: time) == effects, "\(event)")
            #expect(state.cameras.back.full == full && state.cameras.back.phase == phase)
            // The first picture has to appear without a veil.
            for delay in number == 0 ? [] : [0, 1, 1.99] {
                let scene = state.scene.scene(at: time + Timestamp(seconds: delay))
                #expect(scene[0].veil == 0, "\(delay) s after \(event)")
            }
        }
        #expect(state.cameras.back.deliveringSince == Timestamp(seconds: 28))
        // A camera that does not come back is veiled as usual.
        state.take(take, at: 40)
        state.take(.camera(.back, .opening), at: 41)
        #expect(layers(at: 46)[0].veil == 1)
        // A camera closed meanwhile is opened as usual.
        state.take(.suspension(.privacy, true), at: 50)
        #expect(state.cameras.back.full == .off)
    }

    @Test mutating func `a recording waits for a camera to be back from its largest mode`() {
        lookedAt()
        apply(
            .streaming(.back),
            .photographs(.take([.back], full: [.back])),
            .camera(.back, .adapted(isFull: true))
        )
        #expect(
            apply(.recording(.start([.back], sound: false))) == [.prepareRecording(sound: false)]
        )
        #expect(apply(.photographs(.take([]))) == [.adaptCamera(.back)])
        #expect(apply(.camera(.back, .adapted(isFull: false))) == [.beginRecording])
    }

    @Test mutating func camerasAreOpenWhileSomebodyLooksAndABitLonger() {
        apply(.assigned(.back, "Desk"), .assigned(.front, "Face"), .stream(.start), .published)
        #expect(apply(.consumed(true)) == [.endGrace, .openCamera(.back), .openCamera(.front)])
        #expect(state.streamPhase == .starting)
        apply(.camera(.back, .opening), .streaming(.back))
        #expect(state.streamPhase == .streaming)
        #expect(apply(.consumed(false)) == [.startGrace])
        #expect(apply(.consumed(true)) == [.endGrace], "a consumer that bounces finds them open")
        #expect(apply(.graceOver) == [], "too late")
        #expect(
            apply(.consumed(false), .graceOver) == [.startGrace, .close(.back), .close(.front)]
        )
        apply(.camera(.back, .closed))
        #expect(state.cameras.back.phase == .closed && state.cameras.back.mode == nil)
    }

    @Test mutating func whoLooksAtOneCameraAloneOpensNoOther() {
        apply(
            .assigned(.back, "Desk"),
            .assigned(.front, "Face"),
            .stream(.start),
            .published,
            .node(.front, .published(id: 8))
        )
        #expect(state.cameras.front.node.id == 8)
        #expect(
            apply(.node(.front, .consumed(true))) == [.endCameraGrace(.front), .openCamera(.front)]
        )
        #expect(state.scene.isAlone == PerRole(back: false, front: true))
        #expect(state.streamPhase == .idle && state.isInUse)
        // The stream comes and goes, and closes only the cameras that it opened.
        #expect(apply(.consumed(true)) == [.endGrace, .openCamera(.back)])
        #expect(apply(.consumed(false), .graceOver) == [.startGrace, .close(.back)])
        #expect(apply(.node(.front, .graceOver)) == [], "somebody looks")
        #expect(apply(.node(.front, .consumed(false))) == [.startCameraGrace(.front)])
        #expect(apply(.node(.front, .graceOver)) == [.close(.front)])
        #expect(state.scene.isAlone == PerRole(back: false, front: false) && !state.isInUse)
    }

    @Test(arguments: [NodeEvent.withdrawn, .lost(reason: "PipeWire is gone"), .consumed(false)])
    mutating func aCameraIsOpenForNobodyWhenItsNodeGoes(_ end: NodeEvent) {
        apply(
            .assigned(.back, "Desk"),
            .stream(.start),
            .published,
            .node(.back, .published(id: 8)),
            .node(.back, .consumed(true)),
            .node(.back, end)
        )
        let closed = apply(.node(.back, .graceOver))
        #expect(closed.isEmpty == (end == .withdrawn), "at once when it was taken away")
        #expect(state.cameras.back.isAsked == false)
        // An event that comes late does not count as a consumer.
        #expect(apply(.stream(.stop), .node(.back, .consumed(true))).contains(.withdrawNode))
        #expect(!state.isInUse)
    }

    @Test mutating func whoLooksAtOneCameraAloneSeesWhyItIsClosed() {
        apply(
            .assigned(.back, "Desk"),
            .stream(.start),
            .node(.back, .published(id: 8)),
            .node(.back, .consumed(true)),
            .streaming(.back)
        )
        #expect(apply(.suspension(.privacy, true)) == [.closeCamera(.back, keepsPicture: true)])
        #expect(state.cameras.back.interruption == .privacy)
        let layer = state.scene.scene(of: .back, at: Timestamp(seconds: 60))[0]
        #expect(layer.veil == 1 && layer.notice == .interrupted(.privacy))
        #expect(apply(.suspension(.privacy, false)) == [.openCamera(.back)])
    }

    @Test("a stop does not wait for cameras that a photograph needs, which may be many")
    mutating func stopDuringAPhotograph() {
        lookedAt()
        apply(.photographs(.take([.back], full: [])), .stream(.stop))
        #expect(apply(.withdrawn).contains(.announce(.didStop)))
        #expect(state.cameras.back.phase == .opening)
    }

    @Test mutating func aCameraThatComesWhileNeededIsOpened() {
        apply(.stream(.start), .published, .consumed(true))
        #expect(apply(.assigned(.front, "Face")) == [.openCamera(.front)])
        #expect(state.scene.main == .front)
        #expect(apply(.assigned(.front, nil)) == [.close(.front)])
        apply(.camera(.front, .closed))
        #expect(state.cameras.front.phase == .unavailable)
    }

    @Test mutating func whatIsNotThereIsToldEvenUnwatched() {
        lookedAt()
        apply(.consumed(false), .graceOver)
        apply(.camera(.back, .closed))
        state.search.cameras.back.source = .v4l2("desk")
        apply(.cameras(.found([], from: .udev)))
        #expect(state.cameras.back.phase == .unavailable)
        #expect(state.cameras.back.interruption == .notFound)
        #expect(state.scene.present.back, "its role stays")
        apply(.consumed(true))
        #expect(state.cameras.back.phase == .opening && state.cameras.back.interruption == .none)
        apply(.camera(.back, .opening), .interrupted(.back, .notFound))
        #expect(state.cameras.back.interruption == .notFound)
        #expect(state.scene.notices.back == .interrupted(.notFound))
        // Once it has delivered, it is unplugged; a file never is.
        apply(.streaming(.back))
        apply(.interrupted(.back, .notFound))
        #expect(state.cameras.back.interruption == .unplugged)
        var cameras = state.search.cameras
        cameras.back.source = .file("/x")
        apply(.cameras(.configured(cameras, ignored: [])), .streaming(.back))
        apply(.interrupted(.back, .notFound))
        #expect(state.cameras.back.interruption == .notFound)
        apply(.consumed(false), .graceOver, .camera(.back, .closed))
        #expect(state.cameras.back.interruption == .notFound)
        apply(.cameras(.file("/x", isThere: true, hint: "")))
        #expect(state.cameras.back.phase == .closed && state.cameras.back.interruption == .none)
    }

    @Test mutating func withoutAnyCameraTheSceneSaysSo() {
        lookedAt()
        for role in Role.allCases {
            state.cameras[role].absence = .unplugged
            apply(.assigned(role, nil), .camera(role, .closed))
        }
        #expect(state.cameras.back.phase == .unavailable)
        #expect(state.cameras.back.interruption == .none)
        let time = Timestamp(seconds: 99)
        #expect(state.scene.scene(at: time)[0].notice == .noCamera)
        #expect(state.scene.scene(of: .front, at: time)[0].notice == .noCamera)
    }

    @Test mutating func anInterruptionSaysWhyAndPasses() {
        lookedAt()
        apply(.camera(.back, .opening), .streaming(.back))
        apply(.interrupted(.back, .unplugged))
        #expect(state.cameras.back.interruption == .unplugged && state.streamPhase == .interrupted)
        #expect(layers(at: 9)[0].veil == 1)
        apply(.camera(.back, .opening))
        #expect(state.cameras.back.phase == .interrupted, "a new try is no end of it")
        apply(.streaming(.back))
        #expect(state.cameras.back.interruption == .none && state.streamPhase == .streaming)
    }

    @Test(arguments: Suspension.allCases)
    mutating func aSuspensionClosesCamerasAndKeepsTheirPicturesVeiled(_ why: Suspension) {
        lookedAt()
        apply(.camera(.back, .opening), .streaming(.back))
        #expect(apply(.suspension(why, true)) == [.closeCamera(.back, keepsPicture: true)])
        apply(.camera(.back, .closed))
        #expect(state.cameras.back.phase == .interrupted)
        #expect(layers(at: 9)[0].notice == .interrupted(state.cameras.back.interruption))
        #expect(
            !apply(.consumed(false), .graceOver, .consumed(true)).contains(.openCamera(.back)),
            "not even for a new consumer"
        )
        #expect(apply(.suspension(why, false)) == [.openCamera(.back)])
        #expect(state.cameras.back.phase == .opening)
    }

    @Test mutating func aPictureThatWasKeptIsForgottenWhenNobodyLooksAnyMore() {
        lookedAt()
        apply(.suspension(.privacy, true), .camera(.back, .closed))
        #expect(apply(.consumed(false), .graceOver) == [.startGrace, .close(.back)])
        #expect(apply(.graceOver, .suspension(.privacy, false)) == [])
    }

    @Test mutating func whatAThreadToldBeforeItHeardOfAWishIsPassedOver() {
        lookedAt(withFront: true)
        apply(.streaming(.back), .suspension(.privacy, true))
        #expect(
            apply(.interrupted(.back, .bandwidth)) == [],
            "a camera that is closed makes no room for"
        )
        apply(.camera(.front, .closed), .streaming(.front))
        #expect(!state.cameras.front.isOpen && state.cameras.front.mode == nil)
        apply(.suspension(.privacy, false), .camera(.back, .closed))
        #expect(state.cameras.back.isOpen && state.cameras.back.phase == .opening)
        apply(.streaming(.back), .camera(.back, .opening))
        #expect(state.cameras.back.phase == .opening, "opened anew, it does not deliver yet")
    }

    @Test mutating func aCameraThatWasAskedForIsWaitedForThoughItHasNotBegunToOpen() {
        lookedAt()
        #expect(apply(.stream(.stop)).contains(.close(.back)))
        #expect(apply(.withdrawn) == [])
        #expect(apply(.camera(.back, .opening)) == [])
        #expect(apply(.camera(.back, .closed)) == [.announce(.didStop)])
    }

    @Test mutating func aCameraThatWorksAgainAfterItHasTriedAllModesInVainHasItsBestOne() {
        lookedAt(withFront: false)
        for step in 1...8 {
            let noRoom = Event.interrupted(.back, .bandwidth)
            #expect(apply(noRoom, .camera(.back, .opening)) == [.openCamera(.back)])
            #expect(state.cameras.back.reduction == step)
        }
        #expect(apply(.interrupted(.back, .stalled)) == [])
        #expect(apply(.camera(.back, .opening)) == [])
        #expect(apply(.streaming(.back, jpeg, insteadOf: mode)) == [.adaptCamera(.back)])
        #expect(state.cameras.back.reduction == 0)
        #expect(apply(.camera(.back, .opening), .streaming(.back)) == [])
    }

    @Test mutating func forWantOfBandwidthTheInsetGivesWayFirst() {
        lookedAt(withFront: true)
        let noRoom = Event.interrupted(.back, .bandwidth)
        func lighter(_ rate: Double) -> Event {
            let lighter = CaptureMode(size: mode.size, rate: rate, format: .mjpg)
            return .streaming(.front, lighter, insteadOf: mode)
        }
        #expect(apply(noRoom) == [.openCamera(.front)])
        #expect(state.cameras.front.reduction == 1 && state.cameras.back.reduction == 0)
        #expect(apply(noRoom) == [], "until it is known what that brings")
        #expect(apply(.streaming(.front)) == [], "told too late")
        #expect(
            apply(.camera(.front, .opening), lighter(30)) == [.openCamera(.back)],
            "tried at once"
        )
        for step in 2...8 {
            #expect(apply(noRoom) == [.openCamera(.front)])
            let next = lighter(30 - Double(step))
            #expect(apply(.camera(.front, .opening), next) == [.openCamera(.back)])
        }
        for _ in 1...8 {
            #expect(apply(noRoom) == [.openCamera(.back)], "then the main one")
            #expect(apply(.camera(.back, .opening)) == [])
        }
        #expect(apply(noRoom) == [], "and then there is nothing left to give up")
        #expect(
            apply(.interrupted(.back, .unplugged)) == [.openCamera(.front)],
            "a bus of its own again"
        )
        #expect(state.cameras.front.reduction == 0)
    }

    @Test(arguments: [Interruption.unplugged, .busy, .denied, .stalled])
    mutating func aCameraThatIsNotOnTheBusGivesNothing(_ why: Interruption) {
        lookedAt(withFront: true)
        apply(.interrupted(.front, why))
        let noRoom = Event.interrupted(.back, .bandwidth)
        #expect(apply(noRoom) == [.openCamera(.back)])
    }

    @Test(arguments: [Interruption.unplugged, .notFound])
    mutating func whatACameraGaveUpIsItsOwnAgainOnceTheOtherHasLeft(_ why: Interruption) {
        lookedAt(withFront: true)
        apply(.interrupted(.back, .bandwidth))
        #expect(state.cameras.front.reduction == 1)
        let left = apply(.interrupted(.back, why))
        #expect(left.contains(.openCamera(.front)) && state.cameras.front.reduction == 0)
    }

    @Test mutating func aCameraThatCannotBeLighterIsAskedOnce() {
        lookedAt(withFront: true)
        let noRoom = Event.interrupted(.back, .bandwidth)
        #expect(apply(noRoom) == [.openCamera(.front)])
        let same = Event.streaming(.front)
        #expect(apply(.camera(.front, .opening), same) == [.openCamera(.back)])
        #expect(apply(noRoom) == [.openCamera(.back)], "the main one's turn")
    }

    @Test mutating func aCameraThatStaysAsItIsHasNothingMoreToGive() {
        lookedAt(withFront: true)
        let noRoom = Event.interrupted(.back, .bandwidth)
        let lighter = Event.streaming(.front, jpeg, insteadOf: mode)
        apply(noRoom, .camera(.front, .opening), lighter)
        #expect(apply(noRoom, .camera(.front, .opening), lighter).last == .openCamera(.back))
        #expect(apply(noRoom) == [.openCamera(.back)], "the main one's turn")
    }

    @Test mutating func whatWasGivenUpForNothingIsTakenBack() {
        lookedAt(withFront: true)
        let noRoom = Event.interrupted(.back, .bandwidth)
        apply(.streaming(.front), noRoom, .camera(.front, .opening))
        apply(.streaming(.front, jpeg, insteadOf: mode), noRoom, .camera(.front, .opening))
        #expect(apply(.streaming(.front, jpeg, insteadOf: mode), noRoom).last == .openCamera(.back))
        let broken = Event.interrupted(.back, .stalled)
        #expect(apply(.camera(.back, .opening), broken) == [.openCamera(.front)])
        #expect(state.cameras.front.reduction == 0)
        #expect(apply(broken) == [], "it is tried again, and that is all")
    }

    @Test mutating func aCameraIsOpenedAnewWhereItIsFoundAndAdaptedToItsPlace() {
        apply(.assigned(.back, "Desk"), .stream(.start), .published)
        #expect(apply(.assigned(.back, "Desk", path: "/dev/video1")) == [], "nobody looks")
        #expect(apply(.set(\.cameras.back.rotation, 90)) == [])
        apply(.consumed(true), .streaming(.back))
        #expect(apply(.assigned(.back, "Desk")) == [.openCamera(.back)])
        #expect(apply(.set(\.cameras.back.rotation, 90)) == [])
        #expect(apply(.set(\.cameras.back.rotation, 0)) == [.adaptCamera(.back)])
        #expect(
            apply(.stream(.setOutput(Size(width: 640, height: 360)))) == [
                .publishNode, .adaptCamera(.back), .startGrace,
            ]
        )
    }

    @Test mutating func aCameraThatIsBackSoonInAnotherModeIsNotVeiled() {
        lookedAt()
        apply(.streaming(.back))
        func veil(at seconds: Double) -> Double { layers(at: seconds)[0].veil }
        state.take(.camera(.back, .opening), at: 20)
        #expect(state.cameras.back.phase == .opening)
        #expect(veil(at: 20.4) == 0 && veil(at: 20.9) == 1)
        let back = Event.streaming(.back, jpeg)
        state.take(back, at: 20.4)
        #expect(veil(at: 20.5) == 0 && veil(at: 21) == 0)
    }

    @Test mutating func privacyJustAfterTheLastConsumerLeftOpensNothingAgain() {
        lookedAt()
        apply(.consumed(false))
        #expect(apply(.suspension(.privacy, true)) == [.close(.back)])
        #expect(apply(.suspension(.privacy, false)) == [])
    }

    @Test mutating func cameraStaysClosedUntilTheLastReasonIsGone() {
        lookedAt()
        apply(.suspension(.asleep, true), .suspension(.privacy, true))
        #expect(state.cameras.back.interruption == .privacy, "the user's own wish is told first")
        #expect(apply(.suspension(.privacy, false)) == [])
        #expect(state.cameras.back.interruption == .asleep)
        #expect(apply(.suspension(.asleep, false)) == [.openCamera(.back)])
    }

    @Test(arguments: [
        (0, false, Transform.identity), (90, false, .clockwise90), (0, true, .mirror),
        (180, true, Transform(mirrored: true, quarterTurns: 2)),
        (90, true, Transform(mirrored: true, quarterTurns: 3)),
    ])
    func mountingIsUndoneBeforeMirroring(_ rotation: Int, _ mirror: Bool, _ expected: Transform) {
        let camera = CameraState(source: .auto, mirror: mirror, rotation: rotation)
        #expect(camera.transform == expected)
    }

    @Test mutating func takesControlsOfTheCameraThatHasTheRole() {
        var settings = ControlSettings()
        settings.isoRange = 50...800
        state.take(.assigned(.back, id: "a"))
        state.take(.controls(.back, .set(settings, aperture: 0)))
        var manual = ManualControls()
        manual.iso = 400
        state.take(.controls(.back, .read(identity: "b", CameraControls(manual: manual))))
        #expect(state.cameras.back.controls.manual.isAutomatic)
        state.take(.controls(.back, .read(identity: "a", CameraControls(manual: manual))))
        // The user's values stay, whatever the thread last reported.
        #expect(state.cameras.back.controls.manual == manual)
        #expect(state.cameras.back.controls.settings == settings)
        // Both roles change their cameras.
        state.take(.assigned(.front, id: "a"))
        #expect(state.cameras.front.controls.manual == manual)
        state.take(.assigned(.back, id: "c"))
        state.take(.pro(.setEnabled(false)))
        #expect(state.kept.values.allSatisfy { $0.value.manual.isAutomatic })
    }
}
