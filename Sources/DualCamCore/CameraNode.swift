import Frames

/// What is known of the node that offers one camera's picture alone.
package struct CameraNode: Hashable, Sendable {
    /// Its id while there is one.
    package internal(set) var id: UInt32?
    /// Why there is none though there should be one; empty otherwise.
    package internal(set) var problem = ""
    /// How many consumers are linked to it.
    package internal(set) var consumers = 0
    /// Whether one of them takes frames.
    var isConsumed = false
    /// Whether the camera is needed for it: somebody looks, or did until a moment ago.
    var needsCamera = false
}

/// What became of the node that offers one camera's picture alone.
package enum CameraNodeEvent: Hashable, Sendable {
    /// It is there.
    case published(id: UInt32)
    /// It is not there though it should be, and why.
    case lost(reason: String)
    /// It was taken away, since it is not wanted.
    case withdrawn
    /// Consumers take frames, or none does any more.
    case consumed(Bool)
    /// So many consumers are linked.
    case consumers(Int)
    /// Nobody looked for as long as cameras are kept open.
    case graceOver
}

extension State {
    /// Handles what became of a camera's own node.
    mutating func handle(_ event: CameraNodeEvent, of role: Role) {
        switch event {
        case .published(let id):
            guard isStarted else { break }
            cameras[role].node.id = id
            cameras[role].node.problem = ""
        case .lost(let reason): loseNode(of: role, reason: isStarted ? reason : "")
        case .withdrawn:
            loseNode(of: role, reason: "")
            cameras[role].node.needsCamera = false
        case .consumed(let isConsumed): cameras[role].node.isConsumed = isConsumed && isStarted
        case .consumers(let count): cameras[role].node.consumers = isStarted ? count : 0
        case .graceOver:
            if !cameras[role].node.isConsumed { cameras[role].node.needsCamera = false }
        }
    }

    /// There is no node of this camera's own any more, and so nobody who looks at it alone.
    mutating func loseNode(of role: Role, reason: String) {
        cameras[role].node.id = nil
        cameras[role].node.problem = reason
        cameras[role].node.isConsumed = false
        cameras[role].node.consumers = 0
    }

    /// Needs a camera while somebody looks at it alone, and a bit longer.
    mutating func followConsumers(
        of role: Role,
        _ before: State,
        at time: Timestamp
    ) -> [Effect] {
        let node = cameras[role].node
        defer { scene.isAlone[role] = cameras[role].node.needsCamera }
        guard node.isConsumed != before.cameras[role].node.isConsumed else { return [] }
        guard node.isConsumed else { return node.needsCamera ? [.startCameraGrace(role)] : [] }
        if !node.needsCamera, !needsCameras { neededSince = time }
        cameras[role].node.needsCamera = true
        return [.endCameraGrace(role)]
    }
}
