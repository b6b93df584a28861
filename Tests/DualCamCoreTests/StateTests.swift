import Frames
import Testing

@testable import DualCamCore

@Suite("The reducer")
struct StateTests {
    var state = State.withTwoCameras()
    let mode = CaptureMode(size: Size(width: 1280, height: 720), rate: 30, format: .yuyv)
    let jpeg = CaptureMode(size: Size(width: 1280, height: 720), rate: 30, format: .mjpg)

    /// Applies events a second apart, and returns their effects.
    mutating func apply(_ events: Event...) -> [Effect] {
        events.enumerated().flatMap { index, event in
            reduce(&state, event, at: Timestamp(seconds: Double(index)))
        }
    }

    /// Sets up a stream with a consumer and a back camera, and a front one if asked for.
    mutating func lookedAt(withFront: Bool = false) {
        let cameras: [Event] =
            [.camera(.back, .assigned(name: "Desk"))]
            + (withFront ? [.camera(.front, .assigned(name: "Face"))] : [])
        let events =
            cameras + [.stream(.start), .node(nil, .published(id: 7)), .node(nil, .consumed(true))]
        for (index, event) in events.enumerated() {
            _ = reduce(&state, event, at: Timestamp(seconds: Double(index)))
        }
    }

    @Test mutating func startAndStopAnnounceInOrder() {
        #expect(apply(.stream(.start)) == [.announce(.willStart), .publishNode])
        #expect(state.streamPhase == .starting)
        #expect(apply(.node(nil, .published(id: 7))) == [.announce(.didStart)])
        #expect(state.streamPhase == .idle && state.isActive)
        #expect(apply(.stream(.start)) == [])
        #expect(apply(.stream(.stop)) == [.announce(.willStop), .endGrace, .withdrawNode])
        #expect(state.streamPhase == .stopped && !state.isActive)
        #expect(apply(.node(nil, .withdrawn)) == [.announce(.didStop)])
        #expect(apply(.stream(.stop)) == [])
    }

