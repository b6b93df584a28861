import DBusKit
import Glibc
import Platform

/// The way to real-time priority: RTKit (org.freedesktop.RealtimeKit1) on the system bus; where
/// that is missing, the portal's Realtime interface on the session bus; else this process itself.
/// Threads that are refused keep their ordinary priority. Bound to the connections' thread.
final class RealTimeKit {
    struct Outcome: Hashable, Sendable {
        /// The one that gave the priority: "RTKit", "portal" or "process"; `nil` for none.
        var provider: String?
        /// The names of threads with real-time priority, and of those with a low nice level.
        var raised: Set<String> = []
        /// The reason why the last thread is ordinary; empty if none is.
        var refusal = ""
    }

    /// A program that gives priorities. Both have the same methods and properties.
    private struct Provider {
        let name: String
        let connection: BusConnection
        let bus: String
        let path: ObjectPath
        let interface: String
    }

    /// The wanted priority. It is below that of PipeWire's own threads.
    private static let priority = 5
    /// The time in microseconds that a thread may run without a wait, if no provider allows less.
    private static let longestRun: Int64 = 200_000
    /// The nice level to have where there is no real-time priority.
    private static let nice = -11
    /// The seconds between looks at the limit, which libraries may change, and at long runs.
    private let interval: Double
    /// The number of looks for which all threads stay ordinary after one ran for too long.
    private static let pause = 6

    private let threads: RealTimeThreads
    private let mailbox: EventLoop.Mailbox
    private let onChange: (Outcome) -> Void
    private let session: BusConnection
    private var providers: [Provider] = []
    private var limits: (priority: Int, microseconds: Int64)
    private var isReady = false
    private var waiting: [RealTimeThreads.Member] = []
    /// The threads for which priority was asked since the last `ask(on:)`.
    private var asked: Set<RealTimeThreads.Member> = []
    /// The number of calls of `ask(on:)`; answers to earlier questions do not count.
    private var round = 0
    /// The number of looks until priority is asked for again, since a thread ran for too long.
    private var pause = 0
    /// The number of overruns at the last look.
    private var overruns = RealTimeThreads.overruns
    private var outcome = Outcome()
    private var timer: EventLoop.Timer?

    /// `true` while the threads have nothing to do; nobody looks at them unless all are ordinary.
    package var isResting = false {
        didSet {
            // A pause goes on, and is counted by looks alone.
            if oldValue, !isResting, pause == 0 { look() }
        }
    }

    /// Gets the priority of all `threads`, and of those that start later, from the first `ask(on:)`
    /// on. `onChange` is called after each answer that changes the outcome.
    ///
    /// `session` is the connection to the session bus; `loop` is the connections'. Each `interval`
    /// seconds it looks if a thread ran for too long; then all stay ordinary for six times as long.
    /// Throws `SystemError` when the process is out of descriptors.
    init(
        for threads: RealTimeThreads,
        session: BusConnection,
        loop: EventLoop,
        interval: Double = 10,
        onChange: @escaping (Outcome) -> Void
    ) throws(SystemError) {
        self.threads = threads
        self.session = session
        self.onChange = onChange
        self.interval = interval
        mailbox = loop.mailbox
        limits = (Self.priority, Self.longestRun)
        timer = try loop.timer { [unowned self] in look() }
        let (mailbox, reference) = (mailbox, Reference(self))
        threads.follow { member in mailbox.post { reference.kit?.raise(member) } }
    }

    /// Asks for the priority of all threads. To be called once it is known if there is a system bus
    /// (`nil`: none), and again for each other one: an RTKit that ends makes its threads ordinary.
    func ask(on system: BusConnection?) {
        round += 1
        providers = []
        if let system {
            providers.append(
                Provider(
                    name: "RTKit",
                    connection: system,
                    bus: "org.freedesktop.RealtimeKit1",
                    path: "/org/freedesktop/RealtimeKit1",
                    interface: "org.freedesktop.RealtimeKit1"
                )
            )
        }
        providers.append(
            Provider(
                name: "portal",
                connection: session,
                bus: "org.freedesktop.portal.Desktop",
                path: "/org/freedesktop/portal/desktop",
                interface: "org.freedesktop.portal.Realtime"
            )
        )
        isReady = false
        asked = []
        waiting = threads.members
        readLimits(round)
    }

