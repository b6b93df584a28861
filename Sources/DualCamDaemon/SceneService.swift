import Control
import DBusKit
import DualCamCore
import Frames

/// The Scene interface on the session bus: the arrangement of the two pictures.
@MainActor
final class SceneService {
    private let daemon: Daemon
    /// The callers that draw the HUD themselves, with what tells that they are gone.
    private var hudClaims: [String: AnyObject] = [:]

    /// Exports the interface on `server`.
    init(_ daemon: Daemon, on server: ObjectServer) {
        self.daemon = daemon
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
            scene.get(\.hud) { daemon.state.pro.hud.rawValue }
            scene.set(\.hud) { word throws(DBusError) in
                daemon.send(.pro(.setHud(try choice("Hud", word))))
            }
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
                    daemon.send(.scenes(.setTitle(try Title(text))))
                } catch {
                    throw .outOfRange("A title must have \(error.expected).")
                }
            }
            scene.get(\.titleCorner) { daemon.state.titleCorner.rawValue }
            scene.set(\.titleCorner) { word throws(DBusError) in
                daemon.send(.scenes(.setTitleCorner(try choice("TitleCorner", word))))
            }
            scene.get(\.layouts) { Layout.allCases.map(\.rawValue) }
            scene.get(\.mainRectangle) { Quad(daemon.state.scene.restingParts.main) }
            scene.get(\.insetRectangle) { Quad(daemon.state.scene.restingParts.other) }
            showStyle(scene)
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

    private func showStyle(_ scene: Handlers<SceneInterface>) {
        let daemon = daemon
        scene.get(\.layout) { daemon.state.scene.style.layout.rawValue }
        scene.set(\.layout) { [unowned self] word throws(DBusError) in
            change(\.layout, to: try choice("Layout", word))
        }
        scene.get(\.insetVisible) { daemon.state.scene.style.insetVisible }
        scene.set(\.insetVisible) { [unowned self] in change(\.insetVisible, to: $0) }
        scene.get(\.insetCorner) { daemon.state.scene.style.insetCorner.rawValue }
        scene.set(\.insetCorner) { [unowned self] word throws(DBusError) in
            change(\.insetCorner, to: try choice("InsetCorner", word))
        }
        scene.get(\.insetSize) { daemon.state.scene.style.insetSize }
        scene.set(\.insetSize) { [unowned self] size throws(DBusError) in
            change(\.insetSize, to: try checked("InsetSize", size, in: SceneStyle.insetSizes))
        }
        scene.get(\.swapIcon) { daemon.state.scene.style.swapIcon }
        scene.set(\.swapIcon) { [unowned self] in change(\.swapIcon, to: $0) }
    }

    private func change<Part>(_ part: WritableKeyPath<SceneStyle, Part>, to value: Part) {
        var style = daemon.state.scene.style
        style[keyPath: part] = value
        daemon.send(.scene(.setStyle(style)))
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
    /// Checks that the pictures may be swapped now, or not, as `isSwapped` says.
    ///
    /// - Throws: `Locked` if they may not.
    func allowSwap(to isSwapped: Bool) throws(DBusError) {
        do throws(SwapRefusal) {
            try state.allowSwap(to: isSwapped, by: configuration.capture)
        } catch { throw DBusError(error) }
    }
}

extension DBusError {
    /// Creates the bus error for a refusal.
    fileprivate init(_ refusal: SwapRefusal) {
        self =
            switch refusal {
            case .noOtherCamera: .noCamera(refusal.message)
            case .recording: .locked(refusal.message)
            }
    }
}

extension Quad {
    /// Creates the form of `rect` on D-Bus.
    fileprivate init(_ rect: Rect) {
        self.init(x: rect.x, y: rect.y, width: rect.width, height: rect.height)
    }
}
