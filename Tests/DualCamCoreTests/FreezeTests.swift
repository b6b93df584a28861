import DualCamCore
import Frames
import Testing

@Suite("A frozen picture") struct FreezeTests: Reducing {
    var state = State.withTwoCameras()

    /// Applies `events` at `seconds`, and returns what has to be passed on and done.
    @discardableResult
    private mutating func send(_ events: Event..., at seconds: Double = 1) -> [Update] {
        events.flatMap { pass($0, at: seconds).joined() }
    }

    private func layer(_ role: Role, at seconds: Double) -> Layer? {
        layers(at: seconds).last { $0.role == role }
    }

    private let lenses = [Lens("back", 1), Lens("telephoto", 3)]

    @Test mutating func staysWithAMarkWhileTheOtherOneGoesOn() {
        stream()
        let updates = send(.camera(.back, .setFrozen(true)), at: 2)
        #expect(updates.first == .freeze(.back, .on), "before anything is drawn of it")
        #expect(state.cameras.back.isFrozen && !state.cameras.front.isFrozen)
        #expect(layer(.back, at: 2)?.frozenOpacity == 0 && layer(.back, at: 3)?.frozenOpacity == 1)
        #expect(layer(.front, at: 3)?.frozenOpacity == 0)
        #expect(state.cameras.back.phase == .streaming, "the camera stays open")
        #expect(send(.camera(.back, .setFrozen(false)), at: 4).first == .freeze(.back, .off))
        #expect(layer(.back, at: 5)?.frozenOpacity == 0)
    }

    @Test mutating func needsACameraThatDelivers() {
        send(.camera(.back, .setFrozen(true)))
        #expect(!state.cameras.back.isFrozen)
    }

    @Test(arguments: Suspension.allCases)
    mutating func isForgottenWhenNobodyMayBeFilmed(why: Suspension) {
        stream()
        send(.camera(.back, .setFrozen(true)), .camera(.front, .setFrozen(true)))
        let updates = send(.suspension(why, true), at: 3)
        #expect(updates.contains(.freeze(.back, .last)) && updates.contains(.freeze(.front, .last)))
        // It is still to be seen under the veil, which comes slowly.
        #expect(layer(.back, at: 3.03).map { $0.veil < 1 } == true)
        let last = updates.firstIndex(of: .freeze(.back, .last)) ?? .max
        let shown = updates.firstIndex(of: .showScene) ?? .min
        #expect(last < shown, "a live picture could be drawn")
        #expect(!state.cameras.back.isFrozen && layer(.back, at: 4)?.veil == 1)
        send(.suspension(why, false), at: 5)
        #expect(!state.cameras.back.isFrozen, "it does not come back by itself")
    }

    @Test mutating func isForgottenWhenNobodyWatches() {
        stream()
        send(.camera(.back, .setFrozen(true)))
        send(.consumed(false))
        #expect(state.cameras.back.isFrozen, "they may be back at once")
        #expect(send(.graceOver).contains(.freeze(.back, .last)))
    }

    @Test mutating func isForgottenWithItsCamera() {
        stream()
        send(.camera(.back, .setFrozen(true)))
        #expect(send(.assigned(.back, id: "another")).contains(.freeze(.back, .last)))
        send(.streaming(.back), .camera(.back, .setFrozen(true)))
        #expect(send(.reset).contains(.freeze(.back, .off)))
    }

    /// Corners that were found in a picture belong to it alone.
    @Test mutating func aPictureIsAnotherOneWithItsMountingAndCamera() {
        #expect(state.pictureBasis(of: .back) == nil)
        stream()
        let basis = state.pictureBasis(of: .back)
        #expect(basis != nil)
        send(.camera(.back, .setFrozen(true)), .set(\.cameras.front.rotation, 90))
        #expect(state.pictureBasis(of: .back) == basis)
        for event in [
            Event.set(\.cameras.back.rotation, 180), .set(\.cameras.back.mirror, true),
            .assigned(.back, id: "another"),
        ] {
            let before = state
            send(event)
            #expect(state.pictureBasis(of: .back) != basis, "\(event)")
            state = before
        }
        send(.suspension(.privacy, true))
        #expect(state.pictureBasis(of: .back) == nil)
    }

    @Test mutating func isNotVeiledWhenItsCameraStops() {
        stream()
        send(.camera(.back, .setFrozen(true)), at: 2)
        send(.interrupted(.back, .unplugged), at: 3)
        #expect(layer(.back, at: 4)?.veil == 0 && layer(.back, at: 4)?.frozenOpacity == 1)
        send(.camera(.back, .setFrozen(false)), at: 5)
        #expect(
            layer(.back, at: 6)?.veil == 1
                && layer(.back, at: 6)?.notice == .interrupted(.unplugged)
        )
    }

    @Test mutating func turnsWithTheMountingButNotWithTheDevice() {
        stream()
        send(.camera(.back, .setFrozen(true)), at: 2)
        let upright = layer(.back, at: 3)?.transform
        send(.set(\.orientation, .bottomUp), at: 4)
        #expect(layer(.back, at: 5)?.transform == upright, "it was taken upright")
        send(.set(\.cameras.back.rotation, 180), at: 6)
        #expect(layer(.back, at: 7)?.transform != upright)
        send(.set(\.cameras.back.rotation, 0), .camera(.back, .setFrozen(false)), at: 8)
        #expect(layer(.back, at: 9)?.transform == Transform(quarterTurns: 2))
    }

    @Test mutating func isCroppedByAZoomAndNoOtherLensTakesItsPlace() {
        stream()
        find(lenses)
        send(.camera(.back, .setFrozen(true)), at: 2)
        send(.lens(.back, .setZoom(4, middle: nil, duration: 0.2)), at: 3)
        #expect(state.cameras.back.lens.incoming == nil)
        #expect(layer(.back, at: 4).map { abs($0.source.part.width - 0.25) < 1e-9 } == true)
        // The lens's own zoom moves meanwhile, of which the kept picture knows nothing.
        state.scene.framings.back.magnify(.a, 2, at: Timestamp(seconds: 5))
        #expect(layer(.back, at: 6).map { abs($0.source.part.width - 0.25) < 1e-9 } == true)
        state.scene.framings.back.magnify(.a, 1, at: Timestamp(seconds: 7))
        send(.camera(.back, .setFrozen(false)), at: 8)
        #expect(state.cameras.back.lens.incoming?.device == "telephoto")
    }

    @Test mutating func `is not crossed over by a lens that was on its way, but afterwards`() {
        stream()
        find(lenses)
        send(.lens(.back, .setZoom(4, middle: nil, duration: 0.2)), at: 2)
        send(.lensStreaming(.back), at: 3)
        send(.camera(.back, .setFrozen(true)), at: 4)
        send(.lens(.back, .ready), at: 5)
        #expect(state.cameras.back.lens.incoming?.isCrossing == false)
        send(.camera(.back, .setFrozen(false)), at: 6)
        send(.lens(.back, .ready), at: 7)
        #expect(state.cameras.back.lens.incoming?.isCrossing == true)
    }
}
