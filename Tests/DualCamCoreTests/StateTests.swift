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
            [.cameraAssigned(.back, name: "Desk")]
            + (withFront ? [.cameraAssigned(.front, name: "Face")] : [])
        let events = cameras + [.start, .nodePublished(id: 7), .consumed(true)]
        for (index, event) in events.enumerated() {
            _ = reduce(&state, event, at: Timestamp(seconds: Double(index)))
        }
    }

    @Test mutating func startAndStopAnnounceInOrder() {
        #expect(apply(.start) == [.announce(.willStart), .publishNode])
        #expect(state.streamPhase == .starting)
        #expect(apply(.nodePublished(id: 7)) == [.announce(.didStart)])
        #expect(state.streamPhase == .idle && state.isActive)
        #expect(apply(.start) == [])
        #expect(apply(.stop) == [.announce(.willStop), .endGrace, .withdrawNode])
        #expect(state.streamPhase == .stopped && !state.isActive)
        #expect(apply(.nodeWithdrawn) == [.announce(.didStop)])
        #expect(apply(.stop) == [])
    }

    @Test mutating func aStartWhileStoppingWaitsForTheEnd() {
        _ = apply(.start, .nodePublished(id: 7), .stop)
        #expect(apply(.start) == [])
        #expect(
            apply(.nodeWithdrawn) == [.announce(.didStop), .announce(.willStart), .publishNode]
        )
    }

    @Test mutating func restoreAsksForTheWindowAndStops() {
        _ = apply(.start, .nodePublished(id: 7))
        #expect(
            apply(.restore) == [
                .announce(.restoreRequested), .announce(.willStop), .endGrace, .withdrawNode,
            ]
        )
        #expect(
            apply(.nodeWithdrawn, .restore) == [.announce(.didStop), .announce(.restoreRequested)]
        )
    }

    @Test(
        "a photograph in the largest mode has the last picture stay, and the former mode come back"
    )
    mutating func fullPhotograph() {
        lookedAt()
        let large = CaptureMode(size: Size(width: 1920, height: 1080), rate: 5, format: .yuyv)
        let events: [(Event, [Effect], CameraState.Full, CameraPhase)] = [
            (.cameraStreaming(.back, mode, insteadOf: nil), [], .off, .streaming),
            (.cameraAdapted(.back, isFull: false), [], .off, .streaming),
            (.photograph([.back], full: [.back]), [.adaptCamera(.back)], .asked, .streaming),
            // A report from before is not taken for the reply.
            (.cameraAdapted(.back, isFull: false), [], .asked, .streaming),
            (.cameraOpening(.back), [], .asked, .opening),
            (.cameraStreaming(.back, large, insteadOf: nil), [], .asked, .streaming),
            (.cameraAdapted(.back, isFull: true), [], .on, .streaming),
            (.photograph([]), [.adaptCamera(.back)], .left, .streaming),
            (.cameraOpening(.back), [], .left, .opening),
            (.cameraStreaming(.back, mode, insteadOf: nil), [], .left, .streaming),
            (.cameraAdapted(.back, isFull: false), [], .off, .streaming),
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
        _ = reduce(&state, .photograph([.back], full: [.back]), at: Timestamp(seconds: 40))
        _ = reduce(&state, .cameraOpening(.back), at: Timestamp(seconds: 41))
        #expect(state.scene.scene(at: Timestamp(seconds: 46))[0].veil == 1)
        // A camera closed meanwhile is opened as usual.
        _ = reduce(&state, .suspend(.privacy, true), at: Timestamp(seconds: 50))
        #expect(state.cameras.back.full == .off)
    }

    @Test("a recording waits for a camera to be back from its largest mode")
    mutating func recordingAfterFull() {
        lookedAt()
        _ = apply(
            .cameraStreaming(.back, mode, insteadOf: nil),
            .photograph([.back], full: [.back]),
            .cameraAdapted(.back, isFull: true)
        )
        #expect(
            apply(.startRecording([.back], sound: false)) == [.prepareRecording(sound: false)]
        )
        #expect(apply(.photograph([])) == [.adaptCamera(.back)])
        #expect(apply(.cameraAdapted(.back, isFull: false)) == [.beginRecording])
    }

    @Test mutating func withoutPipeWireTheStartFailsOnceAndHealsLater() {
        _ = apply(.start)
        #expect(
            apply(.nodeLost(reason: "no PipeWire")) == [
                .announce(.failedToStart(reason: "no PipeWire"))
            ]
        )
        #expect(!state.isPossible && state.streamPhase == .interrupted)
        #expect(apply(.nodeLost(reason: "no PipeWire")) == [])
        #expect(apply(.nodePublished(id: 9)) == [.announce(.didStart)])
        #expect(state.streamPhase == .idle)
        _ = apply(.nodeLost(reason: "gone"))
        #expect(apply(.nodePublished(id: 12)) == [], "a node that comes back is not a start")
    }

    @Test mutating func camerasAreOpenWhileSomebodyLooksAndABitLonger() {
        _ = apply(
            .cameraAssigned(.back, name: "Desk"),
            .cameraAssigned(.front, name: "Face"),
            .start,
            .nodePublished(id: 7)
        )
        #expect(apply(.consumed(true)) == [.endGrace, .openCamera(.back), .openCamera(.front)])
        #expect(state.streamPhase == .starting)
        _ = apply(.cameraOpening(.back), .cameraStreaming(.back, mode, insteadOf: nil))
        #expect(state.streamPhase == .streaming)
        #expect(apply(.consumed(false)) == [.startGrace])
        #expect(apply(.consumed(true)) == [.endGrace], "a consumer that bounces finds them open")
        #expect(apply(.graceOver) == [], "too late")
        #expect(
            apply(.consumed(false), .graceOver) == [
                .startGrace, .closeCamera(.back, keepsPicture: false),
                .closeCamera(.front, keepsPicture: false),
            ]
        )
        _ = apply(.cameraClosed(.back))
        #expect(state.cameras.back.phase == .closed && state.cameras.back.mode == nil)
    }

    @Test mutating func whoLooksAtOneCameraAloneOpensNoOther() {
        _ = apply(
            .cameraAssigned(.back, name: "Desk"),
            .cameraAssigned(.front, name: "Face"),
            .start,
            .nodePublished(id: 7),
            .cameraNode(.front, .published(id: 8))
        )
        #expect(state.cameras.front.node.id == 8)
        #expect(
            apply(.cameraNode(.front, .consumed(true))) == [
                .endCameraGrace(.front), .openCamera(.front),
            ]
        )
        #expect(state.scene.isAlone == PerRole(back: false, front: true))
        #expect(state.streamPhase == .idle && state.isInUse)
        // The stream comes and goes, and closes only the cameras that it opened.
        #expect(apply(.consumed(true)) == [.endGrace, .openCamera(.back)])
        #expect(
            apply(.consumed(false), .graceOver) == [
                .startGrace, .closeCamera(.back, keepsPicture: false),
            ]
        )
        #expect(apply(.cameraNode(.front, .graceOver)) == [], "somebody looks")
        #expect(apply(.cameraNode(.front, .consumed(false))) == [.startCameraGrace(.front)])
        #expect(
            apply(.cameraNode(.front, .graceOver)) == [.closeCamera(.front, keepsPicture: false)]
        )
        #expect(state.scene.isAlone == PerRole(back: false, front: false) && !state.isInUse)
    }

    @Test(arguments: [
        CameraNodeEvent.withdrawn, .lost(reason: "PipeWire is gone"), .consumed(false),
    ])
    mutating func aCameraIsOpenForNobodyWhenItsNodeGoes(_ end: CameraNodeEvent) {
        _ = apply(
            .cameraAssigned(.back, name: "Desk"),
            .start,
            .nodePublished(id: 7),
            .cameraNode(.back, .published(id: 8)),
            .cameraNode(.back, .consumed(true)),
            .cameraNode(.back, end)
        )
        let closed = apply(.cameraNode(.back, .graceOver))
        #expect(closed.isEmpty == (end == .withdrawn), "at once when it was taken away")
        #expect(state.cameras.back.isAsked == false)
        // An event that comes late does not count as a consumer.
        #expect(apply(.stop, .cameraNode(.back, .consumed(true))).contains(.withdrawNode))
        #expect(!state.isInUse)
    }

    @Test mutating func whoLooksAtOneCameraAloneSeesWhyItIsClosed() {
        _ = apply(
            .cameraAssigned(.back, name: "Desk"),
            .start,
            .cameraNode(.back, .published(id: 8)),
            .cameraNode(.back, .consumed(true)),
            .cameraStreaming(.back, mode, insteadOf: nil)
        )
        #expect(apply(.suspend(.privacy, true)) == [.closeCamera(.back, keepsPicture: true)])
        #expect(state.cameras.back.interruption == .privacy)
        let layer = state.scene.scene(of: .back, at: Timestamp(seconds: 60))[0]
        #expect(layer.veil == 1 && layer.notice == .privacy)
        #expect(apply(.suspend(.privacy, false)) == [.openCamera(.back)])
    }

    @Test mutating func stoppingIsOverWhenTheCamerasAreClosed() {
        _ = apply(
            .cameraAssigned(.back, name: "Desk"),
            .start,
            .nodePublished(id: 7),
            .consumed(true),
            .cameraOpening(.back)
        )
        #expect(apply(.stop).contains(.closeCamera(.back, keepsPicture: false)))
        #expect(apply(.nodeWithdrawn) == [])
        #expect(apply(.cameraClosed(.back)) == [.announce(.didStop)])
    }

    @Test mutating func aCameraThatComesWhileNeededIsOpened() {
        _ = apply(.start, .nodePublished(id: 7), .consumed(true))
        #expect(apply(.cameraAssigned(.front, name: "Face")) == [.openCamera(.front)])
        #expect(state.scene.main == .front)
        #expect(
            apply(.cameraAssigned(.front, name: nil)) == [.closeCamera(.front, keepsPicture: false)]
        )
        _ = apply(.cameraClosed(.front))
        #expect(state.cameras.front.phase == .unavailable)
    }

    @Test mutating func anInterruptionSaysWhyAndPasses() {
        lookedAt()
        _ = apply(.cameraOpening(.back), .cameraStreaming(.back, mode, insteadOf: nil))
        _ = apply(.cameraInterrupted(.back, .unplugged, reason: "ENODEV"))
        #expect(state.cameras.back.interruption == .unplugged && state.streamPhase == .interrupted)
        #expect(state.scene.scene(at: Timestamp(seconds: 9))[0].veil == 1)
        _ = apply(.cameraOpening(.back))
        #expect(state.cameras.back.phase == .interrupted, "a new try is no end of it")
        _ = apply(.cameraStreaming(.back, mode, insteadOf: nil))
        #expect(state.cameras.back.interruption == .none && state.streamPhase == .streaming)
    }

    @Test(arguments: Suspension.allCases)
    mutating func aSuspensionClosesCamerasAndKeepsTheirPicturesVeiled(_ why: Suspension) {
        _ = apply(
            .cameraAssigned(.back, name: "Desk"),
            .start,
            .nodePublished(id: 7),
            .consumed(true),
            .cameraOpening(.back),
            .cameraStreaming(.back, mode, insteadOf: nil)
        )
        #expect(apply(.suspend(why, true)) == [.closeCamera(.back, keepsPicture: true)])
        _ = apply(.cameraClosed(.back))
        #expect(state.cameras.back.phase == .interrupted)
        #expect(
            state.scene.scene(at: Timestamp(seconds: 9))[0].notice?.rawValue
                == state.cameras.back.interruption.rawValue
        )
        #expect(
            apply(.consumed(false), .graceOver, .consumed(true)).filter {
                $0 == .openCamera(.back)
            }.isEmpty,
            "not even for a new consumer"
        )
        #expect(apply(.suspend(why, false)) == [.openCamera(.back)])
        #expect(state.cameras.back.phase == .opening)
    }

    @Test mutating func aPictureThatWasKeptIsForgottenWhenNobodyLooksAnyMore() {
        _ = apply(
            .cameraAssigned(.back, name: "Desk"),
            .start,
            .nodePublished(id: 7),
            .consumed(true),
            .suspend(.privacy, true),
            .cameraClosed(.back)
        )
        #expect(
            apply(.consumed(false), .graceOver) == [
                .startGrace, .closeCamera(.back, keepsPicture: false),
            ]
        )
        #expect(apply(.graceOver, .suspend(.privacy, false)) == [])
    }

    @Test mutating func whatAThreadToldBeforeItHeardOfAWishIsPassedOver() {
        _ = apply(
            .cameraAssigned(.back, name: "Desk"),
            .cameraAssigned(.front, name: "Face"),
            .start,
            .nodePublished(id: 7),
            .consumed(true),
            .cameraStreaming(.back, mode, insteadOf: nil),
            .suspend(.privacy, true)
        )
        #expect(
            apply(.cameraInterrupted(.back, .bandwidth, reason: "ENOSPC")) == [],
            "a camera that is closed makes no room for"
        )
        _ = apply(.cameraClosed(.front), .cameraStreaming(.front, mode, insteadOf: nil))
        #expect(!state.cameras.front.isOpen && state.cameras.front.mode == nil)
        _ = apply(.suspend(.privacy, false), .cameraClosed(.back))
        #expect(state.cameras.back.isOpen && state.cameras.back.phase == .opening)
        _ = apply(.cameraStreaming(.back, mode, insteadOf: nil), .cameraOpening(.back))
        #expect(state.cameras.back.phase == .opening, "opened anew, it does not deliver yet")
    }

    @Test mutating func aCameraThatWasAskedForIsWaitedForThoughItHasNotBegunToOpen() {
        _ = apply(
            .cameraAssigned(.back, name: "Desk"),
            .start,
            .nodePublished(id: 7),
            .consumed(true),
            .stop
        )
        #expect(apply(.nodeWithdrawn) == [])
        #expect(apply(.cameraOpening(.back)) == [])
        #expect(apply(.cameraClosed(.back)) == [.announce(.didStop)])
    }

    @Test mutating func aCameraThatWorksAgainAfterItHasTriedAllModesInVainHasItsBestOne() {
        lookedAt(withFront: false)
        for step in 1...8 {
            let noRoom = Event.cameraInterrupted(.back, .bandwidth, reason: "EIO")
            #expect(apply(noRoom, .cameraOpening(.back)) == [.openCamera(.back)])
            #expect(state.cameras.back.reduction == step)
        }
        #expect(apply(.cameraInterrupted(.back, .stalled, reason: "EIO")) == [])
        #expect(apply(.cameraOpening(.back)) == [])
        #expect(apply(.cameraStreaming(.back, jpeg, insteadOf: mode)) == [.adaptCamera(.back)])
        #expect(state.cameras.back.reduction == 0)
        #expect(apply(.cameraOpening(.back), .cameraStreaming(.back, mode, insteadOf: nil)) == [])
    }

    @Test mutating func forWantOfBandwidthTheInsetGivesWayFirst() {
        lookedAt(withFront: true)
        let noRoom = Event.cameraInterrupted(.back, .bandwidth, reason: "ENOSPC")
        func lighter(_ rate: Double) -> Event {
            let lighter = CaptureMode(size: mode.size, rate: rate, format: .mjpg)
            return .cameraStreaming(.front, lighter, insteadOf: mode)
        }
        #expect(apply(noRoom) == [.openCamera(.front)])
        #expect(state.cameras.front.reduction == 1 && state.cameras.back.reduction == 0)
        #expect(apply(noRoom) == [], "until it is known what that brings")
        #expect(apply(.cameraStreaming(.front, mode, insteadOf: nil)) == [], "told too late")
        #expect(apply(.cameraOpening(.front), lighter(30)) == [.openCamera(.back)], "tried at once")
        for step in 2...8 {
            #expect(apply(noRoom) == [.openCamera(.front)])
            let next = lighter(30 - Double(step))
            #expect(apply(.cameraOpening(.front), next) == [.openCamera(.back)])
        }
        for _ in 1...8 {
            #expect(apply(noRoom) == [.openCamera(.back)], "then the main one")
            #expect(apply(.cameraOpening(.back)) == [])
        }
        #expect(apply(noRoom) == [], "and then there is nothing left to give up")
        #expect(
            apply(.cameraInterrupted(.back, .unplugged, reason: "ENODEV")) == [.openCamera(.front)],
            "a bus of its own again"
        )
        #expect(state.cameras.front.reduction == 0)
    }

    @Test(arguments: [Interruption.unplugged, .busy, .denied, .stalled])
    mutating func aCameraThatIsNotOnTheBusGivesNothing(_ why: Interruption) {
        _ = apply(
            .cameraAssigned(.back, name: "Desk"),
            .cameraAssigned(.front, name: "Face"),
            .start,
            .nodePublished(id: 7),
            .consumed(true),
            .cameraInterrupted(.front, why, reason: "")
        )
        let noRoom = Event.cameraInterrupted(.back, .bandwidth, reason: "ENOSPC")
        #expect(apply(noRoom) == [.openCamera(.back)])
    }

    @Test mutating func aCameraThatCannotBeLighterIsAskedOnce() {
        lookedAt(withFront: true)
        let noRoom = Event.cameraInterrupted(.back, .bandwidth, reason: "ENOSPC")
        #expect(apply(noRoom) == [.openCamera(.front)])
        let same = Event.cameraStreaming(.front, mode, insteadOf: nil)
        #expect(apply(.cameraOpening(.front), same) == [.openCamera(.back)])
        #expect(apply(noRoom) == [.openCamera(.back)], "the main one's turn")
    }

    @Test mutating func aCameraThatStaysAsItIsHasNothingMoreToGive() {
        lookedAt(withFront: true)
        let noRoom = Event.cameraInterrupted(.back, .bandwidth, reason: "ENOSPC")
        let lighter = Event.cameraStreaming(.front, jpeg, insteadOf: mode)
        _ = apply(noRoom, .cameraOpening(.front), lighter)
        #expect(apply(noRoom, .cameraOpening(.front), lighter).last == .openCamera(.back))
        #expect(apply(noRoom) == [.openCamera(.back)], "the main one's turn")
    }

    @Test mutating func whatWasGivenUpForNothingIsTakenBack() {
        lookedAt(withFront: true)
        let noRoom = Event.cameraInterrupted(.back, .bandwidth, reason: "EIO")
        _ = apply(.cameraStreaming(.front, mode, insteadOf: nil), noRoom, .cameraOpening(.front))
        _ = apply(.cameraStreaming(.front, jpeg, insteadOf: mode), noRoom, .cameraOpening(.front))
        #expect(
            apply(.cameraStreaming(.front, jpeg, insteadOf: mode), noRoom).last
                == .openCamera(.back)
        )
        let broken = Event.cameraInterrupted(.back, .stalled, reason: "EIO")
        #expect(apply(.cameraOpening(.back), broken) == [.openCamera(.front)])
        #expect(state.cameras.front.reduction == 0)
        #expect(apply(broken) == [], "it is tried again, and that is all")
    }

    @Test mutating func aCameraIsOpenedAnewWhereItIsFoundAndAdaptedToItsPlace() {
        _ = apply(.cameraAssigned(.back, name: "Desk"), .start, .nodePublished(id: 7))
        #expect(apply(.cameraMoved(.back)) == [], "nobody looks")
        #expect(apply(.setRotation(.back, 90)) == [])
        _ = apply(.consumed(true), .cameraStreaming(.back, mode, insteadOf: nil))
        #expect(apply(.cameraMoved(.back)) == [.openCamera(.back)])
        #expect(apply(.setRotation(.back, 90)) == [])
        #expect(apply(.setRotation(.back, 0)) == [.adaptCamera(.back)])
        #expect(
            apply(.setOutput(Size(width: 640, height: 360))) == [
                .publishNode, .adaptCamera(.back), .startGrace,
            ]
        )
    }

    @Test mutating func aCameraThatIsBackSoonInAnotherModeIsNotVeiled() {
        lookedAt()
        _ = apply(.cameraStreaming(.back, mode, insteadOf: nil))
        func veil(at seconds: Double) -> Double {
            state.scene.scene(at: Timestamp(seconds: seconds))[0].veil
        }
        _ = reduce(&state, .cameraOpening(.back), at: Timestamp(seconds: 20))
        #expect(state.cameras.back.phase == .opening)
        #expect(veil(at: 20.4) == 0 && veil(at: 20.9) == 1)
        let back = Event.cameraStreaming(.back, jpeg, insteadOf: nil)
        _ = reduce(&state, back, at: Timestamp(seconds: 20.4))
        #expect(veil(at: 20.5) == 0 && veil(at: 21) == 0)
    }

    @Test mutating func privacyJustAfterTheLastConsumerLeftOpensNothingAgain() {
        _ = apply(
            .cameraAssigned(.back, name: "Desk"),
            .start,
            .nodePublished(id: 7),
            .consumed(true),
            .consumed(false)
        )
        #expect(apply(.suspend(.privacy, true)) == [.closeCamera(.back, keepsPicture: false)])
        #expect(apply(.suspend(.privacy, false)) == [])
    }

    @Test mutating func cameraStaysClosedUntilTheLastReasonIsGone() {
        lookedAt()
        _ = apply(.suspend(.asleep, true), .suspend(.privacy, true))
        #expect(state.cameras.back.interruption == .privacy, "the user's own wish is told first")
        #expect(apply(.suspend(.privacy, false)) == [])
        #expect(state.cameras.back.interruption == .asleep)
        #expect(apply(.suspend(.asleep, false)) == [.openCamera(.back)])
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
        _ = reduce(&state, .cameraIdentified(.back, "a"), at: .zero)
        _ = reduce(&state, .setControls(.back, settings, aperture: 0), at: .zero)
        var manual = ManualControls()
        manual.iso = 400
        _ = reduce(
            &state,
            .controlsRead(.back, identity: "b", CameraControls(manual: manual)),
            at: .zero
        )
        #expect(state.cameras.back.controls.manual.isAutomatic)
        _ = reduce(
            &state,
            .controlsRead(.back, identity: "a", CameraControls(manual: manual)),
            at: .zero
        )
        // The user's values stay, whatever the thread last reported.
        #expect(state.cameras.back.controls.manual == manual)
        #expect(state.cameras.back.controls.settings == settings)
        // Both roles change their cameras.
        _ = reduce(&state, .cameraIdentified(.front, "a"), at: .zero)
        #expect(state.cameras.front.controls.manual == manual)
        _ = reduce(&state, .cameraIdentified(.back, "c"), at: .zero)
        _ = reduce(&state, .setPro(false), at: .zero)
        #expect(state.manualControls.isEmpty)
    }
}
