import Frames

/// An event of photographs.
package enum PhotographEvent: Hashable, Sendable {
    /// Keeps these cameras open, `full` of them in their largest mode, in place of those before.
    case take(Set<Role>, full: Set<Role> = [])
}

extension State {
    mutating func handle(_ event: PhotographEvent, at time: Timestamp) {
        switch event {
        case .take(let roles, let full):
            precondition(full.isSubset(of: roles))
            if !roles.isEmpty, !needsCameras, photographed.isEmpty { neededSince = time }
            photographed = roles
            photographedFull = full
        }
    }

    /// Switches cameras to their largest mode for photographs that want it, and back afterwards.
    mutating func adaptToPhotographs() -> [Effect] {
        var effects: [Effect] = []
        for role in Role.allCases {
            let camera = cameras[role]
            guard camera.isAsked else {
                // The next time it opens in its usual mode.
                cameras[role].full = .off
                continue
            }
            let isWanted = photographedFull.contains(role)
            let isFull = camera.full == .asked || camera.full == .on
            guard isWanted != isFull else { continue }
            cameras[role].full = isWanted ? .asked : .left
            effects.append(.adaptCamera(role))
        }
        return effects
    }
}
