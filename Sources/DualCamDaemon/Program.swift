import ArgumentParser
import Capture
import Control
import DBusKit
import DualCamCore
import Frames
import Glibc
import Library
import Logging
import Media
import Platform

/// The program: wires everything together and runs it.
package enum Program {
    /// Runs what the command line asks for: the daemon, or a thumbnail worker. Exits with a
    /// failure, which it logs, if it cannot.
    @MainActor
    package static func main() {
        // In helpers, too: a file that may not grow is an error of its write.
        signal(SIGXFSZ, SIG_IGN)
        ProgramStart.prepare()
        let options: Options
        do { options = try Options.parse() } catch {
            leave(
                saying: Options.fullMessage(for: error),
                status: Options.exitCode(for: error).rawValue,
                of: "dualcamd"
            )
        }
        do {
            if options.helper != nil { DescriptorLimit.lower() }
            switch options.helper {
            case .repair: RepairHelper.run()
            case .thumbnails: ThumbnailWorker.run(program: "dualcam-\(DualCam.version)")
            case .network: NetworkHelper.run()
            case .phone: PhoneHelper.run()
            case nil: break
            }
            try run(options)
        } catch {
            Log.control.critical("cannot run", metadata: ["reason": "\(error)"])
            // Not `exit`: its cleanup would affect threads that still run.
            // The unit starts a daemon again after a failure, but not beside one that runs.
            _exit(error is RunsAlready ? EX_TEMPFAIL : EXIT_FAILURE)
        }
    }
}

/// The error of a daemon beside another one.
private struct RunsAlready: Error, CustomStringConvertible {
    let process: Int?

    var description: String {
        "DualCam runs already" + (process.map { ", as process \($0)" } ?? "")
    }
}

/// A task for which the daemon runs this program once more, in place of being a daemon.
enum HelperKind: String, ExpressibleByArgument {
    case repair
    case thumbnails
    case network
    case phone

    /// The arguments that ask for it.
    var arguments: [String] { ["--helper", rawValue] }
}

private struct Options: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dualcamd",
        abstract: "Turns two cameras into one PipeWire camera.",
        discussion: "To control it, use dualcamctl.",
        version: DualCam.version
    )

    @Option(
        help: ArgumentHelp(
            "Read this file instead of the user's or the system's dualcam.toml.",
            valueName: "file"
        )
    )
    var config: String?
    @Option(help: .hidden) var helper: HelperKind?
}

/// Runs until a signal, or fails once the session bus is gone, so that systemd starts it again.
@MainActor
private func run(_ options: Options) throws {
    prepareProcess()
    // First: they are blocked in the threads that start now.
    let signals = try Signals([SIGINT, SIGTERM, SIGHUP])
    let loop = try EventLoop()

    let files = try Files()
    let reload = ConfigurationReload(
        files,
        loop: loop,
        reading: { readConfiguration(options.config) }
    )
    try follow(signals, loop, reload)
    let (configuration, problems) = try reload.first()
    let daemon = try Daemon(configuration ?? Configuration(), files: files, loop: loop)
    let connection = try BusConnection(loop: loop)
    let recording = try RecordingSession(
        daemon,
        helper: HelperKind.repair.arguments,
        loop: loop
    )
    let live = try LivePhotos(daemon, loop: loop)
    let server = objectServer(on: connection)
    let trust = CallerTrust(daemon, server, on: connection, loop: loop)
    let service = try Service(
        daemon,
        recording,
        live,
        on: server,
        loop: loop,
        configurationFile: options.config
    )
    service.configurationProblems = problems
    service.findWindows(on: connection)
    service.program = { [unowned trust] in trust.program(of: $0, $1) }
    var isBusLost = false
    connection.onDisconnect = {
        Log.control.error("the session bus is gone")
        isBusLost = true
        loop.stop()
    }
    do throws(DBusError) { try connection.requestName(DualCam.busName) } catch {
        guard error.name.hasSuffix(".AddressInUse") else { throw error }
        let ask = MethodCall.bus("GetConnectionUnixProcessID", [.string(DualCam.busName)])
        throw RunsAlready(process: (try? connection.call(ask))?.first?.integer)
    }
    recording.mender?.repair()

    follow(reload, daemon, service)
    let watchdog = try Watchdog(daemon, loop: loop)
    let session = try Session(daemon, on: connection, loop: loop)
    // After the name is owned: what is stored belongs to one daemon.
    let stateStore = try StateStore(daemon, loop: loop, isConfigured: configuration != nil)
    service.loadScenes()

    Supervisor.ready(status: service.status)
    try daemon.start()
    withExtendedLifetime((service, session, trust)) { loop.run() }

    Supervisor.stopping(status: "Ending")
    let hasEnded = endAll(daemon, watchdog, stateStore, recording, live, service)
    let deadline = MonotonicClock.now + Timestamp(seconds: 0.1)
    while connection.isConnected, connection.hasUnsent, MonotonicClock.now < deadline {
        loop.runOnce(milliseconds: 10)
    }
    leave(isBusLost ? EXIT_FAILURE : EXIT_SUCCESS, hasEnded: hasEnded && !session.isConnecting)
}

