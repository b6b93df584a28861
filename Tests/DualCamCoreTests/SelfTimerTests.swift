import Frames
import Testing

@testable import DualCamCore

@Suite struct SelfTimerTests: Reducing {
    var state = State.withTwoCameras()

    init() { for role in Role.allCases { send(.assigned(role)) } }

    @Test mutating func `It ticks each second, has the cameras open, and then is over`() {
        let effects = send(.selfTimer(.start(.photo, seconds: 2)), at: 5)
        #expect(effects == [.startTick(after: 1), .openCamera(.back), .openCamera(.front)])
        #expect(state.neededSince == Timestamp(seconds: 5) && state.isInUse)
        // A tick is late; the next one is not.
        #expect(send(.selfTimer(.tick), at: 6.25) == [.startTick(after: 0.75)])
        #expect(state.selfTimer?.seconds(at: Timestamp(seconds: 6.25)) == 1)
        // What is taken at its end finds the cameras open.
        let end = send(.selfTimer(.tick), at: 7)
        #expect(end == [.endSelfTimer(isOver: true), .startTick(after: 1)])
        #expect(send(.selfTimer(.cancel), at: 7.5) == [] && state.counting == nil)
        #expect(send(.selfTimer(.tick), at: 8) == [.close(.back), .close(.front)])
        #expect(send(.selfTimer(.tick), at: 9) == [])
    }

    @Test mutating func `Cancelled, or with the cameras off, it does nothing`() {
        let start = Event.selfTimer(.start(.recording, seconds: 10))
        for end in [Event.selfTimer(.cancel), .suspension(.privacy, true)] {
            send(start)
            #expect(send(end, at: 1).contains(.endSelfTimer(isOver: false)))
            #expect(state.selfTimer == nil && send(.selfTimer(.tick), at: 10) == [])
        }
    }
}
