import Control
import DBusKit
import Glibc
import Platform

extension Client {
    /// Runs until a signal ends the program.
    ///
    /// - Throws: `Failure` when the bus has gone.
    func runUntilEnded() throws {
        let loop = loop
        let signals = try Signals([SIGINT, SIGTERM, SIGHUP])
        try loop.watch(signals.descriptor, for: .readable) { _ in loop.stop() }
        var isLost = false
        connection.onDisconnect = {
            isLost = true
            loop.stop()
        }
        loop.run()
        if isLost { throw Failure(status: .notRunning, message: "The session bus is gone.") }
    }

    /// Watches the daemon and its signals until a signal ends the program, or the reader of
    /// standard output has gone. `onChange` is called when the daemon has come (`true`) or gone,
    /// and once at the start.
    func follow(
        onChange: @escaping (Bool) -> Void,
        onSignal: @escaping (Signal) -> Void
    ) throws {
        let loop = loop
        // Detects that a reader goes. Files and terminals cannot be watched, and need not be.
        _ = try? loop.watch(STDOUT_FILENO, for: []) { _ in loop.stop() }
        var owner: String?
        var signals: BusConnection.Subscription?
        func turn(to name: String) {
            guard name != owner else { return }
            owner = name
            // By the unique name, so that no other program can pose as the daemon.
            let rule = MatchRule(sender: name, pathNamespace: DualCam.path)
            signals = name.isEmpty ? nil : connection.subscribe(rule, handler: onSignal)
            onChange(!name.isEmpty)
        }
        let changes = connection.subscribe(.owner(of: DualCam.busName)) { signal in
            turn(to: signal.arguments.last?.string ?? "")
        }
        try connection.call(.owner(of: DualCam.busName)) { answer in
            // A change of owner signalled meanwhile is newer.
            if owner == nil { turn(to: (try? answer.get())?.first?.string ?? "") }
        }
        try withExtendedLifetime(changes) { try runUntilEnded() }
        withExtendedLifetime(signals) {}
    }
}
