import Control
import DBusKit
import DualCamCore
import Engine
import Frames
import Platform

/// The Scenes interface on the session bus: saved scenes, and their application.
@MainActor
final class ScenesService {
    private let daemon: Daemon
    private let server: ObjectServer
    private let store: SceneStore
    /// The applications that wait until privacy has changed.
    private var waiting: [(number: Int, application: Application)] = []
    /// The number of commands of scenes that the cameras' controls have not answered yet.
    private var commandCount = 0
    /// Sends a command to a camera's controls.
    var carryOut:
        (
            ControlCommand, Role,
            @escaping @MainActor (Result<ControlThread.Outcome, ControlRefusal>) -> Void
        ) -> Void
    /// The number of applications that have said whether privacy is to be on.
    private var wishes = 0

    init(_ daemon: Daemon, on server: ObjectServer, loop: EventLoop) {
        self.daemon = daemon
        self.server = server
        store = SceneStore(daemon.files, loop: loop)
        carryOut = { daemon.perform($0, $1, done: $2) }
        store.onChange = { daemon.change() }
        server.export(ScenesInterface.self, at: DualCam.path) { [unowned self] scenes in
            scenes.get(\.names) { [unowned self] in store.book.names }
            scenes.get(\.current) { [unowned self] in
                // A scene that is gone was changed.
                let name = daemon.state.currentScene
                return store.book.names.contains(name) ? name : ""
            }
            answer(scenes)
            change(scenes)
        }
    }

    /// Requests the scenes, once the daemon owns its name: the file belongs to one daemon.
    func load() { store.load() }

    var problems: [String] { store.problems }

    /// Begins no change that waits.
    func end() { store.end() }

    private func answer(_ scenes: Handlers<ScenesInterface>) {
        scenes.answer(\.apply) { [unowned self] call throws(DBusError) in
            let parts = try Self.parts(call.options.only)
            store.whenLoaded { [self] in
                let isInstant = call.options.instant ?? false
                apply(call.arguments, parts, instantly: isInstant, for: call.sender) { result in
                    call.answer(result)
                }
            }
        }
        scenes.answer(\.next) { [unowned self] call throws(DBusError) in
            let parts = try Self.parts(call.options.only)
            store.whenLoaded { [self] in
                guard let name = store.book.next(after: daemon.state.scenes.last) else {
                    return call.fail(.noScene("There is no scene that leaves the cameras on."))
                }
                let isInstant = call.options.instant ?? false
                apply(name, parts, instantly: isInstant, for: call.sender) { result in
                    call.answer(result.map { (name, $0) })
                }
            }
        }
        scenes.answer(\.export) { [unowned self] call in
            store.whenLoaded { [self] in
                do throws(SceneBook.Refusal) {
                    let names = call.arguments.isEmpty ? store.book.names : call.arguments
                    call.reply(try store.book.exported(names))
                } catch {
                    call.fail(DBusError(error))
                }
            }
        }
    }

    private func change(_ scenes: Handlers<ScenesInterface>) {
        scenes.answer(\.save) { [unowned self] call throws(DBusError) in
            let name = call.arguments
            // What is shown when the call arrives, however long the disk takes.
            let preset = daemon.state.preset(of: try Self.parts(call.options.only))
            store.change(for: call.sender) { book throws(SceneBook.Refusal) in
                try book.save(preset, as: name)
            } done: { [unowned self] result in
                if case .success = result { daemon.send(.scenes(.saved(preset, as: name))) }
                call.answer(result)
            }
        }
        scenes.answer(\.remove) { [unowned self] call in
            let name = call.arguments
            store.change(for: call.sender) { book throws(SceneBook.Refusal) in
                try book.remove(name)
            } done: { [unowned self] result in
                if case .success = result { daemon.send(.scenes(.renamed(name, to: nil))) }
                call.answer(result)
            }
        }
        scenes.answer(\.rename) { [unowned self] call in
            let (name, new) = call.arguments
            store.change(for: call.sender) { book throws(SceneBook.Refusal) in
                try book.rename(name, to: new)
            } done: { [unowned self] result in
                if case .success = result { daemon.send(.scenes(.renamed(name, to: new))) }
                call.answer(result)
            }
        }
        scenes.answer(\.importText) { [unowned self] call in
            let (text, replacing) = (call.arguments, call.options.replace ?? false)
            store.change(for: call.sender) { book throws(SceneBook.Refusal) in
                try book.add(text, replacing: replacing)
            } done: { [unowned self] result in
                if case .success(let names) = result {
                    for name in names { daemon.send(.scenes(.renamed(name, to: nil))) }
                }
                call.answer(result)
            }
        }
    }

    private static func parts(_ words: [String]?) throws(DBusError) -> Set<ScenePart>? {
        guard let words else { return nil }
        var parts: Set<ScenePart> = []
        for word in words { parts.insert(try choice("A part of a scene", word)) }
        return parts
    }

    // MARK: Applying

    /// An application of a scene that is not answered yet.
    private final class Application {
        let name: String
        var refused: [String: String]
        /// The number of answers that it waits for, and one until all are asked for.
        var missing = 1
        let done: (Result<[String: Value], DBusError>) -> Void

