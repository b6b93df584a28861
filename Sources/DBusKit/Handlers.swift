/// The handlers of a service for the members of an interface that it exports.
///
/// - Context: Bound to the connection's thread.
package final class Handlers<Members: InterfaceMembers> {
    private var getters: [String: () -> Value] = [:]
    private var setters: [String: (PropertyWrite) -> Void] = [:]
    private var methods: [String: (Invocation) -> Void] = [:]
    let interface = Members.interface

    /// Creates handlers for no member yet.
    init() {}

    /// Shows `value` as a property. It is evaluated at the export, and by `ObjectServer.refresh`.
    package func get<Content: DBusType>(
        _ property: KeyPath<Members, PropertyMember<Content>>,
        _ value: @escaping () -> Content
    ) {
        add({ value().dbus }, for: Members.members[keyPath: property].name, to: &getters)
    }

    /// Handles the requests to set a property. The request succeeds when `set` returns, and fails
    /// with what it throws.
    package func set<Content: DBusType>(
        _ property: KeyPath<Members, PropertyMember<Content>>,
        _ set: @escaping (Content) throws(DBusError) -> Void
    ) {
        setLater(property) { (write: Write<Content>) throws(DBusError) in
            try set(write.value)
            write.accept()
        }
    }

    /// Handles the requests to set a property, which `set` accepts or refuses, at once or later.
    /// An error that it throws is a refusal.
    package func setLater<Content: DBusType>(
        _ property: KeyPath<Members, PropertyMember<Content>>,
        _ set: @escaping (Write<Content>) throws(DBusError) -> Void
    ) {
        let handler: (PropertyWrite) -> Void = { request in
            // The server has checked the type.
            guard let value = Content(dbus: request.value) else {
                return request.refuse(.invalidArguments("\(request.property) has another type"))
            }
            do throws(DBusError) {
                try set(Write(value: value, request: request))
            } catch {
                request.refuse(error)
            }
        }
        add(handler, for: Members.members[keyPath: property].name, to: &setters)
    }

    /// Handles the calls of a method, which `answer` replies to or fails, at once or later. What it
    /// throws is a failure.
    package func answer<Arguments, Known: OptionMembers, Results>(
        _ method: KeyPath<Members, MethodMember<Arguments, Known, Results>>,
        _ answer: @escaping (Call<Arguments, Known, Results>) throws(DBusError) -> Void
    ) {
        let member = Members.members[keyPath: method]
        let handler: (Invocation) -> Void = { invocation in
            // The server has checked the types.
            guard let arguments = member.takes.decode(invocation.arguments.dropLast()) else {
                return invocation.fail(.invalidArguments("\(member.name) takes others"))
            }
            do throws(DBusError) {
                try answer(Call(invocation, arguments, gives: member.gives))
            } catch {
                invocation.fail(error)
            }
        }
        add(handler, for: member.name, to: &methods)
    }

    private func add<Handler>(
        _ handler: Handler,
        for name: String,
        to handlers: inout [String: Handler]
    ) {
        precondition(handlers[name] == nil, "two handlers of \(Members.name).\(name)")
        handlers[name] = handler
    }

    /// The declared members without a handler: a property needs a getter and, if it is writable, a
    /// setter.
    var missing: [String] {
        interface.methods.map(\.name).filter { methods[$0] == nil }
            + interface.properties.filter {
                getters[$0.name] == nil || ($0.isWritable && setters[$0.name] == nil)
            }.map(\.name)
    }

    /// The present values of all properties.
    var values: [String: Value] { getters.mapValues { $0() } }

    func call(_ invocation: Invocation) { methods[invocation.member]?(invocation) }
    func write(_ write: PropertyWrite) { setters[write.property]?(write) }
}

/// A request to set a property to a value of a Swift type; answer it exactly once.
///
/// - Context: Bound to the connection's thread.
package struct Write<Content: DBusType> {
    /// The requested value.
    package let value: Content
    fileprivate let request: PropertyWrite

    /// Answers with success.
    package func accept() { request.accept() }
    /// Answers with an error.
    package func refuse(_ error: DBusError) { request.refuse(error) }
}

/// A call of a method with arguments and results of Swift types; answer it exactly once, as an
/// `Invocation`.
///
/// - Context: Bound to the connection's thread.
package struct Call<Arguments, Known: OptionMembers, Results> {
    /// The arguments, without the options.
    package let arguments: Arguments
    /// The options that were given, as far as the method knows them.
    package let options: Options<Known>
    private let gives: Row<Results>
    private let invocation: Invocation

    fileprivate init(_ invocation: Invocation, _ arguments: Arguments, gives: Row<Results>) {
        self.invocation = invocation
        self.arguments = arguments
        self.gives = gives
        options = Options(invocation.options)
    }

    /// The unique name of the caller.
    package var sender: String { invocation.sender }

    /// Calls `handler` if the caller leaves the bus before the answer, which is due nonetheless.
    package func whenCallerLeaves(_ handler: @escaping () -> Void) {
        invocation.whenCallerLeaves(handler)
    }

    /// Calls `handler` once the caller has left the bus, also after the answer, until the returned
    /// object is released: for what a caller has as long as it is there.
    package func onLeaving(_ handler: @escaping () -> Void) -> AnyObject {
        invocation.onLeaving(handler)
    }

    /// Answers with the results.
    package func reply(_ results: Results) { invocation.reply(gives.encode(results)) }
    /// Answers with an error.
    package func fail(_ error: DBusError) { invocation.fail(error) }

    /// Answers with the results, or with the error.
    package func answer(_ result: Result<Results, DBusError>) {
        switch result {
        case .success(let results): reply(results)
        case .failure(let error): fail(error)
        }
    }
}

extension Call where Results == Void {
    /// Answers that it is done.
    package func reply() { reply(()) }
}

extension ObjectServer {
    /// Exports an interface at `path`, with the handlers that `add` adds for each of its members.
    package func export<Members: InterfaceMembers>(
        _ type: Members.Type,
        at path: ObjectPath,
        _ add: (Handlers<Members>) -> Void
    ) {
        let handlers = Handlers<Members>()
        add(handlers)
        let missing = handlers.missing
        precondition(missing.isEmpty, "\(Members.name) has no handler of \(missing)")
        export(
            handlers.interface,
            at: path,
            properties: handlers.values,
            onCall: { handlers.call($0) },
            onWrite: { handlers.write($0) }
        )
        onRefresh { [unowned self] in set(handlers.values, of: handlers.interface, at: path) }
    }

    /// Sends a signal of an interface that is exported at `path`.
    package func emit<Members: InterfaceMembers, Arguments>(
        _ signal: KeyPath<Members, SignalMember<Arguments>>,
        at path: ObjectPath,
        _ arguments: Arguments
    ) {
        let member = Members.members[keyPath: signal]
        emit(member.name, of: Members.name, at: path, member.carries.encode(arguments))
    }

    /// Sends a signal without arguments.
    package func emit<Members: InterfaceMembers>(
        _ signal: KeyPath<Members, SignalMember<Void>>,
        at path: ObjectPath
    ) {
        emit(signal, at: path, ())
    }
}
