import Frames

/// A reason that no camera may be open, even for consumers. Of several, the first one is shown.
package enum Suspension: Int, CaseIterable, Hashable, Sendable {
    case privacy
    /// The session is locked, or another one is active.
    case locked
    /// The machine is going to sleep.
    case asleep

    /// The reason why no camera opens, as a sentence that says what helps.
    package var sentence: String {
        switch self {
        case .privacy: "Privacy is on. Turn it off with `dualcamctl privacy off`."
        case .locked: "The screen is locked. The cameras open again once it is unlocked."
        case .asleep: "The computer is going to sleep. The cameras open again once it wakes up."
        }
    }

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
    /// The machine is going to sleep (`true`), or has woken up.
    case sleeping(Bool)
    /// logind came, went or answered.
    case login(LoginEvent)
    /// A screen saver or a lock screen covers the session, or none does any more.
    case covered(Bool)
}

extension State {
    /// The suspension that is shown, of those there are.
    package var suspension: Suspension? { suspensions.min { $0.rawValue < $1.rawValue } }

    /// `true` while the cameras stay closed only until it is known whether they have to.
    package var isSuspensionUndecided: Bool {
        !suspensions.isEmpty
            && suspensions.allSatisfy { why in
                switch why {
                case .privacy: privacy.isUnread
                case .locked: lock.isUndecided
                case .asleep: false
                }
            }
    }

    /// The reason why no camera opens, as a sentence; `nil` if they may.
    package var suspensionReason: String? {
        switch suspension {
        case .privacy where privacy.isUnread: privacyProblem
        case .locked where !lock.problem.isEmpty: lock.problem
        case let suspension: suspension?.sentence
        }
    }

    mutating func handle(_ event: SessionEvent) -> [Effect] {
        var effects: [Effect] = []
        switch event {
        case .sleeping(let isOn): suspend(.asleep, isOn)
        case .login(let event): effects = handle(event)
        case .covered(let isOn): lock.isCovered = isOn
        }
        followLock()
        return effects
    }

    mutating func followLock() {
        let isLocked = lock.isLocked && closesAtLock
        if isLocked != suspensions.contains(.locked) { suspend(.locked, isLocked) }
    }

    /// The problems with privacy, the lock and what is stored, one sentence each.
    package var keptProblems: [String] {
        [privacyProblem, lock.problem].filter { !$0.isEmpty } + storeProblems
    }

    /// Begins or ends a suspension, which keeps cameras closed.
    mutating func suspend(_ why: Suspension, _ isOn: Bool) {
        guard isOn else {
            suspensions.remove(why)
            return
        }
        suspensions.insert(why)
        // Do not reopen cameras that were only kept open for a consumer that has left.
        if !isConsumed { needsCameras = false }
        for role in Role.allCases where !cameras[role].node.isConsumed {
            cameras[role].node.needsCamera = false
        }
    }
}
