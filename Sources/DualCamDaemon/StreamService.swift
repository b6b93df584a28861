import Control
import DBusKit
import DualCamCore
import Frames

/// The Stream interface on the session bus: the publication of the stream.
@MainActor
final class StreamService {
    private let daemon: Daemon
    private let server: ObjectServer
    /// The path of the configuration file named on the command line; empty if there is none.
    var configurationFile = ""
    var problems: () -> [String] = { [] }
    /// The cameras as Devices shows them, and what they were made of: the property is read after
    /// each event, and they seldom change.
    private var devices: (standings: [CameraStanding], shown: [[String: Value]]) = ([], [])
    /// Finds out if a program has a window that RestoreRequested brings back.
    var findWindow: (@escaping (Bool) -> Void) -> Void = { $0(false) }
    /// The calls of Start and Stop that wait for their reply.
    private var starting: [Call<Void, NoOptions, Void>] = []
    private var stopping: [Call<Void, NoOptions, Void>] = []

    /// Exports the interface on `server`. `editor` writes sources into the configuration,
    /// `previews` shows devices that no camera has.
    init(
        _ daemon: Daemon,
        _ editor: SourceEditor,
        _ previews: PreviewService,
        on server: ObjectServer
    ) {
        self.daemon = daemon
        self.server = server
        server.export(StreamInterface.self, at: DualCam.path) { [unowned self] stream in
            showState(stream)
            stream.answer(\.start) { [unowned self] in start($0) }
            stream.answer(\.stop) { [unowned self] in stop($0, .stream(.stop)) }
            stream.answer(\.restore) { [unowned self] in restore($0) }
            stream.answer(\.toggle) { [unowned self] call in
                daemon.state.isStarted ? stop(call, .stream(.stop)) : start(call)
            }
            stream.answer(\.undoUse) { call in
                editor.undo(for: call.sender) { error in
                    if let error { call.fail(error) } else { call.reply() }
                }
            }
            stream.answer(\.reset) { call throws(DBusError) in
                try daemon.allowSwap(to: false)
                daemon.reset { refusals in
                    guard !refusals.isEmpty else { return call.reply() }
                    let reasons = Role.allCases.compactMap { refusals[$0]?.reason }
                    call.fail(
                        .failed(
                            "Not every value of the cameras is automatic again; "
                                + reasons.joined(separator: "; ")
                        )
                    )
                }
            }
            stream.answer(\.openPreview) { previews.open($0) }
            stream.answer(\.statistics) { $0.reply(daemon.statistics) }
        }
        daemon.performers.append { [unowned self] effect in
            if case .announce(let announcement) = effect { announce(announcement) }
        }
    }

    private func showState(_ stream: Handlers<StreamInterface>) {
        let daemon = daemon
        stream.get(\.state) { daemon.state.streamPhase.rawValue }
        stream.get(\.active) { daemon.state.isActive }
        stream.get(\.possible) { daemon.state.isPossible }
        stream.get(\.problems) { [unowned self] in problems() }
        stream.get(\.devices) { [unowned self] in
            let standings = daemon.state.search.standings
            if standings != devices.standings {
                devices = (standings, standings.map(\.shown))
            }
            return devices.shown
        }
        stream.get(\.configurationFile) { [unowned self] in configurationFile }
        stream.get(\.nodeID) { daemon.state.nodeID ?? .max }
        stream.get(\.consumers) { UInt32(clamping: daemon.state.consumers) }
        stream.get(\.viewers) { daemon.state.allViewers.map(\.description) }
        stream.get(\.loopbackDevice) { daemon.state.loopback.device }
        stream.get(\.width) { UInt32(clamping: daemon.configuration.output.size.width) }
        stream.get(\.height) { UInt32(clamping: daemon.configuration.output.size.height) }
        stream.get(\.frameRate) { UInt32(clamping: daemon.configuration.output.frameRate) }
        stream.get(\.pixelFormat) { "YUY2" }
        stream.get(\.version) { DualCam.version }
    }

    private func announce(_ announcement: Effect.Announcement) {
        switch announcement {
        case .willStart: server.emit(\StreamInterface.willStart, at: DualCam.path)
        case .didStart: server.emit(\StreamInterface.didStart, at: DualCam.path)
        case .willStop: server.emit(\StreamInterface.willStop, at: DualCam.path)
        case .didStop: server.emit(\StreamInterface.didStop, at: DualCam.path)
        case .restoreRequested: server.emit(\StreamInterface.restoreRequested, at: DualCam.path)
        case .failedToStart(let reason):
            server.emit(\StreamInterface.failedToStart, at: DualCam.path, reason)
        }
    }

    private func start(_ call: Call<Void, NoOptions, Void>) {
        starting.append(call)
        daemon.send(.stream(.start))
    }

    /// Asks for the window of a camera program, if one has any. The stream goes on.
    private func restore(_ call: Call<Void, NoOptions, Void>) {
        findWindow { [daemon] isThere in
            guard isThere else { return call.fail(.failed(Self.noWindow)) }
            daemon.send(.stream(.restore))
            call.reply()
        }
    }

    private static let noWindow = """
        No open window shows the stream, so there is none to bring to the front. `dualcamctl view` \
        opens one. To stop the stream, use `dualcamctl stop`.
        """

    private func stop(_ call: Call<Void, NoOptions, Void>, _ event: Event) {
        stopping.append(call)
        daemon.send(event)
    }

    /// Replies to the calls of Start and Stop that are complete, or have failed.
    func answerWaiting() {
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
    }
}

extension CameraStanding {
    /// The device as an element of the property Devices.
    fileprivate var shown: [String: Value] {
        var modes: [String] = []
        for mode in device.modes.lazy.map(\.description) where !modes.contains(mode) {
            guard modes.count < 256 else { break }
            modes.append(mode)
        }
        return [
            "id": .string(device.identity), "name": .string(device.name),
            "path": .string(device.path), "role": .string(role?.rawValue ?? ""),
            "chosen": .boolean(isChosen), "reason": .string(reason), "modes": .strings(modes),
            "names": .strings(device.aliases.sorted()),
        ]
    }
}

extension Viewer {
    /// The viewer as D-Bus properties.
    fileprivate var description: [String: Value] {
        [
            "name": .string(name), "application-id": .string(application),
            "pid": .uint32(process), "since": .uint64(UInt64(clamping: since)),
            "through": .string(through),
        ]
    }
}

extension State {
    /// `true` if the stream is stopped, and stopping is complete.
    fileprivate var isSettled: Bool { !isStarted && !isStopping }
}

extension BusConnection {
    /// Calls `done` with `true` if a program has a window that RestoreRequested brings back: it
    /// owns org.dualcam.View, or its match rules, which some buses do not tell, name that signal.
    func findWindow(_ done: @escaping (Bool) -> Void) {
        ask("org.freedesktop.DBus", "NameHasOwner", [.string("org.dualcam.View")]) {
            [self] answer in
            guard answer != .boolean(true) else { return done(true) }
            ask("org.freedesktop.DBus.Debug.Stats", "GetAllMatchRules", []) { answer in
                guard case .dictionary(let programs, _, _)? = answer else { return done(false) }
                done(
                    programs.values.contains { rules in
                        rules.array?.contains {
                            $0.string?.contains("member='RestoreRequested'") ?? false
                        } ?? false
                    }
                )
            }
        }
    }

    private func ask(
        _ interface: String,
        _ member: String,
        _ arguments: [Value],
        _ done: @escaping (Value?) -> Void
    ) {
        ask(.bus(member, of: interface, arguments, timeout: 2)) { done((try? $0.get())?.first) }
    }
}
