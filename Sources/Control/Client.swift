package import DBusKit
import Frames
import Glibc
package import Platform

/// A program's connection to the daemon, which waits for each reply. Bound to one thread.
package final class Client {
    /// The time for which a command waits for a reply, in seconds.
    package static let defaultTimeout = 5.0

    package let loop: EventLoop
    package let connection: BusConnection
    /// `true` once something was set that the daemon remembers.
    private var hasSet = false

    /// The interfaces with what is remembered.
    private static let remembered: Set = [
        SceneInterface.name, ScenesInterface.name, ProInterface.name, OrientationInterface.name,
        CameraInterface.name, ControlsInterface.name, StepsInterface.name,
    ]

    /// Connects to the session bus. Throws `Failure` when there is none.
    package init() throws(Failure) {
        do throws(SystemError) {
            loop = try EventLoop()
        } catch {
            throw Failure(status: .failed, message: "\(error)")
        }
        do throws(DBusError) {
            connection = try BusConnection(loop: loop)
        } catch {
            throw Failure(
                status: .notRunning,
                message: """
                    There is no session bus, which a desktop starts when you log in. If `make run` \
                    started DualCam, first run the export commands that it printed.
                    """
            )
        }
    }

    deinit {
        guard hasSet, let problems = try? get(\StreamInterface.problems, within: 1) else { return }
        for problem in problems where problem.hasPrefix(DualCam.forgetting) {
            printError("dualcamctl: \(problem.printable)")
        }
    }

    /// Calls a method of the daemon and returns its reply. With `startsService` the call starts a
    /// daemon that is not running; methods that only read go without. Throws `Failure` on an error,
    /// or without a reply within `timeout` seconds.
    @discardableResult
    package func call<Members: InterfaceMembers, Arguments, Known, Results>(
        _ method: KeyPath<Members, MethodMember<Arguments, Known, Results>>,
        at path: ObjectPath = DualCam.path,
        _ arguments: Arguments,
        options: Options<Known> = Options(),
        startsService: Bool = true,
        within timeout: Double = defaultTimeout
    ) throws(Failure) -> Results {
        let member = Members.members[keyPath: method]
        var call = MethodCall(
            member.name,
            of: Members.name,
            at: path,
            member.takes.encode(arguments) + [options.values.dbus],
            startsService: startsService
        )
        call.timeout = timeout
        let reply = try send(call)
        if startsService, Self.remembered.contains(Members.name) { hasSet = true }
        return try results(member.gives.decode(reply))
    }

    @discardableResult
    /// Calls a method without arguments.
    package func call<Members: InterfaceMembers, Known, Results>(
        _ method: KeyPath<Members, MethodMember<Void, Known, Results>>,
        at path: ObjectPath = DualCam.path,
        options: Options<Known> = Options(),
        within timeout: Double = defaultTimeout
    ) throws(Failure) -> Results {
        try call(method, at: path, (), options: options, within: timeout)
    }

    /// Returns the value of a property.
    package func get<Members: InterfaceMembers, Content>(
        _ property: KeyPath<Members, PropertyMember<Content>>,
        at path: ObjectPath = DualCam.path,
        startsService: Bool = true,
        within timeout: Double = defaultTimeout
    ) throws(Failure) -> Content {
        let name = Members.members[keyPath: property].name
        var call = MethodCall(
            "Get",
            of: "org.freedesktop.DBus.Properties",
            at: path,
            [.string(Members.name), .string(name)],
            startsService: startsService
        )
        call.timeout = timeout
        let values = try send(call)
        guard case .variant(let value)? = values.first else { return try results(nil) }
        return try results(Content(dbus: value))
    }

    /// Returns the values of all properties of an interface.
    package func getAll<Members: InterfaceMembers>(
        of interface: Members.Type,
        at path: ObjectPath = DualCam.path,
        startsService: Bool = true
    ) throws(Failure) -> PropertyValues<Members> {
        PropertyValues(try values(of: Members.name, at: path, startsService: startsService))
    }

    /// Returns the values of all properties of an interface, by name.
    package func values(
        of interface: String,
        at path: ObjectPath,
        startsService: Bool = true
    ) throws(Failure) -> [String: Value] {
        let values = try send(
            MethodCall(
                "GetAll",
                of: "org.freedesktop.DBus.Properties",
                at: path,
                [.string(interface)],
                startsService: startsService
            )
        )
        return values.first?.named ?? [:]
    }

    /// Sets a property.
    package func set<Members: InterfaceMembers, Content>(
        _ property: KeyPath<Members, PropertyMember<Content>>,
        at path: ObjectPath = DualCam.path,
        to value: Content
    ) throws(Failure) {
        let name = Members.members[keyPath: property].name
        try set(name, of: Members.name, at: path, to: value.dbus)
    }

    /// Sets the property `name` of an interface.
    package func set(
        _ name: String,
        of interface: String,
        at path: ObjectPath,
        to value: Value
    ) throws(Failure) {
        let arguments: [Value] = [.string(interface), .string(name), .variant(value)]
        _ = try send(
            MethodCall("Set", of: "org.freedesktop.DBus.Properties", at: path, arguments)
        )
        if interface != PrivacyInterface.name { hasSet = true }
    }

    /// Returns what the daemon sent, which is `nil` if it has other types.
    private func results<Content>(_ content: Content?) throws(Failure) -> Content {
        guard let content else {
            throw Failure(
                status: .failed,
                message:
                    "dualcamd sent an unexpected answer. If it is of another version, restart it."
            )
        }
        return content
    }

    private func send(_ call: MethodCall) throws(Failure) -> [Value] {
        let start = MonotonicClock.now
        do throws(DBusError) {
            return try connection.call(call)
        } catch {
            let time = (MonotonicClock.now - start).seconds
            throw failure(error, after: time, of: call.timeout, didStart: call.startsService)
        }
    }

    /// Returns the failure that tells the user about a D-Bus error, which came `time` seconds after
    /// a call that waits for `timeout`. `didStart` is `true` if the call would have started it.
    package func failure(
        _ error: DBusError,
        after time: Double,
        of timeout: Double = defaultTimeout,
        didStart: Bool = false
    ) -> Failure {
        let name = error.name.split(separator: ".").last.map(String.init) ?? ""
        switch name {
        // The bus says so at once when the daemon has left it. Only the end of the wait is later.
        case "NoReply" where time < 0.95 * timeout:
            return Failure(
                status: .notRunning,
                message: "dualcamd ended before it answered" + unitState
            )
        case "ServiceUnknown", "NameHasNoOwner", "Disconnected":
            let unit =
                runsUsersSystemd ? "systemctl --user enable --now dualcamd" : "dualcamd"
            let command = didStart ? unit : "dualcamctl start"
            return Failure(
                status: .notRunning,
                message: "dualcamd is not running\(unitState). Start it with `\(command)`"
            )
        case "NoReply", "Timeout", "TimedOut":
            return Failure(
                status: .timedOut,
                message: "dualcamd did not answer within \(Int(timeout)) s" + unitState
            )
        case _ where error.name.contains(".Spawn.") || error.name.contains(".systemd1."):
            return Failure(
                status: .notRunning,
                message: "dualcamd does not start: \(error.message.printable)" + unitState
            )
        case "NoCamera", "NoScene", "NotSupported":
            return Failure(status: .notFound, message: error.message.printable)
        case "OutOfRange": return Failure(status: .usage, message: error.message.printable)
        default: return Failure(status: .failed, message: error.message.printable)
        }
    }

    /// The end of a message: the state of the daemon's unit in systemd, and where to read more.
    private var unitState: String {
        let hint = runsUsersSystemd ? "; see `systemctl --user status dualcamd`" : ""
        let systemd = "org.freedesktop.systemd1"
        var call = MethodCall(
            "LoadUnit",
            of: "\(systemd).Manager",
            at: "/org/freedesktop/systemd1",
            on: systemd,
            [.string("dualcamd.service")],
            startsService: false,
            timeout: 1
        )
        guard let path = (try? connection.call(call))?.first?.objectPath else { return hint }
        call.path = path
        call.interface = "org.freedesktop.DBus.Properties"
        call.member = "GetAll"
        call.arguments = [.string("")]
        guard let unit = (try? connection.call(call))?.first?.named else { return hint }
        if unit["LoadState"]?.string == "not-found" { return "; its systemd unit is not installed" }
        let state = unit["ActiveState"]?.string ?? ""
        let result = unit["Result"]?.string ?? "success"
        let status = unit["StatusText"]?.string ?? ""
        let parts = [state, result == "success" ? "" : result, status].filter { !$0.isEmpty }
        return " (systemd says: \(parts.joined(separator: ", ").printable))" + hint
    }
}

