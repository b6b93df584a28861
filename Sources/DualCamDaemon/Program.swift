import ArgumentParser
import Control
import DBusKit
import DualCamCore
import Frames
import Glibc
import Library
import Logging
import Media
import Network
import Platform

/// The program: wires everything together and runs it.
package enum Program {
    /// Runs what the command line asks for: the daemon, or a thumbnail worker. Exits with a
    /// failure, which it logs, if it cannot.
    @MainActor
    package static func main() {
        do {
            let options = Options.parseOrExit()
            if options.helper != nil { DescriptorLimit.lower() }
            switch options.helper {
            case .repair: RepairHelper.run()
            case .thumbnails: ThumbnailWorker.run(isIdle: false, program: program)
            case .network: NetworkHelper.run()
            case .idleThumbnails: ThumbnailWorker.run(isIdle: true, program: program)
            case nil: break
            }
            try run(options)
        } catch {
            Log.control.critical("cannot run", metadata: ["reason": "\(error)"])
            // Not `exit`: its cleanup would affect threads that still run.
            _exit(EXIT_FAILURE)
        }
    }

    /// The name under which failures to make thumbnails are stored.
    private static var program: String { "dualcam-\(DualCam.version)" }
}

/// A task for which the daemon runs this program once more, in place of being a daemon.
enum HelperKind: String, ExpressibleByArgument {
    case repair
    case thumbnails
    case network
    case idleThumbnails = "idle-thumbnails"

    /// The arguments that ask for it.
    var arguments: [String] { ["--helper", rawValue] }
}

/// The options of the command line.
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

/// Runs the daemon until a signal ends it or the session bus is gone. Then it exits with a failure,
/// so that systemd starts it again.
@MainActor
private func run(_ options: Options) throws {
    prepareProcess()
    let signals = try Signals([SIGINT, SIGTERM, SIGHUP])
    let loop = try EventLoop()

    let reload = try ConfigurationReload(
        loop: loop,
        reading: { readConfiguration(options.config) }
    )
    let (configuration, problems) = try reload.first()
    let daemon = try Daemon(configuration ?? Configuration(), loop: loop)
    let connection = try BusConnection(loop: loop)
    let recording = try RecordingSession(
        daemon,
        helper: HelperKind.repair.arguments,
        loop: loop
    )
    let live = LivePhotos(daemon, loop: loop)
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
    try connection.requestName(DualCam.busName)
    recording.repair()
    service.loadScenes()

    follow(reload, daemon, service)
    try loop.watch(signals.descriptor, for: .readable) { _ in
        while let signal = signals.next() {
            guard signal == SIGHUP else {
                loop.stop()
                return
            }
            Supervisor.reloading()
            reload.begin()
        }
    }
    let watchdog = try Watchdog(daemon, loop: loop)
    let session = try Session(daemon, on: connection, loop: loop)
    // After the name is owned: what is stored belongs to one daemon.
    let stateStore = try StateStore(daemon, loop: loop)

    Supervisor.ready(status: service.status)
    try daemon.start()
    withExtendedLifetime((service, session, trust)) { loop.run() }

    Supervisor.stopping(status: "Ending")
    let hasEnded = endAll(daemon, reload, watchdog, stateStore, recording, live, service)
    if connection.isConnected { connection.flush() }
    leave(isBusLost ? EXIT_FAILURE : EXIT_SUCCESS, hasEnded: hasEnded && !session.isConnecting)
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

/// Returns the server for the daemon's objects.
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

/// Ends all parts, which complete what they write. Returns `true` if all their threads have ended
/// in time.
@MainActor
private func endAll(
    _ daemon: Daemon,
    _ reload: ConfigurationReload,
    _ watchdog: Watchdog,
    _ stateStore: StateStore,
    _ recording: RecordingSession,
    _ live: LivePhotos,
    _ service: Service
) -> Bool {
    let hasRead = reload.end()
    watchdog.stop()
    // All waits together stay within the unit's TimeoutStopSec.
    let deadline = MonotonicClock.now + Timestamp(seconds: 3.5)
    stateStore.store()
    let isRecorded = recording.end()
    service.endPhotos(by: deadline)
    let areMoviesDone = live.end(by: deadline)
    let isListed = service.end(by: deadline)
    let isStored = stateStore.end(by: deadline)
    return daemon.end() && isRecorded && areMoviesDone && isListed && isStored && hasRead
}
