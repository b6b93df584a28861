import Control
import DBusKit
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
                message: "there is no session bus: \(error.message)\n"
                    + "If `make run` started DualCam, first run the export commands that it printed."
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
    func call(
        _ member: String,
        of interface: Interface,
        at path: ObjectPath = DualCam.path,
        _ arguments: [Value] = [],
        options: [String: Value] = [:],
        startsService: Bool = true,
        within timeout: Double = defaultTimeout
    ) throws(Failure) -> [Value] {
        var call = MethodCall(
            member,
            of: interface.name,
            at: path,
            arguments + [.named(options)],
            startsService: startsService
        )
        call.timeout = timeout
        return try send(call)
    }

    /// Returns the value of a property.
    func get(
        _ property: String,
        of interface: Interface,
        at path: ObjectPath = DualCam.path,
        startsService: Bool = true
    ) throws(Failure) -> Value {
        let arguments: [Value] = [.string(interface.name), .string(property)]
        let values = try send(
            MethodCall(
                "Get",
                of: "org.freedesktop.DBus.Properties",
                at: path,
                arguments,
                startsService: startsService
            )
        )
        guard case .variant(let value)? = values.first else {
            throw Failure(status: .failed, message: "\(property) has no value")
        }
        return value
    }

    /// Returns the values of all properties of an interface of the main object.
    func getAll(
        of interface: Interface,
        startsService: Bool = true
    ) throws(Failure) -> [String: Value] {
        let values = try send(
            MethodCall(
                "GetAll",
                of: "org.freedesktop.DBus.Properties",
                at: DualCam.path,
                [.string(interface.name)],
                startsService: startsService
            )
        )
        return values.first?.named ?? [:]
    }

    /// Sets a property.
    func set(
        _ property: String,
        of interface: Interface,
        at path: ObjectPath = DualCam.path,
        to value: Value
    ) throws(Failure) {
        let arguments: [Value] = [.string(interface.name), .string(property), .variant(value)]
        _ = try send(
            MethodCall("Set", of: "org.freedesktop.DBus.Properties", at: path, arguments)
        )
    }

    private func send(_ call: MethodCall) throws(Failure) -> [Value] {
        do throws(DBusError) {
            return try connection.call(call)
        } catch {
            throw failure(error, after: call.timeout)
        }
    }

    /// Returns the failure that tells the user about a D-Bus error. `timeout` is the one of the
    /// call, in seconds.
    func failure(_ error: DBusError, after timeout: Double = defaultTimeout) -> Failure {
        let name = error.name.split(separator: ".").last.map(String.init) ?? ""
        switch name {
        case "ServiceUnknown", "NameHasNoOwner", "Disconnected":
            return Failure(status: .notRunning, message: "dualcamd is not running" + unitState)
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
        case "NoCamera", "NotSupported":
            return Failure(status: .notFound, message: error.message.printable)
        case "OutOfRange": return Failure(status: .usage, message: error.message.printable)
        default: return Failure(status: .failed, message: error.message.printable)
        }
    }

    /// The end of a message: the state of the daemon's unit in systemd, and where to read more.
    private var unitState: String {
        let hint = "; see: systemctl --user status dualcamd"
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

extension CameraRole {
    /// The path of the camera's object.
    var path: ObjectPath { self == .back ? DualCam.backPath : DualCam.frontPath }

    /// Creates the role of the camera at `path`, or `nil` if there is none.
    init?(_ path: ObjectPath?) {
        guard let role = CameraRole.allCases.first(where: { $0.path == path }) else { return nil }
        self = role
    }
}
