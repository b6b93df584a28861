import Foundation
import Platform
import TestSupport
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

    @Test("is tried as soon as the socket appears, and for no other file")
    func socket() throws {
        let (folder, loop) = (try ScratchDirectory(), try EventLoop())
        var count = 0
        let watch = SocketWatch(loop: loop, remote: "\(folder.path)/pipewire-0") { count += 1 }
        for name in ["pipewire-0.lock", "pipewire-0"] {
            #expect(count == 0)
            try Data().write(to: URL(filePath: "\(folder.path)/\(name)"))
            // What has happened is there to be read.
            loop.runOnce(milliseconds: 100)
        }
        #expect(count == 1)
        withExtendedLifetime(watch) {}
    }
}
