import Control
import DBusKit
import DualCamCore
import Engine
import Frames

/// The Camera interfaces on the session bus, one for each camera.
@MainActor
final class CameraService {
    private let daemon: Daemon
    private let server: ObjectServer
    /// The calls of SelectLens, which get their reply once no lens is incoming any more.
    private var selecting: [(role: Role, call: Call<String, NoOptions, Void>)] = []

    /// The default and the longest duration of a zoom, in milliseconds.
    private static let (zoomRamp, longestRamp) = (UInt32(250), UInt32(60_000))

    /// Exports the interfaces on `server`.
    init(_ daemon: Daemon, on server: ObjectServer) {
        self.daemon = daemon
        self.server = server
        for role in Role.allCases {
            server.export(CameraInterface.self, at: role.path) { [unowned self] camera in
                showSource(of: role, camera)
                showLens(of: role, camera)
                camera.answer(\.selectLens) { [unowned self] call throws(DBusError) in
                    try selectLens(role, call.arguments)
                    selecting.append((role, call))
                    answerWaiting()
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
        handlers.get(\.source) { camera.source.description }
        handlers.get(\.state) { camera.phase.rawValue }
        handlers.get(\.interruption) { camera.interruption.rawValue }
        handlers.get(\.width) { UInt32(clamping: camera.mode?.size.width ?? 0) }
        handlers.get(\.height) { UInt32(clamping: camera.mode?.size.height ?? 0) }
        handlers.get(\.frameRate) { UInt32(saturating: camera.mode?.rate ?? 0) }
        handlers.get(\.pixelFormat) { camera.mode?.format.description ?? "" }
        handlers.get(\.mirror) { camera.mirror }
        handlers.set(\.mirror) { daemon.send(.camera(role, .setMirror($0))) }
        handlers.get(\.rotation) { UInt32(clamping: camera.rotation) }
        handlers.set(\.rotation) { degrees throws(DBusError) in
            guard [0, 90, 180, 270].contains(degrees) else {
                throw .outOfRange("Rotation must be 0, 90, 180 or 270, not \(degrees).")
            }
            daemon.send(.camera(role, .setRotation(Int(degrees))))
        }
        handlers.get(\.nodeID) { camera.node.id ?? .max }
        handlers.get(\.consumers) { UInt32(clamping: camera.node.consumers) }
        handlers.get(\.framesCaptured) { daemon.counts(of: role).captured }
        handlers.get(\.framesDropped) {
            let counts = daemon.counts(of: role)
            return counts.damaged + counts.missing
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
        handlers.setLater(\.torch) { [unowned self] write in
            daemon.setTorch(role, write.value) { [self] result in
                switch result {
                case .success:
                    server.refresh()
                    write.accept()
                case .failure(let refusal):
                    let isThere = daemon.state.cameras[role].phase != .unavailable
                    write.refuse(DBusError(refusal, isThere: isThere))
                }
            }
        }
    }

    private func selectLens(_ role: Role, _ name: String) throws(DBusError) {
        let state = daemon.state.cameras[role].lens
        guard let lens = state.all.first(where: { $0.name == name }) else {
            let names = state.present.map(\.name).joined(separator: ", ")
            throw .notSupported(
                "The \(role.rawValue) camera has no lens \"\(name.prefix(64))\"; there are: \(names)."
            )
        }
        guard lens.isThere else {
            throw .noCamera("The lens \(name) of the \(role.rawValue) camera is not there.")
        }
        daemon.send(
            .lens(role, .setZoom(lens.factor, middle: nil, duration: LensState.usualDuration))
        )
    }

    private func setZoom(
        _ role: Role,
        _ call: Call<Double, CameraInterface.Zoom, Void>
    ) throws(DBusError) {
        let range = daemon.state.cameras[role].lens.zoomRange
        let zoom = try checked("Zoom", call.arguments, in: range)
        let ramp = try checked(
            "ramp-ms",
            call.options.ramp ?? Self.zoomRamp,
            in: 0...Self.longestRamp
        )
        var middle: NormalizedPoint?
        if let point = call.options.at {
            guard (0...1).contains(point.first), (0...1).contains(point.second) else {
                throw .outOfRange(
                    "Both parts of at must be between 0 and 1, not \(point.first) and \(point.second)."
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

extension UInt32 {
    /// Creates the nearest whole number, 0 for NaN.
    fileprivate init(saturating number: Double) {
        self = number.isNaN ? 0 : UInt32(Swift.min(Swift.max(number, 0), 4_294_967_295).rounded())
    }
}
