import Testing

@testable import DualCamCore

@Suite("Stops") struct StopsTests {
    @Test func shutterStopsAreThoseThatPhotographersKnow() {
        let names = Stops.shutter.map { Stops.shutterText(microseconds: $0) }
        let expected =
            "1/8000 1/6400 1/5000 1/4000 1/3200 1/2500 1/2000 1/1600 1/1250 1/1000 1/800 1/640 1/500 1/400 "
            + "1/320 1/250 1/200 1/160 1/125 1/100 1/80 1/60 1/50 1/40 1/30 1/25 1/20 1/15 1/13 1/10 1/8 1/6 "
            + "1/5 1/4 0.3\" 0.4\" 0.5\" 0.6\" 0.8\" 1\""
        #expect(names == expected.split(separator: " ").map(String.init))
        #expect(Stops.shutter == Stops.shutter.sorted())
        #expect(Set(Stops.shutter).count == Stops.shutter.count)
        #expect(Stops.iso == Stops.iso.sorted() && Stops.iso.count == 18)
    }

    @Test(arguments: [
        (4000, "1/250"), (4100, "1/250"), (100, "1/10000"), (156, "1/6400"), (15600, "1/60"),
        (299_900, "0.3\""), (1_000_000, "1\""), (1_300_000, "1.3\""), (30_000_000, "30\""),
        (.max, "9223372036854.8\""), (.min, "1/1000000"),
    ])
    func exposureTimesAreWrittenAsTheirStops(time: Int, text: String) {
        #expect(Stops.shutterText(microseconds: time) == text)
    }

    @Test(arguments: [
        (0.0, "0.1 m"), (0.5, "0.2 m"), (0.55, "0.22 m"), (0.7, "0.3 m"), (0.8, "0.5 m"),
        (0.9, "1 m"), (0.95, "2 m"), (0.97, "3 m"), (1, "∞"),
    ])
    func focusIsWrittenAsADistance(position: Double, text: String) {
        #expect(Stops.focusText(position) == text)
    }

    @Test(arguments: [
        // From, clicks, to, limit.
        (400, 1, 500, Bound?.none), (400, -1, 320, nil), (400, 3, 800, nil), (400, 0, 400, nil),
        (437, 1, 500, nil), (437, -1, 400, nil), (437, -2, 320, nil),
        (6400, 1, 12800, nil), (12800, 1, 12800, .maximum), (6400, 5, 12800, .maximum),
        (100, -1, 100, .minimum), (160, -9, 100, .minimum), (160, -2, 100, nil),
        (50, -1, 50, .minimum), (50, 1, 100, nil), (20000, 1, 20000, .maximum),
        (20000, -1, 12800, nil), (400, .max, 12800, .maximum), (400, .min, 100, .minimum),
    ])
    func aClickGoesToTheNextStopAndNotBeyondTheLast(from: Int, clicks: Int, to: Int, limit: Bound?)
    {
        #expect(Stops.step(from, by: clicks, in: Stops.iso) == Stops.Step(value: to, limit: limit))
    }

    @Test func aDialWithoutStopsDoesNotTurn() {
        #expect(Stops.step(400, by: 1, in: []) == nil)
    }
}
