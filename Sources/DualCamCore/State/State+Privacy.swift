import Frames

/// The privacy that the user asked for, and how far a request has come.
package struct PrivacyState: Hashable, Sendable {
    /// The result of writing a request to the disk.
    package enum Storing: Hashable, Sendable {
        /// It is being written.
        case pending
        /// It is on the disk.
        case done
        /// It could not be written, for this reason.
        case failed(reason: String)
    }

    /// `true` until it was read whether privacy was on in the last run.
    package internal(set) var isUnread = false
    /// `true` if the user asked for privacy.
    package internal(set) var isWanted = false
    /// The number of the latest request.
    package internal(set) var number = 0
    /// The number of the first of the latest requests that all ask for the same.
    var firstAlike = 0
    /// The progress of writing that request.
    package internal(set) var storing = Storing.done
    /// `true` if the request has taken too long to complete.
    var hasTimedOut = false

    /// The seconds after which a request is answered even if it is not complete.
    package static let timeout = 5.0
}

/// An event of privacy.
package enum PrivacyEvent: Hashable, Sendable {
    /// Begins or ends privacy. No camera opens from now on, or they may again.
    case set(Bool)
    /// Reading whether privacy was on in the last run has begun; cameras stay closed meanwhile.
    case reading
    /// Privacy was on in the last run, or not.
    case read(Bool)
    /// The request of this number is on the disk; or it is not, for this reason.
    case stored(number: Int, failure: String?)
    /// The request of this number has taken too long.
    case timedOut(number: Int)
}

/// The answer to a request for privacy.
package enum PrivacyOutcome: Hashable, Sendable {
    /// It is kept, and on the disk; all cameras are closed if it is on.
    case complete
    /// It does not hold as promised, for this reason.
    case incomplete(reason: String)
}

extension State {
    mutating func handle(_ event: PrivacyEvent, at time: Timestamp) -> [Effect] {
        switch event {
        case .set(let isOn):
            let effects = isOn ? [] : endSceneOfPrivacy(at: time)
            privacy.isUnread = false
            scenes.hasPrivacy = false
            privacy.number += 1
            if isOn != privacy.isWanted { privacy.firstAlike = privacy.number }
            privacy.isWanted = isOn
            privacy.storing = .pending
            privacy.hasTimedOut = false
            suspend(.privacy, isOn)
            return effects + [.storePrivacy(isOn, number: privacy.number)]
        case .reading:
            privacy.isUnread = true
            suspend(.privacy, true)
        case .read(let isOn):
            // What the user asked for meanwhile takes precedence.
            guard privacy.isUnread else { break }
            privacy.isUnread = false
            privacy.isWanted = isOn
            suspend(.privacy, isOn)
            guard !isOn else { break }
            // Its end was stored, and perhaps not yet what ended with it.
            scenes.hasPrivacy = false
            return endSceneOfPrivacy(at: time)
        case .stored(let number, let failure):
            guard number == privacy.number else { break }
            privacy.storing = failure.map { .failed(reason: $0) } ?? .done
        case .timedOut(let number):
            if number == privacy.number { privacy.hasTimedOut = true }
        }
        return []
    }

    /// `true` while privacy is on, and every camera is closed.
    package var isPrivate: Bool { privacy.isWanted && areCamerasClosed }

    /// `true` while no camera is open, or may be.
    package var areCamerasClosed: Bool {
        previews.open.isEmpty && Role.allCases.allSatisfy { !cameras[$0].mayBeOpen }
    }

    /// Returns `true` if privacy was changed again since the request of `number`.
    package func isOvertaken(_ number: Int) -> Bool { number < privacy.firstAlike }

    /// Returns the answer to the privacy request of `number`; `nil` while it is not complete.
    package func privacyOutcome(of number: Int) -> PrivacyOutcome? {
        guard !isOvertaken(number) else {
            return .incomplete(reason: "Privacy was changed again meanwhile.")
        }
        let isClosed = !privacy.isWanted || areCamerasClosed
        switch privacy.storing {
        case .done where isClosed: return .complete
        case .failed(let reason) where isClosed:
            return .incomplete(reason: unkept("This could not be saved: \(reason)"))
        default: break
        }
        guard privacy.hasTimedOut else { return nil }
        guard isClosed else { return .incomplete(reason: "A camera has not closed yet.") }
        return .incomplete(reason: unkept("The disk does not answer."))
    }

    private func unkept(_ why: String) -> String {
        privacy.isWanted
            ? "The cameras are closed now, but may open after a restart. \(why)"
            : "Privacy is off now, but may be on again after a restart. \(why)"
    }

    /// The reason that privacy does not hold as promised, for people; empty otherwise.
    package var privacyProblem: String {
        if privacy.isUnread {
            return "It is not known yet if privacy is on, so the cameras stay closed."
        }
        if case .failed(let reason) = privacy.storing {
            return unkept("This could not be saved: \(reason)")
        }
        return ""
    }
}
