import DBusKit

/// A program on a bus that may come and go, identified by its well-known name.
///
/// Signals are accepted from its unique name alone, so that no other program can pose as it. It is
/// never started.
///
/// - Context: Bound to the connection's thread.
final class Peer {
    private let connection: BusConnection
    private let name: String
    private let onOwner: (Bool) -> Void
    private var ownerWatch: BusConnection.Subscription?
    private var signals: [BusConnection.Subscription] = []
    private var wanted: [(path: ObjectPath, interface: String, handler: (Signal) -> Void)] = []
    /// The unique name of the present owner of the name.
    private(set) var owner: String?

    /// Creates a peer that calls `onOwner` when it is known that the program is there, and when it
    /// has gone.
    init(_ name: String, on connection: BusConnection, onOwner: @escaping (Bool) -> Void) {
        self.name = name
        self.connection = connection
        self.onOwner = onOwner
        ownerWatch = connection.subscribe(.owner(of: name)) { [unowned self] signal in
            turn(to: signal.arguments.last?.string ?? "")
        }
        ask(
            "GetNameOwner",
            of: "org.freedesktop.DBus",
            at: "/org/freedesktop/DBus",
            on: "org.freedesktop.DBus",
            [.string(name)]
        ) { [weak self] in self?.turn(to: $0.first?.string ?? "") }
    }

    private func turn(to owner: String) {
        let owner = owner.isEmpty ? nil : owner
        guard owner != self.owner else { return }
        self.owner = owner
        signals = owner.map { owner in wanted.map { subscription(to: owner, $0, $1, $2) } } ?? []
        onOwner(owner != nil)
    }

    /// Calls `handler` for the signals of `interface` that the owner of the name sends from the
    /// object at `path`.
    func subscribe(
        _ interface: String,
        at path: ObjectPath,
        handler: @escaping (Signal) -> Void
    ) {
        wanted.append((path, interface, handler))
        if let owner { signals.append(subscription(to: owner, path, interface, handler)) }
    }

    /// Ends all subscriptions.
    func unsubscribe() {
        wanted = []
        signals = []
    }

    private func subscription(
        to owner: String,
        _ path: ObjectPath,
        _ interface: String,
        _ handler: @escaping (Signal) -> Void
    ) -> BusConnection.Subscription {
        connection.subscribe(
            MatchRule(sender: owner, path: path, interface: interface),
            handler: handler
        )
    }

    /// Calls a method of the program. `completion` gets the reply, and is not called on an error.
    func ask(
        _ member: String,
        of interface: String,
        at path: ObjectPath,
        on destination: String? = nil,
        _ arguments: [Value] = [],
        completion: @escaping ([Value]) -> Void
    ) {
        let call = MethodCall(
            member,
            of: interface,
            at: path,
            on: destination ?? name,
            arguments,
            startsService: false,
            timeout: 5
        )
        // A bus that is gone needs no handling here: `onDisconnect` reports it to the connection's
        // owner.
        try? connection.call(call) { result in
            if case .success(let values) = result { completion(values) }
        }
    }

    /// Reads a property of the program.
    func read(
        _ property: String,
        of interface: String,
        at path: ObjectPath,
        completion: @escaping (Value) -> Void
    ) {
        ask(
            "Get",
            of: "org.freedesktop.DBus.Properties",
            at: path,
            [.string(interface), .string(property)]
        ) { values in
            if case .variant(let value)? = values.first { completion(value) }
        }
    }
}
