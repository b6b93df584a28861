import DualCamCore
import Frames
import Testing

@Suite("The lock of the session") struct SessionLockTests {
    var state = State.withTwoCameras()

    @discardableResult
    mutating func apply(_ events: LoginEvent...) -> [Effect] {
        events.flatMap { state.take(.session(.login($0))) }
    }

    var isLocked: Bool { state.suspensions.contains(.locked) }

    @Test mutating func `without a logind the session is never locked`() {
        #expect(!isLocked)
        #expect(apply(.expected) == [])
        #expect(isLocked, "there may be one")
        #expect(apply(.absent) == [])
        #expect(!isLocked)
        // The bus is lost, and comes back without a logind.
        apply(.absent, .outdated, .expected, .absent)
        #expect(!isLocked && state.keptProblems == [])
    }

    @Test("cameras stay closed until logind has answered", arguments: [true, false])
    mutating func answer(isAway: Bool) {
        #expect(apply(.expected, .found) == [.askLogin(after: 0)])
        #expect(isLocked && state.isSuspensionUndecided)
        #expect(apply(.answered(isAway: isAway)) == [.endLoginMemory])
        #expect(isLocked == isAway && state.keptProblems == [])
        #expect(!state.isSuspensionUndecided)
        #expect(state.suspensionReason == (isAway ? Suspension.locked.sentence : nil))
    }

    @Test("a silent logind is asked again, ever less often, and a late answer counts")
    mutating func silence() {
        apply(.expected, .found)
        var delays: [Double] = []
        for _ in 0..<9 {
            for case .askLogin(let delay) in apply(.silent) { delays.append(delay) }
            #expect(isLocked)
        }
        #expect(delays == [0.5, 1, 2, 4, 8, 16, 30, 30, 30])
        #expect(state.keptProblems == [state.suspensionReason] && !state.isSuspensionUndecided)
        apply(.answered(isAway: false))
        #expect(!isLocked && state.keptProblems == [])
        #expect(apply(.silent) == [.startLoginMemory, .askLogin(after: 0.5)], "from the beginning")
        for _ in 0..<100 { apply(.silent) }
        #expect(apply(.silent) == [.askLogin(after: 30)])
    }

    @Test mutating func `a logind that goes before it has answered is waited for`() {
        apply(.expected, .found, .silent, .absent)
        #expect(isLocked)
        apply(.found)
        #expect(isLocked)
        apply(.answered(isAway: false))
        #expect(!isLocked)
    }

    @Test("the last answer of a logind that has gone counts for a while", arguments: [true, false])
    mutating func loss(isAway: Bool) {
        apply(.expected, .found, .answered(isAway: isAway))
        #expect(apply(.absent) == [.startLoginMemory])
        #expect(isLocked == isAway)
        #expect(apply(.absent) == [], "the time runs already")
        apply(.outdated)
        #expect(isLocked && !state.keptProblems.isEmpty)
        // It comes back, but its silence is no answer.
        #expect(apply(.found) == [.askLogin(after: 0)])
        apply(.silent)
        #expect(isLocked)
        #expect(apply(.answered(isAway: false)) == [.endLoginMemory])
        #expect(!isLocked && state.keptProblems == [])
    }

    @Test mutating func `a logind that restarts in time changes nothing`() {
        apply(.expected, .found, .answered(isAway: false))
        #expect(apply(.absent, .found) == [.startLoginMemory, .askLogin(after: 0)])
        #expect(!isLocked)
        apply(.answered(isAway: false), .outdated)
        #expect(!isLocked, "the time had been stopped")
    }

    @Test("a machine that was to sleep when logind went is not asleep for ever")
    mutating func sleep() {
        apply(.expected, .found, .answered(isAway: false))
        state.take(.session(.sleeping(true)))
        apply(.absent)
        #expect(state.suspensions == [.asleep])
        apply(.outdated)
        #expect(state.suspensions == [.locked])
    }

    @Test mutating func `where cameras may stay open, a lock changes nothing`() {
        state.take(.session(.covered(true)))
        state.take(.set(\.closesAtLock, false))
        #expect(!isLocked)
        state.take(.session(.covered(false)))
        state.take(.session(.covered(true)))
        #expect(!isLocked)
        state.take(.set(\.closesAtLock, true))
        #expect(isLocked)
    }

    @Test mutating func `a screen saver locks whatever logind says`() {
        apply(.expected, .found, .answered(isAway: false))
        state.take(.session(.covered(true)))
        #expect(isLocked)
        apply(.answered(isAway: true))
        state.take(.session(.covered(false)))
        #expect(isLocked)
        apply(.answered(isAway: false))
        #expect(!isLocked)
    }
}
