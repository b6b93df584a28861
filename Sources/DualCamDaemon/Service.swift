import Control
import DBusKit
import DualCamCore
import Engine
import Frames
import Logging
import Platform

/// The daemon's objects on the session bus: calls become events, the state becomes properties.
@MainActor
final class Service {
    fileprivate let daemon: Daemon
    private let server: ObjectServer
    private let pro: ProService
    private let orientation: OrientationService
    private let capture: CaptureService
    private let photos: PhotoService
    private let library: LibraryService
    /// The calls of Start and Stop that wait for their reply.
    private var starting: [Invocation] = []
    private var stopping: [Invocation] = []
    /// The calls of SelectLens, which get their reply once no lens is incoming any more.
    private var selecting: [(role: Role, call: Invocation)] = []
    /// The writes of `Enabled` that wait for the disk and the cameras, by number.
    private var settingPrivacy: [(number: Int, write: PropertyWrite)] = []
    private var reported = ""
    private let configurationFile: String
    /// The problems of the configuration, one sentence each, for people.
    var configurationProblems: [String] = [] { didSet { refresh() } }

    /// Exports the objects on `connection`. From then on they show the state of `daemon`.
    /// `configurationFile` is the file named on the command line, if any.
    init(
        _ daemon: Daemon,
        _ recording: RecordingSession,
        _ live: LivePhotos,
        on connection: BusConnection,
        loop: EventLoop,
        configurationFile: String?
    ) {
        self.daemon = daemon
        // Clients may have another working directory.
        self.configurationFile = configurationFile.map(absolutePath) ?? ""
        server = ObjectServer(on: connection, managing: DualCam.path)
        pro = ProService(daemon, on: server)
        orientation = OrientationService(daemon, on: server)
        photos = PhotoService(daemon, live, on: server, loop: loop)
        library = LibraryService(daemon, recording, on: server, loop: loop)
        capture = CaptureService(daemon, recording, photos, on: server)
        server.export(.stream, at: DualCam.path, properties: streamProperties) {
            [unowned self] in callStream($0)
        }
        server.export(.scene, at: DualCam.path, properties: sceneProperties) {
            [unowned self] in
            callScene($0)
        } onWrite: { [unowned self] in
            writeScene($0)
        }
        server.export(.privacy, at: DualCam.path, properties: privacyProperties) { _ in
        } onWrite: { [unowned self] write in
            daemon.send(.privacy(.set(write.value.boolean ?? true)))
            settingPrivacy.append((daemon.state.privacy.number, write))
            answerPrivacy()
        }
        for role in Role.allCases {
            server.export(.camera, at: path(role), properties: cameraProperties(role)) {
                [unowned self] in
                callCamera(role, $0)
            } onWrite: { [unowned self] in
                writeCamera(role, $0)
            }
        }
        server.export(.logControl, at: DualCam.logPath, properties: logProperties) { _ in
        } onWrite: { [unowned self] in
            writeLog($0)
        }
        server.onRead = { [unowned self] in refresh() }
        daemon.observers.append { [unowned self] in refresh() }
        daemon.onAnnouncement = { [unowned self] in announce($0) }
        recording.onChange = { [unowned self] in refresh() }
    }

    /// Takes over configuration changes that no event reports.
    func reconfigure() { library.reconfigure() }

    /// Ends the service's threads. Returns `true` if they have ended in time.
    func end() -> Bool { library.end() }

    /// Waits at the end of the daemon until the photographs in progress are written and answered,
    /// at most until `deadline`.
    func endPhotos(by deadline: Timestamp) { photos.end(by: deadline) }

    private func path(_ role: Role) -> ObjectPath {
        role == .back ? DualCam.backPath : DualCam.frontPath
    }

    // MARK: Properties

