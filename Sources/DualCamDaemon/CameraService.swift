import Control
import DBusKit
import DualCamCore
import Engine
import Frames
import Imaging

/// The Camera interfaces on the session bus, one for each camera.
@MainActor
final class CameraService {
    private let daemon: Daemon
    private let server: ObjectServer
    /// The calls of SelectLens, which get their reply once no lens is incoming any more.
    private var selecting: [(role: Role, call: Call<String, NoOptions, Void>)] = []

    /// The default and the longest duration of a zoom, in milliseconds.
    private static let (zoomRamp, longestRamp) = (UInt32(250), UInt32(60_000))

    /// Exports the interfaces on `server`. `editor` writes sources into the configuration.
    init(_ daemon: Daemon, _ editor: SourceEditor, _ look: CameraLook, on server: ObjectServer) {
        self.daemon = daemon
        self.server = server
        for role in Role.allCases {
            server.export(CameraInterface.self, at: role.path) { [unowned self] camera in
                showSource(of: role, camera)
                showLook(of: role, camera)
                showLens(of: role, camera)
                camera.answer(\.selectLens) { [unowned self] call throws(DBusError) in
                    try selectLens(role, call.arguments)
                    selecting.append((role, call))
                    answerWaiting()
                }
                camera.answer(\.findPerspective) { [unowned self] call in
                    look.open(role, "no page to find") { [self] error in
                        if let error { return call.fail(error) }
                        do throws(DBusError) { try findPerspective(role, call) } catch {
                            call.fail(error)
                        }
                    }
                }
                camera.answer(\.use) { call throws(DBusError) in
                    let login = try call.options.login
                    editor.use(call.arguments, as: role, login, for: call.sender) { error in
                        if let error { call.fail(error) } else { call.reply() }
                    }
                }
                camera.answer(\.setZoom) { [unowned self] call throws(DBusError) in
                    try setZoom(role, call)
                    call.reply()
                }
            }
        }
    }

    private func showSource(of role: Role, _ handlers: Handlers<CameraInterface>) {
        let daemon = daemon
        var camera: CameraState { daemon.state.cameras[role] }
        handlers.get(\.role) { role.rawValue }
        handlers.get(\.name) { camera.name }
        handlers.get(\.source) { camera.source.shown }
        handlers.get(\.state) { camera.phase.rawValue }
        handlers.get(\.interruption) { camera.interruption.rawValue }
        handlers.get(\.holder) { camera.holder }
        handlers.get(\.width) { UInt32(clamping: camera.mode?.size.width ?? 0) }
        handlers.get(\.height) { UInt32(clamping: camera.mode?.size.height ?? 0) }
        handlers.get(\.frameRate) { UInt32(saturating: camera.mode?.rate ?? 0) }
        handlers.get(\.pixelFormat) { camera.mode?.format.description ?? "" }
        handlers.get(\.nodeID) { camera.node.id ?? .max }
        handlers.get(\.consumers) { UInt32(clamping: camera.node.consumers) }
        handlers.get(\.framesCaptured) { daemon.counts(of: role).captured }
        handlers.get(\.delay) {
            let delay = daemon.shownSlot(of: role).delay ?? .zero
            return UInt64(max(0, delay.nanoseconds) / 1000)
        }
        handlers.get(\.framesDropped) {
            let counts = daemon.counts(of: role)
            return counts.damaged + counts.missing
        }
    }

    private func showLook(of role: Role, _ handlers: Handlers<CameraInterface>) {
        let daemon = daemon
        var camera: CameraState { daemon.state.cameras[role] }
        handlers.bind(CameraSettings.rows, at: \.cameras[role], of: daemon)
        handlers.get(\.frozen) { camera.isFrozen }
        handlers.set(\.frozen) { isFrozen throws(DBusError) in
            guard !isFrozen || camera.mode != nil else {
                throw daemon.noPicture(of: role, "nothing to freeze")
            }
            daemon.send(.camera(role, .setFrozen(isFrozen)))
        }
    }

    private func showLens(of role: Role, _ handlers: Handlers<CameraInterface>) {
        let daemon = daemon
        var lens: LensState { daemon.state.cameras[role].lens }
        handlers.get(\.lens) { lens.selected?.name ?? "" }
        handlers.get(\.lenses) { lens.present.map { Pair($0.name, $0.factor) } }
        handlers.get(\.lensFallback) { lens.isFallback }
        handlers.get(\.zoom) { lens.zoom }
        handlers.get(\.zoomRange) { Pair(lens.zoomRange.lowerBound, lens.zoomRange.upperBound) }
        handlers.get(\.torch) { daemon.torch(of: role) ?? false }
        handlers.get(\.torchAvailable) { daemon.torch(of: role) != nil }
        func turnTorch(_ isOn: Bool?, _ done: @escaping (DBusError?) -> Void) {
            daemon.setTorch(role, isOn) { [self] result in
                switch result {
                case .success:
                    server.refresh()
                    done(nil)
                case .failure(let refusal):
                    let isThere = daemon.state.cameras[role].phase != .unavailable
                    done(DBusError(refusal, isThere: isThere))
                }
            }
        }
        handlers.setLater(\.torch) { write in
            turnTorch(write.value) { $0.map(write.refuse) ?? write.accept() }
        }
        handlers.step(\.torch) { step throws(DBusError) in
            _ = try step.turns
            turnTorch(nil) { $0.map(step.refuse) ?? step.accept() }
        }
        handlers.step(\.zoom) { [unowned self] step throws(DBusError) in
            let (zoom, isLimited) = moved(role, by: try step.number)
            daemon.send(.lens(role, .setZoom(zoom, middle: nil, duration: LensState.usualDuration)))
            step.accept(isLimited: isLimited)
        }
    }

