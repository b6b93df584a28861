import DualCamCore
import Frames
import Testing

@testable import Engine

@Suite("A scene whose pictures are still small") struct SceneHoldTests {
    private var hold = SceneHold()

    private func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 100 + seconds) }

    private func state(swapped: Bool, warm: Bool = false) -> SceneState {
        var state = SceneState(
            canvas: Size(width: 1280, height: 720),
            style: SceneStyle(),
            present: PerRole(back: true, front: true)
        )
        state.setSwapped(swapped, at: at(-10), instantly: true)
        if warm { state.grades.back.a = Grade(from: 4000, to: 7000) }
        return state
    }

    @Test("is shown as soon as they are large, or the one before it was held for 0.2 s")
    mutating func holding() {
        let (old, new) = (state(swapped: false), state(swapped: true))
        #expect(hold.next(new, at: at(0)) { _ in false } == new, "there is none before it")
        #expect(hold.next(old, at: at(1)) { _ in true } == old)
        #expect(hold.next(new, at: at(1.05)) { _ in false } == old)
        #expect(hold.next(new, at: at(1.1)) { $0 == new } == new)
        // The time is since the last picture of the old one, however often it is shown again.
        #expect(hold.next(old, at: at(1.2)) { _ in false } == new)
        #expect(hold.next(old, at: at(1.29)) { _ in false } == new)
        #expect(hold.next(old, at: at(1.3)) { _ in false } == old)
    }

    @Test("has its new colours at once, in the scene before it, too")
    mutating func grades() {
        let old = state(swapped: false)
        _ = hold.next(old, at: at(0)) { _ in true }
        let new = state(swapped: true, warm: true)
        let shown = hold.next(new, at: at(0.1)) { _ in false }
        #expect(shown != new && shown == state(swapped: false, warm: true))
    }
}
