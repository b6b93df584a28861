import Frames
import Testing

@testable import DualCamCore

@Suite("Previews") struct PreviewTests: Reducing {
    var state = State.withTwoCameras()

    mutating func begin(_ number: Int, _ device: String, for program: String = "setup") {
        send(.preview(.begun(Preview(number: number, device: device, program: program))))
    }

    /// Makes `device` the camera of `role`, and returns what follows.
    mutating func give(_ role: Role, _ device: String) -> [Effect] {
        send(.assigned(role, id: device))
    }

    func refusal(_ device: String, for program: String = "setup") -> PreviewRefusal? {
        state.refusal(ofPreviewOf: device, for: program)
    }

    @Test mutating func `a device has one, a program a few, and all together not many`() {
        #expect(refusal("a") == nil)
        begin(1, "a")
        #expect(refusal("a") == .doubled && refusal("a", for: "other") == .doubled)
        for number in 2...6 { begin(number, "\(number)") }
        #expect(refusal("b") == .tooManyOfOne && refusal("b", for: "other") == nil)
        for number in 7...8 { begin(number, "\(number)", for: "other") }
        #expect(refusal("b", for: "third") == .tooMany)
        send(.preview(.closed(number: 1)))
        #expect(refusal("a", for: "third") == nil && refusal("a") == nil)
    }

    @Test("no camera that is in use has one, nor a lens of it")
    mutating func used() {
        stream()
        let lens = Lens("telephoto", 2, device: "tele")
        find([lens])
        #expect(refusal("back") == .used(.back) && refusal("front") == .used(.front))
        #expect(refusal("tele") == .used(.back) && refusal("other") == nil)
    }

    @Test mutating func `that of a role's camera opens it, and ends with its role`() {
        send(.assigned(.back, "back"))
        func refusal() -> PreviewRefusal? {
            state.refusal(ofPreviewOf: "back", in: .back, for: "setup")
        }
        #expect(refusal() == nil)
        for number in 1...2 {
            let preview = Preview(number: number, device: "back", of: .back, program: "setup")
            #expect(send(.preview(.begun(preview))) == (number == 1 ? [.openCamera(.back)] : []))
        }
        send(.streaming(.back), .preview(.left(number: 1)), .preview(.closed(number: 1)))
        #expect(state.cameras.back.isAsked)
        let effects = give(.back, "other")
        #expect(effects.contains(.endPreview(number: 2)) && refusal() == .lost(.back))
        #expect(effects.contains(.closeCamera(.back, keepsPicture: false)))
        #expect(!effects.contains(.openCamera(.back)))
    }

    @Test mutating func `that of a role's camera tells at once that it delivers nothing`() {
        send(.assigned(.back, "back"))
        let preview = Preview(number: 1, device: "back", of: .back, program: "setup")
        send(.preview(.begun(preview)))
        #expect(send(.interrupted(.back, .busy)).contains(.endPreview(number: 1)))
    }

    @Test("it ends when its program has left, once")
    mutating func left() {
        begin(1, "a")
        #expect(send(.preview(.left(number: 1))) == [.endPreview(number: 1)])
        #expect(send(.preview(.left(number: 1))) == [])
        #expect(state.previews.open.count == 1, "its device may be open")
        send(.preview(.closed(number: 1)), .preview(.left(number: 1)))
        #expect(state.previews == PreviewsState())
    }

    @Test(
        "none is open, or begins, while cameras have to be closed",
        arguments: Suspension.allCases
    )
    mutating func suspended(why: Suspension) {
        begin(1, "a")
        #expect(send(.suspension(why, true)) == [.endPreview(number: 1)])
        #expect(refusal("b") == .suspended(why) && !state.areCamerasClosed)
        send(.preview(.closed(number: 1)))
        #expect(state.areCamerasClosed)
        send(.suspension(why, false))
        #expect(refusal("b") == nil)
    }

    @Test("privacy is answered once its device is closed, too")
    mutating func privacy() {
        begin(1, "a")
        #expect(
            send(.privacy(.set(true))) == [.endPreview(number: 1), .storePrivacy(true, number: 1)]
        )
        send(.privacy(.stored(number: 1, failure: nil)))
        #expect(state.privacyOutcome(of: 1) == nil && !state.isPrivate)
        send(.preview(.closed(number: 1)))
        #expect(state.privacyOutcome(of: 1) == .complete && state.isPrivate)
    }

    @Test mutating func `a role gets the device that is looked at, once that is closed`() {
        stream()
        begin(1, "a")
        begin(2, "b")
        send(.assigned(.back, nil), .camera(.back, .closed))
        let effects = give(.back, "a")
        #expect(effects.contains(.endPreview(number: 1)))
        #expect(!effects.contains(.openCamera(.back)))
        #expect(state.cameras.back.phase == .opening)
        #expect(send(.preview(.closed(number: 1))) == [.openCamera(.back)])
        #expect(state.previews.open.map(\.number) == [2], "the other one goes on")
    }

    @Test mutating func `a lens that is looked at is opened once that is closed`() {
        stream()
        begin(1, "tele")
        let lenses = [("back", 1.0), ("tele", 3.0)].map { Lens($0, $1) }
        #expect(find(lenses).contains(.endPreview(number: 1)))
        let effects = send(.lens(.back, .setZoom(4, middle: nil, duration: 0)))
        #expect(state.cameras.back.lens.incoming?.device == "tele")
        #expect(!effects.contains(.openLens(.back)))
        #expect(send(.preview(.closed(number: 1))).contains(.openLens(.back)))
    }

    @Test mutating func `a camera that is needed no more is not opened after all`() {
        stream()
        begin(1, "a")
        send(.assigned(.back, nil), .camera(.back, .closed))
        _ = give(.back, "a")
        send(.privacy(.set(true)))
        #expect(send(.preview(.closed(number: 1))) == [])
        send(.camera(.back, .closed), .camera(.front, .closed))
        #expect(send(.privacy(.set(false))).contains(.openCamera(.back)))
    }

    @Test mutating func `another device that the role gets meanwhile does not wait for it`() {
        stream()
        begin(1, "a")
        send(.assigned(.back, nil), .camera(.back, .closed))
        #expect(!give(.back, "a").contains(.openCamera(.back)))
        #expect(give(.back, "back").contains(.openCamera(.back)))
        #expect(send(.preview(.closed(number: 1))) == [])
    }

    @Test("they leave the bus to the cameras in use")
    mutating func room() {
        stream()
        begin(1, "a")
        #expect(send(.interrupted(.back, .bandwidth)).first == .endPreview(number: 1))
        #expect(refusal("b") == .noRoom)
        send(.streaming(.back))
        #expect(refusal("b") == nil)
    }
}