    private func findPerspective(
        _ role: Role,
        _ call: Call<Void, CameraInterface.Search, ([Pair<Double, Double>], Double)>
    ) throws(DBusError) {
        guard let basis = daemon.state.pictureBasis(of: role) else {
            throw daemon.noPicture(of: role, "no page to find")
        }
        let isAccepted = daemon.threads.findPage(in: daemon.shownSlot(of: role), for: call.sender) {
            [self] page in
            guard basis == daemon.state.pictureBasis(of: role) else {
                return call.fail(.failed("The camera changed meanwhile."))
            }
            let corners = page?.corners.map { NormalizedPoint(x: $0.x, y: $0.y) } ?? []
            guard let page, page.certainty >= FoundPage.enough,
                let found = try? Perspective(corners)
            else {
                let certainty = Int(((page?.certainty ?? 0) * 100).rounded())
                return call.fail(
                    .failed(
                        "No page can be made out in the picture of the \(role.rawValue) camera "
                            + "(\(certainty) % sure). Show all four corners on something darker, or "
                            + "set them with `dualcamctl perspective set`."
                    )
                )
            }
            let perspective = daemon.state.perspective(found, of: role)
            if call.options.apply ?? true {
                daemon.send(.set(\.cameras[role].perspective, perspective))
            }
            call.reply((perspective.points.map { Pair($0.x, $0.y) }, page.certainty))
        }
        guard isAccepted else { throw .busy("This program searches for a page already.") }
    }

    private func selectLens(_ role: Role, _ name: String) throws(DBusError) {
        let state = daemon.state.cameras[role].lens
        guard let lens = state.all.first(where: { $0.name == name }) else {
            let names = state.present.map(\.name).joined(separator: ", ")
            let others = names.isEmpty ? "" : " It has \(names)."
            throw .notSupported(
                "The \(role.rawValue) camera has no lens “\(name.prefix(64))”." + others
            )
        }
        guard lens.isThere else {
            throw .noCamera("The lens \(name) of the \(role.rawValue) camera is not there.")
        }
        daemon.send(
            .lens(role, .setZoom(lens.factor, middle: nil, duration: LensState.usualDuration))
        )
    }

    /// Returns the magnification of `role` changed by `change`, and `true` if that is an end.
    private func moved(_ role: Role, by change: Double) -> (zoom: Double, isLimited: Bool) {
        let lens = daemon.state.cameras[role].lens
        // Without the dust of sums.
        let zoom = ((lens.zoom + change) * 1e6).rounded() / 1e6
        let end = min(max(zoom, lens.zoomRange.lowerBound), lens.zoomRange.upperBound)
        return (end, end != zoom)
    }

    private func setZoom(
        _ role: Role,
        _ call: Call<Double, CameraInterface.Zoom, Void>
    ) throws(DBusError) {
        let lens = daemon.state.cameras[role].lens
        let range = lens.zoomRange
        var zoom = call.arguments
        if call.options.relative ?? false, zoom.isFinite { zoom = moved(role, by: zoom).zoom }
        zoom = try checked("Zoom", zoom, in: range)
        let ramp = try checked(
            "ramp-ms",
            call.options.ramp ?? Self.zoomRamp,
            in: 0...Self.longestRamp
        )
        var middle: NormalizedPoint?
        if let point = call.options.at {
            guard (0...1).contains(point.first), (0...1).contains(point.second) else {
                throw .outOfRange(
                    "The option at must be two numbers from 0 to 1, not \(point.first),\(point.second)."
                )
            }
            middle = NormalizedPoint(x: point.first, y: point.second)
        }
        daemon.send(.lens(role, .setZoom(zoom, middle: middle, duration: Double(ramp) / 1000)))
    }

    /// Replies to the calls of SelectLens that are complete.
    func answerWaiting() {
        let done = selecting.filter { daemon.state.cameras[$0.role].lens.incoming == nil }
        guard !done.isEmpty else { return }
        selecting.removeAll { daemon.state.cameras[$0.role].lens.incoming == nil }
        for (_, call) in done { call.reply() }
    }
}

extension Daemon {
    /// Returns the error of a command that needs a picture of `role`, which shows none, for
    /// something such as "nothing to lock".
    func noPicture(of role: Role, _ lack: String) -> DBusError {
        let camera = state.cameras[role]
        if let reason = state.suspensionReason { return .locked(reason) }
        return switch camera.phase {
        case .unavailable: .noCamera("There is no \(role.rawValue) camera.")
        case .interrupted:
            .cameraLost("The \(role.rawValue) camera sends no pictures: \(camera.reason)")
        case .closed:
            .failed(
                "The \(role.rawValue) camera is closed, so there is \(lack). It opens once an app "
                    + "shows the stream."
            )
        case .opening, .streaming:
            .failed(
                "The \(role.rawValue) camera shows no picture now, so there is \(lack)."
            )
        }
    }
}

extension UInt32 {
    /// Creates the nearest whole number, 0 for NaN.
    fileprivate init(saturating number: Double) {
        self = number.isNaN ? 0 : UInt32(Swift.min(Swift.max(number, 0), 4_294_967_295).rounded())
    }
}
