import Frames
import Testing

@Suite struct PausesTests {
    @Test func `What comes after pauses moves up, and can be found again`() {
        func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: seconds) }
        var pauses = Pauses()
        #expect(!pauses.isOpen && pauses.place(of: at(5)) == at(5))
        pauses.turn(on: true, at: at(10))
        pauses.turn(on: true, at: at(11))
        #expect(pauses.isOpen && !pauses.contains(at(9)) && pauses.contains(at(1e6)))
        #expect(pauses.place(of: at(9)) == at(9) && pauses.place(of: at(1e6)) == at(10))
        pauses.turn(on: false, at: at(13))
        pauses.turn(on: false, at: at(14))
        pauses.turn(on: true, at: at(20))
        pauses.turn(on: false, at: at(25))
        for (time, place) in [(9.0, 9.0), (13, 10), (19, 16), (25, 17), (30, 22)] {
            #expect(!pauses.contains(at(time)) && pauses.place(of: at(time)) == at(place))
            #expect(pauses.time(at: at(place)) == at(time))
        }
        #expect(pauses.contains(at(12)) && pauses.contains(at(20)) && !pauses.isOpen)
        #expect(pauses.places == [at(10), at(17)])
    }
}
