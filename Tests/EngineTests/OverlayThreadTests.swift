import Compositing
import DualCamCore
import Engine
import Foundation
import Frames
import Platform
import Synchronization
import TestSupport
import Testing

@Suite("The thread of words and the HUD") struct OverlayThreadTests {
    @Test(.timeLimit(.minutes(5)))
    func wordsAreThereSoonAfterTheirNoticeAndAtOnceTheNextTime() throws {
        let canvas = Size(width: 1280, height: 720)
        let present = PerRole(back: true, front: true)
        var state = SceneState(canvas: canvas, style: SceneStyle(), present: present)
        let shown = try OverlayThread(state, canvas: canvas)
        defer { _ = shown.end(by: MonotonicClock.now + Timestamp(seconds: 5)) }
        #expect(shown.current.labels.back == nil && shown.current.labels.front == nil)
        state.setNotice(.interrupted(.unplugged), of: .back, at: .zero)
        shown.show(state)
        #expect(shown.current.state == state)
        try eventually("the back camera's words", within: 30) { shown.current.labels.back != nil }
        #expect(shown.current.labels.front == nil)
        state.setNotice(.interrupted(.busy), of: .back, at: .zero)
        shown.show(state)
        try eventually("other words", within: 30) { shown.current.labels.back != nil }
        state.setNotice(.interrupted(.unplugged), of: .back, at: .zero)
        shown.show(state)
        #expect(shown.current.labels.back != nil)
        #expect(shown.current.state == state)
    }

    private func state(on canvas: Size) -> State {
        State(
            canvas: canvas,
            style: SceneStyle(),
            cameras: PerRole(
                back: CameraState(source: .auto, mirror: false, rotation: 0),
                front: CameraState(source: .auto, mirror: true, rotation: 0)
            )
        )
    }

    @Test func aTitleThatNoFontHasIsReported() throws {
        let canvas = Size(width: 1280, height: 720)
        var state = state(on: canvas)
        let reported = Mutex<[String]>([])
        let shown = try OverlayThread(state.scene, canvas: canvas) { text in
            reported.withLock { $0.append(text) }
        }
        defer { _ = shown.end(by: MonotonicClock.now + Timestamp(seconds: 5)) }
        // The second is for private use.
        for text in ["Ada", "\u{F8FFF}", "Lovelace"] {
            _ = reduce(&state, .set(\.title, try Title(text)), at: .zero)
            shown.show(state.scene)
            let done = DispatchSemaphore(value: 0)
            shown.whenShown { done.signal() }
            #expect(done.wait(timeout: .now() + 30) == .success)
        }
        #expect(reported.withLock { $0 } == ["\u{F8FFF}"])
    }

    @Test("draws the HUD before a change is said to be shown, and only when it says something else")
    func drawsTheHud() throws {
        let canvas = Size(width: 1280, height: 720)
        var state = state(on: canvas)
        let shown = try OverlayThread(state.scene, canvas: canvas)
        defer { _ = shown.end(by: MonotonicClock.now + Timestamp(seconds: 5)) }
        #expect(shown.current.hud == nil)
        _ = reduce(&state, .pro(.setEnabled(true)), at: .zero)
        for iso in [100, 125, 160, 200] {
            var controls = CameraControls()
            controls.read([
                DeviceControl(id: 3, name: "gain", purpose: .gain, range: 0...255, value: iso)
            ])
            _ = reduce(&state, .controls(.back, .read(identity: "", controls)), at: .zero)
            shown.show(state.scene)
            let done = DispatchSemaphore(value: 0)
            shown.whenShown { done.signal() }
            #expect(done.wait(timeout: .now() + 20) == .success)
            #expect(shown.current.hud?.state == state.scene.hud, "ISO \(iso)")
        }
    }

    @Test("has the title that fades out beside the one that fades in", .timeLimit(.minutes(5)))
    func titles() throws {
        let canvas = Size(width: 640, height: 360)
        var state = state(on: canvas)
        let shown = try OverlayThread(state.scene, canvas: canvas)
        defer { _ = shown.end(by: MonotonicClock.now + Timestamp(seconds: 5)) }
        func pixels(_ picture: TitlePicture?) -> [UInt8] {
            var rows = [UInt8](repeating: 128, count: 2 * canvas.area)
            picture?.lay(over: &rows, stride: 2 * canvas.width, opacity: 1)
            return rows
        }
        var before = pixels(nil)
        for (second, name) in ["Ada", "Grace Hopper", "Emmy"].enumerated() {
            let event = Event.set(\.title, try Title(name))
            _ = reduce(&state, event, at: Timestamp(seconds: Double(second)))
            shown.show(state.scene)
            try eventually("the title", within: 30) { shown.current.title.wanted != nil }
            let title = shown.current.title
            #expect(pixels(title.wanted) != before && pixels(title.former) == before, "\(name)")
            before = pixels(title.wanted)
        }
    }
}