    /// All present problems, one sentence each.
    var problems: [String] {
        var problems = configurationProblems
        let reason = daemon.state.nodeProblem
        if !reason.isEmpty { problems.append("The stream is not on PipeWire: \(reason)") }
        // Without a node there is nothing to mirror.
        if daemon.state.isActive, !daemon.mirrorProblem.isEmpty {
            problems.append(daemon.mirrorProblem)
        }
        for role in Role.allCases {
            let camera = daemon.state.cameras[role]
            if !camera.node.problem.isEmpty {
                let name = daemon.configuration.output.node(of: role).name
                problems.append("The camera \(name) is not on PipeWire: \(camera.node.problem)")
            }
            // A camera that is closed on purpose is not a problem.
            if camera.phase == .interrupted, daemon.state.suspensions.isEmpty {
                let notice = Notice(camera.interruption)?.text(for: role) ?? ""
                problems.append("\(notice) (\(role.rawValue)): \(camera.reason)")
            } else if let mode = camera.mode, let unreduced = camera.unreducedMode {
                problems.append(
                    "The \(role.rawValue) camera delivers \(mode) for want of USB bandwidth, not \(unreduced)."
                )
            } else if !camera.problem.isEmpty {
                problems.append(camera.problem)
            }
        }
        problems += daemon.state.keptProblems
        if Role.allCases.allSatisfy({ daemon.state.cameras[$0].phase == .unavailable }) {
            problems.append("There is no camera.")
        }
        return problems + capture.problems
    }

    private var streamProperties: [String: Value] {
        let state = daemon.state
        let output = daemon.configuration.output
        return [
            "State": .string(state.streamPhase.rawValue),
            "Active": .boolean(state.isActive),
            "Possible": .boolean(state.isPossible),
            "Problems": .strings(problems),
            "ConfigurationFile": .string(configurationFile),
            "NodeId": .uint32(state.nodeID ?? .max),
            "Consumers": .uint32(UInt32(clamping: state.consumers)),
            "Width": .uint32(UInt32(clamping: output.size.width)),
            "Height": .uint32(UInt32(clamping: output.size.height)),
            "FrameRate": .uint32(UInt32(clamping: output.frameRate)),
            "PixelFormat": .string("YUY2"),
            "Version": .string(DualCam.version),
        ]
    }

    private var sceneProperties: [String: Value] {
        let scene = daemon.state.scene
        return [
            "Swapped": .boolean(scene.isSwapped),
            "Layout": .string(scene.style.layout.rawValue),
            "Main": .objectPath(path(scene.main)),
            "Inset": .objectPath(path(scene.main.other)),
            "InsetVisible": .boolean(scene.style.insetVisible),
            "InsetCorner": .string(scene.style.insetCorner.rawValue),
            "InsetSize": .double(scene.style.insetSize),
            "SwapIcon": .boolean(scene.style.swapIcon),
            "Hud": .string(daemon.state.pro.hud.rawValue),
        ]
    }

    private var privacyProperties: [String: Value] {
        ["Enabled": .boolean(daemon.state.isPrivate)]
    }

    private func cameraProperties(_ role: Role) -> [String: Value] {
        let camera = daemon.state.cameras[role]
        let counts = daemon.counts(of: role)
        let size = camera.mode?.size
        return [
            "Role": .string(role.rawValue),
            "Name": .string(camera.name),
            "Source": .string(camera.source.description),
            "State": .string(camera.phase.rawValue),
            "Interruption": .string(camera.interruption.rawValue),
            "Width": .uint32(UInt32(clamping: size?.width ?? 0)),
            "Height": .uint32(UInt32(clamping: size?.height ?? 0)),
            "FrameRate": .uint32(UInt32(camera.mode?.rate.rounded() ?? 0)),
            "PixelFormat": .string(camera.mode?.format.description ?? ""),
            "Mirror": .boolean(camera.mirror),
            "Rotation": .uint32(UInt32(clamping: camera.rotation)),
            "Lens": .string(camera.lens.selected?.name ?? ""),
            "Lenses": .array(
                camera.lens.present.map { .structure([.string($0.name), .double($0.factor)]) },
                of: "(sd)"
            ),
            "LensFallback": .boolean(camera.lens.isFallback),
            "Torch": .boolean(daemon.torch(of: role) ?? false),
            "Zoom": .double(camera.lens.zoom),
            "ZoomRange": .structure([
                .double(camera.lens.zoomRange.lowerBound),
                .double(camera.lens.zoomRange.upperBound),
            ]),
            "NodeId": .uint32(camera.node.id ?? .max),
            "Consumers": .uint32(UInt32(clamping: camera.node.consumers)),
            "FramesCaptured": .uint64(counts.captured),
            "FramesDropped": .uint64(counts.damaged + counts.missing),
        ]
    }

