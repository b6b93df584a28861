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
        send(.assigned(.back, "Desk", id: "desk"))
        send(.stream(.start), .published, .consumed(true), .streaming(.back))
        send(.set(\.cameras.back.rotation, 180))
        #expect(state.scene.transforms.back == upright)
        // Unplugged and plugged in again while it is in use, and while it is not.
        send(
            .interrupted(.back, .unplugged),
            .assigned(.back, "Desk", id: "desk", path: "/dev/video1"),
            .streaming(.back)
        )
        #expect(state.scene.transforms.back == upright)
        send(.consumed(false), .graceOver, .camera(.back, .closed))
        send(.assigned(.back, nil))
        send(.assigned(.back, "Lid", id: "lid"))
        #expect(state.scene.transforms.back == .identity, "it is that camera's, not the role's")
        send(.assigned(.back, "Desk", id: "desk"))
        #expect(state.scene.transforms.back == upright && !state.cameras.back.mirror)
        // And after a restart.
        var next = State.withTwoCameras()
        SavedState(state).restore(&next)
        state = next
        send(.assigned(.back, "Desk", id: "desk"))
        #expect(state.scene.transforms.back == upright && !state.cameras.back.mirror)
    }

    @Test mutating func aPageThatWasFoundIsShownAsItLiesUpright() throws {
        // In the picture as the camera delivers it, of a lens that magnifies twice.
        let found = try page()
        send(.set(\.cameras.back.rotation, 180))
        state.scene.framings.back.show(.a, factor: 2)
        let shown = state.perspective(found, of: .back)
        // Half as large about the middle, and turned.
        #expect(abs(shown.topLeft.x - 0.35) < 1e-9 && abs(shown.topLeft.y - 0.3) < 1e-9)
        #expect(abs(shown.bottomRight.x - 0.65) < 1e-9 && abs(shown.bottomRight.y - 0.65) < 1e-9)
        send(.set(\.cameras.back.perspective, shown))
        // It is kept for the lens "wide", as the camera delivers its picture.
        let kept = try #require(state.scene.perspectives.back.goal)
        for (corner, wanted) in zip(kept.points, found.magnified(by: 0.5).points) {
            #expect(abs(corner.x - wanted.x) < 1e-9 && abs(corner.y - wanted.y) < 1e-9)
        }
    }

    @Test mutating func inkAndPerspectiveAreTheDevicesAndNotTheRoles() throws {
        let page = try page()
        func plug(_ name: String) { send(.assigned(.back, name.isEmpty ? nil : name, id: name)) }
        func shows(_ perspective: Perspective?, _ isInk: Bool) -> Bool {
            // Fades are over by then.
            let time = Timestamp(seconds: 2)
            return state.scene.perspectives.back.pose(at: time) == perspective
                && state.scene.scene(at: time)[0].ink == (isInk ? 1 : 0)
                && state.settings.cameras.back.isInk == isInk
        }
        plug("desk")
        send(.set(\.cameras.back.perspective, page), .set(\.cameras.back.isInk, true))
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
        state.configured.cameras.back.isInk = true
        state.configured.cameras.back.perspective = page
        send(.set(\.cameras.back.perspective, page), .set(\.cameras.back.isInk, true))
        for name in ["desk", "lid"] {
            plug(name)
            #expect(shows(page, true), "\(name)")
        }
        send(.set(\.cameras.back.perspective, nil))
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
        send(.set(\.cameras.back.isInk, true), at: 1)
        #expect(state.settings.cameras.back.isInk && !state.settings.cameras.front.isInk)
        func ink(_ seconds: Double) -> Double { layers(at: seconds)[0].ink }
        #expect(ink(1) == 0 && ink(1.15) > 0.4 && ink(1.15) < 0.6 && ink(2) == 1)
        send(.set(\.cameras.back.isInk, false), at: 1)
        #expect(ink(2) == 0)
        var configuration = Configuration()
        configuration.cameras.back.isInk = true
        for event in configuration.changes(from: Configuration()).events { send(event, at: 3) }
        #expect(state.settings.cameras.back.isInk && ink(4) == 1)
        for event in Configuration().changes(from: configuration).events { send(event, at: 5) }
        #expect(!state.settings.cameras.back.isInk && ink(6) == 0)
    }
}