extension MethodCall {
    package init(
        _ member: String,
        of interface: String,
        at path: ObjectPath,
        _ arguments: [Value] = [],
        startsService: Bool = true
    ) {
        self.init(
            member,
            of: interface,
            at: path,
            on: DualCam.busName,
            arguments,
            startsService: startsService,
            timeout: Client.defaultTimeout
        )
    }
}

/// The values of the properties of one interface, as far as the daemon has them.
package struct PropertyValues<Members: InterfaceMembers> {
    package let values: [String: Value]

    package init(_ values: [String: Value]) { self.values = values }

    /// The value of a property; `nil` if the daemon has none of this type.
    package subscript<Content>(_ property: KeyPath<Members, PropertyMember<Content>>) -> Content? {
        values[Members.members[keyPath: property].name].flatMap(Content.init(dbus:))
    }
}

extension Client {
    /// The configuration file named on the command line of the running daemon, if any.
    package static var configurationFile: String? {
        let stream = try? Client().getAll(of: StreamInterface.self, startsService: false)
        return stream?[\.configurationFile].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Makes the daemon, if it runs, read its configuration again, and waits a moment until it no
    /// longer feeds the loopback device that it had.
    package static func reloadDaemon() {
        guard let client = try? Client(),
            let reply = try? client.connection.call(
                .bus(
                    "GetConnectionUnixProcessID",
                    [.string(DualCam.busName)],
                    timeout: defaultTimeout
                )
            ), let process = reply.first?.integer.flatMap({ pid_t(exactly: $0) }), process > 1
        else { return }
        func device() -> String? {
            try? client.get(\StreamInterface.loopbackDevice, startsService: false)
        }
        let before = device()
        guard kill(process, SIGHUP) == 0 else { return }
        let deadline = MonotonicClock.now + Timestamp(seconds: 5)
        while before?.isEmpty == false, device() == before, MonotonicClock.now < deadline {
            usleep(50_000)
        }
    }
}
