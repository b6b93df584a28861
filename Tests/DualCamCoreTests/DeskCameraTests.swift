import Frames
import Testing

@testable import DualCamCore

@Suite("A camera over a desk") struct DeskCameraTests: Reducing {
    var state = State.withTwoCameras()

    private func point(_ x: Double, _ y: Double) -> NormalizedPoint { NormalizedPoint(x: x, y: y) }

    /// What a page over the desk looks like, as its camera delivers it.
    private func page() throws -> Perspective {
        try Perspective([point(0.2, 0.2), point(0.7, 0.3), point(0.8, 0.9), point(0.1, 0.8)])
    }

    @Test mutating func turnedOnceItStaysUprightAndUnmirroredOverReplugging() {
        let upright = Transform(quarterTurns: 2)
        #expect(!Configuration().cameras.back.mirror)
        send(.identified(.back, "desk"), .assigned(.back, "Desk"))
        send(.stream(.start), .published, .consumed(true), .streaming(.back))
        send(.camera(.back, .setRotation(180)))
        #expect(state.scene.transforms.back == upright)
        // Unplugged and plugged in again while it is in use, and while it is not.
        send(.interrupted(.back, .unplugged), .camera(.back, .moved), .streaming(.back))
        #expect(state.scene.transforms.back == upright)
        send(.consumed(false), .graceOver, .camera(.back, .closed))
        send(.assigned(.back, nil), .identified(.back, ""))
        send(.identified(.back, "lid"), .assigned(.back, "Lid"))
        #expect(state.scene.transforms.back == .identity, "it is that camera's, not the role's")
        send(.identified(.back, "desk"), .assigned(.back, "Desk"))
        #expect(state.scene.transforms.back == upright && !state.cameras.back.mirror)
        // And after a restart.
        var next = State.withTwoCameras()
        SavedState(state).restore(&next)
        state = next
        send(.identified(.back, "desk"), .assigned(.back, "Desk"))
        #expect(state.scene.transforms.back == upright && !state.cameras.back.mirror)
    }

    @Test mutating func aPageThatWasFoundIsShownAsItLiesUpright() throws {
        // In the picture as the camera delivers it, of a lens that magnifies twice.
        let found = try page()
        send(.camera(.back, .setRotation(180)))
        state.scene.framings.back.show(.a, factor: 2)
        let shown = state.perspective(found, of: .back)
        // Half as large about the middle, and turned.
        #expect(abs(shown.topLeft.x - 0.35) < 1e-9 && abs(shown.topLeft.y - 0.3) < 1e-9)
        #expect(abs(shown.bottomRight.x - 0.65) < 1e-9 && abs(shown.bottomRight.y - 0.65) < 1e-9)
        send(.camera(.back, .setPerspective(shown)))
        // It is kept for the lens "wide", as the camera delivers its picture.
        let kept = try #require(state.scene.perspectives.back.goal)
        for (corner, wanted) in zip(kept.points, found.magnified(by: 0.5).points) {
            #expect(abs(corner.x - wanted.x) < 1e-9 && abs(corner.y - wanted.y) < 1e-9)
        }
    }

    @Test mutating func inkAndPerspectiveAreTheDevicesAndNotTheRoles() throws {
        let page = try page()
        func plug(_ name: String) { send(.identified(.back, name), .assigned(.back, name)) }
        func shows(_ perspective: Perspective?, _ isInk: Bool) -> Bool {
            // Fades are over by then.
            let time = Timestamp(seconds: 2)
            return state.scene.perspectives.back.pose(at: time) == perspective
                && state.scene.scene(at: time)[0].ink == (isInk ? 1 : 0)
                && state.cameras.back.isInk == isInk
        }
        plug("desk")
        send(.camera(.back, .setPerspective(page)), .camera(.back, .setInk(true)))
        for (name, perspective, isInk) in [
            ("lid", nil, false), ("desk", page, true), ("", nil, false), ("desk", page, true),
        ] as [(String, Perspective?, Bool)] {
            plug(name)
            #expect(shows(perspective, isInk), "\(name)")
        }
        var next = State.withTwoCameras()
        try SavedState(parsing: SavedState(state).text).restore(&next)
        state = next
        #expect(shows(nil, false))
        plug("lid")
        #expect(shows(nil, false))
        plug("desk")
        #expect(shows(page, true))
        // What the file says is for the camera that has the role, whichever it is.
        state = State.withTwoCameras()
        state.configured.inks.back = true
        state.configured.perspectives.back = page
        send(.camera(.back, .setPerspective(page)), .camera(.back, .setInk(true)))
        for name in ["desk", "lid"] {
            plug(name)
            #expect(shows(page, true), "\(name)")
        }
        send(.camera(.back, .setPerspective(nil)))
        plug("desk")
        #expect(shows(page, true))
        plug("lid")
        #expect(shows(nil, true))
    }

    @Test mutating func cornersOfTheFileArePlacesInThePictureAsItIsMounted() throws {
        let page = try page()
        var configuration = Configuration()
        configuration.cameras.back.rotation = 180
        configuration.cameras.back.perspective = page
        for event in configuration.changes(from: Configuration()).events { send(event, at: 1) }
        #expect(state.cameras.back.rotation == 180)
        let shown = try #require(state.perspective(of: .back))
        for (corner, wanted) in zip(shown.points, page.points) {
            #expect(abs(corner.x - wanted.x) < 1e-9 && abs(corner.y - wanted.y) < 1e-9)
        }
    }

    @Test mutating func inkFadesInAndIsTheConfigurations() {
        send(.camera(.back, .setInk(true)), at: 1)
        #expect(state.cameras.back.isInk && !state.cameras.front.isInk)
        func ink(_ seconds: Double) -> Double { layers(at: seconds)[0].ink }
        #expect(ink(1) == 0 && ink(1.15) > 0.4 && ink(1.15) < 0.6 && ink(2) == 1)
        send(.camera(.back, .setInk(false)), at: 1)
        #expect(ink(2) == 0)
        var configuration = Configuration()
        configuration.cameras.back.isInk = true
        let events = configuration.changes(from: nil).events
        #expect(events.contains(.camera(.back, .setInk(true))))
        #expect(
            Configuration().changes(from: configuration).events == [.camera(.back, .setInk(false))]
        )
    }
}
