import CDBus

// The dispatch of calls, and the answers of the standard interfaces.
extension ObjectServer {
    /// Handles `message`, a method call: answers it, or passes it to the export's `onCall`.
    func receive(_ message: Message) {
        let answer = Answer(to: message, on: port) { [weak self] in self?.flush() }
        do throws(DBusError) {
            try count(answer)
            guard let path = message.path, let member = message.member else {
                throw .invalidArguments("a call without a path or a member")
            }
            let (interface, method) = try find(member, of: message.interface ?? "", at: path)
            guard message.signature == method.signature else {
                throw .invalidArguments(
                    "\(member) takes (\(method.signature)), not (\(message.signature))"
                )
            }
            var arguments = try message.values()
            if let options = arguments.last?.named, !method.options.isEmpty {
                arguments[arguments.count - 1] = .named(try method.checked(options))
            }
            let invocation = Invocation(
                method: method,
                interface: interface.name,
                path: path,
                arguments: arguments,
                answer: answer
            )
            admit(invocation, isForEveryone(invocation, method.access), answer)
        } catch {
            answer.give(.failure(error))
        }
    }

    /// Answers a call of a caller that has too many already.
    func refuse(_ message: Message) {
        Answer(to: message, on: port) {}.give(.failure(callLimit.1))
    }

    /// Counts a call until its answer. Throws the error of `callLimit`.
    private func count(_ answer: Answer) throws(DBusError) {
        let caller = answer.address.sender
        guard unanswered[caller, default: 0] < callLimit.0 else { throw callLimit.1 }
        unanswered[caller, default: 0] += 1
        answer.onGiven = { [weak self] in
            let left = (self?.unanswered[caller] ?? 1) - 1
            self?.unanswered[caller] = left > 0 ? left : nil
        }
    }

    /// Performs a call now, or once it is decided whether its caller is trusted. The calls of one
    /// caller keep their order.
    private func admit(_ invocation: Invocation, _ isForEveryone: Bool, _ answer: Answer) {
        let caller = invocation.sender
        if held[caller] != nil {
            held[caller]?.append { [weak self] in self?.admit(invocation, isForEveryone, answer) }
            return
        }
        guard let isTrusted, !isForEveryone else { return perform(invocation, answer) }
        held[caller] = []
        isTrusted(caller) { [weak self] isTrusted in
            guard let self else { return }
            isTrusted ? perform(invocation, answer) : answer.give(.failure(distrust))
            let next = held.removeValue(forKey: caller) ?? []
            for call in next { call() }
        }
    }

    private func perform(_ invocation: Invocation, _ answer: Answer) {
        if let export = export(invocation.interface, at: invocation.path) {
            return export.onCall(invocation)
        }
        do throws(DBusError) { try answerStandard(invocation, answer) } catch {
            answer.give(.failure(error))
        }
    }

    /// Returns `true` for a call that every program may make.
    private func isForEveryone(_ invocation: Invocation, _ access: Access) -> Bool {
        guard access == .asToSet else { return access == .everyone }
        // A property that is not there is refused later, for its own reason.
        guard let (_, property) = try? find(invocation.arguments, at: invocation.path) else {
            return true
        }
        if invocation.member == "Set", case .variant(let value) = invocation.arguments[2],
            value == property.harmless
        {
            return true
        }
        return property.access == .everyone
    }

    // MARK: - Finding

    /// Returns the called method. `name` is empty if the caller left out the interface.
    private func find(
        _ member: String,
        of name: String,
        at path: ObjectPath
    ) throws(DBusError) -> (Interface, Interface.Method) {
        let interfaces = try interfaces(at: path)
        if !name.isEmpty {
            guard let interface = interfaces.first(where: { $0.name == name }) else {
                throw .unknownInterface("there is no interface \(name) at \(path.text)")
            }
            guard let method = interface.method(member) else {
                throw .unknownMethod("\(name) has no method \(member)")
            }
            return (interface, method)
        }
        let found = interfaces.compactMap { interface in
            interface.method(member).map { (interface, $0) }
        }
        guard let first = found.first else {
            throw .unknownMethod("there is no method \(member) at \(path.text)")
        }
        guard found.count == 1 else {
            let names = found.map(\.0.name).joined(separator: " and ")
            throw .unknownMethod("\(names) have a method \(member) each: say which")
        }
        return first
    }

    /// Returns all interfaces at `path`. Throws `UnknownObject` without an object there or below.
    private func interfaces(at path: ObjectPath) throws(DBusError) -> [Interface] {
        let own = objects[path, default: []].map(\.interface)
        if !own.isEmpty || path == root {
            return own + (path == root ? [.objectManager] : [])
                + [.properties, .introspectable, .peer]
        }
        guard path == .root || objects.keys.contains(where: { $0.isBelow(path) }) else {
            throw .unknownObject("there is no object at \(path.text)")
        }
        return [.introspectable, .peer]
    }

    // MARK: - Answering

