import Frames
import Testing

@testable import DualCamCore

@Suite struct RecordingStateTests {
    private func ready() -> State {
        var state = State.withTwoCameras()
        for role in Role.allCases {
            _ = reduce(&state, .camera(role, .assigned(name: "A camera")), at: .zero)
        }
        return state
    }

    private func streaming(_ role: Role) -> Event {
        let mode = CaptureMode(size: Size(width: 640, height: 480), rate: 30, format: .mjpg)
        return .camera(role, .streaming(mode, insteadOf: nil))
    }

    @Test(
        "a recording opens the cameras that it needs, and begins when pictures are there; sound joins"
    )
    func beginning() {
        var state = ready()
        var effects = reduce(&state, .recording(.start([.back], sound: true)), at: .zero)
        #expect(effects == [.prepareRecording(sound: true), .openCamera(.back)])
        effects = reduce(&state, streaming(.back), at: Timestamp(seconds: 3))
        #expect(effects == [.beginRecording])
        #expect(state.recording.phase == .running)
        #expect(state.recording.seconds(at: Timestamp(seconds: 5.5)) == 2)
        // No consumer is left; the camera stays open.
        effects = reduce(&state, .node(nil, .graceOver), at: Timestamp(seconds: 6))
        #expect(state.cameras.back.isOpen && effects.isEmpty)
        effects = reduce(&state, .recording(.stop), at: Timestamp(seconds: 7))
        #expect(effects == [.endRecording, .closeCamera(.back, keepsPicture: false)])
        _ = reduce(&state, .recording(.ended), at: Timestamp(seconds: 8))
        #expect(state.recording == RecordingState())
    }

    @Test("cameras are needed since its start, unless a consumer needed them before")
    func neededSince() {
        var state = ready()
        let start = Event.recording(.start([.back], sound: false))
        _ = reduce(&state, start, at: Timestamp(seconds: 5))
        #expect(state.neededSince == Timestamp(seconds: 5))
        state = ready()
        _ = reduce(&state, .stream(.start), at: .zero)
        _ = reduce(&state, .node(nil, .published(id: 7)), at: .zero)
        _ = reduce(&state, .node(nil, .consumed(true)), at: Timestamp(seconds: 3))
        _ = reduce(&state, start, at: Timestamp(seconds: 5))
        #expect(state.neededSince == Timestamp(seconds: 3))
    }

    @Test("a camera that does not come is not waited for without end")
    func timeout() {
        var state = ready()
        _ = reduce(&state, .recording(.start([.stream], sound: false)), at: .zero)
        #expect(state.recording.needs(.back) && state.recording.needs(.front))
        _ = reduce(&state, streaming(.back), at: .zero)
        #expect(state.recording.phase == .starting)
        #expect(reduce(&state, .recording(.startTimedOut), at: .zero) == [.beginRecording])
    }

    @Test("it has the cameras that are there; one that is named must be")
    func missingCamera() throws {
        var state = ready()
        #expect(try state.pictures(toRecord: nil) == [.back, .front, .stream])
        _ = reduce(&state, .camera(.front, .assigned(name: nil)), at: .zero)
        #expect(try state.pictures(toRecord: nil) == [.back, .stream])
        #expect(try state.pictures(toRecord: [.back]) == [.back])
        #expect(throws: MissingCamera(role: .front)) {
            try state.pictures(toRecord: [.back, .front])
        }
        _ = reduce(&state, .camera(.back, .assigned(name: nil)), at: .zero)
        for named in [nil, [RecordedPicture.stream]] as [Set<RecordedPicture>?] {
            #expect(throws: MissingCamera(role: nil)) { try state.pictures(toRecord: named) }
        }
    }

    @Test("privacy closes cameras that are recorded, and opens them again for it")
    func privacy() {
        var state = ready()
        _ = reduce(&state, .recording(.start([.back], sound: false)), at: .zero)
        _ = reduce(&state, streaming(.back), at: .zero)
        let closed = reduce(&state, .suspension(.privacy, true), at: .zero)
        #expect(closed == [.closeCamera(.back, keepsPicture: true)])
        _ = reduce(&state, .camera(.back, .closed), at: .zero)
        let opened = reduce(&state, .suspension(.privacy, false), at: .zero)
        #expect(opened == [.openCamera(.back)])
        #expect(state.recording.phase == .running)
    }

    @Test("the stream can be stopped while a camera is recorded")
    func stopping() {
        var state = ready()
        _ = reduce(&state, .stream(.start), at: .zero)
        _ = reduce(&state, .node(nil, .published(id: 7)), at: .zero)
        _ = reduce(&state, .recording(.start([.back], sound: false)), at: .zero)
        _ = reduce(&state, streaming(.back), at: .zero)
        _ = reduce(&state, .stream(.stop), at: .zero)
        let effects = reduce(&state, .node(nil, .withdrawn), at: .zero)
        #expect(effects.contains(.announce(.didStop)))
        #expect(state.cameras.back.isOpen)
    }

    @Test(
        "lengths are told as clocks do",
        arguments: [(0, "0:00"), (65, "1:05"), (3661, "1:01:01"), (-5, "0:00")]
    )
    func clocks(_ seconds: Int, _ text: String) {
        #expect(Clock.text(seconds: seconds) == text)
    }
}
