import Control
import DBusKit
import Frames
import Platform

/// The commands' connection to the daemon.
final class Client {
    /// The time for which a command waits for a reply, in seconds.
    static let defaultTimeout = 5.0

    let loop: EventLoop
    let connection: BusConnection

    /// Connects to the session bus.
    ///
    /// - Throws: `Failure` when there is none.
    init() throws(Failure) {
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

    /// Calls a method of the daemon and returns its reply.
    ///
    /// With `startsService` the call starts a daemon that is not running; methods that only read go
    /// without.
    ///
    /// - Throws: `Failure` on an error, or without a reply within `timeout` seconds.
    @discardableResult
    func call<Members: InterfaceMembers, Arguments, Known, Results>(
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
        return try results(member.gives.decode(try send(call)))
    }

    /// Calls a method without arguments.
    @discardableResult
    func call<Members: InterfaceMembers, Known, Results>(
        _ method: KeyPath<Members, MethodMember<Void, Known, Results>>,
        at path: ObjectPath = DualCam.path,
        options: Options<Known> = Options(),
        within timeout: Double = defaultTimeout
    ) throws(Failure) -> Results {
        try call(method, at: path, (), options: options, within: timeout)
    }

    /// Returns the value of a property.
    func get<Members: InterfaceMembers, Content>(
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

    /// Returns the values of all properties of an interface of the main object.
    func getAll<Members: InterfaceMembers>(
        of interface: Members.Type,
        startsService: Bool = true
    ) throws(Failure) -> PropertyValues<Members> {
        let values = try send(
            MethodCall(
                "GetAll",
                of: "org.freedesktop.DBus.Properties",
                at: DualCam.path,
                [.string(Members.name)],
                startsService: startsService
            )
        )
        return PropertyValues(values.first?.named ?? [:])
    }

    /// Sets a property.
    func set<Members: InterfaceMembers, Content>(
        _ property: KeyPath<Members, PropertyMember<Content>>,
        at path: ObjectPath = DualCam.path,
        to value: Content
    ) throws(Failure) {
        let name = Members.members[keyPath: property].name
        let arguments: [Value] = [.string(Members.name), .string(name), .variant(value.dbus)]
        _ = try send(
            MethodCall("Set", of: "org.freedesktop.DBus.Properties", at: path, arguments)
        )
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
    func failure(
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
            let command = didStart ? "systemctl --user enable --now dualcamd" : "dualcamctl start"
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
        let hint = "; see `systemctl --user status dualcamd`"
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
    /// Creates a call to the daemon.
    init(
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
struct PropertyValues<Members: InterfaceMembers> {
    /// The values by name.
    let values: [String: Value]

    /// Takes over the values that the daemon sent.
    init(_ values: [String: Value]) { self.values = values }

    /// The value of a property; `nil` if the daemon has none of this type.
    subscript<Content>(_ property: KeyPath<Members, PropertyMember<Content>>) -> Content? {
        values[Members.members[keyPath: property].name].flatMap(Content.init(dbus:))
    }
}
