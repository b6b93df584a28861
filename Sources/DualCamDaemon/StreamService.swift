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
    /// Returns all present problems, one sentence each.
    var problems: () -> [String] = { [] }
    /// The calls of Start and Stop that wait for their reply.
    private var starting: [Call<Void, NoOptions, Void>] = []
    private var stopping: [Call<Void, NoOptions, Void>] = []

    /// Exports the interface on `server`.
    init(_ daemon: Daemon, on server: ObjectServer) {
        self.daemon = daemon
        self.server = server
        server.export(StreamInterface.self, at: DualCam.path) { [unowned self] stream in
            showState(stream)
            stream.answer(\.start) { [unowned self] in start($0) }
            stream.answer(\.stop) { [unowned self] in stop($0, .stream(.stop)) }
            stream.answer(\.restore) { [unowned self] in stop($0, .stream(.restore)) }
            stream.answer(\.toggle) { [unowned self] call in
                daemon.state.isStarted ? stop(call, .stream(.stop)) : start(call)
            }
            stream.answer(\.statistics) { $0.reply(daemon.statistics) }
        }
        daemon.onAnnouncement = { [unowned self] in announce($0) }
    }

    private func showState(_ stream: Handlers<StreamInterface>) {
        let daemon = daemon
        stream.get(\.state) { daemon.state.streamPhase.rawValue }
        stream.get(\.active) { daemon.state.isActive }
        stream.get(\.possible) { daemon.state.isPossible }
        stream.get(\.problems) { [unowned self] in problems() }
        stream.get(\.configurationFile) { [unowned self] in configurationFile }
        stream.get(\.nodeID) { daemon.state.nodeID ?? .max }
        stream.get(\.consumers) { UInt32(clamping: daemon.state.consumers) }
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

extension State {
    /// `true` if the stream is stopped, and stopping is complete.
    fileprivate var isSettled: Bool { !isStarted && !isStopping }
}
