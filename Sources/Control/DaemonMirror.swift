package import DBusKit

/// The daemon as a program on the same bus sees it: its properties kept up to date, its signals,
/// and calls that never block. Bound to the connection's thread.
package final class DaemonMirror {
    package let connection: BusConnection
    /// `true` while the daemon runs and its properties are known; `nil` before the first reply.
    package private(set) var isPresent: Bool?
    /// `true` while the daemon runs, but has not answered for as long as this waits.
    package private(set) var isSilent = false
    /// `true` once nobody waits for answers any more: what is asked is then sent at once.
    package var isEnding = false
    package var onChange: () -> Void = {}
    /// Called for each signal of the daemon but changes of properties.
    package var onSignal: (Signal) -> Void = { _ in }

    private var owner: String?
    private var ownerWatch: BusConnection.Subscription?
    private var signals: BusConnection.Subscription?
    private var properties: [ObjectPath: [String: [String: Value]]] = [:]
    private var missing = 0
    /// `true` if one of the questions was not answered in time.
    private var didNotAnswer = false
    /// The time for which a call waits for its reply, in seconds.
    private let patience: Double

    /// Begins to watch the daemon on `connection`, without starting it. A daemon that has not
    /// answered after `patience` seconds is silent.
    package init(_ connection: BusConnection, patience: Double = 10) {
        self.connection = connection
        self.patience = patience
        ownerWatch = connection.subscribe(.owner(of: DualCam.busName)) { [unowned self] signal in
            turn(to: signal.arguments.last?.string ?? "")
        }
        try? connection.call(.owner(of: DualCam.busName)) { [weak self] answer in
            // A change of owner that was signalled meanwhile is newer.
            guard let self, owner == nil else { return }
            turn(to: (try? answer.get())?.first?.string ?? "")
        }
    }

    private func turn(to owner: String) {
        guard owner != self.owner else { return }
        self.owner = owner
        properties = [:]
        signals = nil
        missing = 0
        isSilent = false
        didNotAnswer = false
        guard !owner.isEmpty else {
            isPresent = false
            return onChange()
        }
        // By the unique name, so that no other program can pose as the daemon.
        signals = connection.subscribe(MatchRule(sender: owner, pathNamespace: DualCam.path)) {
            [unowned self] in take($0)
        }
        read(owner)
    }

    private func read(_ owner: String) {
        let main = Interface.all.map(\.name).filter {
            ![CameraInterface.name, ControlsInterface.name].contains($0)
        }
        missing = main.count + 1
        for name in main {
            let call = MethodCall(
                "GetAll",
                of: "org.freedesktop.DBus.Properties",
                at: DualCam.path,
                on: owner,
                [.string(name)],
                startsService: false,
                timeout: patience
            )
            ask(call) { mirror, answer in
                // A daemon of another version may have no such interface.
                guard let values = answer?.first?.named else { return }
                mirror.properties[DualCam.path, default: [:]][name] = values
            }
        }
        let objects = MethodCall(
            "GetManagedObjects",
            of: "org.freedesktop.DBus.ObjectManager",
            at: DualCam.path,
            on: owner,
            startsService: false,
            timeout: patience
        )
        ask(objects) { $0.take(objects: $1?.first) }
    }

    private func ask(
        _ call: MethodCall,
        _ store: @escaping (DaemonMirror, [Value]?) -> Void
    ) {
        let owner = owner
        try? connection.call(call) { [weak self] answer in
            guard let self, self.owner == owner else { return }
            if case .failure(let error) = answer, error.name.hasSuffix(".NoReply") {
                didNotAnswer = true
            }
            store(self, try? answer.get())
            missing -= 1
            if missing == 0 { conclude() }
        }
    }

    /// All that was asked was answered, or is not waited for any longer.
    private func conclude() {
        isSilent = didNotAnswer
        didNotAnswer = false
        if isSilent, let owner {
            // It may be stopped, or busy: what it knows is asked for until it tells.
            read(owner)
        } else {
            isPresent = true
        }
        onChange()
    }

    /// Asks the daemon if it is there. One that has not answered within two seconds is silent until
    /// it does.
    package func probe() { ping { _ in } }

    private func ping(_ done: @escaping (DBusError?) -> Void) {
        guard let owner, !owner.isEmpty else { return done(.failed("DualCam is not running.")) }
        let call = MethodCall(
            "Ping",
            of: "org.freedesktop.DBus.Peer",
            at: DualCam.path,
            on: owner,
            startsService: false,
            timeout: 2
        )
        connection.ask(call) { [weak self] answer in
            var error: DBusError?
            if case .failure(let reason) = answer { error = reason }
            if let self, self.owner == owner {
                let isSilent = error?.name.hasSuffix(".NoReply") == true
                if isSilent != self.isSilent {
                    self.isSilent = isSilent
                    onChange()
                }
            }
            done(error)
        }
    }

    /// Asks for something once the daemon answers: what waited in one that hangs would be done long
    /// after people gave up.
    private func ask(
        _ call: MethodCall,
        _ completion: @escaping (Result<[Value], DBusError>) -> Void
    ) {
        guard isPresent == true, !isEnding else {
            return connection.ask(call, completion: completion)
        }
        let wasSilent = isSilent
        ping { [weak self] error in
            if error != nil || wasSilent {
                let reason = DBusError("org.freedesktop.DBus.Error.NoReply", "no answer in time")
                completion(.failure(error ?? reason))
            } else {
                self?.connection.ask(call, completion: completion)
            }
        }
    }

    private func take(objects: Value?) {
        for (path, interfaces) in objects?.objects ?? [:] {
            properties[path, default: [:]].merge(interfaces) { $1 }
        }
    }

    private func take(_ signal: Signal) {
        guard signal.member == "PropertiesChanged", signal.arguments.count == 3,
            let interface = signal.arguments[0].string
        else {
            if isPresent == true { onSignal(signal) }
            return
        }
        for (name, value) in signal.arguments[1].named ?? [:] {
            properties[signal.path, default: [:]][interface, default: [:]][name] = value
        }
        if isPresent == true { onChange() }
    }

    // MARK: Reading

    /// The value of a property; `nil` if the daemon has none of this type.
    package subscript<Members: InterfaceMembers, Content>(
        _ property: KeyPath<Members, PropertyMember<Content>>,
        at path: ObjectPath = DualCam.path
    ) -> Content? {
        value(Members.members[keyPath: property].name, of: Members.name, at: path)
            .flatMap(Content.init(dbus:))
    }

    /// The value of a property that this version may not know; `nil` if the daemon has none.
    package func value(
        _ property: String,
        of interface: String,
        at path: ObjectPath = DualCam.path
    ) -> Value? {
        properties[path]?[interface]?[property]
    }

    // MARK: Acting

    /// Calls a method; `completion` gets the outcome. With `startsService` it may start the daemon.
    package func call<Members: InterfaceMembers, Arguments, Known, Results>(
        _ method: KeyPath<Members, MethodMember<Arguments, Known, Results>>,
        at path: ObjectPath = DualCam.path,
        _ arguments: Arguments,
        options: Options<Known> = Options(),
        startsService: Bool = false,
        within timeout: Double = 25,
        _ completion: @escaping (Result<Results, DBusError>) -> Void = { _ in }
    ) {
        let member = Members.members[keyPath: method]
        let call = MethodCall(
            member.name,
            of: Members.name,
            at: path,
            on: DualCam.busName,
            member.takes.encode(arguments) + [options.values.dbus],
            startsService: startsService,
            timeout: timeout
        )
        ask(call) { answer in
            completion(
                answer.flatMap { values in
                    member.gives.decode(values).map { .success($0) }
                        ?? .failure(.failed("DualCam sent an unexpected answer."))
                }
            )
        }
    }

    /// Sets a property. `completion` gets the error, or `nil` once it is set.
    package func set<Members: InterfaceMembers, Content>(
        _ property: KeyPath<Members, PropertyMember<Content>>,
        at path: ObjectPath = DualCam.path,
        to value: Content,
        _ completion: @escaping (DBusError?) -> Void = { _ in }
    ) {
        let name = Members.members[keyPath: property].name
        set(name, of: Members.name, at: path, to: value.dbus, completion)
    }

    /// Sets the property called `name`. `completion` gets the error, or `nil` once it is set.
    package func set(
        _ name: String,
        of interface: String,
        at path: ObjectPath,
        to value: Value,
        _ completion: @escaping (DBusError?) -> Void
    ) {
        let call = MethodCall(
            "Set",
            of: "org.freedesktop.DBus.Properties",
            at: path,
            on: DualCam.busName,
            [.string(interface), .string(name), .variant(value)],
            startsService: false,
            timeout: patience
        )
        ask(call) { answer in
            switch answer {
            case .success: completion(nil)
            case .failure(let error): completion(error)
            }
        }
    }
}
