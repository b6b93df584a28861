import Platform

/// Tells systemd that the daemon is alive, as long as both event loops run: the main thread's,
/// which runs this timer, and the composite thread's, which must answer in between.
@MainActor
final class Watchdog {
    private let daemon: Daemon
    private var timer: EventLoop.Timer?
    private var hasAnswered = true

    /// Starts the notifications if systemd asks for them; otherwise does nothing.
    init(_ daemon: Daemon, loop: EventLoop) throws(SystemError) {
        self.daemon = daemon
        guard let interval = Supervisor.watchdogInterval else { return }
        timer = try loop.timer { [unowned self] in
            // Without a notification systemd restarts the daemon.
            if hasAnswered { Supervisor.keepAlive() }
            hasAnswered = false
            daemon.threads.pingComposite { self.hasAnswered = true }
            timer?.arm(after: interval / 3)
        }
        timer?.arm(after: interval / 3)
    }

    func stop() { timer = nil }
}