    private var logProperties: [String: Value] {
        [
            "LogLevel": .string(Log.level.syslogWord),
            "LogTarget": .string(Log.target.rawValue),
            "SyslogIdentifier": .string("dualcamd"),
        ]
    }

    /// Updates the properties to the present state. The server notifies clients of changes.
    private func refresh() {
        server.set(streamProperties, of: .stream, at: DualCam.path)
        server.set(sceneProperties, of: .scene, at: DualCam.path)
        server.set(privacyProperties, of: .privacy, at: DualCam.path)
        for role in Role.allCases {
            server.set(cameraProperties(role), of: .camera, at: path(role))
        }
        pro.refresh()
        orientation.refresh()
        capture.refresh()
        photos.refresh()
        library.refresh()
        answerWaiting()
        if status != reported {
            reported = status
            Supervisor.report(status: status)
        }
    }

    // MARK: Signals

    private func announce(_ announcement: Effect.Announcement) {
        switch announcement {
        case .willStart: emit("WillStart")
        case .didStart: emit("DidStart")
        case .willStop: emit("WillStop")
        case .didStop: emit("DidStop")
        case .restoreRequested: emit("RestoreRequested")
        case .failedToStart(let reason):
            server.emit("FailedToStart", of: .stream, at: DualCam.path, .string(reason))
        }
    }

    private func emit(_ signal: String) { server.emit(signal, of: .stream, at: DualCam.path) }

    // MARK: Calls

    private func callStream(_ call: Invocation) {
        switch call.member {
        case "Start": start(call)
        case "Stop": stop(call, .stream(.stop))
        case "Restore": stop(call, .stream(.restore))
        case "Toggle": daemon.state.isStarted ? stop(call, .stream(.stop)) : start(call)
        case "Statistics": call.reply(.named(daemon.statistics))
        default: preconditionFailure("\(call.member) is declared and not answered")
        }
    }

    private func start(_ call: Invocation) {
        starting.append(call)
        daemon.send(.stream(.start))
    }

    private func stop(_ call: Invocation, _ event: Event) {
        stopping.append(call)
        daemon.send(event)
    }

    /// Replies to the calls of Start and Stop that are complete, or have failed.
    private func answerWaiting() {
        let state = daemon.state
        if !starting.isEmpty, state.isActive || !state.nodeProblem.isEmpty || state.isSettled {
            let calls = starting
            starting = []
            for call in calls {
                if state.isActive {
                    call.reply()
                } else if state.isStarted {
                    call.fail(.pipeWireUnavailable(state.nodeProblem))
                } else {
                    call.fail(.failed("The stream was stopped meanwhile."))
                }
            }
        }
        if !stopping.isEmpty, state.isSettled || state.isStarted {
            let calls = stopping
            stopping = []
            for call in calls { call.reply() }
        }
        answerSelecting()
        answerPrivacy()
    }

    /// Answers the writes of `Enabled` that are complete, or will not be.
    private func answerPrivacy() {
        let writes = settingPrivacy
        settingPrivacy = []
        for (number, write) in writes {
            switch daemon.state.privacyOutcome(of: number) {
            case .complete: write.accept()
            case .incomplete(let reason): write.refuse(.failed(reason))
            case nil: settingPrivacy.append((number, write))
            }
        }
    }

