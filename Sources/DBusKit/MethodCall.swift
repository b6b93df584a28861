/// A call of another program's method.
package struct MethodCall: Sendable {
    /// The bus name of the program, well known or unique.
    package var destination: String
    package var path: ObjectPath
    package var interface: String
    package var member: String
    package var arguments: [Value]
    /// `true` if the bus may start the service; `false` sets NO_AUTO_START.
    package var startsService: Bool
    /// The seconds before the call fails with org.freedesktop.DBus.Error.NoReply.
    package var timeout: Double

    /// Creates a call. Names are checked when it is made.
    package init(
        _ member: String,
        of interface: String,
        at path: ObjectPath,
        on destination: String,
        _ arguments: [Value] = [],
        startsService: Bool = true,
        timeout: Double = 25
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
        self.startsService = startsService
        self.timeout = timeout
    }

    /// Returns a call of a method of the bus itself.
    package static func bus(
        _ member: String,
        of interface: String = "org.freedesktop.DBus",
        _ arguments: [Value],
        timeout: Double = 5
    ) -> MethodCall {
        MethodCall(
            member,
            of: interface,
            at: "/org/freedesktop/DBus",
            on: "org.freedesktop.DBus",
            arguments,
            timeout: timeout
        )
    }

    /// Returns the call that asks the bus for the owner of `name`. The reply is the unique name of
    /// the owner, or an error if there is none.
    package static func owner(of name: String, timeout: Double = 25) -> MethodCall {
        .bus("GetNameOwner", [.string(name)], timeout: timeout)
    }
}

/// A received signal.
package struct Signal: Sendable {
    /// The unique name of the sender, guaranteed by the bus.
    package let sender: String
    package let path: ObjectPath
    package let interface: String
    package let member: String
    package let arguments: [Value]
}

/// A selection of signals. A part that is `nil` matches any value.
package struct MatchRule: Hashable, Sendable {
    /// The unique name of the sender, or the name of the bus. Well-known names are refused, because
    /// any program could pass for their owner.
    package var sender: String?
    package var path: ObjectPath?
    /// The path of the object and those below it. Of two rules that differ only in this,
    /// dbus-daemon (at least 1.14) may remove the wrong one when one ends; rules that differ in
    /// `path` are safe.
    package var pathNamespace: ObjectPath?
    package var interface: String?
    package var member: String?
    package var firstArgument: String?

    package init(
        sender: String? = nil,
        path: ObjectPath? = nil,
        pathNamespace: ObjectPath? = nil,
        interface: String? = nil,
        member: String? = nil,
        firstArgument: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.pathNamespace = pathNamespace
        self.interface = interface
        self.member = member
        self.firstArgument = firstArgument
    }

    /// Returns the rule for changes of the owner of the bus name `name`. The arguments are the
    /// name, the old owner and the new owner, each owner a unique name or empty.
    package static func owner(of name: String) -> MatchRule {
        MatchRule(
            sender: "org.freedesktop.DBus",
            interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged",
            firstArgument: name
        )
    }

    /// The rule in the syntax of AddMatch.
    var text: String {
        var parts = ["type='signal'"]
        func add(_ key: String, _ value: String?) {
            guard let value else { return }
            precondition(!value.contains("'") && !value.contains("\0"), "a quote in a match rule")
            parts.append("\(key)='\(value)'")
        }
        precondition(
            sender?.hasPrefix(":") ?? true || sender == "org.freedesktop.DBus",
            "a well-known name as the sender of a match rule"
        )
        add("sender", sender)
        add("path", path?.text)
        // "/" matches every path, and not all buses accept it as a namespace.
        add("path_namespace", pathNamespace == .root ? nil : pathNamespace?.text)
        add("interface", interface)
        add("member", member)
        add("arg0", firstArgument)
        return parts.joined(separator: ",")
    }

    func matches(_ signal: Signal) -> Bool {
        func agrees(_ wanted: String?, _ actual: String?) -> Bool {
            wanted == nil || wanted == actual
        }
        return agrees(sender, signal.sender) && agrees(interface, signal.interface)
            && agrees(member, signal.member)
            && agrees(firstArgument, signal.arguments.first?.string)
            && agrees(path?.text, signal.path.text)
            && (pathNamespace.map { signal.path == $0 || signal.path.isBelow($0) } ?? true)
    }
}