    private func answerStandard(_ invocation: Invocation, _ answer: Answer) throws(DBusError) {
        let path = invocation.path
        if ["Get", "GetAll", "GetManagedObjects"].contains(invocation.member) { onRead() }
        switch invocation.member {
        case "Introspect": invocation.reply(.string(try introspection(of: path)))
        case "GetManagedObjects": invocation.reply(managedObjects())
        case "Ping": invocation.reply()
        case "GetMachineId":
            guard let text = dbus_get_local_machine_id() else {
                throw .failed("this machine has no identity")
            }
            defer { dbus_free(text) }
            invocation.reply(.string(String(cString: text)))
        case "Get":
            let (export, property) = try find(invocation.arguments, at: path)
            guard let value = export.values[property.name] else { throw .noMemory }
            invocation.reply(.variant(value))
        case "GetAll": invocation.reply(.named(try all(of: invocation.arguments, at: path)))
        case "Set": try write(invocation.arguments, at: path, answer)
        default: throw .unknownMethod("there is no method \(invocation.member)")
        }
    }

    private func introspection(of path: ObjectPath) throws(DBusError) -> String {
        let children = Set(objects.keys.compactMap { path.child(towards: $0) }).sorted()
        return Introspection.document(interfaces: try interfaces(at: path), children: children)
    }

    private func managedObjects() -> Value {
        var entries: [Value: Value] = [:]
        for (path, exports) in objects {
            guard let root, path.isBelow(root) else { continue }
            entries[.objectPath(path)] = ObjectServer.listing(exports)
        }
        return .dictionary(entries, key: .objectPath, value: "a{sa{sv}}")
    }

    /// Returns the exports that an interface argument selects: one, or all if it is empty.
    private func exports(_ name: String, at path: ObjectPath) throws(DBusError) -> [Export] {
        let exports = objects[path, default: []]
        guard !name.isEmpty else { return exports }
        let found = exports.filter { $0.interface.name == name }
        // The standard interfaces exist too, without properties.
        let names = try interfaces(at: path).map(\.name)
        guard names.contains(name) else {
            throw .unknownInterface("there is no interface \(name) at \(path.text)")
        }
        return found
    }

    /// Returns the property that the first two arguments of Get and Set select.
    private func find(
        _ arguments: [Value],
        at path: ObjectPath
    ) throws(DBusError) -> (Export, Interface.Property) {
        let interface = arguments[0].string ?? ""
        let name = arguments[1].string ?? ""
        let exports = try exports(interface, at: path)
        let found = exports.compactMap { export in
            export.interface.property(name).map { (export, $0) }
        }
        guard let first = found.first else {
            let place = interface.isEmpty ? path.text : interface
            throw .unknownProperty("\(place) has no property \(name)")
        }
        guard found.count == 1 else {
            throw .unknownProperty("several interfaces have a property \(name): say which")
        }
        return first
    }

    private func all(
        of arguments: [Value],
        at path: ObjectPath
    ) throws(DBusError) -> [String: Value] {
        var values: [String: Value] = [:]
        for export in try exports(arguments[0].string ?? "", at: path) {
            values.merge(export.values) { first, _ in first }
        }
        return values
    }

    private func write(
        _ arguments: [Value],
        at path: ObjectPath,
        _ answer: Answer
    ) throws(DBusError) {
        let (export, property) = try find(arguments, at: path)
        guard property.isWritable else {
            throw .propertyReadOnly("\(property.name) is read-only")
        }
        guard case .variant(let given) = arguments[2], let value = given.fitting(property.type)
        else {
            let given = if case .variant(let value) = arguments[2] { value.type.code } else { "" }
            throw .invalidArguments(
                "\(property.name) has the type \(property.type.code), not \(given)"
            )
        }
        export.onWrite(
            PropertyWrite(
                property: property.name,
                interface: export.interface.name,
                path: path,
                value: value,
                sender: answer.address.sender
            ) { answer.give($0.map { [] }) }
        )
    }

    /// Changes a property of `interface` at `path` by `change`, from the value that it has now.
    /// `done` gets the value reached, and `true` if it is an end.
    package func step(
        _ property: String,
        of interface: String,
        at path: ObjectPath,
        by change: Value,
        done: @escaping (Result<(Value, Bool), DBusError>) -> Void
    ) {
        do throws(DBusError) {
            let (export, property) = try find([.string(interface), .string(property)], at: path)
            export.onStep(property.name, change, done)
        } catch {
            done(.failure(error))
        }
    }
}

extension Interface.Method {
    /// Returns `options` in the types that the method knows.
    ///
    /// - Throws: `InvalidArgs` if one has another type.
    fileprivate func checked(
        _ options: [String: Value]
    ) throws(DBusError) -> [String: Value] {
        var checked = options
        for (name, value) in options {
            guard let type = self.options[name] else { continue }
            // One element may stand for a list of one.
            guard let fitting = value.fitting(type) ?? (type == .array(value.type) ? value : nil)
            else {
                throw .invalidArguments(
                    "The option \(name) has the type \(type.code), not \(value.type.code)."
                )
            }
            checked[name] = fitting
        }
        return checked
    }
}
