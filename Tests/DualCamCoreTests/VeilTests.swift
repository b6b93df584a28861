import DualCamCore
import Frames
import Testing

@Suite("A veil") struct VeilTests {
    var state = SceneState(
        canvas: Size(width: 1280, height: 720),
        style: SceneStyle(),
        present: PerRole(back: true, front: true)
    )

    private func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 100 + seconds) }

    private func inset(_ seconds: Double) -> Layer { state.scene(at: at(seconds))[1] }

    @Test mutating func `gives its reason until it has lifted, and never a reason of before`() {
        #expect(inset(0).notice == nil)
        state.setNotice(.interrupted(.busy), of: .front, at: at(0))
        #expect(inset(0.15).notice == .interrupted(.busy))
        state.setNotice(nil, of: .front, at: at(1))
        #expect(inset(1.15).notice == .interrupted(.busy) && abs(inset(1.15).veil - 0.5) < 0.01)
        #expect(inset(1.3).veil == 0)
        state.setNotice(.interrupted(.privacy), of: .front, at: at(2))
        #expect(inset(2.15).notice == .interrupted(.privacy))
        // Another reason takes its place at once.
        state.setNotice(.interrupted(.busy), of: .front, at: at(3))
        #expect(inset(3).notice == .interrupted(.busy) && inset(3).veil == 1)
    }

    @Test("that has to wait is not there before its time, and does not come if it is taken back")
    mutating func delay() {
        state.setNotice(.interrupted(.busy), of: .front, at: at(0), after: 1)
        #expect(inset(0.99).veil == 0 && abs(inset(1.15).veil - 0.5) < 0.01)
        #expect(inset(1.3).veil == 1)
        state.setNotice(nil, of: .front, at: at(2), instantly: true)
        state.setNotice(.interrupted(.busy), of: .front, at: at(3), after: 1)
        state.setNotice(nil, of: .front, at: at(3.5))
        for time in [3.5, 4, 4.15, 5] { #expect(inset(time).veil == 0) }
    }
}
