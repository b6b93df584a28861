import Frames

extension State {
    mutating func handle(_ event: StreamEvent) -> [Effect] {
        switch event {
        case .start: return start()
        case .stop: return stop()
        case .restore: return [.announce(.restoreRequested)]
        case .setOutput(let canvas):
            scene.setCanvas(canvas)
            nodeID = nil
            isConsumed = false
            consumers = 0
            viewers = []
            for role in Role.allCases { loseNode(of: role, reason: "") }
            return (isStarted ? [.publishNode] : [])
                + Role.allCases.filter { cameras[$0].isAsked }.map { .adaptCamera($0) }
        }
    }

    private mutating func start() -> [Effect] {
        guard !isStarted else { return [] }
        // Wait for a stop under way, so that the signals keep their order.
        startsAgain = isStopping
        guard !isStopping else { return [] }
        isStarted = true
        isAnnounced = false
        return [.announce(.willStart), .publishNode]
    }

    private mutating func stop() -> [Effect] {
        startsAgain = false
        guard isStarted else { return [] }
        isStarted = false
        isWithdrawing = true
        isStopping = true
        nodeID = nil
        nodeProblem = ""
        isConsumed = false
        consumers = 0
        viewers = []
        needsCameras = false
        for role in Role.allCases { handle(.withdrawn, of: role) }
        return [.announce(.willStop), .endGrace, .withdrawNode]
    }

    /// Ends a stop once the node and the cameras are gone, except for those that a recording, a
    /// photograph or a preview needs, and starts again if that was requested.
    mutating func finishStop() -> [Effect] {
        let isClosed = Role.allCases.allSatisfy {
            !cameras[$0].mayBeOpen || recording.needs($0) || photographed.contains($0)
                || isPreviewed($0)
        }
        guard isStopping, !isWithdrawing, isClosed else { return [] }
        isStopping = false
        return [.announce(.didStop)] + (startsAgain ? start() : [])
    }
}
