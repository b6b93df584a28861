import Control
import DBusKit
import DualCamCore
import Media
import Platform

/// The Capture interface on the session bus: recordings and photographs.
@MainActor
final class CaptureService {
    private let daemon: Daemon
    private let server: ObjectServer
    private let session: RecordingSession
    private let selfTimer: SelfTimerCalls
    /// The callers that follow the level of the sound, with what tells that they are gone.
    private var listeners: [String: AnyObject] = [:]

    /// The toggles that wait for their turn, and the first, which is under way.
    private var toggles: [() -> Void] = []

    /// Exports the interface on `server`, with the state of `session` as of each `refresh`.
    init(
        _ daemon: Daemon,
        _ session: RecordingSession,
        _ photos: PhotoService,
        on server: ObjectServer
    ) {
        self.daemon = daemon
        self.session = session
        self.server = server
        selfTimer = SelfTimerCalls(daemon)
        server.export(CaptureInterface.self, at: DualCam.path) { [unowned self] capture in
            showState(capture)
            capture.answer(\.takePhoto) { [unowned self] call throws(DBusError) in
                let wish = try photos.wish(of: call)
                try count(call, call.options.in, for: .photo) { photos.take(call, wish) }
            }
            capture.answer(\.takePhotoTo) { [unowned self] call throws(DBusError) in
                let wish = try photos.wish(of: call)
                try count(call, call.options.in, for: .photo) { photos.take(call, wish) }
            }
            capture.answer(\.startRecording) { [unowned self] call throws(DBusError) in
                let request = try request(call.options)
                if let refusal = session.refusal(of: request) { throw error(refusal) }
                try count(call, call.options.in, for: .recording) { [unowned self] in
                    session.start(request) { [unowned self] in call.answer($0.mapError(error)) }
                }
            }
            capture.answer(\.cancelSelfTimer) { [unowned self] call in
                _ = selfTimer.cancel()
                call.reply()
            }
            capture.answer(\.measureSound) { [unowned self] call throws(DBusError) in
                measureSound(call)
                call.reply()
            }
            capture.answer(\.toggleRecording) { [unowned self] call throws(DBusError) in
                let request = try request(call.options)
                if selfTimer.cancel(.recording) { return call.reply((false, [])) }
                let isOn = session.isOn
                try count(call, isOn ? nil : call.options.in, for: .recording) { [unowned self] in
                    toggles.append { [unowned self] in toggle(request, call) }
                    if toggles.count == 1 { toggles[0]() }
                }
            }
            capture.answer(\.pauseRecording) { [unowned self] call in
                call.answer(session.pause(true).mapError(error))
            }
            capture.answer(\.resumeRecording) { [unowned self] call in
                call.answer(session.pause(false).mapError(error))
            }
            capture.answer(\.stopRecording) { [unowned self] call in
                if !session.isOn, selfTimer.cancel() { return call.reply([]) }
                session.stop { [unowned self] result in
                    call.answer(result.map { $0.map(described) }.mapError(error))
                }
            }
        }
        session.onLevel = { server.emit(\CaptureInterface.soundLevel, at: DualCam.path, $0) }
        session.onSaved = { [unowned self] file in
            server.emit(\CaptureInterface.recordingSaved, at: DualCam.path, described(file))
        }
        session.mender?.onRepaired = { path, seconds in
            server.emit(
                \CaptureInterface.recordingSaved,
                at: DualCam.path,
                ["path": .string(path), "seconds": .double(seconds), "repaired": .boolean(true)]
            )
        }
        session.onFailed = { reason in
            server.emit(\CaptureInterface.recordingFailed, at: DualCam.path, reason.word)
        }
    }

    /// Does `body` after the seconds that a call asks for, unless the count is cancelled.
    private func count<Arguments, Known, Results>(
        _ call: Call<Arguments, Known, Results>,
        _ seconds: UInt32?,
        for purpose: SelfTimer.Purpose,
        _ body: @escaping () -> Void
    ) throws(DBusError) {
        try selfTimer.count(seconds, for: purpose, whenCallerLeaves: call.whenCallerLeaves) {
            if let error = $0 { call.fail(error) } else { body() }
        }
    }

