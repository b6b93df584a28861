import Foundation
import Glibc
import Platform
import Synchronization

/// A desktop session of a test's own: a runtime directory, a session bus, PipeWire, WirePlumber.
///
/// Nothing of the machine's own session is touched, and nothing of this one is left behind. Each
/// service can be killed, stopped and started again on its own.
package final class PrivateSession: Sendable {
    /// What runs in a session.
    package enum Service: String, Sendable {
        /// The session bus, which activates what `servicesDirectory` describes.
        case bus = "dbus-daemon"
        /// PipeWire itself.
        case pipewire
        /// PipeWire's session manager, without which nobody is linked.
        case wireplumber
        /// A bus in the place of the machine's own.
        case systemBus = "system-bus"

        /// What a desktop that plays no part in a test has: no system bus.
        package static let usual: [Service] = [.bus, .pipewire, .wireplumber]
    }

    /// Its runtime directory; what it holds is removed in the end.
    package let directory: String
    /// The whole environment of programs in this session.
    package let environment: [String: String]
    private let services = Mutex<[Service: Child]>([:])
    private let programs = Mutex<[Child]>([])

    /// PipeWire's socket.
    package var socket: String { "\(directory)/pipewire-0" }
    /// Where the bus looks for files that describe activatable services; empty at first.
    package var servicesDirectory: String { "\(directory)/services" }

    /// A session in which `services` are ready.
    package init(_ services: [Service] = Service.usual) throws {
        // Short: the path of a socket has room for 107 bytes.
        var template = Array("/tmp/dc-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template).map({ String(cString: $0) }) else {
            throw SystemError.last("mkdtemp")
        }
        directory = path
        Reaper.shared.clean(path)
        var environment = [
            "LANG": "C.UTF-8",
            "HOME": "\(path)/home",
            "XDG_RUNTIME_DIR": path,
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(path)/bus",
            // Whoever looks for the machine's services finds none.
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(path)/system-bus",
        ]
        let inherited = ProcessInfo.processInfo.environment
        for name in ["PATH", "LD_LIBRARY_PATH"] { environment[name] = inherited[name] }
        // GStreamer lists its plugins anew for seconds where it finds no list.
        environment["XDG_CACHE_HOME"] = inherited["HOME"].map { "\($0)/.cache" }
        self.environment = environment
        for name in ["home", "services"] { mkdir("\(path)/\(name)", 0o700) }
        do {
            for service in services { try start(service) }
        } catch {
            printLogs()
            close()
            throw error
        }
    }

    deinit { close() }

    /// Runs `body` in a session, and shows the logs when it throws.
    package static func with<Result>(
        _ services: [Service] = Service.usual,
        _ body: (PrivateSession) throws -> Result
    ) throws -> Result {
        let session = try PrivateSession(services)
        defer { session.close() }
        do {
            return try body(session)
        } catch {
            session.printLogs()
            throw error
        }
    }

    /// Starts a service that does not run, and waits until it is ready.
    package func start(_ service: Service) throws {
        let child: Child
        switch service {
        case .bus: child = try startBus(at: "bus")
        case .systemBus: child = try startBus(at: "system-bus")
        case .pipewire, .wireplumber:
            child = try run(service.rawValue)
        }
        services.withLock { $0[service] = child }
        try eventually("\(service.rawValue) to be ready", within: 10) {
            guard child.exit == nil else {
                throw ServiceFailed(description: "\(service.rawValue) ended: \(child.errors)")
            }
            return switch service {
            case .bus: accepts("\(directory)/bus")
            case .systemBus: accepts("\(directory)/system-bus")
            case .pipewire: accepts(socket)
            // Its second connection comes last. What it then finds, it links, soon or late.
            case .wireplumber: try output("pw-dump").contains("WirePlumber [export]")
            }
        }
    }

    /// Sends `signal` to a service: SIGKILL, SIGTERM, SIGSTOP, SIGCONT.
    package func signal(_ service: Service, _ signal: CInt) {
        services.withLock { $0[service] }?.signal(signal)
    }

    /// Kills a service and waits until it is gone.
    package func kill(_ service: Service) {
        services.withLock { $0.removeValue(forKey: service) }?.end()
    }

    /// Starts a program in this session. It ends with the session at the latest.
    @discardableResult
    package func run(_ program: String, _ arguments: String...) throws -> Child {
        try run(program, arguments)
    }

    /// Starts a program in this session, with `variables` added to the session's environment. It
    /// ends with the session at the latest.
    @discardableResult
    package func run(
        _ program: String,
        _ arguments: [String],
        adding variables: [String: String] = [:]
    ) throws -> Child {
        let environment = environment.merging(variables) { $1 }
        let child = try Child(program, arguments, environment: environment)
        programs.withLock { $0.append(child) }
        return child
    }

    /// Runs a program in this session to its end, and returns what it wrote to standard output.
    package func output(_ program: String, _ arguments: String...) throws -> String {
        let child = try Child(program, arguments, environment: environment)
        let exit = try child.wait()
        guard exit == .status(0) else {
            throw ServiceFailed(description: "\(program): \(exit): \(child.errors)")
        }
        return child.output
    }

    /// Ends everything and removes the directory. Harmless when done twice.
    package func close() {
        services.withLock { $0 = [:] }
        for child in programs.withLock({ $0 }).reversed() { child.end() }
        programs.withLock { $0 = [] }
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Prints the last lines that each program of the session wrote.
    package func printLogs() {
        for child in programs.withLock({ $0 }) {
            let state = child.exit.map { "\($0)" } ?? "running"
            print("--- \(child.name) \(child.id): \(state)")
            let lines = (child.output + child.errors).split(separator: "\n")
            for line in lines.suffix(60) { print("    \(line)") }
        }
    }

    private func startBus(at name: String) throws -> Child {
        let file = "\(directory)/\(name).conf"
        try busConfiguration(name).write(toFile: file, atomically: true, encoding: .utf8)
        return try run("dbus-daemon", "--config-file=\(file)", "--nofork", "--nopidfile")
    }

    /// A bus of the session kind, the system's too: its users are all the test's own.
    private func busConfiguration(_ name: String) -> String {
        """
        <busconfig>
          <type>session</type>
          <listen>unix:path=\(directory)/\(name)</listen>
          <auth>EXTERNAL</auth>
          <servicedir>\(servicesDirectory)</servicedir>
          <policy context="default">
            <allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/>
            <allow own="*"/>
          </policy>
        </busconfig>
        """
    }
}

/// A program of the session that ended when it should not have.
package struct ServiceFailed: Error, CustomStringConvertible {
    /// Which, and what it said.
    package let description: String

    /// The end of a program, in a sentence.
    package init(description: String) { self.description = description }
}

/// Whether somebody listens at the socket `path`.
private func accepts(_ path: String) -> Bool {
    let number = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { return false }
    defer { Glibc.close(number) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
        }
    }
}
