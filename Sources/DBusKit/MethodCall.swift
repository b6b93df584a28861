/// A call to a method of another program.
package struct MethodCall: Sendable {
    /// The bus name, well known or unique.
    package var destination: String
    /// The object that is called.
    package var path: ObjectPath
    /// The interface that the method belongs to.
    package var interface: String
    /// The method's name.
    package var member: String
    /// What the call brings, in order.
    package var arguments: [Value]
    /// Whether the bus starts the service when it is not running (NO_AUTO_START when false).
    package var startsService: Bool
    /// Seconds to wait for the answer; then it fails with org.freedesktop.DBus.Error.NoReply.
    package var timeout: Double

    /// A call; names are checked when it is made.
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

    /// A call to the bus itself.
    static func bus(_ member: String, _ arguments: [Value], timeout: Double = 5) -> MethodCall {
        MethodCall(
            member,
            of: "org.freedesktop.DBus",
            at: "/org/freedesktop/DBus",
            on: "org.freedesktop.DBus",
            arguments,
            timeout: timeout
        )
    }
}

/// A signal that came.
package struct Signal: Sendable {
    /// The unique name of who sent it, as the bus vouches for.
    package let sender: String
    /// The object that sent it.
    package let path: ObjectPath
    /// The interface that the signal belongs to.
    package let interface: String
    /// The signal's name.
    package let member: String
    /// What it carries, in order.
    package let arguments: [Value]
}

/// Which signals somebody wants to have; nil takes every one.
package struct MatchRule: Hashable, Sendable {
    /// The unique name of the sender, or the name of the bus. A well-known name would let any
    /// program pass for its owner, and is refused.
    package var sender: String?
    /// The object.
    package var path: ObjectPath?
    /// The object, and those below it. Of two rules that differ in this alone, dbus-daemon (1.14
    /// at least) takes away either one when the other ends; by `path` it tells them apart.
    package var pathNamespace: ObjectPath?
    /// The interface that the signal belongs to.
    package var interface: String?
    /// The signal's name.
    package var member: String?
    /// The first argument, a string.
    package var firstArgument: String?

    /// A rule of these parts.
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

    /// The changes of owner of the bus name `name`: (name, old owner, new owner), each owner a
    /// unique name, or empty for none.
    package static func owner(of name: String) -> MatchRule {
        MatchRule(
            sender: "org.freedesktop.DBus",
            interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged",
            firstArgument: name
        )
    }

    /// As AddMatch takes it.
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
        // "/" is every path, and not all buses take it as a namespace.
        add("path_namespace", pathNamespace == .root ? nil : pathNamespace?.text)
        add("interface", interface)
        add("member", member)
        add("arg0", firstArgument)
        return parts.joined(separator: ",")
    }

    /// Whether `signal` is one that was asked for.
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
