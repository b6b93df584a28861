package import Control
package import DBusKit

/// An interface of one of the daemon's objects, with the types of its members.
///
/// - Context: Bound to the thread of the connection.
package struct Remote<Members: InterfaceMembers> {
    private let connection: BusConnection
    private let path: ObjectPath

    /// Creates the interface of the object at `path`, as a program on `connection` sees it.
    package init(_ connection: BusConnection, at path: ObjectPath = DualCam.path) {
        (self.connection, self.path) = (connection, path)
    }

    private func message(
        _ member: String,
        of interface: String,
        _ arguments: [Value],
        within seconds: Double = 10
    ) -> MethodCall {
        MethodCall(
            member,
            of: interface,
            at: path,
            on: DualCam.busName,
            arguments,
            startsService: false,
            timeout: seconds
        )
    }

    private func property(_ member: String, _ arguments: Value...) throws -> [Value] {
        let interface = "org.freedesktop.DBus.Properties"
        let all = [.string(Members.name)] + arguments
        return try connection.call(message(member, of: interface, all))
    }

    /// Returns the value of a property.
    package func get<Content>(
        _ property: KeyPath<Members, PropertyMember<Content>>
    ) throws -> Content {
        let name = Members.members[keyPath: property].name
        guard case .variant(let value)? = try self.property("Get", .string(name)).first,
            let content = Content(dbus: value)
        else { throw ServiceFailed(description: "\(name) has another type") }
        return content
    }

    /// Waits until a property has this value.
    package func wait<Content: Equatable>(
        for property: KeyPath<Members, PropertyMember<Content>>,
        _ value: Content,
        within seconds: Double = 20
    ) throws {
        let name = Members.members[keyPath: property].name
        try eventually("\(name) to be \(value)", within: seconds) { try get(property) == value }
    }

    /// Sets a property.
    package func set<Content>(
        _ property: KeyPath<Members, PropertyMember<Content>>,
        _ value: Content
    ) throws {
        let name = Members.members[keyPath: property].name
        _ = try self.property("Set", .string(name), .variant(value.dbus))
    }

    /// Calls a method, and returns its results.
    @discardableResult
    package func call<Arguments, Known, Results>(
        _ method: KeyPath<Members, MethodMember<Arguments, Known, Results>>,
        _ arguments: Arguments,
        options: [String: Value] = [:],
        within seconds: Double = 10
    ) throws -> Results {
        let member = Members.members[keyPath: method]
        let all = member.takes.encode(arguments) + [.named(options)]
        let values = try connection.call(
            message(member.name, of: Members.name, all, within: seconds)
        )
        guard let results = member.gives.decode(values) else {
            throw ServiceFailed(description: "\(member.name) gives other results")
        }
        return results
    }

    /// Calls a method without arguments, and returns its results.
    @discardableResult
    package func call<Known, Results>(
        _ method: KeyPath<Members, MethodMember<Void, Known, Results>>,
        options: [String: Value] = [:],
        within seconds: Double = 10
    ) throws -> Results {
        try call(method, (), options: options, within: seconds)
    }

    /// Calls a method without waiting. `completion` gets its reply as the loop of the connection
    /// runs.
    package func begin<Arguments, Known, Results>(
        _ method: KeyPath<Members, MethodMember<Arguments, Known, Results>>,
        _ arguments: Arguments,
        options: [String: Value] = [:],
        within seconds: Double = 60,
        _ completion: @escaping (Result<[Value], DBusError>) -> Void = { _ in }
    ) throws {
        let member = Members.members[keyPath: method]
        let all = member.takes.encode(arguments) + [.named(options)]
        try connection.call(
            message(member.name, of: Members.name, all, within: seconds),
            completion: completion
        )
    }
}

extension Daemon {
    package var stream: Remote<StreamInterface> { Remote(bus) }
    package var scene: Remote<SceneInterface> { Remote(bus) }
    package var scenes: Remote<ScenesInterface> { Remote(bus) }
    /// The keys of the configuration file.
    package var configuration: Remote<ConfigurationInterface> { Remote(bus) }
    package var privacy: Remote<PrivacyInterface> { Remote(bus) }
    /// How the device is held.
    package var orientation: Remote<OrientationInterface> { Remote(bus) }
    package var pro: Remote<ProInterface> { Remote(bus) }
    package var capture: Remote<CaptureInterface> { Remote(bus) }
    /// What was taken.
    package var library: Remote<LibraryInterface> { Remote(bus) }
    package var back: Remote<CameraInterface> { camera(DualCam.backPath) }
    package var front: Remote<CameraInterface> { camera(DualCam.frontPath) }
    package var backControls: Remote<ControlsInterface> { controls(DualCam.backPath) }

    /// Returns the camera at `path`.
    package func camera(_ path: ObjectPath) -> Remote<CameraInterface> { Remote(bus, at: path) }
    /// Returns the controls of the camera at `path`.
    package func controls(_ path: ObjectPath) -> Remote<ControlsInterface> {
        Remote(bus, at: path)
    }
}
