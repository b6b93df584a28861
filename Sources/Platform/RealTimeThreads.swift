import CLinux
import Glibc
import Synchronization

/// The scheduling of a thread: sched(7).
package enum Scheduling: String, Sendable {
    /// As any other thread.
    case ordinary
    /// Before ordinary threads, by its nice level.
    case high
    /// Before all threads without real-time priority (SCHED_FIFO).
    case realTime = "realtime"
}

/// The threads that keep time, for which real-time priority is wanted. A thread enrolls when it
/// starts; the follower of the list asks for its priority. Where a thread takes a processor for
/// itself for longer than `limitTime(to:)` allows, the kernel sends SIGXCPU, and all of them become
/// ordinary again, so that the kernel does not kill the process. Any thread.
package final class RealTimeThreads: Sendable {
    /// One of the threads.
    package struct Member: Hashable, Sendable {
        /// The number that the system has given it: gettid(2).
        package let id: Int32
        package let name: String
    }

    private struct State {
        var members: [Member] = []
        var onEnroll: (@Sendable (Member) -> Void)?
    }
    private let state = Mutex(State())

    package init() { RunawayGuard.begin() }

    package var members: [Member] { state.withLock { $0.members } }

    /// Calls `onEnroll` for each of the threads: for those that run now at once, for others on
    /// themselves when they start. Replaces an earlier closure.
    package func follow(_ onEnroll: @escaping @Sendable (Member) -> Void) {
        let members = state.withLock { state in
            state.onEnroll = onEnroll
            return state.members
        }
        for member in members { onEnroll(member) }
    }

    /// Runs `body` with the calling thread in the list, called `name`.
    func run(as name: String, _ body: () -> Void) {
        let member = Member(id: clinux_thread_id(), name: name)
        let onEnroll = state.withLock { state in
            state.members.append(member)
            return state.onEnroll
        }
        RunawayGuard.add(member.id)
        onEnroll?(member)
        body()
        RunawayGuard.remove(member.id)
        state.withLock { state in state.members.removeAll { $0 == member } }
    }

    // MARK: The system

    /// Lets real-time threads of this process run at most `microseconds` without a wait; the signal
    /// comes after half. Only lowers the limits of RLIMIT_RTTIME. Throws the errno of setrlimit(2).
    package static func limitTime(to microseconds: Int64) throws(SystemError) {
        guard clinux_limit_realtime(max(2, microseconds)) == 0 else {
            throw .last("setrlimit", "RLIMIT_RTTIME")
        }
    }

    /// Gives the thread `id` real-time `priority`, as this process itself may. Throws EPERM without
    /// CAP_SYS_NICE and beyond RLIMIT_RTPRIO; ESRCH if it has ended.
    package static func raise(_ id: Int32, to priority: Int) throws(SystemError) {
        guard clinux_schedule(id, SCHED_FIFO, CInt(priority)) == 0 else {
            throw .last("sched_setscheduler")
        }
    }

    /// Makes the thread `id` ordinary. Does nothing if it has ended, or is another program's.
    package static func lower(_ id: Int32) { _ = clinux_schedule(id, SCHED_OTHER, 0) }

    /// Gives the thread `id` the nice `level`, as this process itself may. Throws EACCES beyond
    /// RLIMIT_NICE; ESRCH if it has ended.
    package static func raise(_ id: Int32, toNice level: Int) throws(SystemError) {
        guard clinux_set_nice(id, CInt(level)) == 0 else { throw .last("setpriority") }
    }

    /// Returns the present scheduling of the thread `id`; `nil` if it has ended.
    package static func scheduling(of id: Int32) -> Scheduling? {
        switch clinux_scheduling(id) {
        case SCHED_FIFO, SCHED_RR: .realTime
        case -1: nil
        default: clinux_nice(id) < 0 ? .high : .ordinary
        }
    }

    /// The number of times that all threads became ordinary because one ran for too long.
    package static var overruns: Int { RunawayGuard.overruns.load(ordering: .relaxed) }
}

/// The handler of SIGXCPU. It makes only system calls, and reads memory that is never freed.
private enum RunawayGuard {
    /// The threads to make ordinary, 0 for a free place.
    // Unsafe: single words, each written by one thread at a time, and read by the handler.
    private nonisolated(unsafe) static let places: UnsafeMutablePointer<Int32> = {
        let places = UnsafeMutablePointer<Int32>.allocate(capacity: count)
        places.initialize(repeating: 0, count: count)
        return places
    }()
    private static let count = 32
    /// The number of signals. It only grows, so that no reader takes one from another.
    static let overruns = Atomic(0)
    private static let lock = Mutex(())
    private static let isSet = Mutex(false)

    /// Sets the handler, once in a process.
    static func begin() {
        isSet.withLock { isSet in
            guard !isSet else { return }
            isSet = true
            // The memory exists before the first signal.
            _ = (places, overruns.load(ordering: .relaxed))
            var action = sigaction()
            action.sa_flags = SA_RESTART
            action.__sigaction_handler.sa_handler = { _ in RunawayGuard.makeAllOrdinary() }
            sigaction(SIGXCPU, &action, nil)
        }
    }

    private static func makeAllOrdinary() {
        let before = errno
        for index in 0..<count where places[index] != 0 {
            _ = clinux_schedule(places[index], SCHED_OTHER, 0)
        }
        overruns.wrappingAdd(1, ordering: .relaxed)
        errno = before
    }

    static func add(_ id: Int32) {
        lock.withLock { _ in
            if let free = (0..<count).first(where: { places[$0] == 0 }) { places[free] = id }
        }
    }

    static func remove(_ id: Int32) {
        lock.withLock { _ in for index in 0..<count where places[index] == id { places[index] = 0 }
        }
    }
}
