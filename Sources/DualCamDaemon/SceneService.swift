import Control
import DBusKit
import DualCamCore
import Frames
import Platform

/// The Scene interface on the session bus: the arrangement of the two pictures.
@MainActor
final class SceneService {
    private let daemon: Daemon
    /// The callers that draw the HUD themselves, with what tells that they are gone.
    private var hudClaims: [String: AnyObject] = [:]
    private let server: ObjectServer
    private var timer: EventLoop.Timer?
    /// `true` until the stream shows where the last movement has led.
    private var isMoving = false
    /// The answers that wait for the end of the movement.
    private var settling: [() -> Void] = []

    /// The seconds between two looks at what moves.
    private static let interval = 0.02

    /// Exports the interface on `server`.
    ///
    /// - Throws: `SystemError` if the system has no descriptor left.
    init(_ daemon: Daemon, on server: ObjectServer, loop: EventLoop) throws(SystemError) {
        self.daemon = daemon
        self.server = server
        timer = try loop.timer { [unowned self] in follow() }
        server.export(SceneInterface.self, at: DualCam.path) { [unowned self] scene in
            scene.answer(\.swap) { [unowned self] call throws(DBusError) in try swap(call) }
            scene.answer(\.reset) { call throws(DBusError) in
                try daemon.allowSwap(to: false)
                let style = daemon.configuration.scene.style
                daemon.send(.scene(.reset(style, instantly: call.options.instant ?? false)))
                call.reply()
            }
            scene.get(\.swapped) { daemon.state.scene.isSwapped }
            scene.set(\.swapped) { isSwapped throws(DBusError) in
                try daemon.allowSwap(to: isSwapped)
                daemon.send(.scene(.setSwapped(isSwapped, instantly: false)))
            }
            scene.get(\.main) { daemon.state.scene.main.path }
            scene.get(\.inset) { daemon.state.scene.main.other.path }
            scene.get(\.hudConsumer) { daemon.state.pro.hudConsumers.first ?? "" }
            scene.answer(\.claimHud) { [unowned self] call throws(DBusError) in
                claimHud(for: call.sender) { call.onLeaving($0) }
                call.reply()
            }
            scene.answer(\.releaseHud) { [unowned self] call throws(DBusError) in
                releaseHud(of: call.sender)
                call.reply()
            }
            scene.get(\.title) { daemon.state.title?.text ?? "" }
            scene.set(\.title) { text throws(DBusError) in
                do throws(UnreadableValue) {
                    daemon.send(.set(\.title, try Title(text)))
                } catch {
                    throw .outOfRange("A title must have \(error.expected).")
                }
            }
            scene.get(\.layouts) { Layout.allCases.map(\.rawValue) }
            scene.get(\.mainRectangle) { Quad(daemon.state.scene.restingParts.main) }
            scene.get(\.insetRectangle) { Quad(daemon.state.scene.restingParts.other) }
            scene.get(\.insetRoom) { Quad(daemon.state.scene.restingParts.insetRoom) }
            scene.bind(Settings.rows, at: \.self, of: daemon)
            scene.get(\.moving) { [unowned self] in isMoving }
            scene.answer(\.settle) { [unowned self] call in
                follow()
                if isMoving {
                    settling.append { call.reply() }
                } else {
                    daemon.whenShown { call.reply() }
                }
            }
        }
        daemon.observers.append { [weak self] in self?.follow() }
    }

    /// Looks if anything moves, again and again until nothing does.
    private func follow() {
        guard daemon.state.scene.isStill(at: MonotonicClock.now) else {
            isMoving = true
            timer?.arm(after: Self.interval)
            return
        }
        guard isMoving else { return }
        timer?.disarm()
        daemon.whenShown { [self] in
            // Something else may have begun to move.
            guard isMoving, daemon.state.scene.isStill(at: MonotonicClock.now) else { return }
            isMoving = false
            server.refresh()
            server.emit(\SceneInterface.settled, at: DualCam.path)
            let all = settling
            settling = []
            for done in all { done() }
        }
    }

    private func claimHud(
        for consumer: String,
        onLeaving: (@escaping () -> Void) -> AnyObject
    ) {
        guard hudClaims[consumer] == nil else { return }
        hudClaims[consumer] = onLeaving { [unowned self] in releaseHud(of: consumer) }
        daemon.send(.pro(.claimHud(consumer: consumer)))
    }

    private func releaseHud(of consumer: String) {
        guard hudClaims.removeValue(forKey: consumer) != nil else { return }
        daemon.send(.pro(.releaseHud(consumer: consumer)))
    }

    private func swap(
        _ call: Call<Void, SceneInterface.Transition, Bool>
    ) throws(DBusError) {
        do throws(SwapRefusal) {
            try daemon.state.allowExchange(by: daemon.configuration.capture)
        } catch { throw DBusError(error) }
        daemon.send(.scene(.swap(instantly: call.options.instant ?? false)))
        call.reply(daemon.state.scene.isSwapped)
    }
}

extension Daemon {
    /// Throws `Locked` if the pictures may not be swapped now, or not, as `isSwapped` says.
    func allowSwap(to isSwapped: Bool) throws(DBusError) {
        do throws(SwapRefusal) {
            try state.allowSwap(to: isSwapped, by: configuration.capture)
        } catch { throw DBusError(error) }
    }
}

extension DBusError {
    fileprivate init(_ refusal: SwapRefusal) {
        self =
            switch refusal {
            case .noOtherCamera: .noCamera(refusal.message)
            case .recording: .locked(refusal.message)
            }
    }
}

extension Quad {
    fileprivate init(_ rect: Rect) {
        self.init(x: rect.x, y: rect.y, width: rect.width, height: rect.height)
    }
}
