import Frames
import Testing

@testable import DualCamCore

@Suite("Privacy")
struct PrivacyTests {
    var state = State.withTwoCameras()
    let mode = CaptureMode(size: Size(width: 1280, height: 720), rate: 30, format: .yuyv)

    @discardableResult
    mutating func apply(_ events: Event...) -> [Effect] {
        events.flatMap { reduce(&state, $0, at: .zero) }
    }

    /// Has a consumer take frames of both cameras, which deliver.
    mutating func stream() {
        for role in Role.allCases { apply(.camera(role, .assigned(name: "A camera"))) }
        apply(.stream(.start), .node(nil, .published(id: 7)), .node(nil, .consumed(true)))
        for role in Role.allCases { apply(.camera(role, .streaming(mode, insteadOf: nil))) }
    }

    @Test("two requests for the same are both answered; one that was taken back is not kept")
    mutating func alike() {
        apply(.privacy(.set(true)), .privacy(.set(true)))
        apply(.privacy(.stored(number: 2, failure: nil)))
        #expect(state.privacyOutcome(of: 1) == .complete)
        #expect(state.privacyOutcome(of: 2) == .complete)
        apply(.privacy(.set(false)), .privacy(.set(true)))
        apply(.privacy(.stored(number: 4, failure: nil)))
        #expect(state.privacyOutcome(of: 3) != .complete)
        #expect(state.privacyOutcome(of: 4) == .complete)
    }

    @Test("cameras close at once, and the answer waits for them and for the disk")
    mutating func answer() {
        stream()
        #expect(
            apply(.privacy(.set(true))) == [
                .storePrivacy(true, number: 1), .closeCamera(.back, keepsPicture: true),
                .closeCamera(.front, keepsPicture: true),
            ]
        )
        #expect(state.privacyOutcome(of: 1) == nil && !state.isPrivate)
        apply(.camera(.back, .closed))
        #expect(state.privacyOutcome(of: 1) == nil && !state.isPrivate)
        apply(.camera(.front, .closed))
        #expect(state.isPrivate)
        #expect(state.privacyOutcome(of: 1) == nil, "it is not on the disk")
        apply(.privacy(.stored(number: 1, failure: nil)))
        #expect(state.privacyOutcome(of: 1) == .complete)
        #expect(state.keptProblems == [])
    }

    @Test("the disk may be first")
    mutating func diskFirst() {
        stream()
        apply(.privacy(.set(true)), .privacy(.stored(number: 1, failure: nil)))
        #expect(state.privacyOutcome(of: 1) == nil)
        apply(.camera(.back, .closed), .camera(.front, .closed))
        #expect(state.privacyOutcome(of: 1) == .complete)
    }

    @Test("a lens that is still open is a camera that is still open")
    mutating func secondPipeline() {
        stream()
        state.cameras.back.lens.isOtherOpen = true
        apply(.privacy(.set(true)), .privacy(.stored(number: 1, failure: nil)))
        apply(.camera(.back, .closed), .camera(.front, .closed))
        #expect(state.privacyOutcome(of: 1) == nil && !state.isPrivate)
        apply(.lens(.back, .closed))
        #expect(state.privacyOutcome(of: 1) == .complete)
    }

    @Test("a disk that fails or hangs keeps no camera open, and is told of")
    mutating func badDisk() {
        stream()
        apply(.privacy(.set(true)))
        apply(.camera(.back, .closed), .camera(.front, .closed))
        apply(.privacy(.timedOut(number: 1)))
        let late =
            "The cameras are closed now, but may open after a restart. The disk does not answer."
        #expect(state.privacyOutcome(of: 1) == .incomplete(reason: late))
        #expect(state.isPrivate)
        apply(.privacy(.stored(number: 1, failure: "fsync: Input/output error")))
        let failed =
            "The cameras are closed now, but may open after a restart. This could not be saved: fsync: Input/output error"
        #expect(state.privacyOutcome(of: 1) == .incomplete(reason: failed))
        #expect(state.keptProblems == [failed])
        apply(.privacy(.set(true)), .privacy(.stored(number: 2, failure: nil)))
        #expect(state.keptProblems == [])
    }

    @Test("a camera that does not close in time is named")
    mutating func slowCamera() {
        stream()
        apply(.privacy(.set(true)), .privacy(.stored(number: 1, failure: nil)))
        apply(.camera(.back, .closed), .privacy(.timedOut(number: 1)))
        #expect(
            state.privacyOutcome(of: 1) == .incomplete(reason: "A camera has not closed yet.")
        )
        #expect(!state.isPrivate)
        apply(.camera(.front, .closed))
        #expect(state.privacyOutcome(of: 1) == .complete)
    }

    @Test("the end of privacy waits for the disk alone")
    mutating func end() {
        stream()
        apply(.privacy(.set(true)), .camera(.back, .closed), .camera(.front, .closed))
        #expect(
            apply(.privacy(.set(false))) == [
                .storePrivacy(false, number: 2), .openCamera(.back), .openCamera(.front),
            ]
        )
        #expect(!state.isPrivate && state.privacyOutcome(of: 2) == nil)
        // The result of the request before is none of this one.
        apply(.privacy(.stored(number: 1, failure: nil)), .privacy(.timedOut(number: 1)))
        #expect(state.privacyOutcome(of: 2) == nil)
        let superseded = "Privacy was changed again meanwhile."
        #expect(state.privacyOutcome(of: 1) == .incomplete(reason: superseded))
        apply(.privacy(.timedOut(number: 2)))
        let late =
            "Privacy is off now, but may be on again after a restart. The disk does not answer."
        #expect(state.privacyOutcome(of: 2) == .incomplete(reason: late))
        apply(.privacy(.stored(number: 2, failure: nil)))
        #expect(state.privacyOutcome(of: 2) == .complete)
    }

    @Test("no camera opens before it is known if privacy was on", arguments: [true, false])
    mutating func start(wasOn: Bool) {
        apply(.privacy(.reading))
        for role in Role.allCases { apply(.camera(role, .assigned(name: "A camera"))) }
        apply(.stream(.start), .node(nil, .published(id: 7)))
        #expect(apply(.node(nil, .consumed(true))) == [.endGrace])
        #expect(state.cameras.back.interruption == .privacy && !state.keptProblems.isEmpty)
        let opened: [Effect] = wasOn ? [] : [.openCamera(.back), .openCamera(.front)]
        #expect(apply(.privacy(.read(wasOn))) == opened)
        #expect(state.isPrivate == wasOn && state.keptProblems == [])
    }

    @Test("what the user asks for precedes what was stored")
    mutating func lateRead() {
        apply(.privacy(.reading), .privacy(.set(true)), .privacy(.read(false)))
        #expect(state.suspensions == [.privacy])
        apply(.privacy(.set(false)), .privacy(.read(true)))
        #expect(state.suspensions == [])
    }

    @Test("a camera that closes while it opens is not closed before its thread says so")
    mutating func closing() {
        apply(.camera(.back, .assigned(name: "A camera")))
        apply(.stream(.start), .node(nil, .published(id: 7)), .node(nil, .consumed(true)))
        apply(.node(nil, .consumed(false)), .node(nil, .graceOver))
        #expect(state.cameras.back.phase == .opening && !state.areCamerasClosed)
        apply(.camera(.back, .closed))
        #expect(state.cameras.back.phase == .closed && state.areCamerasClosed)
    }
}
