import Control
import Platform
import Testing

@testable import DBusKit
@testable import DualCamCore
@testable import DualCamDaemon

/// A server's port that leads nowhere.
final class NoBus: MessagePort {
    var onCall: ((Message) -> Void)?
    var onRound: () -> Void = {}
    func soon() {}
    func send(_ message: Message) {}
    func onLeaving(_ name: String, _ handler: @escaping () -> Void) -> AnyObject { self }
}

@MainActor
@Suite("Service") struct ServiceTests {
    /// The export stops the program at a member without a handler.
    @Test func everyDeclaredMemberHasAHandler() throws {
        let loop = try EventLoop()
        let daemon = try Daemon(Configuration(), loop: loop)
        let server = ObjectServer(port: NoBus(), managing: DualCam.path)
        let service = try Service(
            daemon,
            try RecordingSession(daemon, helper: [], loop: loop),
            LivePhotos(daemon, loop: loop),
            on: server,
            loop: loop,
            configurationFile: nil
        )
        let main = try #require(server.objects[DualCam.path]).map(\.interface)
        let camera = try #require(server.objects[DualCam.backPath]).map(\.interface)
        #expect(Set(main + camera) == Set(Interface.all))
        #expect(server.value(of: "State", of: .stream, at: DualCam.path) == .string("stopped"))
        for (name, path) in [("Main", DualCam.backPath), ("Inset", DualCam.frontPath)] {
            let value = server.value(of: name, of: .scene, at: DualCam.path)
            #expect(value == .objectPath(path), "\(name)")
        }
        withExtendedLifetime(service) {}
    }
}
