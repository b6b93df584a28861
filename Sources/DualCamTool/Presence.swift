import Control
import DBusKit
import Glibc
import Platform

/// Watches the daemon and its signals, for commands that run until they are ended.
final class Presence {
    private let client: Client
    private let signals: Signals
    private var owner: String?
    private var subscriptions: [BusConnection.Subscription] = []
    /// The closure called when the daemon has come (`true`) or gone, and once at the start.
    var onChange: (Bool) -> Void = { _ in }
    var onSignal: (Signal) -> Void = { _ in }

    /// Creates the watch.
    ///
    /// - Throws: `Failure` when there is no session bus.
    init() throws {
        signals = try Signals([SIGINT, SIGTERM, SIGHUP])
        client = try Client()
    }

    var connection: BusConnection { client.connection }

    /// Runs until a signal ends it or the reader of standard output has gone.
    ///
    /// - Throws: `Failure` when the bus has gone.
    func run() throws {
        var failure: Failure?
        let loop = client.loop
        try loop.watch(signals.descriptor, for: .readable) { _ in loop.stop() }
        // Detects that a reader goes. Files and terminals cannot be watched, and need not be.
        _ = try? loop.watch(STDOUT_FILENO, for: []) { _ in loop.stop() }
        connection.onDisconnect = {
            failure = Failure(status: .notRunning, message: "The session bus is gone.")
            loop.stop()
        }
        let changes = connection.subscribe(.owner(of: DualCam.busName)) { [unowned self] signal in
            became(signal.arguments.last?.string ?? "")
        }
        try connection.call(.owner(of: DualCam.busName)) { [unowned self] answer in
            // A change of owner signalled meanwhile is newer.
            if owner == nil { became((try? answer.get())?.first?.string ?? "") }
        }
        withExtendedLifetime(changes) { loop.run() }
        if let failure { throw failure }
    }

    private func became(_ name: String) {
        guard name != owner else { return }
        owner = name
        subscriptions = []
        if !name.isEmpty {
            // By the unique name, so that no other program can pose as the daemon.
            let rule = MatchRule(sender: name, pathNamespace: DualCam.path)
            subscriptions = [connection.subscribe(rule) { [unowned self] in onSignal($0) }]
        }
        onChange(!name.isEmpty)
    }
}
