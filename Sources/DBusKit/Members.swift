/// The members of one D-Bus interface, each said once, with its Swift type.
///
/// A conforming struct has one constant for each member. From them come introspection, the checks
/// of the object server, the handlers of a service (`Handlers`) and the calls of a client, so that
/// a wrong name or type does not compile:
///
/// ```swift
/// struct LampInterface: InterfaceMembers {
///     static let name = "org.example.Thing1.Lamp"
///     static let members = LampInterface()
///     let blink = MethodMember("Blink", takes: ArgumentMember<UInt32>("times"))
///     let lit = PropertyMember<Bool>("Lit", .readWrite)
///     let blinked = SignalMember("Blinked", ArgumentMember<UInt32>("times"))
/// }
/// ```
package protocol InterfaceMembers: Sendable {
    static var name: String { get }
    static var members: Self { get }
}

extension InterfaceMembers {
    /// The interface as introspection shows it, with the members in the order of their declaration.
    package static var interface: Interface {
        let members = Mirror(reflecting: members).children.compactMap { $0.value as? any Member }
        return Interface(
            name,
            methods: members.compactMap { $0.description as? Interface.Method },
            signals: members.compactMap { $0.description as? Interface.Signal },
            properties: members.compactMap { $0.description as? Interface.Property }
        )
    }
}

/// A typed member. Its `description` is an `Interface.Method`, `.Signal` or `.Property`.
private protocol Member {
    var description: any Sendable { get }
}

/// The programs that may use a member.
package enum Access: Sendable {
    case everyone
    /// Programs that no sandbox confines; see `ObjectServer.isTrusted`.
    case trusted
    /// Those that may set the property which the first two arguments name.
    case asToSet
}

/// A property with values of one Swift type.
package struct PropertyMember<Content: DBusType>: Sendable, Member {
    /// The ways in which clients may use a property.
    package enum Use: Sendable {
        case read
        case readWrite(Access)
        /// Every trusted client may set it.
        package static var readWrite: Use { .readWrite(.trusted) }
    }

    package let name: String
    fileprivate let use: Use
    private let change: Interface.Property.Change
    private let harmless: Content?

    /// Declares `PropertyMember<Bool>("Swapped", .readWrite)`. Every program may set `harmless`.
    package init(
        _ name: String,
        _ use: Use = .read,
        change: Interface.Property.Change = .value,
        harmless: Content? = nil
    ) {
        self.name = name
        self.use = use
        self.change = change
        self.harmless = harmless
    }

    fileprivate var description: any Sendable {
        var (isWritable, access) = (false, Access.trusted)
        if case .readWrite(let writers) = use { (isWritable, access) = (true, writers) }
        return Interface.Property(
            name,
            Content.dbusType,
            isWritable: isWritable,
            change: change,
            access: access,
            harmless: harmless?.dbus
        )
    }
}

/// An argument of a method or signal, or a value of a reply.
package struct ArgumentMember<Content: DBusType>: Sendable {
    fileprivate let name: String

    package init(_ name: String) { self.name = name }

    fileprivate var description: Interface.Argument {
        Interface.Argument(name: name, type: Content.dbusType)
    }
}

/// The options that a method knows: a struct of `OptionMember` constants.
package protocol OptionMembers: Sendable {
    init()
}

/// One option of a method.
package struct OptionMember<Content: DBusType>: Sendable {
    fileprivate let name: String

    package init(_ name: String) { self.name = name }
}

private protocol AnyOptionMember {
    var entry: (String, CompleteType) { get }
}

extension OptionMember: AnyOptionMember {
    fileprivate var entry: (String, CompleteType) { (name, Content.dbusType) }
}

/// The declaration of a method without options.
package struct NoOptions: OptionMembers {
    package init() {}
}

/// The options given in one call: `options.instant = true`.
@dynamicMemberLookup
package struct Options<Members: OptionMembers> {
    /// The values by name, of which those that the method knows have the declared types.
    private(set) package var values: [String: Value]

    package init() { values = [:] }

    init(_ values: [String: Value]) { self.values = values }

    /// The value of an option; `nil` if it is not given.
    package subscript<Content: DBusType>(
        dynamicMember member: KeyPath<Members, OptionMember<Content>>
    ) -> Content? {
        get {
            guard let value = values[Members()[keyPath: member].name] else { return nil }
            // One element may stand for a list of one.
            return Content(dbus: value) ?? Content(dbus: .array([value], of: value.type))
        }
        set { values[Members()[keyPath: member].name] = newValue?.dbus }
    }
}

/// A sequence of values, converted from and to a tuple of Swift types.
package struct Row<Contents>: Sendable {
    let arguments: [Interface.Argument]
    package let encode: @Sendable (Contents) -> [Value]
    /// Returns the tuple of as many values of the declared types; `nil` for others.
    package let decode: @Sendable ([Value]) -> Contents?

    init<each Content: DBusType>(
        _ arguments: repeat ArgumentMember<each Content>
    ) where Contents == (repeat each Content) {
        var list: [Interface.Argument] = []
        for argument in repeat each arguments { list.append(argument.description) }
        self.arguments = list
        let count = list.count
        encode = { (contents: (repeat each Content)) in
            var values: [Value] = []
            for content in repeat each contents { values.append(content.dbus) }
            return values
        }
        decode = { values in
            guard values.count == count else { return nil }
            var rest = values.makeIterator()
            func next<Next: DBusType>(_ type: Next.Type) throws -> Next {
                guard let value = rest.next(), let next = Next(dbus: value) else {
                    throw Mismatch()
                }
                return next
            }
            do { return (repeat try next((each Content).self)) } catch { return nil }
        }
    }
}

private struct Mismatch: Error {}

/// A method, with its arguments, options and results as Swift types. Its last argument on the bus,
/// after `takes`, is the `a{sv}` of its options.
package struct MethodMember<Arguments, Known: OptionMembers, Results>: Sendable, Member {
    package let name: String
    /// The arguments, without the options.
    package let takes: Row<Arguments>
    package let gives: Row<Results>
    private let access: Access

    /// Declares a method: `MethodMember("Swap", options: SwapOptions.self, gives:
    /// ArgumentMember<Bool>("swapped"))`.
    package init<each Input: DBusType, each Output: DBusType>(
        _ name: String,
        takes: repeat ArgumentMember<each Input>,
        options: Known.Type = NoOptions.self,
        gives: repeat ArgumentMember<each Output>,
        for access: Access = .trusted
    ) where Arguments == (repeat each Input), Results == (repeat each Output) {
        self.name = name
        self.takes = Row(repeat each takes)
        self.gives = Row(repeat each gives)
        self.access = access
    }

    fileprivate var description: any Sendable {
        let options = Mirror(reflecting: Known()).children.compactMap {
            ($0.value as? any AnyOptionMember)?.entry
        }
        return Interface.Method(
            name: name,
            takes: takes.arguments + [Interface.Argument(name: "options", type: "a{sv}")],
            options: Dictionary(options) { $1 },
            gives: gives.arguments,
            access: access
        )
    }
}

/// A signal, with its arguments as Swift types.
package struct SignalMember<Arguments>: Sendable, Member {
    package let name: String
    package let carries: Row<Arguments>

    /// Declares a signal: `SignalMember("FailedToStart", ArgumentMember<String>("reason"))`.
    package init<each Content: DBusType>(
        _ name: String,
        _ arguments: repeat ArgumentMember<each Content>
    ) where Arguments == (repeat each Content) {
        self.name = name
        carries = Row(repeat each arguments)
    }

    fileprivate var description: any Sendable {
        Interface.Signal(name: name, carries: carries.arguments)
    }
}
