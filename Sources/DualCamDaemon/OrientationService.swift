import Control
import DBusKit
import DualCamCore

/// The Orientation interface on the session bus: how the device is held.
@MainActor
final class OrientationService {
    private let daemon: Daemon
    private let server: ObjectServer

    /// Exports the interface on `server`, with the state of `daemon` as of each `refresh`.
    init(_ daemon: Daemon, on server: ObjectServer) {
        self.daemon = daemon
        self.server = server
        server.export(.orientation, at: DualCam.path, properties: properties) { _ in
        } onWrite: { [unowned self] in
            write($0)
        }
    }

    /// Updates the properties to the present state.
    func refresh() { server.set(properties, of: .orientation, at: DualCam.path) }

    private var properties: [String: Value] {
        let orientation = daemon.state.orientation
        return [
            "Mode": .string(orientation.mode?.rawValue ?? "auto"),
            "Current": .string(orientation.current.rawValue),
            "SensorAvailable": .boolean(orientation.hasSensor),
        ]
    }

    private func write(_ write: PropertyWrite) {
        let word = write.value.string ?? ""
        let mode = DeviceOrientation(rawValue: word)
        guard mode != nil || word == "auto" else {
            let words = ["auto"] + DeviceOrientation.allCases.map(\.rawValue)
            write.refuse(
                .outOfRange(
                    "Mode is \"\(word.prefix(64))\", expected one of \(words.joined(separator: ", "))"
                )
            )
            return
        }
        daemon.send(.orientation(.set(mode)))
        write.accept()
    }
}