/// Reads the configuration again at SIGHUP, and ends the loop at the other signals. Then the
/// process ends within 2 s whatever hangs, be it the main thread.
@MainActor
private func follow(
    _ signals: consuming Signals,
    _ loop: EventLoop,
    _ reload: ConfigurationReload
) throws(SystemError) {
    let mailbox = loop.mailbox
    // Unsafe: used on the loop's thread alone.
    nonisolated(unsafe) let loop = loop
    let signals = signals
    let thread = try Thread(name: "signals") {
        while signals.wait() == SIGHUP {
            mailbox.onMain {
                Supervisor.reloading()
                reload.begin()
            }
        }
        mailbox.post { loop.stop() }
        usleep(1_900_000)
        _exit(EXIT_SUCCESS)
    }
    thread.detach()
}

/// Sets up what holds for the whole process, before there is any thread.
private func prepareProcess() {
    // First, so that the signal never interrupts a thread of any library.
    signal(SIGPIPE, SIG_IGN)
    Memory.givePicturesBack()
    DescriptorLimit.raise()
}

/// Exits with a failure, and at once unless all threads have ended; otherwise returns.
private func leave(_ status: CInt, hasEnded: Bool) {
    guard hasEnded else {
        // Not `exit`: its cleanup would affect threads that still run.
        _exit(status)
    }
    if status != EXIT_SUCCESS { exit(status) }
}

@MainActor
private func objectServer(on connection: BusConnection) -> ObjectServer {
    let server = ObjectServer(on: connection, managing: DualCam.path)
    // As many as the library takes: a gallery asks for many thumbnails at once.
    server.callLimit = (256, .busy("Too many calls of this program are waiting for an answer."))
    return server
}

/// Takes over each configuration that was read again.
@MainActor
private func follow(_ reload: ConfigurationReload, _ daemon: Daemon, _ service: Service) {
    reload.done = { configuration, problems in
        service.configurationProblems = problems
        if let configuration {
            daemon.reconfigure(configuration)
            service.reconfigure()
            Log.control.notice("configuration reloaded")
        }
        Supervisor.ready(status: service.status)
    }
}

/// Ends all parts, which complete what they write; `true` if all their threads ended in time.
@MainActor
private func endAll(
    _ daemon: Daemon,
    _ watchdog: Watchdog,
    _ stateStore: StateStore,
    _ recording: RecordingSession,
    _ live: LivePhotos,
    _ service: Service
) -> Bool {
    // With what `Daemon.end` takes, less than the time that is left after a signal.
    let deadline = MonotonicClock.now + RecordingSession.endDuration
    watchdog.stop()
    stateStore.store()
    let isRecorded = recording.end(by: deadline)
    service.endPhotos(by: deadline)
    let areMoviesDone = live.end(by: deadline)
    let isListed = service.end(by: deadline)
    stateStore.store()
    let isStored = daemon.files.end(by: deadline)
    return daemon.end() && isRecorded && areMoviesDone && isListed && isStored
}
