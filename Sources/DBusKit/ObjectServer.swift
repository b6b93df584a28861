/// A tree of objects on a connection, with their methods, properties and signals.
///
/// The server holds the property values: readers get the last value that was `set`. Watchers get
/// one PropertiesChanged per interface and round of the loop, with exactly the properties whose
/// value differs from the last one sent, unless their `change` is `constant` or `silent`. Messages
/// go out in the order of the calls here; changes are sent before any later signal or answer.
///
/// The server itself answers Introspectable, Peer, Properties and, at one object, ObjectManager,
/// and calls that do not match the declarations.
///
/// ```swift
/// let server = ObjectServer(on: connection, managing: "/org/example/Thing1")
/// let path: ObjectPath = "/org/example/Thing1/lamps/desk"
/// server.export(lamp, at: path, properties: ["Lit": .boolean(false)]) { invocation in
///     invocation.reply()
/// } onWrite: { write in
///     server.set(["Lit": write.value], of: lamp, at: write.path)
///     write.accept()
/// }
/// try connection.requestName("org.example.Thing1")
/// ```
///
/// - Context: Bound to the connection's thread. One server per connection.
package final class ObjectServer {
    /// An interface of an object.
    struct Export {
        let interface: Interface
        var values: [String: Value]
        /// The values last sent to watchers.
        var emitted: [String: Value]
        /// `true` once InterfacesAdded has reported the interface.
        var isAnnounced = false
        let onCall: (Invocation) -> Void
        let onWrite: (PropertyWrite) -> Void
        let onStep: OnStep
    }

    /// Changes a property by a value, and calls back with the value reached, and `true` at an end.
    package typealias OnStep = (
        _ property: String, _ change: Value,
        _ done: @escaping (Result<(Value, Bool), DBusError>) -> Void
    ) -> Void

    /// The messages to send at the end of the round, in order.
    private enum News: Hashable {
        case added(ObjectPath)
        case changed(ObjectPath, String)
    }

    let port: any MessagePort
    let root: ObjectPath?
    /// The exports of each object, in the order in which introspection shows them.
    private(set) var objects: [ObjectPath: [Export]] = [:]
    private var news: [News] = []
    private var refreshers: [() -> Void] = []
    /// The number of unanswered calls of each caller.
    var unanswered: [String: Int] = [:]
    /// The largest number of unanswered calls of one caller, and the error that more of them get.
    package var callLimit = (64, DBusError.limitsExceeded("too many calls wait for their answer"))
    /// Decides whether a caller may use what is not for everyone (`Access`), and calls back, at
    /// once or later. Without it every caller may.
    package var isTrusted: ((_ caller: String, _ decide: @escaping (Bool) -> Void) -> Void)?
    package var distrust = DBusError(
        "org.freedesktop.DBus.Error.AccessDenied",
        "not allowed in a sandbox"
    )
    /// The calls of callers about which the decision is open, in order.
    var held: [String: [() -> Void]] = [:]

    /// Called before a client reads, so that properties without change signals can be `set` first.
    package var onRead: () -> Void = {}
    /// Called before changes are sent, and so before each signal and answer, so that properties
    /// that have changed can be `set`.
    package var onFlush: () -> Void = {}

    /// Creates an empty tree. The object at `root` has the ObjectManager of all objects below it.
    /// Export everything before requesting the bus name.
    package convenience init(on connection: BusConnection, managing root: ObjectPath? = nil) {
        self.init(port: connection, managing: root)
        connection.onExcess = { [weak self] in self?.refuse($0) }
    }

    init(port: any MessagePort, managing root: ObjectPath? = nil) {
        precondition(port.onCall == nil, "a connection served twice")
        self.port = port
        self.root = root
        port.onCall = { [weak self] in self?.receive($0) }
        port.onRound = { [weak self] in self?.flush() }
    }

    // MARK: - Objects

    /// Exports `interface` at `path`, with an initial value for each of its properties. `onCall`
    /// handles the calls of its methods, `onWrite` the requests to set its writable properties,
    /// `onStep` those to change them from what they are. Watchers of the ObjectManager are notified
    /// at the end of the round.
    package func export(
        _ interface: Interface,
        at path: ObjectPath,
        properties: [String: Value] = [:],
        onCall: @escaping (Invocation) -> Void = { _ in },
        onWrite: @escaping (PropertyWrite) -> Void = { _ in },
        onStep: @escaping OnStep = { name, _, done in done(.failure(.noSteps(name))) }
    ) {
        precondition(export(interface.name, at: path) == nil, "\(interface.name) exported twice")
        let others = Set(properties.keys).symmetricDifference(interface.properties.map(\.name))
        precondition(
            others.isEmpty,
            "\(interface.name) needs a first value for each property and no other: \(others.sorted())"
        )
        check(properties, interface)
        objects[path, default: []].append(
            Export(
                interface: interface,
                values: properties,
                emitted: properties,
                onCall: onCall,
                onWrite: onWrite,
                onStep: onStep
            )
        )
        enqueue(.added(path))
    }

    func export(_ interface: String, at path: ObjectPath) -> Export? {
        objects[path]?.first { $0.interface.name == interface }
    }

    // MARK: - Properties

    /// Stores new values of properties of `interface` at `path`; the others stay. Readers see them
    /// at once, watchers at the end of the round. Equal values are not sent, so a complete snapshot
    /// may be passed each time.
    package func set(_ values: [String: Value], of interface: Interface, at path: ObjectPath) {
        check(values, interface)
        guard
            let index = objects[path]?.firstIndex(where: { $0.interface.name == interface.name })
        else { preconditionFailure("\(interface.name) is not exported at \(path.text)") }
        objects[path]?[index].values.merge(values) { $1 }
        enqueue(.changed(path, interface.name))
    }

    func onRefresh(_ refresher: @escaping () -> Void) { refreshers.append(refresher) }

    /// Evaluates all getters, in the order of their exports, and stores the values.
    package func refresh() {
        for refresher in refreshers { refresher() }
    }

    private func check(_ values: [String: Value], _ interface: Interface) {
        for (name, value) in values {
            guard let property = interface.property(name) else {
                preconditionFailure("\(interface.name) has no property \(name)")
            }
            precondition(
                property.type == value.type && value.isConsistent,
                "\(interface.name).\(name) is a \(property.type.code), not a \(value.type.code)"
            )
        }
    }

    private func enqueue(_ item: News) {
        guard !news.contains(item) else { return }
        if news.isEmpty { port.soon() }
        news.append(item)
    }

    // MARK: - Signals

    /// Sends the signal `name` of `interface` at `path`, with values of exactly the declared types.
    package func emit(
        _ name: String,
        of interface: Interface,
        at path: ObjectPath,
        _ values: Value...
    ) {
        guard let signal = interface.signal(name) else {
            preconditionFailure("\(interface.name) has no signal \(name)")
        }
        precondition(values.map(\.type) == signal.carries.map(\.type), "\(name) carries others")
        emit(name, of: interface.name, at: path, values)
    }

    func emit(_ name: String, of interface: String, at path: ObjectPath, _ values: [Value]) {
        flush()
        send(name, of: interface, at: path, values)
    }

    /// Sends the messages that are due at the end of the round now.
    package func flush() {
        onFlush()
        let news = news
        self.news = []
        for item in news {
            switch item {
            case .added(let path): emitAdded(path)
            case .changed(let path, let interface): emitChanged(interface, at: path)
            }
        }
    }

    private func emitAdded(_ path: ObjectPath) {
        guard let root, path.isBelow(root), let exports = objects[path] else { return }
        for index in exports.indices {
            objects[path]?[index].emitted = exports[index].values
            objects[path]?[index].isAnnounced = true
        }
        send(
            "InterfacesAdded",
            of: Interface.objectManager.name,
            at: root,
            [.objectPath(path), ObjectServer.listing(exports.filter { !$0.isAnnounced })]
        )
    }

    private func emitChanged(_ interface: String, at path: ObjectPath) {
        guard let index = objects[path]?.firstIndex(where: { $0.interface.name == interface }),
            let export = objects[path]?[index]
        else { return }
        objects[path]?[index].emitted = export.values
        let differing = export.interface.properties.filter {
            export.values[$0.name] != export.emitted[$0.name]
        }
        var changed: [String: Value] = [:]
        for property in differing where property.change == .value {
            changed[property.name] = export.values[property.name]
        }
        let invalidated = differing.filter { $0.change == .invalidates }.map(\.name)
        guard !changed.isEmpty || !invalidated.isEmpty else { return }
        send(
            "PropertiesChanged",
            of: Interface.properties.name,
            at: path,
            [.string(interface), .named(changed), .strings(invalidated)]
        )
    }

    private func send(
        _ member: String,
        of interface: String,
        at path: ObjectPath,
        _ values: [Value]
    ) {
        // Values were checked when stored, so this fails only for lack of memory.
        guard let message = try? Message(signal: member, of: interface, at: path, values) else {
            return
        }
        port.send(message)
    }

    /// Returns the interfaces and their properties as an `a{sa{sv}}`.
    static func listing(_ exports: [Export]) -> Value {
        var entries: [Value: Value] = [:]
        for export in exports { entries[.string(export.interface.name)] = .named(export.values) }
        return .dictionary(entries, key: .string, value: "a{sv}")
    }
}