    /// The object, if it still exists.
    // Unchecked: read on the connections' thread alone.
    private final class Reference: @unchecked Sendable {
        weak let kit: RealTimeKit?
        init(_ kit: RealTimeKit) { self.kit = kit }
    }

    /// Reads what the first provider allows; without an answer, the next one is asked.
    private func readLimits(_ round: Int) {
        guard let provider = providers.first else { return begin() }
        read("MaxRealtimePriority", of: provider) { [weak self] priority in
            guard let self, round == self.round else { return }
            guard let priority, priority > 0 else { return dropProvider() }
            read("RTTimeUSecMax", of: provider) { [weak self] time in
                guard let self, round == self.round else { return }
                guard let time, time > 0 else { return dropProvider() }
                limits.priority = min(Self.priority, priority)
                limits.microseconds = min(Self.longestRun, Int64(time))
                begin()
            }
        }
    }

    private func dropProvider() {
        providers.removeFirst()
        readLimits(round)
    }

    private func begin() {
        isReady = true
        let members = waiting
        waiting = []
        for member in members { raise(member) }
    }

    private func raise(_ member: RealTimeThreads.Member) {
        guard isReady else { return waiting.append(member) }
        asked.formIntersection(threads.members)
        // All stay as they are for a while after one ran for too long.
        guard pause == 0, asked.insert(member).inserted else { return }
        do throws(SystemError) {
            // First: RTKit refuses a process without this limit.
            try RealTimeThreads.limitTime(to: limits.microseconds)
        } catch {
            return finish(member, nil, "\(error)")
        }
        timer?.arm(after: interval)
        guard let provider = providers.first else { return raiseAlone(member, "no RTKit") }
        provider.connection.ask(
            MethodCall(
                "MakeThreadRealtimeWithPID",
                of: provider.interface,
                at: provider.path,
                on: provider.bus,
                [
                    .uint64(UInt64(getpid())), .uint64(UInt64(member.id)),
                    .uint32(UInt32(limits.priority)),
                ],
                timeout: 5
            )
        ) { [weak self] answer in
            switch answer {
            case .success: self?.finish(member, provider.name, "")
            case .failure(let error): self?.raiseAlone(member, "\(error)")
            }
        }
    }

    /// Gives the priority without another program's help.
    private func raiseAlone(_ member: RealTimeThreads.Member, _ refusal: String) {
        do throws(SystemError) {
            try RealTimeThreads.raise(member.id, to: limits.priority)
            finish(member, "process", "")
        } catch {
            // A low nice level is the next best.
            guard (try? RealTimeThreads.raise(member.id, toNice: Self.nice)) == nil else {
                return finish(member, "process", "")
            }
            finish(member, nil, "\(refusal); \(error)")
        }
    }

    private func finish(_ member: RealTimeThreads.Member, _ provider: String?, _ refusal: String) {
        let before = outcome
        if let provider {
            outcome.provider = provider
            outcome.raised.insert(member.name)
        } else {
            outcome.raised.remove(member.name)
        }
        outcome.refusal = refusal
        if outcome != before { onChange(outcome) }
    }

    /// Restores the limit, which a library may have changed so that the kernel would kill the
    /// process without a signal (PipeWire's module-rt does), and notices an overrun: what took so
    /// long may have been one picture, so priority is asked for again after a while.
    private func look() {
        try? RealTimeThreads.limitTime(to: limits.microseconds)
        let overruns = RealTimeThreads.overruns
        if overruns != self.overruns {
            self.overruns = overruns
            pause = Self.pause
            outcome.provider = nil
            outcome.raised = []
            outcome.refusal = "threads ran for too long"
            onChange(outcome)
        } else if pause > 0 {
            pause -= 1
            if pause == 0 {
                asked = []
                for member in threads.members { raise(member) }
            }
        }
        if !threads.members.isEmpty, !isResting || pause > 0 { timer?.arm(after: interval) }
    }

    private func read(
        _ property: String,
        of provider: Provider,
        completion: @escaping (Int?) -> Void
    ) {
        provider.connection.ask(
            MethodCall(
                "Get",
                of: "org.freedesktop.DBus.Properties",
                at: provider.path,
                on: provider.bus,
                [.string(provider.interface), .string(property)],
                timeout: 5
            )
        ) { answer in
            guard case .success(let values) = answer, case .variant(let value)? = values.first
            else { return completion(nil) }
            completion(value.integer)
        }
    }
}
