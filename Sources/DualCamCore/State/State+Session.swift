import Frames

/// A reason that no camera may be open, even for consumers. Of several, the first one is shown.
package enum Suspension: Int, CaseIterable, Hashable, Sendable {
    /// The user asked for privacy.
    case privacy
    /// The session is locked, or another one is active.
    case locked
    /// The machine is going to sleep.
    case asleep

    /// The interruption that the cameras' state shows for it.
    var interruption: Interruption {
        switch self {
        case .privacy: .privacy
        case .locked: .locked
        case .asleep: .asleep
        }
    }
}

/// An event of the user's session.
package enum SessionEvent: Hashable, Sendable {
    /// Begins or ends a suspension, which keeps cameras closed.
    case suspend(Suspension, Bool)
}

/// What keeps cameras closed.
extension State {
    mutating func handle(_ event: SessionEvent) {
        switch event {
        case .suspend(let why, let isOn):
            if isOn { suspensions.insert(why) } else { suspensions.remove(why) }
            // Do not reopen cameras that were only kept open for a consumer that has left.
            if isOn, !isConsumed { needsCameras = false }
            for role in Role.allCases where isOn && !cameras[role].node.isConsumed {
                cameras[role].node.needsCamera = false
            }
        }
    }
}
