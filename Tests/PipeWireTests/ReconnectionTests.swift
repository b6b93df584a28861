import Testing

@testable import PipeWire

@Suite("A connection that is tried again")
struct ReconnectionTests {
    @Test("is tried after growing delays, and after short ones again once it worked")
    func delays() {
        var reconnection = Reconnection(delays: 0.1...1)
        for _ in 1...2 {
            let delays = (1...6).map { _ in reconnection.lose().delay }
            #expect(delays == [0.1, 0.2, 0.4, 0.8, 1, 1])
            reconnection.succeed()
        }
        for _ in 1...5 { _ = reconnection.lose() }
        reconnection.hasten()
        #expect(reconnection.lose().delay == 0.1)
        #expect(reconnection.lose().delay == 0.2)
    }

    @Test("is lost once, however often it is tried, until it worked")
    func news() {
        var reconnection = Reconnection(delays: 0.1...1)
        #expect((1...3).map { _ in reconnection.lose().isNews } == [true, false, false])
        reconnection.hasten()
        #expect(!reconnection.lose().isNews)
        reconnection.succeed()
        #expect((1...2).map { _ in reconnection.lose().isNews } == [true, false])
    }
}