    private func answerSelecting() {
        let done = selecting.filter { daemon.state.cameras[$0.role].lens.incoming == nil }
        guard !done.isEmpty else { return }
        selecting.removeAll { daemon.state.cameras[$0.role].lens.incoming == nil }
        for (_, call) in done { call.reply() }
    }

    /// Returns `true` if the pictures may be swapped now.
    private func mayChange(from isSwapped: Bool, to isToBe: Bool) -> Bool {
        isSwapped == isToBe || daemon.state.recording.phase == .off
            || daemon.configuration.capture.allowsSwapWhileRecording
    }

    private func callScene(_ call: Invocation) {
        let instantly = call.options["instant"]?.boolean ?? false
        switch call.member {
        case "Swap":
            guard daemon.state.scene.hasBoth else {
                call.fail(.noCamera("There is no second camera to swap with."))
                return
            }
            guard mayChange(from: daemon.state.scene.isSwapped, to: !daemon.state.scene.isSwapped)
            else {
                call.fail(.swapLocked)
                return
            }
            daemon.send(.scene(.swap(instantly: instantly)))
            call.reply(.boolean(daemon.state.scene.isSwapped))
        case "Reset":
            guard mayChange(from: daemon.state.scene.isSwapped, to: false) else {
                call.fail(.swapLocked)
                return
            }
            daemon.send(.scene(.reset(daemon.configuration.scene.style, instantly: instantly)))
            call.reply()
        default: preconditionFailure("\(call.member) is declared and not answered")
        }
    }

    private func callCamera(_ role: Role, _ call: Invocation) {
        do throws(DBusError) {
            switch call.member {
            case "SetZoom":
                try setZoom(role, call)
                call.reply()
            case "SelectLens":
                try selectLens(role, call)
                selecting.append((role, call))
                answerWaiting()
            default: preconditionFailure("\(call.member) is declared and not answered")
            }
        } catch {
            call.fail(error)
        }
    }

    /// The default and the longest duration of a zoom, in milliseconds.
    private static let (zoomRamp, longestRamp) = (250, 60_000)

    private func selectLens(_ role: Role, _ call: Invocation) throws(DBusError) {
        let (name, state) = (call.arguments.first?.string ?? "", daemon.state.cameras[role].lens)
        guard let lens = state.all.first(where: { $0.name == name }) else {
            let names = state.present.map(\.name).joined(separator: ", ")
            throw .notSupported(
                "The \(role.rawValue) camera has no lens \"\(name.prefix(64))\"; there are: \(names)."
            )
        }
        guard lens.isThere else {
            throw .noCamera("The lens \(name) of the \(role.rawValue) camera is not there.")
        }
        daemon.send(
            .lens(role, .setZoom(lens.factor, middle: nil, duration: LensState.usualDuration))
        )
    }

    private func setZoom(_ role: Role, _ call: Invocation) throws(DBusError) {
        let (zoom, range) = (
            call.arguments[0].double ?? .nan, daemon.state.cameras[role].lens.zoomRange
        )
        guard range.contains(zoom) else {
            func text(_ zoom: Double) -> String {
                Int(exactly: zoom).map { "\($0)" } ?? "\(zoom)"
            }
            let expected = "\(text(range.lowerBound)) to \(text(range.upperBound))"
            throw .outOfRange("zoom \(text(zoom)), expected \(expected)")
        }
        let ramp = call.options["ramp-ms"].map { $0.integer ?? -1 } ?? Self.zoomRamp
        guard (0...Self.longestRamp).contains(ramp) else {
            throw .outOfRange("ramp-ms is \(ramp), expected 0 to \(Self.longestRamp)")
        }
        var middle: NormalizedPoint?
        if let option = call.options["at"] {
            guard case .structure(let parts) = option, parts.count == 2,
                let x = parts[0].double, let y = parts[1].double,
                (0...1).contains(x), (0...1).contains(y)
            else { throw .outOfRange("at is no pair of numbers from 0 to 1") }
            middle = NormalizedPoint(x: x, y: y)
        }
        daemon.send(.lens(role, .setZoom(zoom, middle: middle, duration: Double(ramp) / 1000)))
    }

