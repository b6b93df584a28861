import Control
import Engine
import Platform
import Testing

@testable import DBusKit
@testable import DualCamCore
@testable import DualCamDaemon

@MainActor
@Suite("Scenes and privacy") struct ScenesServiceTests {
    private let daemon: Daemon
    private let server: ObjectServer
    private let service: ScenesService

    /// What was refused of each scene that is applied, by its name.
    private final class Answers {
        var refused: [String: [String: Value]] = [:]
        var errors: [String: DBusError] = [:]
    }
    private let answers = Answers()

    init() throws {
        let loop = try EventLoop()
        daemon = try Daemon(Configuration(), loop: loop)
        server = ObjectServer(port: Callers(), managing: DualCam.path)
        service = ScenesService(daemon, on: server, loop: loop)
        // The disk answers at once.
        daemon.performers.append { [daemon, service] effect in
            guard case .storePrivacy(_, let number) = effect else { return }
            daemon.send(.privacy(.stored(number: number, failure: nil)))
            service.answerWaiting()
        }
    }

    private func apply(_ name: String) {
        service.apply(name, nil, instantly: true, for: ":1.7") { [answers] result in
            switch result {
            case .success(let refused): answers.refused[name] = refused
            case .failure(let error): answers.errors[name] = error
            }
        }
    }

    /// Applies the scene of this TOML, called `name`.
    private func apply(_ name: String, _ lines: String) throws {
        let preset = try SceneBook(parsing: "[[scene]]\nname = \"x\"\n" + lines).preset("x")
        service.apply(preset, of: name, nil, instantly: true, ":1.7") { [answers] result in
            switch result {
            case .success(let refused): answers.refused[name] = refused
            case .failure(let error): answers.errors[name] = error
            }
        }
    }

    @Test func anOlderSceneDoesNotEndThePrivacyOfANewerOne() {
        var open: [(Bool) -> Void] = []
        server.isTrusted = { _, decide in open.append(decide) }
        apply("away")
        #expect(daemon.state.privacy.isWanted && daemon.state.scenes.hasPrivacy)
        apply("talk")
        #expect(open.count == 1 && answers.refused["talk"] == nil)
        apply("away")
        open.removeFirst()(true)
        #expect(daemon.state.privacy.isWanted)
        #expect(
            answers.refused["talk"] == ["privacy": .string("Another scene was applied meanwhile.")]
        )
        apply("desk")
        open.removeFirst()(true)
        #expect(!daemon.state.privacy.isWanted && answers.refused["desk"] == [:])
        server.isTrusted = nil
    }

    @Test func aSceneDoesNotEndWhatTheUserAskedForMeanwhile() {
        var open: [(Bool) -> Void] = []
        server.isTrusted = { _, decide in open.append(decide) }
        apply("away")
        apply("talk")
        daemon.send(.privacy(.set(true)))
        open.removeFirst()(true)
        #expect(daemon.state.privacy.isWanted && answers.refused["talk"]?["privacy"] != nil)
        server.isTrusted = nil
    }

    @Test func privacyThatIsNotReadYetMayBeTheUsersOwn() {
        daemon.send(.privacy(.reading))
        apply("away")
        #expect(daemon.state.privacy.isWanted && !daemon.state.scenes.hasPrivacy)
        apply("talk")
        #expect(daemon.state.privacy.isWanted && answers.refused["talk"]?["privacy"] != nil)
    }

    @Test func whatACameraRefusesThatComesLaterIsKept() throws {
        try apply("x", "[scene.back]\niso = 400\nmirror = true\n")
        #expect(answers.refused["x"] == [:] && daemon.state.currentScene == "x")
        daemon.find([CameraDevice(of: .back)])
        // No control thread runs here, so each command is refused.
        #expect(daemon.state.scenes.lateRefusals.keys.sorted() == ["back.iso"])
        #expect(daemon.state.cameras.back.mirror && daemon.state.currentScene == "x")
        apply("talk")
        #expect(daemon.state.scenes.lateRefusals.isEmpty)
    }

    @Test func onlyOneSceneAtATimeHasCommandsForTheCameras() throws {
        daemon.find([CameraDevice(of: .back)])
        var open: [(Result<ControlThread.Outcome, ControlRefusal>) -> Void] = []
        service.carryOut = { _, _, done in open.append(done) }
        let manual = "[scene.back]\niso = 400\nshutter = 4000\n"
        try apply("a", manual)
        #expect(open.count == 2)
        try apply("b", "layout = \"single\"\n" + manual)
        #expect(answers.errors["b"] == .busy("A scene is being applied."))
        #expect(daemon.state.scene.style.layout != .single, "nothing of it is applied")
        try apply("c", "layout = \"single\"\n")
        #expect(answers.refused["c"] == [:])
        for done in open { done(.failure(.notSupported("not now"))) }
        #expect(answers.refused["a"]?.count == 2)
        open = []
        try apply("d", manual)
        #expect(open.count == 2 && answers.errors["d"] == nil)
    }
}
