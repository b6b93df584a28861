import Control
package import DBusKit
import Foundation
import Frames
import Glibc
import Platform

/// The real dualcamd in a private session, with a client on its bus.
///
/// - Context: Bound to the thread of the test.
package final class Daemon {
    package let session: PrivateSession
    package private(set) var program: Child
    package let bus: BusConnection
    /// The notifications that it sent to its service manager.
    package let notifications: NotifySocket
    /// The signals of its objects that arrived so far, of all interfaces; see `settle()`.
    package private(set) var signals: [DBusKit.Signal] = []
    private var readers: [StreamReader] = []
    private let loop: EventLoop
    private var subscription: BusConnection.Subscription?

    /// Returns the path of the configuration for the daemon in `session`.
    private static func file(_ session: PrivateSession) -> String {
        "\(session.directory)/dualcam.toml"
    }

    /// Starts the daemon in `session` with the text of a configuration. Waits until it owns its
    /// name and, if `node` asks for it, until its node is published. With `network`, it is in a
    /// `PrivateNetwork`. `variables` are added to its environment.
    package init(
        _ configuration: String,
        in session: PrivateSession,
        node: Bool = true,
        network: Bool = false,
        adding variables: [String: String] = [:]
    ) throws {
        self.session = session
        let path = Daemon.file(session)
        // From the namespaces of its network it cannot tell what callers are.
        let access = network ? "\n[access]\nsandboxed = \"all\"\n" : ""
        try put(configuration + access, at: path)
        notifications = try NotifySocket(path: "\(session.directory)/notify")
        let command =
            (network ? PrivateNetwork.new : []) + [Programs.path(of: "dualcamd"), "--config", path]
        program = try session.run(
            command[0],
            Array(command.dropFirst()),
            adding: variables.merging(["NOTIFY_SOCKET": notifications.path]) { $1 }
        )
        loop = try EventLoop()
        bus = try BusConnection(
            to: .address(session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""),
            loop: loop
        )
        subscription = bus.subscribe(MatchRule(pathNamespace: DualCam.path)) { [unowned self] in
            signals.append($0)
        }
        try eventually("READY", within: 10) {
            if let exit = program.exit {
                throw ServiceFailed(description: "dualcamd: \(exit): \(program.errors)")
            }
            return notifications.lines.contains("READY=1")
        }
        if node {
            try eventually("the node", within: 10) {
                try get("Active", of: .stream).boolean ?? false
            }
        }
    }

    /// Runs `body` with a daemon in a session of its own, whose logs are printed when it throws.
    package static func with(
        _ configuration: String,
        services: [PrivateSession.Service] = PrivateSession.Service.usual,
        node: Bool = true,
        _ body: (Daemon) throws -> Void
    ) throws {
        try PrivateSession.with(services) { session in
            let daemon = try Daemon(configuration, in: session, node: node)
            try body(daemon)
            if let exit = daemon.program.exit, exit != .status(0) {
                throw ServiceFailed(description: "dualcamd: \(exit)")
            }
        }
    }

    // MARK: Calls

    /// Calls a method of DualCam's interfaces with `options`, and returns its reply.
    @discardableResult
    package func call(
        _ member: String,
        of interface: Interface,
        at path: ObjectPath = DualCam.path,
        options: [String: Value] = [:]
    ) throws -> [Value] {
        try send(member, of: interface.name, at: path, [.named(options)])
    }

    /// Calls any method with any arguments.
    @discardableResult
    package func send(
        _ member: String,
        of interface: String,
        at path: ObjectPath = DualCam.path,
        _ arguments: [Value] = []
    ) throws -> [Value] {
        try bus.call(
            MethodCall(
                member,
                of: interface,
                at: path,
                on: DualCam.busName,
                arguments,
                startsService: false,
                timeout: 10
            )
        )
    }

    /// Returns the value of a property.
    package func get(
        _ property: String,
        of interface: Interface,
        at path: ObjectPath = DualCam.path
    ) throws -> Value {
        let answer = try send(
            "Get",
            of: "org.freedesktop.DBus.Properties",
            at: path,
            [.string(interface.name), .string(property)]
        )
        guard case .variant(let value)? = answer.first else {
            throw ServiceFailed(description: "\(property) is no variant")
        }
        return value
    }

    /// Sets a property.
    package func set(
        _ property: String,
        of interface: Interface,
        at path: ObjectPath = DualCam.path,
        to value: Value
    ) throws {
        try send(
            "Set",
            of: "org.freedesktop.DBus.Properties",
            at: path,
            [.string(interface.name), .string(property), .variant(value)]
        )
    }

    /// Returns the property State of a camera.
    package func state(of camera: ObjectPath) throws -> String {
        try get("State", of: .camera, at: camera).string ?? ""
    }

    package var problems: [String] {
        get throws { try get("Problems", of: .stream).array?.compactMap(\.string) ?? [] }
    }

    /// Returns `true` if one of the daemon's problems contains `text`.
    package func complains(of text: String) throws -> Bool {
        try problems.contains { $0.contains(text) }
    }

    /// Creates a reader of the stream, which is closed with this daemon at the latest. It keeps the
    /// bytes of frames unless `copies` is `false`.
    package func reader(copies: Bool = true) throws -> StreamReader {
        let reader = try StreamReader("dualcam", in: session, copies: copies)
        readers.append(reader)
        return reader
    }

    // MARK: Signals

    /// Waits until all signals that the daemon has sent so far are in `signals`.
    package func settle() throws {
        var isAnswered = false
        let ping = MethodCall(
            "Ping",
            of: "org.freedesktop.DBus.Peer",
            at: DualCam.path,
            on: DualCam.busName
        )
        try bus.call(ping) { _ in isAnswered = true }
        try loop.wait(for: "an answer") { isAnswered }
    }

    /// Discards the signals that arrived so far.
    package func forgetSignals() throws {
        try settle()
        signals = []
    }

    /// Returns the names of the signals of `interface` that arrived so far, in order.
    package func signals(of interface: Interface) -> [String] {
        signals.filter { $0.interface == interface.name }.map(\.member)
    }

    /// Returns the changes of each PropertiesChanged of `interface` so far, in order.
    package func changes(
        of interface: Interface,
        at path: ObjectPath = DualCam.path
    ) -> [[String: Value]] {
        signals.filter {
            $0.member == "PropertiesChanged" && $0.path == path
                && $0.arguments.first?.string == interface.name
        }.compactMap { $0.arguments[1].named }
    }

    // MARK: Life

    /// Replaces the text of the configuration, and returns once the daemon has reloaded it.
    package func reload(_ configuration: String) throws {
        let before = notifications.lines.count
        try put(configuration, at: Daemon.file(session))
        program.signal(SIGHUP)
        try eventually("the end of the reload") {
            notifications.lines.dropFirst(before).contains("READY=1")
        }
    }

    /// Ends the daemon with SIGTERM, and returns its exit and the time that it took, in seconds.
    package func end() throws -> (exit: Child.Exit, seconds: Double) {
        let start = MonotonicClock.now
        program.signal(SIGTERM)
        let exit = try program.wait()
        return (exit, (MonotonicClock.now - start).seconds)
    }
}
