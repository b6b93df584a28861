import Foundation
package import Glibc
import Platform
import Synchronization

/// A test's own desktop session: a runtime directory, a session bus, PipeWire and WirePlumber.
///
/// It does not touch the machine's own session, and leaves nothing behind. Each service can be
/// killed, stopped and restarted separately.
package final class PrivateSession: Sendable {
    /// A service of a session.
    package enum Service: String, Sendable {
        /// The session bus, which activates the services described in `servicesDirectory`.
        case bus = "dbus-daemon"
        case pipewire
        case wireplumber
        case systemBus = "system-bus"

        /// The services for tests in which the desktop plays no part: no system bus.
        package static let usual: [Service] = [.bus, .pipewire, .wireplumber]
    }

    /// The runtime directory; its contents are removed at the end.
    package var directory: String { scratch.path }
    private let scratch: ScratchDirectory
    package let environment: [String: String]
    private let services = Mutex<[Service: Child]>([:])
    private let programs = Mutex<[Child]>([])

    /// The numbers of the processes of its services and programs.
    package var processes: [pid_t] { programs.withLock { $0.map(\.id) } }
    package var socket: String { "\(directory)/pipewire-0" }
    /// The directory of the files that describe activatable services; empty at first.
    package var servicesDirectory: String { "\(directory)/services" }

    /// Creates a session in which `services` are ready.
    package init(_ services: [Service] = Service.usual) throws {
        scratch = try ScratchDirectory()
        let path = scratch.path
        var environment = [
            "LANG": "C.UTF-8",
            "HOME": "\(path)/home",
            "XDG_RUNTIME_DIR": path,
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(path)/bus",
            // A program that looks for the machine's services finds none.
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(path)/system-bus",
        ]
        let inherited = ProcessInfo.processInfo.environment
        for name in ["PATH", "LD_LIBRARY_PATH"] { environment[name] = inherited[name] }
        // Without its list GStreamer scans its plugins again, which takes seconds.
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

    /// Runs `body` in a session, and prints the logs when it throws.
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
            // Its second connection comes last. From then on it links what it finds, sooner or
            // later.
            // Called "[export]", and "[client]" in newer versions.
            case .wireplumber: try output("pw-dump").contains("\"WirePlumber [")
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

    /// Starts a program in this session, which ends with the session at the latest.
    @discardableResult
    package func run(_ program: String, _ arguments: String...) throws -> Child {
        try run(program, arguments)
    }

    /// Starts a program in this session, which ends with the session at the latest. `variables` are
    /// added to the session's environment.
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

    /// Starts a pipeline of GStreamer, written as for gst-launch-1.0(1). One that crashes ends;
    /// GStreamer's own handler would keep it "spinning".
    package func gstreamer(_ pipeline: String) throws -> Child {
        try run("gst-launch-1.0", ["--no-fault"] + pipeline.split(separator: " ").map(String.init))
    }

    /// Ends a program of this session, and lets go of what is kept of it, its output above all.
    package func forget(_ program: Child) {
        program.end()
        programs.withLock { $0.removeAll { $0 === program } }
    }

    /// Runs a program in this session to its end, and returns its standard output.
    package func output(_ program: String, _ arguments: String...) throws -> String {
        let child = try Child(program, arguments, environment: environment)
        let exit = try child.wait()
        guard exit == .status(0) else {
            throw ServiceFailed(description: "\(program): \(exit): \(child.errors)")
        }
        return child.output
    }

    /// Ends all programs and removes the directory. Harmless when called twice.
    package func close() {
        services.withLock { $0 = [:] }
        for child in programs.withLock({ $0 }).reversed() { child.end() }
        programs.withLock { $0 = [] }
        scratch.remove()
    }

    /// Prints the last lines of the output of each program of the session.
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
        try put(busConfiguration(name), at: file)
        return try run("dbus-daemon", "--config-file=\(file)", "--nofork", "--nopidfile")
    }

    /// Returns the configuration of a bus. Both are of the session kind, since all their clients
    /// are the test's own.
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
          <!-- As on a desktop's session bus. -->
          <limit name="max_message_unix_fds">4096</limit>
        </busconfig>
        """
    }
}

/// The error of a program of the session that ended too early.
package struct ServiceFailed: Error, CustomStringConvertible {
    /// The program, and its output.
    package let description: String

    /// Creates the error with a sentence on the end of a program.
    package init(description: String) { self.description = description }
}

/// Returns `true` if a process listens at the socket `path`.
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
