package import Frames

/// The count before a photograph or a recording. It belongs to the call that waits for it.
package struct SelfTimer: Hashable, Sendable {
    /// The thing that is done at its end. The words are those of D-Bus.
    package enum Purpose: String, Hashable, Sendable {
        case photo
        case recording
    }

    package let purpose: Purpose
    let end: Timestamp

    /// The seconds that it may count.
    package static let range = 1...600

    /// Returns the seconds that are left, that under way included.
    package func seconds(at time: Timestamp) -> Int {
        max(0, Int((end - time).seconds.rounded(.up)))
    }
}

/// An event of the self timer.
package enum SelfTimerEvent: Hashable, Sendable {
    /// Begins to count.
    case start(SelfTimer.Purpose, seconds: Int)
    case cancel
    /// The second under way is over.
    case tick
}

extension State {
    mutating func handle(_ event: SelfTimerEvent, at time: Timestamp) -> [Effect] {
        switch event {
        case .start(let purpose, let seconds):
            precondition(selfTimer == nil && SelfTimer.range.contains(seconds))
            if !needsCameras { neededSince = time }
            let end = time + Timestamp(seconds: Double(seconds))
            selfTimer = SelfTimer(purpose: purpose, end: end)
        case .cancel: return endSelfTimer(isOver: false)
        case .tick: if let selfTimer, time >= selfTimer.end { return endSelfTimer(isOver: true) }
        }
        guard let selfTimer else { return [] }
        let left = (selfTimer.end - time).seconds
        return [.startTick(after: left - Double(selfTimer.seconds(at: time) - 1))]
    }

    /// Ends a count for a picture that may not be taken.
    mutating func followSelfTimer() -> [Effect] {
        suspensions.isEmpty ? [] : endSelfTimer(isOver: false)
    }

    private mutating func endSelfTimer(isOver: Bool) -> [Effect] {
        guard selfTimer != nil else { return [] }
        selfTimer = nil
        return [.endSelfTimer(isOver: isOver)]
    }
}
