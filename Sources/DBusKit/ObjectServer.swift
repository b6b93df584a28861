/// A tree of objects on a connection: their methods, properties and signals.
///
/// Properties are kept here: readers are answered from the last value that was `set`, and those
/// who watch get one PropertiesChanged for each interface and round of the loop, with exactly the
/// members whose value differs from the last one told. Everything goes out in the order it was
/// done here; changes are told before any signal or answer that follows them.
///
/// Introspectable, Peer, Properties and, at one object, ObjectManager are answered here, and so
/// are calls that do not fit what is declared.
///
/// ```swift
/// let server = ObjectServer(on: connection, managing: "/org/example/Thing1")
/// server.export(lamp, at: "/org/example/Thing1/lamps/desk", properties: ["Lit": .boolean(false)]) {
///     invocation in invocation.reply()
/// } onWrite: { write in
///     server.set(["Lit": write.value], of: lamp, at: write.path)
///     write.accept()
/// }
/// try connection.requestName("org.example.Thing1")
/// ```
///
/// - Context: bound to the connection's thread. One for a connection.
package final class ObjectServer {
    /// An interface of an object.
    struct Export {
        let interface: Interface
        var values: [String: Value]
        /// What watchers were sent last.
        var emitted: [String: Value]
        /// Whether the ObjectManager's watchers know of it.
        var isAnnounced = false
        let onCall: (Invocation) -> Void
        let onWrite: (PropertyWrite) -> Void
    }

    /// What there is to send at the end of the round, in the order it was done.
    private enum News: Hashable {
        case added(ObjectPath)
        case changed(ObjectPath, String)
    }

    let connection: BusConnection
    let root: ObjectPath?
    /// In the order of export, as introspection shows them.
    private(set) var objects: [ObjectPath: [Export]] = [:]
    private var news: [News] = []

    /// Called before properties are read by a caller, so that those whose changes are not told can
    /// be `set` first.
    package var onRead: () -> Void = {}

    /// An empty tree. The object at `root` has the ObjectManager of all below it; export
    /// everything, then request the bus name.
    package init(on connection: BusConnection, managing root: ObjectPath? = nil) {
        precondition(connection.onCall == nil, "a connection served twice")
        self.connection = connection
        self.root = root
        connection.onCall = { [weak self] in self?.receive($0) }
        connection.onRound = { [weak self] in self?.flush() }
    }

    // MARK: - Objects

    /// Offers `interface` at `path`, with a first value for each of its properties.
    ///
    /// `onCall` gets the calls of its methods, `onWrite` those who set its writable properties.
    /// Watchers of the ObjectManager are notified at the end of the round.
    package func export(
        _ interface: Interface,
        at path: ObjectPath,
        properties: [String: Value] = [:],
        onCall: @escaping (Invocation) -> Void = { _ in },
        onWrite: @escaping (PropertyWrite) -> Void = { _ in }
    ) {
        precondition(export(interface.name, at: path) == nil, "\(interface.name) exported twice")
        precondition(
            Set(properties.keys) == Set(interface.properties.map(\.name)),
            "a first value for each property of \(interface.name)"
        )
        check(properties, interface)
        objects[path, default: []].append(
            Export(
                interface: interface,
                values: properties,
                emitted: properties,
                onCall: onCall,
                onWrite: onWrite
            )
        )
        enqueue(.added(path))
    }

    /// Takes the object at `path` away, with all its interfaces.
    package func withdraw(_ path: ObjectPath) {
        guard let exports = objects[path] else { return }
        flush()
        objects[path] = nil
        guard let root, path.isBelow(root) else { return }
        send(
            "InterfacesRemoved",
            of: Interface.objectManager.name,
            at: root,
            [.objectPath(path), .strings(exports.map(\.interface.name))]
        )
    }

    func export(_ interface: String, at path: ObjectPath) -> Export? {
        objects[path]?.first { $0.interface.name == interface }
    }

    // MARK: - Properties

    /// Stores new values of properties of `interface` at `path`; those not named stay.
    ///
    /// Readers see them at once, watchers at the end of the round. Values that do not differ are
    /// not told, so a whole snapshot may be given each time.
    package func set(_ values: [String: Value], of interface: Interface, at path: ObjectPath) {
        check(values, interface)
        guard
            let index = objects[path]?.firstIndex(where: { $0.interface.name == interface.name })
        else { preconditionFailure("\(interface.name) is not exported at \(path.text)") }
        objects[path]?[index].values.merge(values) { $1 }
        enqueue(.changed(path, interface.name))
    }

    /// The value of a property as it was set last; nil when there is no such property.
    package func value(of property: String, of interface: Interface, at path: ObjectPath) -> Value?
    {
        export(interface.name, at: path)?.values[property]
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
        if news.isEmpty { connection.soon() }
        news.append(item)
    }

    // MARK: - Signals

    /// Sends the signal called `name` of `interface` at `path`, with values of exactly the
    /// declared types.
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
        flush()
        send(name, of: interface.name, at: path, values)
    }

    /// Sends now what would be sent at the end of the round.
    package func flush() {
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
        // What was checked when it was stored can fail for want of memory alone.
        guard let message = try? Message(signal: member, of: interface, at: path, values) else {
            return
        }
        connection.send(message)
    }

    /// An `a{sa{sv}}`: interfaces with their properties.
    static func listing(_ exports: [Export]) -> Value {
        var entries: [Value: Value] = [:]
        for export in exports { entries[.string(export.interface.name)] = .named(export.values) }
        return .dictionary(entries, key: .string, value: "a{sv}")
    }
}
