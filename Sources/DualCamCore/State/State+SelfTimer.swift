package import Frames

/// The count before a photograph or a recording. It belongs to the call that waits for it.
package struct SelfTimer: Hashable, Sendable {
    /// The thing that is done at its end. The words are those of D-Bus.
    package enum Purpose: String, Hashable, Sendable {
        case photo
        case recording
    }

    package let purpose: Purpose
    var end: Timestamp
    /// `true` once it has counted. The cameras stay open until its new end, so that what is taken
    /// then finds them open.
    var isOver = false

    /// The seconds that it may count.
    package static let range = 1...600

    /// Returns the seconds that are left, that under way included.
    package func seconds(at time: Timestamp) -> Int {
        max(0, Int((end - time).seconds.rounded(.up)))
    }
}

/// An event of the self timer.
package enum SelfTimerEvent: Hashable, Sendable {
    case start(SelfTimer.Purpose, seconds: Int)
    case cancel
    /// The second under way is over.
    case tick
}

extension State {
    mutating func handle(_ event: SelfTimerEvent, at time: Timestamp) -> [Effect] {
        switch event {
        case .start(let purpose, let seconds):
            precondition(counting == nil && SelfTimer.range.contains(seconds))
            if !needsCameras { neededSince = time }
            let end = time + Timestamp(seconds: Double(seconds))
            selfTimer = SelfTimer(purpose: purpose, end: end)
        case .cancel: return cancelSelfTimer()
        case .tick:
            guard var timer = selfTimer, time >= timer.end else { break }
            guard !timer.isOver else {
                selfTimer = nil
                return []
            }
            (timer.isOver, timer.end) = (true, time + Timestamp(seconds: 1))
            selfTimer = timer
            return [.endSelfTimer(isOver: true), .startTick(after: 1)]
        }
        guard let selfTimer else { return [] }
        let left = (selfTimer.end - time).seconds
        return [.startTick(after: left - Double(selfTimer.seconds(at: time) - 1))]
    }

    /// The self timer that counts.
    package var counting: SelfTimer? { selfTimer.flatMap { $0.isOver ? nil : $0 } }

    /// Ends a count for a picture that may not be taken.
    mutating func followSelfTimer() -> [Effect] {
        suspensions.isEmpty ? [] : cancelSelfTimer()
    }

    private mutating func cancelSelfTimer() -> [Effect] {
        guard counting != nil else { return [] }
        selfTimer = nil
        return [.endSelfTimer(isOver: false)]
    }
}