    // MARK: Writes

    private func writeScene(_ write: PropertyWrite) {
        var style = daemon.state.scene.style
        do throws(DBusError) {
            switch write.property {
            case "Swapped":
                guard
                    mayChange(
                        from: daemon.state.scene.isSwapped,
                        to: write.value.boolean ?? false
                    )
                else { throw .swapLocked }
                daemon.send(.scene(.setSwapped(write.value.boolean ?? false, instantly: false)))
            case "Layout": style.layout = try choice(write)
            case "InsetVisible": style.insetVisible = write.value.boolean ?? true
            case "InsetCorner": style.insetCorner = try choice(write)
            case "InsetSize":
                let size = write.value.double ?? .nan
                guard SceneStyle.insetSizes.contains(size) else {
                    let (least, most) = (
                        SceneStyle.insetSizes.lowerBound, SceneStyle.insetSizes.upperBound
                    )
                    throw .outOfRange("InsetSize is \(size), expected \(least) to \(most)")
                }
                style.insetSize = size
            case "SwapIcon": style.swapIcon = write.value.boolean ?? true
            case "Hud": daemon.send(.pro(.setHud(try choice(write))))
            default: preconditionFailure("\(write.property) is declared and not written")
            }
        } catch {
            write.refuse(error)
            return
        }
        daemon.send(.scene(.setStyle(style)))
        write.accept()
    }

    private func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ write: PropertyWrite
    ) throws(DBusError) -> Choice {
        let word = write.value.string ?? ""
        guard let choice = Choice(rawValue: word) else {
            let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw .outOfRange(
                "\(write.property) is \"\(word.prefix(64))\", expected one of \(words)"
            )
        }
        return choice
    }

    private func writeCamera(_ role: Role, _ write: PropertyWrite) {
        switch write.property {
        case "Mirror": daemon.send(.camera(role, .setMirror(write.value.boolean ?? false)))
        case "Rotation":
            let degrees = write.value.integer ?? -1
            guard [0, 90, 180, 270].contains(degrees) else {
                write.refuse(.outOfRange("Rotation is \(degrees), expected 0, 90, 180 or 270"))
                return
            }
            daemon.send(.camera(role, .setRotation(degrees)))
        case "Torch":
            daemon.setTorch(role, write.value.boolean ?? false) { [self] result in
                switch result {
                case .success:
                    refresh()
                    write.accept()
                case .failure(let refusal):
                    let isThere = daemon.state.cameras[role].phase != .unavailable
                    write.refuse(DBusError(refusal, isThere: isThere))
                }
            }
            return
        default: preconditionFailure("\(write.property) is declared and not written")
        }
        write.accept()
    }

    private func writeLog(_ write: PropertyWrite) {
        let word = write.value.string ?? ""
        switch write.property {
        case "LogLevel":
            guard let level = Logger.Level(syslogWord: word) else {
                write.refuse(
                    .invalidArguments(
                        "LogLevel is \"\(word.prefix(64))\", expected a level of syslog"
                    )
                )
                return
            }
            Log.level = level
        case "LogTarget":
            guard let target = Log.Target(rawValue: word) else {
                write.refuse(
                    .invalidArguments(
                        "LogTarget is \"\(word.prefix(64))\", expected console or journal"
                    )
                )
                return
            }
            Log.target = target
        default: preconditionFailure("\(write.property) is declared and not written")
        }
        server.set(logProperties, of: .logControl, at: DualCam.logPath)
        write.accept()
    }
}

extension DBusError {
    /// The error for a swap that the configuration does not allow during a recording.
    fileprivate static var swapLocked: DBusError {
        .locked("allow-swap-while-recording is off, and a recording is being made.")
    }
}

extension State {
    /// `true` if the stream is stopped, and stopping is complete.
    fileprivate var isSettled: Bool { !isStarted && !isStopping }
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
