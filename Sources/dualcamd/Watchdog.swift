import Platform

/// Tells systemd that the daemon lives, for as long as both loops go round: the main one, whose
/// timer this is, and the composite thread's, which has answered since the time before.
@MainActor
final class Watchdog {
    private let daemon: Daemon
    private var timer: EventLoop.Timer?
    private var hasAnswered = true

    /// Notifies systemd when it wants that; else does nothing.
    init(_ daemon: Daemon, loop: EventLoop) throws(SystemError) {
        self.daemon = daemon
        guard let interval = Supervisor.watchdogInterval else { return }
        timer = try loop.timer { [unowned self] in
            // Silence is what brings the restart.
            if hasAnswered { Supervisor.keepAlive() }
            hasAnswered = false
            daemon.pingFrames { self.hasAnswered = true }
            timer?.arm(after: interval / 3)
        }
        timer?.arm(after: interval / 3)
    }

    /// Notifies systemd no more.
    func stop() { timer = nil }
}
