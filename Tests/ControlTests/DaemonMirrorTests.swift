import Control
import DBusKit
import Platform
import TestSupport
import Testing

@Suite("Mirror of the daemon")
struct DaemonMirrorTests {
    @Test func aDaemonThatDoesNotAnswerIsSilentUntilItDoes() throws {
        try PrivateSession.with([.bus]) { session in
            let address = session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
            // Its loop does not run yet: the calls wait.
            let slow = try EventLoop()
            let service = try BusConnection(to: .address(address), loop: slow)
            let server = ObjectServer(on: service)
            try service.requestName(DualCam.busName)

            let loop = try EventLoop()
            let mirror = DaemonMirror(
                try BusConnection(to: .address(address), loop: loop),
                patience: 0.2
            )
            try eventually("silence", within: 10) {
                loop.runOnce(milliseconds: 10)
                return mirror.isSilent
            }
            #expect(mirror.isPresent != true)
            try eventually("an answer", within: 10) {
                slow.runOnce(milliseconds: 1)
                loop.runOnce(milliseconds: 1)
                return mirror.isPresent == true
            }
            #expect(!mirror.isSilent)
            withExtendedLifetime(server) {}
        }
    }
}
