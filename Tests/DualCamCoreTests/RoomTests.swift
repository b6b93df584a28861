import Frames
import Testing

@testable import DualCamCore

@Suite("A hidden room") struct RoomTests: Reducing {
    var state = State.withTwoCameras()

    @Test("stays hidden when another camera takes over, until it is shown again")
    mutating func replaced() {
        send(.assigned(.back, "Desk", id: "desk"), .set(\.cameras.back.room, .blur))
        send(.assigned(.back, "Lid", id: "lid"))
        #expect(state.cameras.back.room == .blur && state.cameras.front.room == .asIs)
        send(.set(\.cameras.back.room, .asIs), .assigned(.back, "Desk", id: "desk"))
        #expect(state.cameras.back.room == .blur, "it was hidden there")
        // And after a restart.
        var next = State.withTwoCameras()
        SavedState(state).restore(&next)
        state = next
        send(.assigned(.back, "Desk", id: "desk"))
        #expect(state.cameras.back.room == .blur)
    }

    @Test("is read as words or a path", arguments: ["as-is", "blur", "/a b.png", "~/ä.jpg"])
    func words(_ text: String) throws {
        #expect(try Room(parsing: text).description == text)
    }

    @Test("is read as nothing else", arguments: ["", "Blur", "a.png", "~a", "file:/a"])
    func others(_ text: String) {
        #expect(throws: UnreadableValue.self) { try Room(parsing: text) }
    }

    /// Returns the steps that follow when pictures take these shares of the time to the next one.
    private func steps(_ shares: [Double], seconds: Int) -> [RoomPace.Step] {
        var pace = RoomPace()
        return (0..<30 * seconds).compactMap { number in
            let time = Timestamp(seconds: Double(number) / 30)
            let work = Timestamp(seconds: shares[number % shares.count] / 30)
            return pace.note(work, interval: 1.0 / 30, at: time) ? pace.step : nil
        }
    }

    @Test
    func `is hidden less exactly, then with all else, where that takes too long, for a minute`() {
        #expect(steps([0.6], seconds: 5) == [.everySecond, .none])
        #expect(steps([0.6, 0.4, 0.6], seconds: 3) == [.everySecond])
        #expect(steps([0.4, 0.9, 0.4], seconds: 10) == [], "some pictures take longer")
        #expect(steps([0.6], seconds: 66) == [.everySecond, .none, .each])
    }
}
