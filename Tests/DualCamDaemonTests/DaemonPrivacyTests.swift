import Engine
import Frames
import Glibc
import Platform
import Testing

@testable import DualCamCore
@testable import DualCamDaemon

@MainActor
@Suite("Privacy in the daemon") struct DaemonPrivacyTests {
    /// The report of an earlier closing may arrive after the camera was opened again.
    @Test("however fast privacy goes on and off, it holds only once the cameras are closed")
    func toggled() throws {
        let (configuration, _) = try Configuration.parse(
            "[cameras.back]\nsource = \"test\"\n[cameras.front]\nsource = \"test\"\n",
            file: "test"
        )
        let loop = try EventLoop()
        let daemon = try Daemon(configuration, loop: loop)
        try daemon.threads.startCapture()
        daemon.find([])
        daemon.send(.stream(.start))
        daemon.send(.node(nil, .published(id: 7)))
        daemon.send(.node(nil, .consumed(true)))
        let threads = try #require(daemon.cameras)
        var deadline = MonotonicClock.now + Timestamp(seconds: 20)
        while daemon.state.cameras.back.phase != .streaming, MonotonicClock.now < deadline {
            loop.runOnce(milliseconds: 5)
        }
        #expect(daemon.state.cameras.back.phase == .streaming)
        for number in 1...50 {
            deadline = MonotonicClock.now + Timestamp(seconds: 20)
            daemon.send(.privacy(.set(true)))
            // Its report is on the way by then, mostly.
            usleep(UInt32(number % 5) * 500)
            daemon.send(.privacy(.set(false)))
            usleep(UInt32(number % 3) * 1000)
            daemon.send(.privacy(.set(true)))
            while !daemon.state.isPrivate, MonotonicClock.now < deadline {
                loop.runOnce(milliseconds: 0)
            }
            #expect(threads.back.a.isClosed && threads.front.a.isClosed, "\(number)")
            daemon.send(.privacy(.set(false)))
            loop.runOnce(milliseconds: 2)
        }
        #expect(MonotonicClock.now < deadline)
        for role in Role.allCases {
            for pipeline in CapturePipeline.allCases { threads[role][pipeline].end() }
            for pipeline in CapturePipeline.allCases {
                #expect(threads[role][pipeline].wait(until: deadline))
            }
        }
    }
}
