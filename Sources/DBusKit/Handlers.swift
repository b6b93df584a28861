/// The handlers of a service for the members of an interface. Bound to the connection's thread.
package final class Handlers<Members: InterfaceMembers> {
    private var getters: [String: () -> Value] = [:]
    private var setters: [String: (PropertyWrite) -> Void] = [:]
    private var methods: [String: (Invocation) -> Void] = [:]
    private var steppers: [String: (Step) -> Void] = [:]
    let interface = Members.interface

    init() {}

    /// Shows `value` as a property. It is evaluated at the export, and by `ObjectServer.refresh`.
    package func get<Content: DBusType>(
        _ property: KeyPath<Members, PropertyMember<Content>>,
        _ value: @escaping () -> Content
    ) {
        add({ value().dbus }, for: Members.members[keyPath: property].name, to: &getters)
    }

    /// Handles the steps of a property: `step` accepts or refuses each, at once or later. An error
    /// that it throws is a refusal. Those of a boolean that can be set turn it over without that.
    package func step<Content: DBusType>(
        _ property: KeyPath<Members, PropertyMember<Content>>,
        _ step: @escaping (Step) throws(DBusError) -> Void
    ) {
        add(step, for: Members.members[keyPath: property].name)
    }

    private func add(_ step: @escaping (Step) throws(DBusError) -> Void, for name: String) {
        let handler: (Step) -> Void = { request in
            do throws(DBusError) { try step(request) } catch { request.refuse(error) }
        }
        add(handler, for: name, to: &steppers)
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

    /// The writable properties that have no handler yet.
    package var unhandled: [Interface.Property] {
        interface.properties.filter { $0.isWritable && getters[$0.name] == nil }
    }

    /// Shows `value`, which has its type, as a property, and handles the requests to set it, as
    /// `set` does, and its steps.
    package func bind(
        _ property: Interface.Property,
        _ value: @escaping () -> Value,
        set: @escaping (Value) throws(DBusError) -> Void,
        step: @escaping (Step) throws(DBusError) -> Void
    ) {
        add(step, for: property.name)
        add(value, for: property.name, to: &getters)
        let handler: (PropertyWrite) -> Void = { request in
            do throws(DBusError) { try set(request.value) } catch { return request.refuse(error) }
            request.accept()
        }
        add(handler, for: property.name, to: &setters)
    }

    private func add<Handler>(
        _ handler: Handler,
        for name: String,
        to handlers: inout [String: Handler]
    ) {
        precondition(handlers[name] == nil, "two handlers of \(Members.name).\(name)")
        handlers[name] = handler
    }

    /// The members without a handler: a property needs a getter and, if writable, a setter.
    var missing: [String] {
        interface.methods.map(\.name).filter { methods[$0] == nil }
            + interface.properties.filter {
                getters[$0.name] == nil || ($0.isWritable && setters[$0.name] == nil)
            }.map(\.name)
    }

    var values: [String: Value] { getters.mapValues { $0() } }

    func call(_ invocation: Invocation) { methods[invocation.member]?(invocation) }
    func write(_ write: PropertyWrite) { setters[write.property]?(write) }

    func step(
        _ name: String,
        _ change: Value,
        _ done: @escaping (Result<(Value, Bool), DBusError>) -> Void
    ) {
        guard let get = getters[name] else { return }
        let step = Step(change: change) { result in done(result.map { (get(), $0) }) }
        if let handler = steppers[name] { return handler(step) }
        guard case .boolean(let isOn) = get(), let set = setters[name] else {
            return step.refuse(.noSteps(name))
        }
        do throws(DBusError) {
            if try step.turns % 2 == 0 { return step.accept() }
        } catch { return step.refuse(error) }
        set(
            PropertyWrite(
                property: name,
                interface: Members.name,
                path: .root,
                value: .boolean(!isOn),
                sender: ""
            ) {
                step.answer($0.map { false })
            }
        )
    }
}

/// A request to change a property from the value that it has; answer it exactly once.
///
/// - Context: Bound to the connection's thread.
package struct Step {
    /// The change: a number; or "toggle", "next" or "previous".
    package let change: Value
    fileprivate let answer: (Result<Bool, DBusError>) -> Void

    /// The number of places by which a choice moves on.
    package var turns: Int {
        get throws(DBusError) {
            switch change {
            case .string("toggle"), .string("next"): return 1
            case .string("previous"): return -1
            default:
                guard let count = change.integer else {
                    throw .invalidArguments(
                        "A choice changes by \"next\", \"previous\", \"toggle\" or a whole number."
                    )
                }
                return count
            }
        }
    }

    /// The number by which a number changes.
    package var number: Double {
        get throws(DBusError) {
            guard let number = change.double ?? change.integer.map(Double.init), number.isFinite
            else { throw .invalidArguments("A number changes by a number.") }
            return number
        }
    }

    /// Answers with the value that the property now has, an end if `isLimited`.
    package func accept(isLimited: Bool = false) { answer(.success(isLimited)) }
    /// Answers with an error.
    package func refuse(_ error: DBusError) { answer(.failure(error)) }
}

/// A request to set a property; answer it exactly once. Bound to the connection's thread.
package struct Write<Content: DBusType> {
    package let value: Content
    fileprivate let request: PropertyWrite

    /// Answers with success.
    package func accept() { request.accept() }
    /// Answers with an error.
    package func refuse(_ error: DBusError) { request.refuse(error) }
}

/// A call of a method with arguments and results of Swift types; answer it exactly once, as an
/// `Invocation`. Bound to the connection's thread.
package struct Call<Arguments, Known: OptionMembers, Results> {
    package let arguments: Arguments
    package let options: Options<Known>
    private let gives: Row<Results>
    private let invocation: Invocation

    fileprivate init(_ invocation: Invocation, _ arguments: Arguments, gives: Row<Results>) {
        self.invocation = invocation
        self.arguments = arguments
        self.gives = gives
        options = Options(invocation.options)
    }

    package var sender: String { invocation.sender }

    /// Calls `handler` if the caller leaves the bus before the answer. Answer all the same.
    package func whenCallerLeaves(_ handler: @escaping () -> Void) {
        invocation.answer.whenCallerLeaves(handler)
    }

    /// Calls `handler` once the caller has left, even after the answer, while the result is kept.
    package func onLeaving(_ handler: @escaping () -> Void) -> AnyObject {
        invocation.answer.onLeaving(handler)
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
            onWrite: { handlers.write($0) },
            onStep: { handlers.step($0, $1, $2) }
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
