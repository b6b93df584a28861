import Frames
import Testing

@testable import DualCamCore

@Suite("Previews")
struct PreviewTests {
    var state = State.withTwoCameras()
    let mode = CaptureMode(size: Size(width: 1280, height: 720), rate: 30, format: .yuyv)

    @discardableResult
    mutating func apply(_ events: Event...) -> [Effect] {
        events.flatMap { reduce(&state, $0, at: .zero) }
    }

    mutating func begin(_ number: Int, _ device: String, for program: String = "setup") {
        apply(.preview(.begun(Preview(number: number, device: device, program: program))))
    }

    /// Makes `device` the camera of `role`, and returns what follows.
    mutating func give(_ role: Role, _ device: String) -> [Effect] {
        apply(
            .camera(role, .assigned(name: nil)),
            .camera(role, .identified(device)),
            .camera(role, .assigned(name: "A camera"))
        )
    }

    /// Has a consumer take frames of both cameras, which deliver.
    mutating func stream() {
        for role in Role.allCases { _ = give(role, "\(role)") }
        apply(.stream(.start), .node(nil, .published(id: 7)), .node(nil, .consumed(true)))
        for role in Role.allCases { apply(.camera(role, .streaming(mode, insteadOf: nil))) }
    }

    func refusal(_ device: String, for program: String = "setup") -> PreviewRefusal? {
        state.refusal(ofPreviewOf: device, for: program)
    }

    @Test("a device has one, a program a few, and all together not many")
    mutating func limits() {
        #expect(refusal("a") == nil)
        begin(1, "a")
        #expect(refusal("a") == .doubled && refusal("a", for: "other") == .doubled)
        for number in 2...4 { begin(number, "\(number)") }
        #expect(refusal("b") == .tooManyOfOne && refusal("b", for: "other") == nil)
        for number in 5...8 { begin(number, "\(number)", for: "other") }
        #expect(refusal("b", for: "third") == .tooMany)
        apply(.preview(.closed(number: 1)))
        #expect(refusal("a", for: "third") == nil && refusal("a") == nil)
    }

    @Test("no camera that is in use has one, nor a lens of it")
    mutating func used() {
        stream()
        let lens = Lens(name: "telephoto", factor: 2, device: "tele", deviceFactor: 2)
        apply(.lens(.back, .found([lens])))
        #expect(refusal("back") == .used(.back) && refusal("front") == .used(.front))
        #expect(refusal("tele") == .used(.back) && refusal("other") == nil)
    }

    @Test("it ends when its program has left, once")
    mutating func left() {
        begin(1, "a")
        #expect(apply(.preview(.left(number: 1))) == [.endPreview(number: 1)])
        #expect(apply(.preview(.left(number: 1))) == [])
        #expect(state.previews.open.count == 1, "its device may be open")
        apply(.preview(.closed(number: 1)), .preview(.left(number: 1)))
        #expect(state.previews == PreviewsState())
    }

    @Test(
        "none is open, or begins, while cameras have to be closed",
        arguments: Suspension.allCases
    )
    mutating func suspended(why: Suspension) {
        begin(1, "a")
        #expect(apply(.suspension(why, true)) == [.endPreview(number: 1)])
        #expect(refusal("b") == .suspended(why) && !state.areCamerasClosed)
        apply(.preview(.closed(number: 1)))
        #expect(state.areCamerasClosed)
        apply(.suspension(why, false))
        #expect(refusal("b") == nil)
    }

    @Test("privacy is answered once its device is closed, too")
    mutating func privacy() {
        begin(1, "a")
        #expect(
            apply(.privacy(.set(true))) == [
                .endPreview(number: 1), .storePrivacy(true, number: 1),
            ]
        )
        apply(.privacy(.stored(number: 1, failure: nil)))
        #expect(state.privacyOutcome(of: 1) == nil && !state.isPrivate)
        apply(.preview(.closed(number: 1)))
        #expect(state.privacyOutcome(of: 1) == .complete && state.isPrivate)
    }

    @Test("a role gets the device that is looked at, once that is closed")
    mutating func taken() {
        stream()
        begin(1, "a")
        begin(2, "b")
        apply(.camera(.back, .assigned(name: nil)), .camera(.back, .closed))
        let effects = give(.back, "a")
        #expect(effects.contains(.endPreview(number: 1)))
        #expect(!effects.contains(.openCamera(.back)))
        #expect(state.cameras.back.phase == .opening)
        #expect(apply(.preview(.closed(number: 1))) == [.openCamera(.back)])
        #expect(state.previews.open.map(\.number) == [2], "the other one goes on")
    }

    @Test("a lens that is looked at is opened once that is closed")
    mutating func takenLens() {
        stream()
        begin(1, "tele")
        let lenses = [("back", 1.0), ("tele", 3.0)].map {
            Lens(name: $0, factor: $1, device: $0, deviceFactor: $1, isThere: true)
        }
        #expect(apply(.lens(.back, .found(lenses))).contains(.endPreview(number: 1)))
        let effects = apply(.lens(.back, .setZoom(4, middle: nil, duration: 0)))
        #expect(state.cameras.back.lens.incoming?.device == "tele")
        #expect(!effects.contains(.openLens(.back)))
        #expect(apply(.preview(.closed(number: 1))).contains(.openLens(.back)))
    }

    @Test("a camera that is needed no more is not opened after all")
    mutating func takenInVain() {
        stream()
        begin(1, "a")
        apply(.camera(.back, .assigned(name: nil)), .camera(.back, .closed))
        _ = give(.back, "a")
        apply(.privacy(.set(true)))
        #expect(apply(.preview(.closed(number: 1))) == [])
        apply(.camera(.back, .closed), .camera(.front, .closed))
        #expect(apply(.privacy(.set(false))).contains(.openCamera(.back)))
    }

    @Test("another device that the role gets meanwhile does not wait for it")
    mutating func otherDevice() {
        stream()
        begin(1, "a")
        apply(.camera(.back, .assigned(name: nil)), .camera(.back, .closed))
        #expect(!give(.back, "a").contains(.openCamera(.back)))
        #expect(give(.back, "back").contains(.openCamera(.back)))
        #expect(apply(.preview(.closed(number: 1))) == [])
    }

    @Test("they leave the bus to the cameras in use")
    mutating func room() {
        stream()
        begin(1, "a")
        let effects = apply(.camera(.back, .interrupted(.bandwidth, reason: "no room")))
        #expect(effects.first == .endPreview(number: 1))
        #expect(refusal("b") == .noRoom)
        apply(.camera(.back, .streaming(mode, insteadOf: nil)))
        #expect(refusal("b") == nil)
    }
}
