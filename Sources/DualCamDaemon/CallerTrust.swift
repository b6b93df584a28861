import Control
import DBusKit
import DualCamCore
import Frames
import Logging
import Platform

/// Decides which programs may do more on D-Bus than look, swap and choose a layout: those outside
/// sandboxes, or all, as `[access] sandboxed` says.
@MainActor
final class CallerTrust {
    private let daemon: Daemon
    private let connection: BusConnection
    private let loop: EventLoop
    /// The decisions about the programs on the bus, by unique name, which is never given again.
    private var decisions: [String: (isTrusted: Bool, watch: AnyObject)] = [:]
    /// The calls that wait for a decision, by unique name.
    private var waiting: [String: [(Bool) -> Void]] = [:]
    /// The programs of callers that were asked for, by unique name.
    private var programs: [String: (name: String, watch: AnyObject)] = [:]
    /// The calls that wait for the name of a program.
    private var unnamed: [String: [(String?) -> Void]] = [:]
    /// The last program that was logged.
    private var logged = ""
    /// The number of threads that look at each program: they go on when nobody waits any more.
    private var looking: [String: Int] = [:]
    /// The looks at each program that wait until one of its threads ends.
    private var queued: [String: [Look]] = [:]

    private let timeout: Double
    private let confines: @Sendable (Credentials) -> Bool

    /// The largest number of threads that look at one program, and at all.
    static let (mostThreads, most) = (2, 256)

    /// Makes `server` ask for the decisions. `confines` returns `true` for a program in a sandbox;
    /// it may take `timeout` seconds, since a program's root may hang.
    init(
        _ daemon: Daemon,
        _ server: ObjectServer,
        on connection: BusConnection,
        loop: EventLoop,
        timeout: Double = 2,
        confines: @escaping @Sendable (Credentials) -> Bool = Sandbox.confines
    ) {
        self.daemon = daemon
        self.connection = connection
        self.loop = loop
        self.timeout = timeout
        self.confines = confines
        server.distrust = .denied(
            "Sandboxed apps may not do this; [access] sandboxed = \"all\" in the configuration allows it."
        )
        server.isTrusted = { [unowned self] caller, decide in judge(caller, decide) }
    }

    private func judge(_ caller: String, _ done: @escaping (Bool) -> Void) {
        if daemon.configuration.sandboxAccess == .all { return done(true) }
        if let known = decisions[caller] { return done(known.isTrusted) }
        // Calls that come meanwhile wait for the same answer.
        waiting[caller, default: []].append(done)
        guard waiting[caller]?.count == 1 else { return }
        connection.credentials(of: caller) { [unowned self] credentials in
            guard let credentials else {
                log(caller, "gone")
                return decide(false, about: caller)
            }
            look(at: credentials, of: caller) { [unowned self] isTrusted in
                // What could not be told is looked at again at the next call.
                if isTrusted != true {
                    log(caller, isTrusted == nil ? "unknown" : "in a sandbox, or gone")
                }
                decide(isTrusted ?? false, about: caller)
            }
        }
    }

    /// Answers the calls that wait for the decision about a program.
    private func decide(_ isTrusted: Bool, about caller: String) {
        for call in waiting.removeValue(forKey: caller) ?? [] { call(isTrusted) }
    }

    /// Tells the program of a caller: its process at the time when it connected, or its unique name
    /// where the bus cannot tell; `nil` if it has left.
    func program(of caller: String, _ done: @escaping (String?) -> Void) {
        if let known = programs[caller] { return done(known.name) }
        // One question for all calls that come meanwhile: a bus lets few wait for their answer.
        unnamed[caller, default: []].append(done)
        guard unnamed[caller]?.count == 1 else { return }
        connection.credentials(of: caller) { [unowned self] credentials in
            var name: String?
            if let credentials {
                let program = credentials.program(of: caller)
                let watch = connection.onLeaving(caller) { [weak self] in
                    self?.programs[caller] = nil
                }
                programs[caller] = (program, watch)
                name = program
            }
            for done in unnamed.removeValue(forKey: caller) ?? [] { done(name) }
        }
    }

    /// Logs that a program is not trusted, once for several calls in a row.
    private func log(_ caller: String, _ reason: String) {
        guard caller != logged else { return }
        logged = caller
        Log.control.notice(
            "caller not trusted",
            metadata: ["caller": "\(caller)", "reason": "\(reason)"]
        )
    }

    private func keep(_ isTrusted: Bool, about caller: String) {
        let watch = connection.onLeaving(caller) { [weak self] in self?.decisions[caller] = nil }
        decisions[caller] = (isTrusted, watch)
    }

    /// Looks at a program on a thread of its own: its root may be a file system that hangs. `done`
    /// gets `nil` if it does; what comes late counts for the next calls.
    private func look(
        at program: Credentials,
        of caller: String,
        _ done: @escaping (Bool?) -> Void
    ) {
        let name = program.program(of: caller)
        guard looking.values.reduce(0, +) < Self.most else { return done(nil) }
        let look = Look(at: program, of: caller, done)
        do throws(SystemError) {
            let mailbox = loop.mailbox
            // Through the mailbox: after a pause of the whole process, the thread's answer counts.
            look.timer = try loop.timer {
                mailbox.onMain { look.finish(nil) }
            }
            look.timer?.arm(after: timeout)
        } catch {
            return look.finish(nil)
        }
        guard looking[name, default: 0] < Self.mostThreads else {
            queued[name, default: []].removeAll(where: \.isOver)
            queued[name, default: []].append(look)
            return
        }
        start(look, name)
    }

    private func start(_ look: Look, _ name: String) {
        let (program, caller, mailbox) = (look.program, look.caller, loop.mailbox)
        do throws(SystemError) {
            let thread = try Thread(name: "caller") { [confines] in
                let isTrusted = !confines(program)
                mailbox.onMain {
                    self.keep(isTrusted, about: caller)
                    look.finish(isTrusted)
                    self.goOn(after: name)
                }
            }
            thread.detach()
            looking[name, default: 0] += 1
        } catch {
            look.finish(nil)
        }
    }

    /// Looks at the next of those that waited for a thread of the program `name`.
    private func goOn(after name: String) {
        let left = (looking[name] ?? 1) - 1
        looking[name] = left > 0 ? left : nil
        var rest = (queued.removeValue(forKey: name) ?? []).filter { !$0.isOver }
        guard !rest.isEmpty else { return }
        let next = rest.removeFirst()
        if !rest.isEmpty { queued[name] = rest }
        start(next, name)
    }

    /// A program being looked at.
    @MainActor
    private final class Look {
        let program: Credentials
        let caller: String
        private var done: ((Bool?) -> Void)?
        var timer: EventLoop.Timer?
        var isOver: Bool { done == nil }

        init(at program: Credentials, of caller: String, _ done: @escaping (Bool?) -> Void) {
            (self.program, self.caller, self.done) = (program, caller, done)
        }

        /// Calls `done` once. Lets go of all that is the main thread's: the look may outlive it.
        func finish(_ isTrusted: Bool?) {
            timer = nil
            let done = done
            self.done = nil
            done?(isTrusted)
        }
    }
}

extension Credentials {
    /// The program of the caller with this unique name: what all its connections have in common.
    fileprivate func program(of caller: String) -> String {
        process.map { "process \($0)" } ?? caller
    }
}
