import Control
import DBusKit
import DualCamCore

/// The call that waits for the self timer.
@MainActor
final class SelfTimerCalls {
    private let daemon: Daemon
    private var done: (DBusError?) -> Void = { _ in }
    /// The number of the latest count.
    private var number = 0

    init(_ daemon: Daemon) {
        self.daemon = daemon
        daemon.performers.append { [unowned self] in
            guard case .endSelfTimer(let isOver) = $0 else { return }
            let suspension = daemon.state.suspension.map { DBusError.locked($0.sentence) }
            done(isOver ? nil : suspension ?? .cancelled("The self timer was cancelled."))
        }
    }

    /// Calls `done` after `seconds`, or at once without any; earlier with the reason if it is not
    /// to be done any more, as when the caller leaves. Throws why there can be no count now.
    func count(
        _ seconds: UInt32?,
        for purpose: SelfTimer.Purpose,
        whenCallerLeaves: (@escaping () -> Void) -> Void,
        done: @escaping (DBusError?) -> Void
    ) throws(DBusError) {
        let (state, range) = (daemon.state, SelfTimer.range)
        guard let seconds, seconds > 0 else { return done(nil) }
        guard range.contains(Int(seconds)) else {
            throw .outOfRange("The self timer counts at most \(range.upperBound) s.")
        }
        guard state.counting == nil else { throw .busy("The self timer counts already.") }
        if let suspension = state.suspension { throw .locked(suspension.sentence) }
        guard Role.allCases.contains(where: { state.cameras[$0].phase != .unavailable }) else {
            throw .noCamera("There is no camera.")
        }
        self.done = done
        number += 1
        whenCallerLeaves { [unowned self, number] in
            if number == self.number { daemon.send(.selfTimer(.cancel)) }
        }
        daemon.send(.selfTimer(.start(purpose, seconds: Int(seconds))))
    }

    /// Ends a count, only one for `purpose` if that is given. Returns `false` if there is none.
    func cancel(_ purpose: SelfTimer.Purpose? = nil) -> Bool {
        guard let timer = daemon.state.counting, purpose ?? timer.purpose == timer.purpose else {
            return false
        }
        daemon.send(.selfTimer(.cancel))
        return true
    }
}