    /// Starts a recording, or stops the one that runs.
    private func toggle(
        _ request: RecordingRequest,
        _ call: Call<Void, CaptureInterface.Recording, (Bool, [[String: Value]])>
    ) {
        guard daemon.state.recording.phase != .ending else {
            return session.stop { [unowned self] _ in toggle(request, call) }
        }
        let isRunning = session.isOn
        func answer(_ result: Result<[[String: Value]], RecordingSession.Refusal>) {
            call.answer(result.map { (!isRunning, $0) }.mapError(error))
            toggles.removeFirst()
            toggles.first?()
        }
        if isRunning {
            session.stop { [unowned self] result in answer(result.map { $0.map(described) }) }
        } else {
            session.start(request) { answer($0.map { [] }) }
        }
    }

    private func measureSound(_ call: Call<Bool, NoOptions, Void>) {
        let caller = call.sender
        if !call.arguments {
            listeners[caller] = nil
        } else if listeners[caller] == nil {
            listeners[caller] = call.onLeaving { [unowned self] in
                listeners[caller] = nil
                session.measuresSound = !listeners.isEmpty
            }
        }
        session.measuresSound = !listeners.isEmpty
    }

    private func showState(_ capture: Handlers<CaptureInterface>) {
        let (daemon, session) = (daemon, session)
        capture.bind(Settings.rows, at: \.self, of: daemon)
        capture.get(\.recording) { daemon.state.recording.phase == .running }
        capture.get(\.recordingPaused) { daemon.state.recording.isPaused }
        capture.get(\.recordingSeconds) { UInt32(clamping: session.seconds) }
        capture.get(\.recordingSilence) { session.silence }
        capture.get(\.recordingRoom) { UInt64(session.space?.left ?? 0) }
        capture.get(\.selfTimer) { daemon.state.counting?.purpose.rawValue ?? "" }
        capture.get(\.selfTimerSeconds) {
            UInt32(clamping: daemon.state.counting?.seconds(at: MonotonicClock.now) ?? 0)
        }
        capture.get(\.recordingFiles) {
            // Files appear in the order in which the first frames come.
            session.writing.sorted { $0.picture.rawValue < $1.picture.rawValue }.map {
                [
                    "path": .string($0.path), "picture": .string($0.picture.rawValue),
                    "encoder": .string($0.encoder),
                ]
            }
        }
    }

    var problems: [String] { session.problems }

    private func described(_ file: RecordingSession.Saved) -> [String: Value] {
        var values: [String: Value] = [
            "path": .string(file.movie.path),
            "picture": .string(file.picture.rawValue),
            "seconds": .double(file.movie.seconds),
            "frames": .uint32(UInt32(clamping: file.movie.frames)),
            "dropped": .uint32(UInt32(clamping: file.movie.dropped)),
            "encoder": .string(file.movie.encoder),
            "sound": .boolean(file.movie.hasSound),
            "size": .uint64(UInt64(clamping: file.movie.byteCount)),
        ]
        if let failure = file.failure {
            values["error"] = .string(failure.word)
            values["reason"] = .string(failure.recordingText)
        }
        if !file.silence.isEmpty { values["silence"] = .string(file.silence) }
        if file.isLost { values["lost"] = .boolean(true) }
        return values
    }

    private func request(
        _ options: Options<CaptureInterface.Recording>
    ) throws(DBusError) -> RecordingRequest {
        var request = RecordingRequest()
        let configured = daemon.configuration.capture
        request.hasSound = options.audio ?? configured.recordsAudio
        request.isMP4 = options.mp4 ?? (configured.format == .mp4)
        if !configured.recordsCameras { request.pictures = [.stream] }
        if let words = options.of {
            guard !words.isEmpty else { throw .nothingNamed }
            var pictures: Set<RecordedPicture> = []
            for word in words { pictures.insert(try choice("The option of", word)) }
            request.pictures = pictures
        }
        if let word = options.encoder { request.encoder = try choice("Encoder", word) }
        return request
    }

    private func error(_ refusal: RecordingSession.Refusal) -> DBusError {
        switch refusal {
        case .alreadyRecording: .alreadyRecording("Already recording.")
        case .notRecording: .notRecording("Nothing is being recorded.")
        case .noCamera(let role):
            .noCamera("There is no \(role.map { "\($0.rawValue) " } ?? "")camera to record.")
        case .failed(let error):
            switch error.code {
            case .noSpace: .noSpace("There is no room for a recording: \(error)")
            case .denied: .denied("\(error)")
            default: .failed("\(error)")
            }
        }
    }
}