        init(
            _ name: String,
            _ refused: [String: String],
            _ done: @escaping (Result<[String: Value], DBusError>) -> Void
        ) {
            (self.name, self.refused, self.done) = (name, refused, done)
        }

        /// Notes an answer; the last one completes the application.
        func finish() {
            missing -= 1
            guard missing == 0 else { return }
            done(.success(refused.mapValues { .string($0) }))
        }
    }

    /// Applies the scene `name`, or `parts` of it, for `caller`. `done` gets refusals and reasons.
    func apply(
        _ name: String,
        _ parts: Set<ScenePart>?,
        instantly isInstant: Bool,
        for caller: String,
        done: @escaping (Result<[String: Value], DBusError>) -> Void
    ) {
        let preset: ScenePreset
        do throws(SceneBook.Refusal) { preset = try store.book.preset(name) } catch {
            return done(.failure(DBusError(error)))
        }
        apply(preset.limited(to: parts), of: name, parts, instantly: isInstant, caller, done)
    }

    /// Applies `preset`, which is the scene called `name` or these `parts` of it. A camera's
    /// controls take their time, so that only one application at a time has commands for them.
    func apply(
        _ preset: ScenePreset,
        of name: String,
        _ parts: Set<ScenePart>?,
        instantly isInstant: Bool,
        _ caller: String,
        _ done: @escaping (Result<[String: Value], DBusError>) -> Void
    ) {
        var preset = preset
        let refused = daemon.state.refusals(of: preset, by: daemon.configuration.capture)
        preset.remove(refused.keys)
        let time = MonotonicClock.now
        let commands = Role.allCases.map {
            (role: $0, all: daemon.state.commands(of: preset, for: $0, at: time))
        }
        guard commandCount == 0 || commands.allSatisfy(\.all.now.isEmpty) else {
            return done(.failure(.busy("A scene is being applied.")))
        }
        let application = Application(name, refused, done)
        let whole = parts == nil ? name : nil
        daemon.send(.scenes(.chosen(name)))
        daemon.send(.scenes(.apply(preset, as: whole, instantly: isInstant)))
        for (role, all) in commands {
            for one in all.now { perform(one.command, one.key, role, application) }
            if let lock = all.lock { daemon.send(.scenes(.lockLater(role, lock))) }
        }
        if parts?.contains(.privacy) ?? true {
            setPrivacy(preset.isPrivate ?? false, for: caller, application)
        }
        application.finish()
    }

    private func perform(
        _ command: ControlCommand,
        _ key: String,
        _ role: Role,
        _ application: Application
    ) {
        application.missing += 1
        commandCount += 1
        carryOut(command, role) { [self] result in
            commandCount -= 1
            if case .failure(let refusal) = result {
                application.refused[key] = refusal.reason
                daemon.send(.scenes(.refused([key], of: application.name)))
            }
            application.finish()
        }
    }

    /// Begins privacy, or ends it if a scene began it and the caller may.
    private func setPrivacy(_ isOn: Bool, for caller: String, _ application: Application) {
        wishes += 1
        let wish = wishes
        guard isOn != daemon.state.privacy.isWanted else { return }
        if isOn {
            // Privacy that is not read from the disk yet may be the user's own.
            let isKnown = !daemon.state.privacy.isUnread
            wait(for: application) {
                daemon.send(.privacy(.set(true)))
                if isKnown { daemon.send(.scenes(.tookPrivacy)) }
            }
            return
        }
        guard daemon.state.scenes.hasPrivacy, let isTrusted = server.isTrusted else {
            return endPrivacy(application)
        }
        application.missing += 1
        isTrusted(caller) { [self] isTrusted in
            if !isTrusted {
                application.refused["privacy"] = server.distrust.message
            } else if wish != wishes {
                application.refused["privacy"] = "Another scene was applied meanwhile."
            } else {
                endPrivacy(application)
            }
            application.finish()
        }
    }

    /// Ends privacy if a scene began it. It may have changed since the scene was applied.
    private func endPrivacy(_ application: Application) {
        guard daemon.state.privacy.isWanted else { return }
        guard daemon.state.scenes.hasPrivacy else {
            application.refused["privacy"] =
                "You turned privacy on yourself, so it stays on. Turn it off with "
                + "`dualcamctl privacy off`."
            return
        }
        wait(for: application) { daemon.send(.privacy(.set(false))) }
    }

    private func wait(for application: Application, _ change: () -> Void) {
        application.missing += 1
        change()
        waiting.append((daemon.state.privacy.number, application))
        answerWaiting()
    }

    /// Answers the applications whose change of privacy is complete, or will not be.
    func answerWaiting() {
        let all = waiting
        waiting = []
        for (number, application) in all {
            switch daemon.state.privacyOutcome(of: number) {
            case nil: waiting.append((number, application))
            case .complete: application.finish()
            case .incomplete(let reason):
                application.refused["privacy"] = reason
                application.finish()
            }
        }
    }
}
