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
            try LivePhotos(daemon, loop: loop),
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

    @Test func `A value that cannot be is refused, and changes nothing`() throws {
        let scripted = try Scripted()
        let (callers, before) = (scripted.callers, scripted.daemon.state.scene)
        let wrong: [(String, [Value])] = [
            ("Layout", [.string(""), .string(String(repeating: "x", count: 1 << 20))]),
            ("InsetCorner", [.string("middle")]),
            (
                "InsetSize",
                [.nan, .infinity, -.infinity, 0, -1, 0.5001, 0.0999, 1e308].map(Value.double)
            ),
        ]
        for (property, values) in wrong {
            for value in values {
                try callers.set(property, of: SceneInterface.name, value, from: ":1.1")
                #expect(callers.errors.last == "OutOfRange", "\(property) \(value)")
                #expect((1..<400).contains(callers.refusal.count))
            }
        }
        for turn: UInt32 in [1, 45, 360, .max] {
            let (name, value) = (CameraInterface.name, Value.uint32(turn))
            try callers.set("Rotation", of: name, value, at: DualCam.backPath, from: ":1.1")
            #expect(callers.errors.last == "OutOfRange", "\(turn)")
        }
        #expect(callers.errors.count == 15)
        #expect(scripted.daemon.state.scene == before)
    }
}
