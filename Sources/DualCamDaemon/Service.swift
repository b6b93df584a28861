import Control
import DBusKit
import DualCamCore
import Frames
import Logging
import Platform

/// The daemon's objects on the session bus: calls become events, the state becomes properties.
@MainActor
final class Service {
    private let daemon: Daemon
    private let server: ObjectServer
    private let stream: StreamService
    private let privacy: PrivacyService
    private let scenes: ScenesService
    private let cameras: CameraService
    private let capture: CaptureService
    private let photos: PhotoService
    private let library: LibraryService
    private let previews: PreviewService
    private let editor: SourceEditor
    /// The services that only answer calls.
    private let others: [AnyObject]
    private var reported = ""
    /// The problems of the configuration, one sentence each, for people.
    var configurationProblems: [String] = [] { didSet { refresh() } }

    /// Exports the objects on `server`. From then on they show the state of `daemon`.
    /// `configurationFile` is the file named on the command line, if any.
    init(
        _ daemon: Daemon,
        _ recording: RecordingSession,
        _ live: LivePhotos,
        on server: ObjectServer,
        loop: EventLoop,
        configurationFile: String?
    ) throws(SystemError) {
        self.daemon = daemon
        self.server = server
        // Changes are signalled in this order.
        editor = SourceEditor(daemon, loop: loop, path: configurationFile)
        previews = PreviewService(daemon, loop: loop)
        stream = StreamService(daemon, editor, previews, on: server)
        let scene = try SceneService(daemon, on: server, loop: loop)
        scenes = ScenesService(daemon, on: server, loop: loop)
        privacy = PrivacyService(daemon, on: server)
        photos = PhotoService(daemon, live, on: server, loop: loop)
        let look = try CameraLook(daemon, photos, loop: loop)
        cameras = CameraService(daemon, editor, look, on: server)
        let phone = try PhoneService(daemon, on: server, loop: loop)
        others = [
            scene, phone, ProService(daemon, look, on: server),
            ConfigurationService(daemon, editor, on: server),
        ]
        server.export(OrientationInterface.self, at: DualCam.path) { orientation in
            orientation.bind(Settings.rows, at: \.self, of: daemon, as: ["Mode": "Orientation"])
            orientation.get(\.current) { daemon.state.orientation.current.rawValue }
            orientation.get(\.sensorAvailable) { daemon.state.orientation.hasSensor }
        }
        capture = CaptureService(daemon, recording, photos, on: server)
        library = LibraryService(daemon, recording, on: server, loop: loop)
        server.exportLogControl()
        for path in [DualCam.path] + Role.allCases.map(\.path) {
            server.export(StepsInterface.self, at: path) { steps in
                steps.answer(\.step) { call in
                    let (interface, property, change) = call.arguments
                    server.step(property, of: interface, at: path, by: change.value) { result in
                        call.answer(result.map { (Variant($0), $1) })
                    }
                }
            }
        }
        // Clients may have another working directory.
        stream.configurationFile = configurationFile.map(absolutePath) ?? ""
        stream.problems = { [unowned self] in problems }
        editor.onEdited = { [unowned self] in
            configurationProblems = $0
            reconfigure()
        }
        server.onRead = { [unowned self] in
            daemon.notify()
            refresh()
        }
        // Answers and signals follow the properties that show what has happened.
        server.onFlush = { daemon.notify() }
        daemon.observers.append { [weak self] in self?.refresh() }
        recording.onChange = { [unowned self] in
            daemon.notify()
            refresh()
        }
        refresh()
    }

    /// Finds windows to bring back among the programs on `bus`.
    func findWindows(on bus: BusConnection) {
        stream.findWindow = { done in bus.findWindow(done) }
    }

    /// Tells the program of a caller by its unique name, for limits; see `PhotoService.program`.
    var program: (String, @escaping (String?) -> Void) -> Void {
        get { photos.program }
        set {
            photos.program = newValue
            previews.program = newValue
        }
    }

    /// Requests the user's scenes. Call once the daemon owns its name.
    func loadScenes() { scenes.load() }

    /// Takes over configuration changes that no event reports.
    func reconfigure() { library.reconfigure() }

    /// Ends the threads; `true` if they ended in time, those that write by `deadline`.
    func end(by deadline: Timestamp) -> Bool {
        editor.end()
        scenes.end()
        let arePreviewsClosed = previews.end(by: deadline)
        return library.end() && arePreviewsClosed
    }

    /// Waits until photographs in progress are written and answered, at most until `deadline`.
    func endPhotos(by deadline: Timestamp) { photos.end(by: deadline) }

    var problems: [String] {
        var others = daemon.reported
        others.configuration = configurationProblems
        others.rooms = daemon.rooms.problems
        others.scenes = scenes.problems
        others.recording = capture.problems
        return daemon.state.problems(besides: others, daemon.configuration.output)
    }

    /// Updates the properties to the present state. The server notifies clients of changes.
    private func refresh() {
        server.refresh()
        photos.refresh()
        library.refresh()
        stream.answerWaiting()
        cameras.answerWaiting()
        privacy.answerWaiting()
        scenes.answerWaiting()
        if status != reported {
            reported = status
            Supervisor.report(status: status)
        }
    }
}

extension Service {
    /// The state of the daemon in one line for people, which `systemctl --user status` shows.
    var status: String {
        let problem = problems.first.map { " — \($0)" } ?? ""
        let output = daemon.configuration.output
        return
            "\(daemon.state.streamPhase.rawValue), \(output.size) at \(output.frameRate)/s\(problem)"
    }
}

extension ObjectServer {
    /// Exports the settings of the log, which systemd's `systemctl service-log-level` changes.
    fileprivate func exportLogControl() {
        export(LogControlInterface.self, at: DualCam.logPath) { log in
            log.get(\.logLevel) { Log.level.syslogWord }
            log.set(\.logLevel) { word throws(DBusError) in
                guard let level = Logger.Level(syslogWord: word) else {
                    throw .invalidArguments(
                        "LogLevel must be a level of syslog, not “\(word.prefix(64))”."
                    )
                }
                Log.level = level
            }
            log.get(\.logTarget) { Log.target.rawValue }
            log.set(\.logTarget) { word throws(DBusError) in
                guard let target = Log.Target(rawValue: word) else {
                    throw .invalidArguments(
                        "LogTarget must be console or journal, not “\(word.prefix(64))”."
                    )
                }
                Log.target = target
            }
            log.get(\.syslogIdentifier) { "dualcamd" }
        }
    }
}
