/// The state of logind as far as it is known, and the locks that logind does not know of.
///
/// As soon as there may be a logind, cameras stay closed until it has answered. If it does not, it
/// is asked again, after growing delays. If it stops, or falls silent, its last answer is valid for
/// a while; then the session counts as locked, because a lock could no longer be noticed. Without a
/// logind, only screen savers count.
package struct SessionLock: Hashable, Sendable {
    /// `true` from when there may be a logind until it is known that there has been none.
    var mayExist = false
    /// `true` once there was a logind, even one that never answered.
    var wasFound = false
    /// `true` while its answer is not older than its last silence.
    var isCurrent = false
    /// `true` once the last answer is too old to count.
    var isOutdated = false
    /// The last answer: `true` if the session was locked or in the background.
    var isAway: Bool?
    /// The number of questions in a row without an answer.
    var failures = 0
    /// `true` while a screen saver or a lock screen covers the session.
    package internal(set) var isCovered = false

    /// The seconds for which a lost logind's last answer counts. One that restarts is back sooner.
    package static let memory = 30.0
    /// The shortest and the longest delay until logind is asked again, in seconds.
    static let (leastDelay, mostDelay) = (0.5, 30.0)

    /// `true` if the session is locked, or may be.
    package var isLocked: Bool {
        isCovered || (mayExist && (isOutdated || (isAway ?? true)))
    }

    /// `true` while the first answer is awaited, and none has failed to come.
    var isUndecided: Bool { mayExist && isAway == nil && failures == 0 && !isCovered }

    /// The problem if only logind's silence makes the session count as locked; otherwise empty.
    package var problem: String {
        guard mayExist, !isCurrent, isOutdated || (isAway == nil && failures > 0) else { return "" }
        return "logind does not say whether the session is locked, so the cameras stay closed."
    }
}

/// An event of logind, as far as the lock of the session is concerned.
package enum LoginEvent: Hashable, Sendable {
    /// There may be a logind; this is being found out.
    case expected
    /// There is a logind, or another one in its place.
    case found
    /// The session is locked or in the background, or neither.
    case answered(isAway: Bool)
    /// It did not answer, or with an error.
    case silent
    /// It is not there.
    case absent
    /// Its last answer is too old.
    case outdated
}

extension State {
    mutating func handle(_ event: LoginEvent) -> [Effect] {
        switch event {
        case .expected: lock.mayExist = true
        case .found:
            lock.mayExist = true
            lock.wasFound = true
            lock.failures = 0
            return doubtLogin() + [.askLogin(after: 0)]
        case .answered(let isAway):
            lock.mayExist = true
            lock.isAway = isAway
            lock.isCurrent = true
            lock.isOutdated = false
            lock.failures = 0
            return [.endLoginMemory]
        case .silent:
            let delay = SessionLock.leastDelay * Double(1 << min(lock.failures, 16))
            lock.failures += 1
            return doubtLogin() + [.askLogin(after: min(delay, SessionLock.mostDelay))]
        case .absent:
            // Where there has never been one, there is none to wait for.
            if !lock.wasFound { lock.mayExist = false }
            return doubtLogin()
        case .outdated:
            guard !lock.isCurrent else { break }
            lock.isOutdated = true
            // Nobody would say that it has woken up.
            suspend(.asleep, false)
        }
        return []
    }

    /// Lets the last answer count for a limited time from now on.
    private mutating func doubtLogin() -> [Effect] {
        guard lock.isCurrent else { return [] }
        lock.isCurrent = false
        return [.startLoginMemory]
    }
}
