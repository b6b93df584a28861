import Frames
import Testing

@testable import DualCamCore

@Suite("The order of the reducer's passes") struct PassTests: Reducing {
    var state = State.withTwoCameras()

    /// Each pass that another one has to follow.
    private static let pairs: [(Pass, Pass)] = [
        (.selfTimer, .cameras), (.consumers, .cameras),
        (.cameraList, .waitingScenes), (.cameraList, .cameras),
        (.cameraList, .lenses), (.cameraList, .shownCameras),
        (.waitingScenes, .cameras), (.waitingScenes, .lenses), (.waitingScenes, .locks),
        (.cameras, .freezes), (.cameras, .photographs), (.cameras, .lenses), (.cameras, .recording),
        (.cameras, .shownCameras), (.freezes, .lenses), (.freezes, .shownCameras),
        (.photographs, .recording), (.photographs, .shownCameras), (.lenses, .locks),
        (.lenses, .shownCameras), (.recording, .shownControls), (.shownCameras, .shownTitle),
        (.shownCameras, .shownControls), (.cameras, .previews),
    ]

    private func device(_ name: String, _ role: Role = .back) -> CameraDevice {
        CameraDevice(
            path: name,
            name: name,
            identity: name,
            orientation: role == .back ? .back : .front
        )
    }

    /// Events after each of which something else has to follow. One a second.
    private func events() throws -> [Event] {
        func found(_ names: String...) -> Event {
            .cameras(.found(names.map { device($0) }, from: .udev))
        }
        func preset(_ lines: String) throws -> ScenePreset {
            let text = "[[scene]]\nname = \"x\"\n[scene.back]\n\(lines)\n"
            return try SceneBook(parsing: text).preset("x")
        }
        func apply(_ lines: String) throws -> Event {
            .scenes(.apply(try preset(lines), as: "x", instantly: true))
        }
        let privacy = { (isOn: Bool) in Event.suspension(.privacy, isOn) }
        let zoom = Event.lens(.back, .setZoom(3, middle: nil, duration: 0))
        let takeFull = Event.photographs(.take([.back], full: [.back]))
        return [
            // A scene waits for a camera that comes while it is in use.
            .stream(.start), .published, .consumed(true), try apply("rotation = 90\nzoom = 3"),
            .set(\.scene.hud, .always), .set(\.title, try Title("a")),
            .set(\.titleCorner, .topRight),
            .assigned(.front), found("desk", "tele"), .streaming(.back), .streaming(.front),
            .lensStreaming(.back), .lens(.back, .ready), .lens(.back, .crossed),
            .interrupted(.back, .unplugged), .streaming(.back),
            // Another lens, a frozen picture and privacy.
            .lens(.back, .setZoom(1, middle: nil, duration: 0)), .lensStreaming(.back),
            .lens(.back, .ready), .lens(.back, .crossed), .camera(.back, .setFrozen(true)), zoom,
            privacy(true), .camera(.back, .closed), privacy(false), .streaming(.back),
            .lens(.back, .setZoom(1, middle: nil, duration: 0)), privacy(true),
            .recording(.start([.back], sound: false)), .recording(.stop), .recording(.ended),
            privacy(false), .streaming(.back),
            // Photographs, recordings, and both.
            takeFull, .camera(.back, .adapted(isFull: true)), found("door", "tele"),
            .streaming(.back), .camera(.back, .adapted(isFull: true)), found("desk", "tele"),
            .photographs(.take([])), .streaming(.back), takeFull,
            .recording(.start([.back], sound: false)), privacy(true), .recording(.stop),
            .recording(.ended), .photographs(.take([])), privacy(false), .streaming(.back),
            .consumed(false), .graceOver, .camera(.back, .closed), takeFull,
            .photographs(.take([])), .camera(.back, .closed), .consumed(true), .streaming(.back),
            .recording(.start([.back], sound: false)), .recording(.stop), .recording(.ended),
            // What is to be held, while the camera is away, and with another lens.
            .interrupted(.back, .unplugged), try apply("lock = [\"exposure\"]"), .streaming(.back),
            zoom, .consumed(false), .graceOver,
            // A lens that comes, and a preview of what a role is about to use.
            .camera(.back, .closed), .consumed(true), .streaming(.back), found("desk"),
            .streaming(.back), found("desk", "tele"), .consumed(false), .graceOver,
            .camera(.back, .closed),
            .preview(.begun(Preview(number: 1, device: "door", program: "setup"))), found("door"),
            .consumed(true), .assigned(.front, nil), .camera(.front, .closed),
        ]
    }

    @Test
    func `Each follows those on which it relies: in another order, an event does other things`()
        throws
    {
        var state = state
        state.search.cameras.back.lenses = [
            .init(name: "tele", factor: 3, source: .v4l2("tele"))
        ]
        var missing = Self.pairs.map { "\($0) → \($1)" }
        for (second, event) in try events().enumerated() {
            let (before, time) = (state, Timestamp(seconds: Double(second)))
            let effects = reduce(&state, event, at: time)
            for (first, next) in Self.pairs {
                var passes = Pass.allCases.filter { $0 != next }
                passes.insert(next, at: passes.firstIndex(of: first) ?? 0)
                var other = before
                if reduce(&other, event, at: time, passes) != effects || other != state {
                    missing.removeAll { $0 == "\(first) → \(next)" }
                }
            }
        }
        #expect(missing == [])
    }

    @Test func `Once more, they change nothing and do nothing`() throws {
        // Those that order effects, or do what one event asked for, come once.
        let once: Set<Pass> = [.previews]
        var state = state
        for (second, event) in try events().enumerated() {
            let (before, time) = (state, Timestamp(seconds: Double(second)))
            _ = reduce(&state, event, at: time)
            for pass in Pass.allCases where !once.contains(pass) {
                var other = before
                let index = Pass.allCases.firstIndex(of: pass) ?? 0
                var passes = Pass.allCases
                passes.insert(pass, at: index)
                _ = reduce(&other, event, at: time, passes)
                #expect(other == state, "\(pass) after \(event)")
            }
        }
    }
}
