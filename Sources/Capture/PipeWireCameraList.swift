import Glibc
import PipeWire

/// The cameras that PipeWire lists, by id, and whose they are.
struct PipeWireCameraList {
    /// The cameras, by id.
    private(set) var cameras: [UInt32: PipeWireObject.Camera] = [:]
    /// The process ids of clients, by client.
    private var processes: [String: String] = [:]

    /// Takes an object over.
    mutating func add(_ id: UInt32, _ object: PipeWireObject) {
        switch object {
        case .client(let process, _, _): processes["\(id)"] = process
        case .camera(let camera): cameras[id] = camera
        case .link, .node: break
        }
    }

    /// Forgets an object.
    mutating func remove(_ id: UInt32) {
        cameras[id] = nil
        processes["\(id)"] = nil
    }

    /// Returns `true` if this process made `camera`.
    func isOurs(_ camera: PipeWireObject.Camera) -> Bool {
        processes[camera.client] == "\(getpid())"
    }
}
