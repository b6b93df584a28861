import DBusKit

/// A program on a bus that may come and go, identified by its well-known name. Signals are accepted
/// from its unique name alone, so that no other program can pose as it. It is never started. Bound
/// to the connection's thread.
final class Peer {
    private let connection: BusConnection
    private let name: String
    private let timeout: Double
    private let onOwner: (Bool) -> Void
    private var ownerWatch: BusConnection.Subscription?
    private var signals: [BusConnection.Subscription] = []
    private var wanted: [(path: ObjectPath, interface: String, handler: (Signal) -> Void)] = []
    /// The unique name of the present owner of the name.
    private(set) var owner: String?
    /// `true` once it is known if the name has an owner.
    private var isKnown = false

    /// Creates a peer that calls `onOwner` once it is known if the program is there, and when it
    /// has come or gone. Each answer may take `timeout` seconds.
    init(
        _ name: String,
        on connection: BusConnection,
        timeout: Double = 5,
        onOwner: @escaping (Bool) -> Void
    ) {
        self.name = name
        self.connection = connection
        self.timeout = timeout
        self.onOwner = onOwner
        ownerWatch = connection.subscribe(.owner(of: name)) { [unowned self] signal in
            turn(to: signal.arguments.last?.string ?? "")
        }
        askForOwner()
    }

    private func askForOwner() {
        try? connection.call(.owner(of: name, timeout: timeout)) { [weak self] result in
            guard let self, !isKnown else { return }
            switch result {
            case .success(let values): turn(to: values.first?.string ?? "")
            // The bus is slow, so that the question took its time-out.
            case .failure(let error) where error.name.hasSuffix(".NoReply"): askForOwner()
            case .failure(let error) where error.name.hasSuffix(".Disconnected"): break
            case .failure: turn(to: "")
            }
        }
    }

    private func turn(to owner: String) {
        let owner = owner.isEmpty ? nil : owner
        guard owner != self.owner || !isKnown else { return }
        self.owner = owner
        isKnown = true
        signals = owner.map { owner in wanted.map { subscription(to: owner, $0, $1, $2) } } ?? []
        onOwner(owner != nil)
    }

    /// Calls `handler` for the signals of `interface` that the name's owner sends from `path`.
    func subscribe(
        _ interface: String,
        at path: ObjectPath,
        handler: @escaping (Signal) -> Void
    ) {
        wanted.append((path, interface, handler))
        if let owner { signals.append(subscription(to: owner, path, interface, handler)) }
    }

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

    /// Calls a method of the program. `completion` gets the reply, or the error: `NoReply` after
    /// `timeout` seconds. It is not called without a bus.
    func ask(
        _ member: String,
        of interface: String,
        at path: ObjectPath,
        _ arguments: [Value] = [],
        completion: @escaping (Result<[Value], DBusError>) -> Void
    ) {
        let call = MethodCall(
            member,
            of: interface,
            at: path,
            on: name,
            arguments,
            startsService: false,
            timeout: timeout
        )
        // A bus that is gone is reported by `onDisconnect` to the connection's owner.
        try? connection.call(call, completion: completion)
    }

    /// Reads a property of the program. `completion` is called as for `ask`.
    func read(
        _ property: String,
        of interface: String,
        at path: ObjectPath,
        completion: @escaping (Result<Value, DBusError>) -> Void
    ) {
        ask(
            "Get",
            of: "org.freedesktop.DBus.Properties",
            at: path,
            [.string(interface), .string(property)]
        ) { result in
            completion(
                result.flatMap { values in
                    guard case .variant(let value)? = values.first else {
                        return .failure(.failed("\(property) has no value"))
                    }
                    return .success(value)
                }
            )
        }
    }
}
