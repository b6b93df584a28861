import Frames

/// An event of the stream's node, or of the node that offers one camera's picture alone.
package enum NodeEvent: Hashable, Sendable {
    case published(id: UInt32)
    /// The node is missing although it should exist, for this reason.
    case lost(reason: String)
    /// The node was withdrawn as requested, or because it is not wanted.
    case withdrawn
    /// The first consumer began to take frames, or the last one stopped.
    case consumed(Bool)
    /// The number of linked consumers.
    case consumers(Int)
    /// The programs that are linked to the nodes.
    case viewers([Viewer])
    /// No consumer took frames during the grace period.
    case graceOver
}

extension State {
    /// All programs that take pictures, from nodes and loopback, in the order in which they came.
    package var allViewers: [Viewer] {
        (viewers + loopback.readers).sorted { $0.since < $1.since }
    }

    /// The ids of the nodes that there are.
    var nodeIDs: [UInt32] {
        ([nodeID] + Role.allCases.map { cameras[$0].node.id }).compactMap(\.self)
    }

    mutating func handle(_ event: NodeEvent) -> [Effect] {
        switch event {
        case .published(let id):
            guard isStarted else { break }
            nodeID = id
            nodeProblem = ""
            guard !isAnnounced else { break }
            isAnnounced = true
            return [.announce(.didStart)]
        case .lost(let reason):
            guard isStarted else { break }
            let isNew = nodeProblem.isEmpty && !isAnnounced
            nodeID = nil
            nodeProblem = reason
            isConsumed = false
            consumers = 0
            viewers.removeAll { $0.through.isEmpty }
            return isNew ? [.announce(.failedToStart(reason: reason))] : []
        case .withdrawn: isWithdrawing = false
        case .consumed(let isConsumed): self.isConsumed = isConsumed && isStarted
        case .consumers(let count): consumers = isStarted ? count : 0
        case .viewers(let programs): viewers = isStarted ? programs : []
        case .graceOver: if !isConsumed { needsCameras = false }
        }
        return []
    }

    mutating func handle(_ event: NodeEvent, of role: Role) {
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
        case .viewers: break  // Those of all nodes are reported with the stream's.
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

    /// Keeps cameras needed while a node is consumed, and for the grace period after that.
    mutating func followConsumers(_ before: State, at time: Timestamp) -> [Effect] {
        var effects: [Effect] = []
        if isConsumed != before.isConsumed {
            if isConsumed {
                effects.append(.endGrace)
                if !needsCameras { neededSince = time }
                needsCameras = true
            } else if needsCameras {
                effects.append(.startGrace)
            }
        }
        for role in Role.allCases { effects += followConsumers(of: role, before, at: time) }
        return effects
    }

    private mutating func followConsumers(
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
