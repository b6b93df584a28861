import Control
import DBusKit
import Glibc
import Platform

/// Knows whether the daemon is there, and hears what it says; for commands that go on until they
/// are told to end.
final class Presence {
    private let client: Client
    private let signals: Signals
    private var owner: String?
    private var subscriptions: [BusConnection.Subscription] = []
    /// Called when the daemon came (true) or went, and once at the start.
    var onChange: (Bool) -> Void = { _ in }
    /// Called for each signal of the daemon's.
    var onSignal: (Signal) -> Void = { _ in }

    /// Throws when there is no session bus.
    init() throws {
        signals = try Signals([SIGINT, SIGTERM, SIGHUP])
        client = try Client()
    }

    var connection: BusConnection { client.connection }

    /// Goes on until a signal ends it, or nobody reads standard output any more. Throws when the
    /// bus goes.
    func run() throws {
        var failure: Failure?
        let loop = client.loop
        try loop.watch(signals.descriptor, for: .readable) { _ in loop.stop() }
        // Says when a reader goes; files and terminals cannot be watched so, and need not.
        _ = try? loop.watch(STDOUT_FILENO, for: []) { _ in loop.stop() }
        connection.onDisconnect = {
            failure = Failure(status: .notRunning, message: "the session bus is gone")
            loop.stop()
        }
        let changes = connection.subscribe(.owner(of: DualCam.busName)) { [unowned self] signal in
            became(signal.arguments.last?.string ?? "")
        }
        try connection.call(.owner(of: DualCam.busName)) { [unowned self] answer in
            // A change of owner that was told meanwhile is the newer word.
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
            // By the unique name, so that no other program can speak for the daemon.
            let rule = MatchRule(sender: name, pathNamespace: DualCam.path)
            subscriptions = [connection.subscribe(rule) { [unowned self] in onSignal($0) }]
        }
        onChange(!name.isEmpty)
    }
}

extension MethodCall {
    /// Asks the bus for the owner of `name`; an error when there is none.
    fileprivate static func owner(of name: String) -> MethodCall {
        MethodCall(
            "GetNameOwner",
            of: "org.freedesktop.DBus",
            at: "/org/freedesktop/DBus",
            on: "org.freedesktop.DBus",
            [.string(name)]
        )
    }
}
