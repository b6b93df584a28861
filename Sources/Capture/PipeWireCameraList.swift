import Glibc
import PipeWire

/// The cameras that PipeWire lists, by id, and whose they are.
struct PipeWireCameraList {
    /// The cameras, by id.
    private(set) var cameras: [UInt32: PipeWireObject.Camera] = [:]
    /// The process ids of clients, by client.
    private var processes: [String: String] = [:]
    /// The clients of other nodes, by id.
    private var clients: [UInt32: String] = [:]
    /// The links between nodes, by id.
    private var links: [UInt32: (source: UInt32, target: UInt32)] = [:]

    mutating func add(_ id: UInt32, _ object: PipeWireObject) {
        switch object {
        case .client(let process, _, _): processes["\(id)"] = process
        case .camera(let camera): cameras[id] = camera
        case .node(let client): clients[id] = client
        case .link(let source, let target): links[id] = (source, target)
        case .failure, .microphone: break
        }
    }

    mutating func remove(_ id: UInt32) {
        cameras[id] = nil
        processes["\(id)"] = nil
        clients[id] = nil
        links[id] = nil
    }

    /// Returns `true` if this process made `camera`.
    func isOurs(_ camera: PipeWireObject.Camera) -> Bool {
        processes[camera.client] == "\(getpid())"
    }

    /// The ids of the cameras that may show our own pictures: those that we make, and all of each
    /// program that takes pictures from one of these.
    var echoes: Set<UInt32> {
        var echoes = Set(cameras.filter { isOurs($0.value) }.keys)
        while true {
            let readers = Set(
                links.values.filter { echoes.contains($0.source) }
                    .compactMap { clients[$0.target] ?? cameras[$0.target]?.client }.map(program)
            ).subtracting([""])
            let more = cameras.filter { readers.contains(program($0.value.client)) }.keys
            guard !echoes.isSuperset(of: more) else { return echoes }
            echoes.formUnion(more)
        }
    }

    /// Returns what all clients of one program have in common.
    private func program(_ client: String) -> String {
        let process = processes[client] ?? ""
        return process.isEmpty ? client : "process \(process)"
    }
}