    @Test mutating func aStartWhileStoppingWaitsForTheEnd() {
        _ = apply(.stream(.start), .node(nil, .published(id: 7)), .stream(.stop))
        #expect(apply(.stream(.start)) == [])
        #expect(
            apply(.node(nil, .withdrawn)) == [
                .announce(.didStop), .announce(.willStart), .publishNode,
            ]
        )
    }

    @Test mutating func restoreAsksForTheWindowAndStopsNothing() {
        _ = apply(.stream(.start), .node(nil, .published(id: 7)))
        #expect(
            apply(.stream(.restore)) == [.announce(.restoreRequested)]
        )
        #expect(state.isActive)
    }

    @Test(
        "a photograph in the largest mode has the last picture stay, and the former mode come back"
    )
    mutating func fullPhotograph() {
        lookedAt()
        let large = CaptureMode(size: Size(width: 1920, height: 1080), rate: 5, format: .yuyv)
        let events: [(Event, [Effect], CameraState.Full, CameraPhase)] = [
            (.camera(.back, .streaming(mode, insteadOf: nil)), [], .off, .streaming),
            (.camera(.back, .adapted(isFull: false)), [], .off, .streaming),
            (
                .photographs(.take([.back], full: [.back])), [.adaptCamera(.back)], .asked,
                .streaming
            ),
            // A report from before is not taken for the reply.
            (.camera(.back, .adapted(isFull: false)), [], .asked, .streaming),
            (.camera(.back, .opening), [], .asked, .opening),
            (.camera(.back, .streaming(large, insteadOf: nil)), [], .asked, .streaming),
            (.camera(.back, .adapted(isFull: true)), [], .on, .streaming),
            (.photographs(.take([])), [.adaptCamera(.back)], .left, .streaming),
            (.camera(.back, .opening), [], .left, .opening),
            (.camera(.back, .streaming(mode, insteadOf: nil)), [], .left, .streaming),
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
        _ = reduce(&state, .photographs(.take([.back], full: [.back])), at: Timestamp(seconds: 40))
        _ = reduce(&state, .camera(.back, .opening), at: Timestamp(seconds: 41))
        #expect(state.scene.scene(at: Timestamp(seconds: 46))[0].veil == 1)
        // A camera closed meanwhile is opened as usual.
        _ = reduce(&state, .suspension(.privacy, true), at: Timestamp(seconds: 50))
        #expect(state.cameras.back.full == .off)
    }

    @Test("a recording waits for a camera to be back from its largest mode")
    mutating func recordingAfterFull() {
        lookedAt()
        _ = apply(
            .camera(.back, .streaming(mode, insteadOf: nil)),
            .photographs(.take([.back], full: [.back])),
            .camera(.back, .adapted(isFull: true))
        )
        #expect(
            apply(.recording(.start([.back], sound: false))) == [
                .prepareRecording(sound: false)
            ]
        )
        #expect(apply(.photographs(.take([]))) == [.adaptCamera(.back)])
        #expect(apply(.camera(.back, .adapted(isFull: false))) == [.beginRecording])
    }

    @Test mutating func withoutPipeWireTheStartFailsOnceAndHealsLater() {
        _ = apply(.stream(.start))
        #expect(
            apply(.node(nil, .lost(reason: "no PipeWire"))) == [
                .announce(.failedToStart(reason: "no PipeWire"))
            ]
        )
        #expect(!state.isPossible && state.streamPhase == .interrupted)
        #expect(apply(.node(nil, .lost(reason: "no PipeWire"))) == [])
        #expect(apply(.node(nil, .published(id: 9))) == [.announce(.didStart)])
        #expect(state.streamPhase == .idle)
        _ = apply(.node(nil, .lost(reason: "gone")))
        #expect(
            apply(.node(nil, .published(id: 12))) == [],
            "a node that comes back is not a start"
        )
    }

    @Test mutating func camerasAreOpenWhileSomebodyLooksAndABitLonger() {
        _ = apply(
            .camera(.back, .assigned(name: "Desk")),
            .camera(.front, .assigned(name: "Face")),
            .stream(.start),
            .node(nil, .published(id: 7))
        )
        #expect(
            apply(.node(nil, .consumed(true))) == [
                .endGrace, .openCamera(.back), .openCamera(.front),
            ]
        )
        #expect(state.streamPhase == .starting)
        _ = apply(.camera(.back, .opening), .camera(.back, .streaming(mode, insteadOf: nil)))
        #expect(state.streamPhase == .streaming)
        #expect(apply(.node(nil, .consumed(false))) == [.startGrace])
        #expect(
            apply(.node(nil, .consumed(true))) == [.endGrace],
            "a consumer that bounces finds them open"
        )
        #expect(apply(.node(nil, .graceOver)) == [], "too late")
        #expect(
            apply(.node(nil, .consumed(false)), .node(nil, .graceOver)) == [
                .startGrace, .closeCamera(.back, keepsPicture: false),
                .closeCamera(.front, keepsPicture: false),
            ]
        )
        _ = apply(.camera(.back, .closed))
        #expect(state.cameras.back.phase == .closed && state.cameras.back.mode == nil)
    }

    @Test mutating func whoLooksAtOneCameraAloneOpensNoOther() {
        _ = apply(
            .camera(.back, .assigned(name: "Desk")),
            .camera(.front, .assigned(name: "Face")),
            .stream(.start),
            .node(nil, .published(id: 7)),
            .node(.front, .published(id: 8))
        )
        #expect(state.cameras.front.node.id == 8)
        #expect(
            apply(.node(.front, .consumed(true))) == [
                .endCameraGrace(.front), .openCamera(.front),
            ]
        )
        #expect(state.scene.isAlone == PerRole(back: false, front: true))
        #expect(state.streamPhase == .idle && state.isInUse)
        // The stream comes and goes, and closes only the cameras that it opened.
        #expect(apply(.node(nil, .consumed(true))) == [.endGrace, .openCamera(.back)])
        #expect(
            apply(.node(nil, .consumed(false)), .node(nil, .graceOver)) == [
                .startGrace, .closeCamera(.back, keepsPicture: false),
            ]
        )
        #expect(apply(.node(.front, .graceOver)) == [], "somebody looks")
        #expect(apply(.node(.front, .consumed(false))) == [.startCameraGrace(.front)])
        #expect(
            apply(.node(.front, .graceOver)) == [
                .closeCamera(.front, keepsPicture: false)
            ]
        )
        #expect(state.scene.isAlone == PerRole(back: false, front: false) && !state.isInUse)
    }

    @Test(arguments: [
        NodeEvent.withdrawn, .lost(reason: "PipeWire is gone"), .consumed(false),
    ])
    mutating func aCameraIsOpenForNobodyWhenItsNodeGoes(_ end: NodeEvent) {
        _ = apply(
            .camera(.back, .assigned(name: "Desk")),
            .stream(.start),
            .node(nil, .published(id: 7)),
            .node(.back, .published(id: 8)),
            .node(.back, .consumed(true)),
            .node(.back, end)
        )
        let closed = apply(.node(.back, .graceOver))
        #expect(closed.isEmpty == (end == .withdrawn), "at once when it was taken away")
        #expect(state.cameras.back.isAsked == false)
        // An event that comes late does not count as a consumer.
        #expect(
            apply(.stream(.stop), .node(.back, .consumed(true))).contains(.withdrawNode)
        )
        #expect(!state.isInUse)
    }

    @Test mutating func whoLooksAtOneCameraAloneSeesWhyItIsClosed() {
        _ = apply(
            .camera(.back, .assigned(name: "Desk")),
            .stream(.start),
            .node(.back, .published(id: 8)),
            .node(.back, .consumed(true)),
            .camera(.back, .streaming(mode, insteadOf: nil))
        )
        #expect(
            apply(.suspension(.privacy, true)) == [.closeCamera(.back, keepsPicture: true)]
        )
        #expect(state.cameras.back.interruption == .privacy)
        let layer = state.scene.scene(of: .back, at: Timestamp(seconds: 60))[0]
        #expect(layer.veil == 1 && layer.notice == .interrupted(.privacy))
        #expect(apply(.suspension(.privacy, false)) == [.openCamera(.back)])
    }

    @Test("a stop does not wait for cameras that a photograph needs, which may be many")
    mutating func stopDuringAPhotograph() {
        lookedAt()
        _ = apply(.photographs(.take([.back], full: [])), .stream(.stop))
        #expect(apply(.node(nil, .withdrawn)).contains(.announce(.didStop)))
        #expect(state.cameras.back.phase == .opening)
    }

    @Test mutating func stoppingIsOverWhenTheCamerasAreClosed() {
        lookedAt()
        _ = apply(.camera(.back, .opening))
        #expect(apply(.stream(.stop)).contains(.closeCamera(.back, keepsPicture: false)))
        #expect(apply(.node(nil, .withdrawn)) == [])
        #expect(apply(.camera(.back, .closed)) == [.announce(.didStop)])
    }

    @Test mutating func aCameraThatComesWhileNeededIsOpened() {
        _ = apply(.stream(.start), .node(nil, .published(id: 7)), .node(nil, .consumed(true)))
        #expect(apply(.camera(.front, .assigned(name: "Face"))) == [.openCamera(.front)])
        #expect(state.scene.main == .front)
        #expect(
            apply(.camera(.front, .assigned(name: nil))) == [
                .closeCamera(.front, keepsPicture: false)
            ]
        )
        _ = apply(.camera(.front, .closed))
        #expect(state.cameras.front.phase == .unavailable)
    }

    @Test mutating func whatIsNotThereIsToldEvenUnwatched() {
        lookedAt()
        _ = apply(.node(nil, .consumed(false)), .node(nil, .graceOver))
        _ = apply(.camera(.back, .closed), .camera(.back, .absent(.notFound)))
        #expect(state.cameras.back.phase == .unavailable)
        #expect(state.cameras.back.interruption == .notFound)
        #expect(state.scene.present.back, "its role stays")
        _ = apply(.node(nil, .consumed(true)))
        #expect(state.cameras.back.phase == .opening && state.cameras.back.interruption == .none)
        _ = apply(.camera(.back, .opening), .camera(.back, .interrupted(.notFound, reason: "")))
        #expect(state.cameras.back.interruption == .notFound)
        #expect(state.scene.notices.back == .interrupted(.notFound))
        // Once it has delivered, it is unplugged; a file never is.
        _ = apply(.camera(.back, .streaming(mode, insteadOf: nil)))
        _ = apply(.camera(.back, .interrupted(.notFound, reason: "")))
        #expect(state.cameras.back.interruption == .unplugged)
        state.cameras.back.source = .file("/x")
        _ = apply(.camera(.back, .interrupted(.notFound, reason: "")))
        #expect(state.cameras.back.interruption == .notFound)
        _ = apply(.node(nil, .consumed(false)), .node(nil, .graceOver), .camera(.back, .closed))
        #expect(state.cameras.back.interruption == .notFound)
        _ = apply(.camera(.back, .absent(nil)))
        #expect(state.cameras.back.phase == .closed && state.cameras.back.interruption == .none)
    }

    @Test mutating func withoutAnyCameraTheSceneSaysSo() {
        lookedAt()
        for role in Role.allCases {
            _ = apply(.camera(role, .absent(.unplugged)))
            _ = apply(.camera(role, .assigned(name: nil)), .camera(role, .closed))
        }
        #expect(state.cameras.back.phase == .unavailable)
        #expect(state.cameras.back.interruption == .none)
        let time = Timestamp(seconds: 99)
        #expect(state.scene.scene(at: time)[0].notice == .noCamera)
        #expect(state.scene.scene(of: .front, at: time)[0].notice == .noCamera)
    }

    @Test mutating func anInterruptionSaysWhyAndPasses() {
        lookedAt()
        _ = apply(.camera(.back, .opening), .camera(.back, .streaming(mode, insteadOf: nil)))
        _ = apply(.camera(.back, .interrupted(.unplugged, reason: "ENODEV")))
        #expect(state.cameras.back.interruption == .unplugged && state.streamPhase == .interrupted)
        #expect(state.scene.scene(at: Timestamp(seconds: 9))[0].veil == 1)
        _ = apply(.camera(.back, .opening))
        #expect(state.cameras.back.phase == .interrupted, "a new try is no end of it")
        _ = apply(.camera(.back, .streaming(mode, insteadOf: nil)))
        #expect(state.cameras.back.interruption == .none && state.streamPhase == .streaming)
    }

    @Test(arguments: Suspension.allCases)
    mutating func aSuspensionClosesCamerasAndKeepsTheirPicturesVeiled(_ why: Suspension) {
        lookedAt()
        _ = apply(.camera(.back, .opening), .camera(.back, .streaming(mode, insteadOf: nil)))
        #expect(apply(.suspension(why, true)) == [.closeCamera(.back, keepsPicture: true)])
        _ = apply(.camera(.back, .closed))
        #expect(state.cameras.back.phase == .interrupted)
        #expect(
            state.scene.scene(at: Timestamp(seconds: 9))[0].notice
                == .interrupted(state.cameras.back.interruption)
        )
        #expect(
            apply(.node(nil, .consumed(false)), .node(nil, .graceOver), .node(nil, .consumed(true)))
                .filter {
                    $0 == .openCamera(.back)
                }.isEmpty,
            "not even for a new consumer"
        )
        #expect(apply(.suspension(why, false)) == [.openCamera(.back)])
        #expect(state.cameras.back.phase == .opening)
    }

    @Test mutating func aPictureThatWasKeptIsForgottenWhenNobodyLooksAnyMore() {
        lookedAt()
        _ = apply(.suspension(.privacy, true), .camera(.back, .closed))
        #expect(
            apply(.node(nil, .consumed(false)), .node(nil, .graceOver)) == [
                .startGrace, .closeCamera(.back, keepsPicture: false),
            ]
        )
        #expect(apply(.node(nil, .graceOver), .suspension(.privacy, false)) == [])
    }

    @Test mutating func whatAThreadToldBeforeItHeardOfAWishIsPassedOver() {
        lookedAt(withFront: true)
        _ = apply(.camera(.back, .streaming(mode, insteadOf: nil)), .suspension(.privacy, true))
        #expect(
            apply(.camera(.back, .interrupted(.bandwidth, reason: "ENOSPC"))) == [],
            "a camera that is closed makes no room for"
        )
        _ = apply(.camera(.front, .closed), .camera(.front, .streaming(mode, insteadOf: nil)))
        #expect(!state.cameras.front.isOpen && state.cameras.front.mode == nil)
        _ = apply(.suspension(.privacy, false), .camera(.back, .closed))
        #expect(state.cameras.back.isOpen && state.cameras.back.phase == .opening)
        _ = apply(.camera(.back, .streaming(mode, insteadOf: nil)), .camera(.back, .opening))
        #expect(state.cameras.back.phase == .opening, "opened anew, it does not deliver yet")
    }

    @Test mutating func aCameraThatWasAskedForIsWaitedForThoughItHasNotBegunToOpen() {
        lookedAt()
        _ = apply(.stream(.stop))
        #expect(apply(.node(nil, .withdrawn)) == [])
        #expect(apply(.camera(.back, .opening)) == [])
        #expect(apply(.camera(.back, .closed)) == [.announce(.didStop)])
    }

    @Test mutating func aCameraThatWorksAgainAfterItHasTriedAllModesInVainHasItsBestOne() {
        lookedAt(withFront: false)
        for step in 1...8 {
            let noRoom = Event.camera(.back, .interrupted(.bandwidth, reason: "EIO"))
            #expect(apply(noRoom, .camera(.back, .opening)) == [.openCamera(.back)])
            #expect(state.cameras.back.reduction == step)
        }
        #expect(apply(.camera(.back, .interrupted(.stalled, reason: "EIO"))) == [])
        #expect(apply(.camera(.back, .opening)) == [])
        #expect(apply(.camera(.back, .streaming(jpeg, insteadOf: mode))) == [.adaptCamera(.back)])
        #expect(state.cameras.back.reduction == 0)
        #expect(
            apply(.camera(.back, .opening), .camera(.back, .streaming(mode, insteadOf: nil))) == []
        )
    }

    @Test mutating func forWantOfBandwidthTheInsetGivesWayFirst() {
        lookedAt(withFront: true)
        let noRoom = Event.camera(.back, .interrupted(.bandwidth, reason: "ENOSPC"))
        func lighter(_ rate: Double) -> Event {
            let lighter = CaptureMode(size: mode.size, rate: rate, format: .mjpg)
            return .camera(.front, .streaming(lighter, insteadOf: mode))
        }
        #expect(apply(noRoom) == [.openCamera(.front)])
        #expect(state.cameras.front.reduction == 1 && state.cameras.back.reduction == 0)
        #expect(apply(noRoom) == [], "until it is known what that brings")
        #expect(apply(.camera(.front, .streaming(mode, insteadOf: nil))) == [], "told too late")
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
            apply(.camera(.back, .interrupted(.unplugged, reason: "ENODEV"))) == [
                .openCamera(.front)
            ],
            "a bus of its own again"
        )
        #expect(state.cameras.front.reduction == 0)
    }

    @Test(arguments: [Interruption.unplugged, .busy, .denied, .stalled])
    mutating func aCameraThatIsNotOnTheBusGivesNothing(_ why: Interruption) {
        lookedAt(withFront: true)
        _ = apply(.camera(.front, .interrupted(why, reason: "")))
        let noRoom = Event.camera(.back, .interrupted(.bandwidth, reason: "ENOSPC"))
        #expect(apply(noRoom) == [.openCamera(.back)])
    }

    @Test(arguments: [Interruption.unplugged, .notFound])
    mutating func whatACameraGaveUpIsItsOwnAgainOnceTheOtherHasLeft(_ why: Interruption) {
        lookedAt(withFront: true)
        _ = apply(.camera(.back, .interrupted(.bandwidth, reason: "ENOSPC")))
        #expect(state.cameras.front.reduction == 1)
        let left = apply(.camera(.back, .interrupted(why, reason: "")))
        #expect(left.contains(.openCamera(.front)) && state.cameras.front.reduction == 0)
    }

    @Test mutating func aCameraThatCannotBeLighterIsAskedOnce() {
        lookedAt(withFront: true)
        let noRoom = Event.camera(.back, .interrupted(.bandwidth, reason: "ENOSPC"))
        #expect(apply(noRoom) == [.openCamera(.front)])
        let same = Event.camera(.front, .streaming(mode, insteadOf: nil))
        #expect(apply(.camera(.front, .opening), same) == [.openCamera(.back)])
        #expect(apply(noRoom) == [.openCamera(.back)], "the main one's turn")
    }

    @Test mutating func aCameraThatStaysAsItIsHasNothingMoreToGive() {
        lookedAt(withFront: true)
        let noRoom = Event.camera(.back, .interrupted(.bandwidth, reason: "ENOSPC"))
        let lighter = Event.camera(.front, .streaming(jpeg, insteadOf: mode))
        _ = apply(noRoom, .camera(.front, .opening), lighter)
        #expect(apply(noRoom, .camera(.front, .opening), lighter).last == .openCamera(.back))
        #expect(apply(noRoom) == [.openCamera(.back)], "the main one's turn")
    }

    @Test mutating func whatWasGivenUpForNothingIsTakenBack() {
        lookedAt(withFront: true)
        let noRoom = Event.camera(.back, .interrupted(.bandwidth, reason: "EIO"))
        _ = apply(
            .camera(.front, .streaming(mode, insteadOf: nil)),
            noRoom,
            .camera(.front, .opening)
        )
        _ = apply(
            .camera(.front, .streaming(jpeg, insteadOf: mode)),
            noRoom,
            .camera(.front, .opening)
        )
        #expect(
            apply(.camera(.front, .streaming(jpeg, insteadOf: mode)), noRoom).last
                == .openCamera(.back)
        )
        let broken = Event.camera(.back, .interrupted(.stalled, reason: "EIO"))
        #expect(apply(.camera(.back, .opening), broken) == [.openCamera(.front)])
        #expect(state.cameras.front.reduction == 0)
        #expect(apply(broken) == [], "it is tried again, and that is all")
    }

    @Test mutating func aCameraIsOpenedAnewWhereItIsFoundAndAdaptedToItsPlace() {
        _ = apply(
            .camera(.back, .assigned(name: "Desk")),
            .stream(.start),
            .node(nil, .published(id: 7))
        )
        #expect(apply(.camera(.back, .moved)) == [], "nobody looks")
        #expect(apply(.camera(.back, .setRotation(90))) == [])
        _ = apply(.node(nil, .consumed(true)), .camera(.back, .streaming(mode, insteadOf: nil)))
        #expect(apply(.camera(.back, .moved)) == [.openCamera(.back)])
        #expect(apply(.camera(.back, .setRotation(90))) == [])
        #expect(apply(.camera(.back, .setRotation(0))) == [.adaptCamera(.back)])
        #expect(
            apply(.stream(.setOutput(Size(width: 640, height: 360)))) == [
                .publishNode, .adaptCamera(.back), .startGrace,
            ]
        )
    }

    @Test mutating func aCameraThatIsBackSoonInAnotherModeIsNotVeiled() {
        lookedAt()
        _ = apply(.camera(.back, .streaming(mode, insteadOf: nil)))
        func veil(at seconds: Double) -> Double {
            state.scene.scene(at: Timestamp(seconds: seconds))[0].veil
        }
        _ = reduce(&state, .camera(.back, .opening), at: Timestamp(seconds: 20))
        #expect(state.cameras.back.phase == .opening)
        #expect(veil(at: 20.4) == 0 && veil(at: 20.9) == 1)
        let back = Event.camera(.back, .streaming(jpeg, insteadOf: nil))
        _ = reduce(&state, back, at: Timestamp(seconds: 20.4))
        #expect(veil(at: 20.5) == 0 && veil(at: 21) == 0)
    }

    @Test mutating func privacyJustAfterTheLastConsumerLeftOpensNothingAgain() {
        lookedAt()
        _ = apply(.node(nil, .consumed(false)))
        #expect(
            apply(.suspension(.privacy, true)) == [.closeCamera(.back, keepsPicture: false)]
        )
        #expect(apply(.suspension(.privacy, false)) == [])
    }

    @Test mutating func cameraStaysClosedUntilTheLastReasonIsGone() {
        lookedAt()
        _ = apply(.suspension(.asleep, true), .suspension(.privacy, true))
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
        _ = reduce(&state, .camera(.back, .identified("a")), at: .zero)
        _ = reduce(&state, .controls(.back, .set(settings, aperture: 0)), at: .zero)
        var manual = ManualControls()
        manual.iso = 400
        _ = reduce(
            &state,
            .controls(.back, .read(identity: "b", CameraControls(manual: manual))),
            at: .zero
        )
        #expect(state.cameras.back.controls.manual.isAutomatic)
        _ = reduce(
            &state,
            .controls(.back, .read(identity: "a", CameraControls(manual: manual))),
            at: .zero
        )
        // The user's values stay, whatever the thread last reported.
        #expect(state.cameras.back.controls.manual == manual)
        #expect(state.cameras.back.controls.settings == settings)
        // Both roles change their cameras.
        _ = reduce(&state, .camera(.front, .identified("a")), at: .zero)
        #expect(state.cameras.front.controls.manual == manual)
        _ = reduce(&state, .camera(.back, .identified("c")), at: .zero)
        _ = reduce(&state, .pro(.setEnabled(false)), at: .zero)
        #expect(state.manualControls.isEmpty)
    }
}
