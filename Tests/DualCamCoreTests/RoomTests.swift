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

    @Test("stays hidden after a restart that lost it, also with another camera")
    mutating func lost() {
        state = .withTwoCameras()
        send(.stored(problems: [], hiddenRooms: [.back]), .assigned(.back, "Lid", id: "lid"))
        #expect(state.cameras.back.room == .blur && state.hiddenRooms.isEmpty)
        send(.set(\.cameras.back.room, .asIs))
        send(.stored(problems: []), .assigned(.back, "Desk", id: "desk"))
        #expect(state.cameras.back.room == .asIs)
        // The disk may answer once the camera is known.
        send(.stored(problems: [], hiddenRooms: [.back]))
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

    @Test func `gives way to another one, or comes back, without a jump`() {
        func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: seconds) }
        var fade = Crossfade("a")
        #expect(fade.before(at: at(0)) == nil)
        fade.change(to: "b", at: at(1), duration: 1)
        #expect(fade.before(at: at(1)).map { $0 == ("a", 1) } == true)
        let there = fade.before(at: at(1.25))?.share ?? 0
        fade.change(to: "a", at: at(1.25), duration: 1)
        #expect(fade.before(at: at(1.25))?.value == "b")
        #expect(abs((fade.before(at: at(1.25))?.share ?? 1) - (1 - there)) < 1e-9)
        #expect(fade.before(at: at(1.5)) == nil)
        // What has hardly begun to come is left out.
        fade.change(to: "b", at: at(2), duration: 1)
        fade.change(to: "c", at: at(2.1), duration: 1)
        #expect(fade.before(at: at(2.1))?.value == "a" && fade.before(at: at(3)) == nil)
        fade.change(to: "d", at: at(4), duration: 0)
        #expect(fade.before(at: at(4)) == nil)
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
