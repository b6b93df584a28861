import Platform

/// Tells systemd that the daemon lives, for as long as both loops go round: the main one, whose
/// timer this is, and the composite thread's, which has answered since the time before.
@MainActor
final class Heart {
    private let daemon: Daemon
    private var timer: EventLoop.Timer?
    private var hasAnswered = true

    /// Beats when systemd wants it; else does nothing.
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

    /// Beats no more.
    func stop() { timer = nil }
}
