import Frames
import Testing

@testable import DualCamCore

@Suite struct RecordingStateTests: Reducing {
    var state = State.withTwoCameras()

    init() { for role in Role.allCases { send(.assigned(role)) } }

    @Test(
        "a recording opens the cameras that it needs, and begins when pictures are there; sound joins"
    )
    mutating func beginning() {
        let effects = send(.recording(.start([.back], sound: true)))
        #expect(effects == [.prepareRecording(sound: true), .openCamera(.back)])
        #expect(send(.streaming(.back), at: 3) == [.beginRecording])
        #expect(state.recording.phase == .running)
        #expect(state.recording.seconds(at: Timestamp(seconds: 5.5)) == 2)
        // No consumer is left; the camera stays open.
        #expect(send(.graceOver, at: 6) == [] && state.cameras.back.isOpen)
        let ends: [Effect] = [.endRecording, .close(.back)]
        #expect(send(.recording(.stop), at: 7) == ends)
        send(.recording(.ended), at: 8)
        #expect(state.recording == RecordingState())
    }

    @Test("cameras are needed since its start, unless a consumer needed them before")
    mutating func neededSince() {
        let start = Event.recording(.start([.back], sound: false))
        send(start, at: 5)
        #expect(state.neededSince == Timestamp(seconds: 5))
        self = Self()
        send(.stream(.start), .published)
        send(.consumed(true), at: 3)
        send(start, at: 5)
        #expect(state.neededSince == Timestamp(seconds: 3))
    }

    @Test mutating func `a camera that does not come is not waited for without end`() {
        send(.recording(.start([.stream], sound: false)))
        #expect(state.recording.needs(.back) && state.recording.needs(.front))
        send(.streaming(.back))
        #expect(state.recording.phase == .starting)
        #expect(send(.recording(.startTimedOut)) == [.beginRecording])
    }

    @Test mutating func `it has the cameras that are there; one that is named must be`() throws {
        #expect(try state.pictures(toRecord: nil) == [.back, .front, .stream])
        send(.assigned(.front, nil))
        #expect(try state.pictures(toRecord: nil) == [.back, .stream])
        #expect(try state.pictures(toRecord: [.back]) == [.back])
        let both: Set<RecordedPicture> = [.back, .front]
        #expect(throws: MissingCamera(role: .front)) { try state.pictures(toRecord: both) }
        send(.assigned(.back, nil))
        for named in [nil, [RecordedPicture.stream]] as [Set<RecordedPicture>?] {
            #expect(throws: MissingCamera(role: nil)) { try state.pictures(toRecord: named) }
        }
    }

    @Test("privacy closes cameras that are recorded, and opens them again for it")
    mutating func privacy() {
        send(.recording(.start([.back], sound: false)), .streaming(.back))
        #expect(send(.suspension(.privacy, true)) == [.closeCamera(.back, keepsPicture: true)])
        send(.camera(.back, .closed))
        #expect(send(.suspension(.privacy, false)) == [.openCamera(.back)])
        #expect(state.recording.phase == .running)
    }

    @Test mutating func `a pause does not count, keeps the cameras, and needs a recording`() {
        let (pause, resume) = (Event.recording(.pause(true)), Event.recording(.pause(false)))
        send(.recording(.start([.back], sound: false)))
        #expect(send(pause) == [] && !state.recording.isPaused)
        send(.streaming(.back), at: 3)
        var pauses = Pauses()
        pauses.turn(on: true, at: Timestamp(seconds: 5))
        #expect(send(pause, at: 5) == [.pauseRecording(pauses)])
        #expect(send(pause, at: 6) == [] && state.recording.isPaused)
        #expect(state.recording.seconds(at: Timestamp(seconds: 9)) == 2)
        #expect(state.recording.needs(.back) && state.cameras.back.isOpen)
        pauses.turn(on: false, at: Timestamp(seconds: 9))
        #expect(send(resume, at: 9) == [.pauseRecording(pauses)])
        #expect(send(resume, at: 10) == [] && !state.recording.isPaused)
        #expect(state.recording.seconds(at: Timestamp(seconds: 12)) == 5)
        send(pause, at: 12)
        send(.recording(.stop), at: 13)
        #expect(!state.recording.isPaused)
    }

    @Test mutating func `the stream can be stopped while a camera is recorded`() {
        send(.stream(.start), .published, .recording(.start([.back], sound: false)))
        send(.streaming(.back), .stream(.stop))
        #expect(send(.withdrawn).contains(.announce(.didStop)))
        #expect(state.cameras.back.isOpen)
    }

    @Test(arguments: [(0, "0:00"), (65, "1:05"), (3661, "1:01:01"), (-5, "0:00")])
    func `lengths are told as clocks do`(_ seconds: Int, _ text: String) {
        #expect(Clock.text(seconds: seconds) == text)
    }
}
