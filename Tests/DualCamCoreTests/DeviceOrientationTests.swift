import Frames
import Testing

@testable import DualCamCore

@Suite("How the device is held") struct DeviceOrientationTests {
    /// A device turned clockwise has its left edge up. A scene upright before its back camera then
    /// lies on its left side in the picture, and is upright after a quarter turn clockwise. The
    /// front camera looks the other way, so its picture needs a quarter turn anticlockwise.
    @Test(arguments: [
        (DeviceOrientation.normal, Role.back, Transform.identity), (.normal, .front, .identity),
        (.leftUp, .back, .clockwise90), (.leftUp, .front, .clockwise270),
        (.rightUp, .back, .clockwise270), (.rightUp, .front, .clockwise90),
        (.bottomUp, .back, .rotate180), (.bottomUp, .front, .rotate180),
    ])
    func picturesAreTurnedForIt(
        _ orientation: DeviceOrientation,
        _ role: Role,
        _ upright: Transform
    ) {
        for mirror in [false, true] {
            var state = state(mirror: mirror)
            state.take(.orientation(.sensed(orientation)))
            let mirrored = Transform(mirrored: mirror)
            #expect(state.cameras[role].transform == upright.followed(by: mirrored))
            #expect(state.scene.transforms[role] == upright.followed(by: mirrored))
            // Both the mounting of the camera and the orientation of the device count.
            state.take(.set(\.cameras[role].rotation, 90))
            let both = Transform.clockwise90.followed(by: upright).followed(by: mirrored)
            #expect(state.cameras[role].transform == both)
        }
    }

    private func state(mirror: Bool = false) -> State {
        var state = State.withTwoCameras(
            on: Size(width: 64, height: 36),
            mirrored: PerRole(back: mirror, front: mirror)
        )
        for role in Role.allCases { state.take(.assigned(role, "camera")) }
        return state
    }

    @Test func theUsersWordGoesBeforeTheSensors() {
        var state = state()
        state.take(.orientation(.sensorFound(true)), .orientation(.sensed(.leftUp)))
        state.take(.set(\.orientation, .bottomUp))
        #expect(state.orientation.current == .bottomUp)
        state.take(.orientation(.sensed(.rightUp)))
        #expect(state.orientation.current == .bottomUp)
        state.take(.set(\.orientation, nil))
        #expect(state.orientation.current == .rightUp)
        state.take(.orientation(.sensorFound(false)))
        #expect(state.orientation.current == .rightUp && !state.orientation.hasSensor)
    }

    @Test func aPictureFadesToItsTurnAndAllElseStays() {
        var state = state()
        let start = Timestamp(seconds: 10)
        state.take(.scene(.setSwapped(true, instantly: true)))
        state.take(.lens(.front, .setZoom(2, middle: nil, duration: 0)))
        let before = state.scene.scene(at: start)
        _ = reduce(&state, .orientation(.sensed(.leftUp)), at: start)
        #expect(state.scene.isSwapped && state.cameras.front.lens.zoom == 2)
        #expect(before.count == 2)
        var shares: [Double] = []
        for step in 0..<30 {
            let scene = state.scene.scene(at: start + Timestamp(seconds: Double(step) * 0.01))
            #expect(scene.count == 4)
            #expect(scene[0] == before[0] && scene[2] == before[1])
            #expect(scene[1].transform == .clockwise270 && scene[3].transform == .clockwise90)
            #expect(scene[1].rect == before[0].rect && scene[3].rect == before[1].rect)
            shares.append(scene[1].opacity)
        }
        #expect(shares[0] == 0 && shares[15] == 0.5 && shares[29] > 0.99)
        #expect(zip(shares, shares.dropFirst()).allSatisfy { $0 < $1 })
        let after = state.scene.scene(at: start + Timestamp(seconds: 0.31))
        #expect(after.count == 2 && after[0].opacity == 1)
        #expect(after[0].source == before[0].source)
        // Turned back midway, the picture continues from its present place.
        _ = reduce(&state, .orientation(.sensed(.normal)), at: start + Timestamp(seconds: 1))
        _ = reduce(&state, .orientation(.sensed(.leftUp)), at: start + Timestamp(seconds: 1.1))
        let back = state.scene.scene(at: start + Timestamp(seconds: 1.1))
        #expect(back.count == 4 && abs(back[1].opacity - (1 - shares[10])) < 0.001)
        _ = reduce(&state, .set(\.orientation, .leftUp), at: start + Timestamp(seconds: 2))
        // Rotation and mirroring of a camera take effect at once.
        _ = reduce(&state, .set(\.cameras.back.mirror, true), at: start + Timestamp(seconds: 3))
        #expect(state.scene.scene(at: start + Timestamp(seconds: 3)).count == 2)
    }

    @Test func `a turn goes on from an earlier one only where it takes that back`() {
        func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 50 + seconds) }
        let first = Turning(before: .identity, start: at(0), after: nil, to: .clockwise90)
        let back = Turning(before: .clockwise90, start: at(0.1), after: first, to: .identity)
        #expect(abs(back.share(at: at(0.1)) - (1 - first.share(at: at(0.1)))) < 0.001)
        let further = Turning(before: .clockwise90, start: at(0.1), after: first, to: .rotate180)
        #expect(further.share(at: at(0.1)) == 0)
        let late = Turning(before: .clockwise90, start: at(1), after: first, to: .identity)
        #expect(late.share(at: at(1)) == 0)
    }
}
