import Frames

/// The node that offers one camera's picture alone.
package struct CameraNode: Hashable, Sendable {
    /// Its id while it exists.
    package internal(set) var id: UInt32?
    /// The reason that it is missing although it should exist; empty otherwise.
    package internal(set) var problem = ""
    /// The number of consumers linked to it.
    package internal(set) var consumers = 0
    /// `true` while a consumer takes frames.
    var isConsumed = false
    /// `true` while a consumer takes frames, and for the grace period after that.
    var needsCamera = false
}

/// An event of the node that offers one camera's picture alone.
package enum CameraNodeEvent: Hashable, Sendable {
    /// The node was published.
    case published(id: UInt32)
    /// The node is missing although it should exist, for this reason.
    case lost(reason: String)
    /// The node was withdrawn because it is not wanted.
    case withdrawn
    /// The first consumer began to take frames, or the last one stopped.
    case consumed(Bool)
    /// The number of linked consumers.
    case consumers(Int)
    /// No consumer took frames during the grace period.
    case graceOver
}

extension State {
    /// Handles an event of a camera's own node.
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

    /// Records that this camera's own node is gone, and its consumers with it.
    mutating func loseNode(of role: Role, reason: String) {
        cameras[role].node.id = nil
        cameras[role].node.problem = reason
        cameras[role].node.isConsumed = false
        cameras[role].node.consumers = 0
    }

    /// Keeps a camera needed while its own node is consumed, and for the grace period after that.
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
