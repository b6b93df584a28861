import Frames
import Testing

@testable import DualCamCore

@Suite("Privacy") struct PrivacyTests: Reducing {
    var state = State.withTwoCameras()

    @Test("two requests for the same are both answered; one that was taken back is not kept")
    mutating func alike() {
        send(.privacy(.set(true)), .privacy(.set(true)))
        send(.privacy(.stored(number: 2, failure: nil)))
        #expect(state.privacyOutcome(of: 1) == .complete)
        #expect(state.privacyOutcome(of: 2) == .complete)
        send(.privacy(.set(false)), .privacy(.set(true)))
        send(.privacy(.stored(number: 4, failure: nil)))
        #expect(state.privacyOutcome(of: 3) != .complete)
        #expect(state.privacyOutcome(of: 4) == .complete)
    }

    @Test("cameras close at once, and the answer waits for them and for the disk")
    mutating func answer() {
        stream()
        #expect(
            send(.privacy(.set(true))) == [
                .storePrivacy(true, number: 1), .closeCamera(.back, keepsPicture: true),
                .closeCamera(.front, keepsPicture: true),
            ]
        )
        #expect(state.privacyOutcome(of: 1) == nil && !state.isPrivate)
        send(.camera(.back, .closed))
        #expect(state.privacyOutcome(of: 1) == nil && !state.isPrivate)
        send(.camera(.front, .closed))
        #expect(state.isPrivate)
        #expect(state.privacyOutcome(of: 1) == nil, "it is not on the disk")
        send(.privacy(.stored(number: 1, failure: nil)))
        #expect(state.privacyOutcome(of: 1) == .complete)
        #expect(state.keptProblems == [])
    }

    @Test mutating func `an own picture is shown for closed cameras, and until they start`() {
        func own() -> Layer? {
            let layers = layers(at: 10)
            let pipeline = state.scene.awayPipeline(of: .back, at: Timestamp(seconds: 10))
            return layers.count == 1 && layers[0].source.pipeline == pipeline ? layers[0] : nil
        }
        stream()
        #expect(pass(.set(\.away, "/own.png")).first?.contains(.readAway) == true)
        send(.privacy(.set(true)), .camera(.back, .closed), .camera(.front, .closed))
        #expect(own() == nil && layers(at: 10).first?.notice != nil, "the usual notice")
        send(.scene(.awayRead("/another.png")))
        #expect(own() == nil)
        send(.scene(.awayRead("/own.png")))
        #expect(own()?.rect == Rect(state.scene.canvas) && own()?.notice == nil)
        send(.privacy(.set(false)))
        #expect(state.cameras.back.phase == .opening && own() != nil)
        send(.streaming(.back))
        #expect(own() == nil)
        send(.camera(.back, .interrupted(.unplugged, reason: "gone")))
        #expect(own() == nil, "that is news")
    }

    @Test mutating func `the disk may be first`() {
        stream()
        send(.privacy(.set(true)), .privacy(.stored(number: 1, failure: nil)))
        #expect(state.privacyOutcome(of: 1) == nil)
        send(.camera(.back, .closed), .camera(.front, .closed))
        #expect(state.privacyOutcome(of: 1) == .complete)
    }

    @Test mutating func `a lens that is still open is a camera that is still open`() {
        stream()
        state.cameras.back.lens.isOtherOpen = true
        send(.privacy(.set(true)), .privacy(.stored(number: 1, failure: nil)))
        send(.camera(.back, .closed), .camera(.front, .closed))
        #expect(state.privacyOutcome(of: 1) == nil && !state.isPrivate)
        send(.lens(.back, .closed))
        #expect(state.privacyOutcome(of: 1) == .complete)
    }

    @Test mutating func `a disk that fails or hangs keeps no camera open, and is told of`() {
        stream()
        send(.privacy(.set(true)), .camera(.back, .closed), .camera(.front, .closed))
        send(.privacy(.timedOut(number: 1)))
        let late =
            "The cameras are closed now, but may open after a restart. The disk does not answer."
        #expect(state.privacyOutcome(of: 1) == .incomplete(reason: late))
        #expect(state.isPrivate)
        send(.privacy(.stored(number: 1, failure: "fsync: Input/output error")))
        let failed =
            "The cameras are closed now, but may open after a restart. This could not be saved: fsync: Input/output error"
        #expect(state.privacyOutcome(of: 1) == .incomplete(reason: failed))
        #expect(state.keptProblems == [failed])
        send(.privacy(.set(true)), .privacy(.stored(number: 2, failure: nil)))
        #expect(state.keptProblems == [])
    }

    @Test mutating func `a camera that does not close in time is named`() {
        stream()
        send(.privacy(.set(true)), .privacy(.stored(number: 1, failure: nil)))
        send(.camera(.back, .closed), .privacy(.timedOut(number: 1)))
        #expect(state.privacyOutcome(of: 1) == .incomplete(reason: "A camera has not closed yet."))
        #expect(!state.isPrivate)
        send(.camera(.front, .closed))
        #expect(state.privacyOutcome(of: 1) == .complete)
    }

    @Test("the end of privacy waits for the disk alone")
    mutating func end() {
        stream()
        send(.privacy(.set(true)), .camera(.back, .closed), .camera(.front, .closed))
        #expect(
            send(.privacy(.set(false))) == [
                .storePrivacy(false, number: 2), .openCamera(.back), .openCamera(.front),
            ]
        )
        #expect(!state.isPrivate && state.privacyOutcome(of: 2) == nil)
        // The result of the request before is none of this one.
        send(.privacy(.stored(number: 1, failure: nil)), .privacy(.timedOut(number: 1)))
        #expect(state.privacyOutcome(of: 2) == nil)
        let superseded = "Privacy was changed again meanwhile."
        #expect(state.privacyOutcome(of: 1) == .incomplete(reason: superseded))
        send(.privacy(.timedOut(number: 2)))
        let late =
            "Privacy is off now, but may be on again after a restart. The disk does not answer."
        #expect(state.privacyOutcome(of: 2) == .incomplete(reason: late))
        send(.privacy(.stored(number: 2, failure: nil)))
        #expect(state.privacyOutcome(of: 2) == .complete)
    }

    @Test("no camera opens before it is known if privacy was on", arguments: [true, false])
    mutating func start(wasOn: Bool) {
        send(.privacy(.reading))
        for role in Role.allCases { send(.assigned(role)) }
        send(.stream(.start), .published)
        #expect(send(.consumed(true)) == [.endGrace])
        #expect(state.cameras.back.interruption == .privacy && !state.keptProblems.isEmpty)
        let opened: [Effect] = wasOn ? [] : [.openCamera(.back), .openCamera(.front)]
        #expect(send(.privacy(.read(wasOn))) == opened)
        #expect(state.isPrivate == wasOn && state.keptProblems == [])
    }

    @Test mutating func `what the user asks for precedes what was stored`() {
        send(.privacy(.reading), .privacy(.set(true)), .privacy(.read(false)))
        #expect(state.suspensions == [.privacy])
        send(.privacy(.set(false)), .privacy(.read(true)))
        #expect(state.suspensions == [])
    }

    @Test("a camera that closes while it opens is not closed before its thread says so")
    mutating func closing() {
        send(.assigned(.back), .stream(.start), .published, .consumed(true))
        send(.consumed(false), .graceOver)
        #expect(state.cameras.back.phase == .opening && !state.areCamerasClosed)
        send(.camera(.back, .closed))
        #expect(state.cameras.back.phase == .closed && state.areCamerasClosed)
    }
}
