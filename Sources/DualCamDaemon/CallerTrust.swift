import Control
import DBusKit
import Desktop
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
    /// The number of threads that look at a program.
    private var looking = 0

    /// The longest time in seconds that a program's root may take to be looked at.
    private static let timeout = 2.0
    /// The largest number of such threads.
    private static let mostThreads = 32

    /// Makes `server` ask for the decisions.
    init(_ daemon: Daemon, _ server: ObjectServer, on connection: BusConnection, loop: EventLoop) {
        self.daemon = daemon
        self.connection = connection
        self.loop = loop
        server.distrust = .denied(
            "Sandboxed apps may not do this; [access] sandboxed = \"all\" in the configuration allows it."
        )
        server.isTrusted = { [unowned self] caller, decide in judge(caller, decide) }
    }

    private func judge(_ caller: String, _ decide: @escaping (Bool) -> Void) {
        if daemon.configuration.access.sandboxed == .all { return decide(true) }
        if let known = decisions[caller] { return decide(known.isTrusted) }
        connection.credentials(of: caller) { [unowned self] credentials in
            guard let credentials else {
                Log.control.notice(
                    "caller not trusted",
                    metadata: ["caller": "\(caller)", "reason": "gone"]
                )
                return decide(false)
            }
            look(at: credentials) { [unowned self] isTrusted in
                // What could not be told is looked at again at the next call.
                if let isTrusted { keep(isTrusted, about: caller) }
                if isTrusted != true {
                    Log.control.notice(
                        "caller not trusted",
                        metadata: [
                            "caller": "\(caller)",
                            "reason": isTrusted == nil ? "unknown" : "in a sandbox, or gone",
                        ]
                    )
                }
                decide(isTrusted ?? false)
            }
        }
    }

    private func keep(_ isTrusted: Bool, about caller: String) {
        let watch = connection.onLeaving(caller) { [weak self] in self?.decisions[caller] = nil }
        decisions[caller] = (isTrusted, watch)
    }

    /// Looks at a program on a thread of its own: its root may be a file system that hangs. `done`
    /// gets `nil` if it does.
    private func look(at program: Credentials, _ done: @escaping (Bool?) -> Void) {
        guard looking < Self.mostThreads else { return done(nil) }
        let look = Look(done)
        do throws(SystemError) {
            let mailbox = loop.mailbox
            // Through the mailbox: after a pause of the whole process, the thread's answer counts.
            look.timer = try loop.timer {
                mailbox.post { MainActor.assumeIsolated { look.finish(nil) } }
            }
            look.timer?.arm(after: Self.timeout)
            let thread = try Thread(name: "caller") {
                let isTrusted = !Sandbox.confines(program)
                mailbox.post {
                    MainActor.assumeIsolated {
                        self.looking -= 1
                        look.finish(isTrusted)
                    }
                }
            }
            thread.detach()
            looking += 1
        } catch {
            look.finish(nil)
        }
    }

    /// A program being looked at.
    @MainActor
    private final class Look {
        private var done: ((Bool?) -> Void)?
        var timer: EventLoop.Timer?

        init(_ done: @escaping (Bool?) -> Void) { self.done = done }

        /// Calls `done`, the first time. Lets go of all that belongs to the main thread, since a
        /// look may be released on its own.
        func finish(_ isTrusted: Bool?) {
            timer = nil
            let done = done
            self.done = nil
            done?(isTrusted)
        }
    }
}
