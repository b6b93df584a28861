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
            let invocation = Invocation(
                method,
                of: interface.name,
                at: path,
                arguments: try message.values(),
                answer: answer
            )
            for (name, value) in invocation.options {
                guard let type = method.options[name], type != value.type,
                    // One element may stand for a list of one.
                    type != .array(value.type)
                else { continue }
                throw .invalidArguments(
                    "The option \(name) has the type \(type.code), not \(value.type.code)."
                )
            }
            admit(invocation, method.access == .everyone && !isSetOfTrusted(invocation), answer)
        } catch {
            answer.give(.failure(error))
        }
    }

    /// Counts a call until its answer.
    ///
    /// - Throws: The error of `callLimit`.
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

    /// Returns `true` for a call that sets a property to a value that not everyone may set.
    private func isSetOfTrusted(_ invocation: Invocation) -> Bool {
        guard invocation.interface == Interface.properties.name, invocation.member == "Set",
            let (_, property) = try? find(invocation.arguments, at: invocation.path)
        else { return false }
        if case .variant(let value) = invocation.arguments[2], value == property.harmless {
            return false
        }
        return property.access == .trusted
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

    /// Returns the interfaces at `path`, including the standard ones.
    ///
    /// - Throws: `UnknownObject` without an object there or below.
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
        guard case .variant(let value) = arguments[2], value.type == property.type else {
            let given = if case .variant(let value) = arguments[2] { value.type.code } else { "" }
            throw .invalidArguments(
                "\(property.name) has the type \(property.type.code), not \(given)"
            )
        }
        export.onWrite(
            PropertyWrite(
                property.name,
                of: export.interface.name,
                at: path,
                value: value,
                answer: answer
            )
        )
    }
}
