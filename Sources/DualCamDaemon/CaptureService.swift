import Control
import DBusKit
import DualCamCore
import Media
import Recording

/// The Capture interface on the session bus: recordings and photographs.
@MainActor
final class CaptureService {
    private let daemon: Daemon
    private let server: ObjectServer
    private let session: RecordingSession
    /// The callers that follow the level of the sound, with what tells that they are gone.
    private var listeners: [String: AnyObject] = [:]

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
        server.export(CaptureInterface.self, at: DualCam.path) { [unowned self] capture in
            showState(capture)
            capture.answer(\.takePhoto) { call in photos.take(call) }
            capture.answer(\.takePhotoTo) { call in photos.take(call) }
            capture.answer(\.startRecording) { [unowned self] call throws(DBusError) in
                session.start(try request(call.options)) { [unowned self] result in
                    call.answer(result.mapError(error))
                }
            }
            capture.answer(\.measureSound) { [unowned self] call throws(DBusError) in
                measureSound(call)
                call.reply()
            }
            capture.answer(\.stopRecording) { [unowned self] call in
                session.stop { [unowned self] result in
                    let answer = result.map { files in
                        files.sorted { $0.picture.rawValue < $1.picture.rawValue }.map(described)
                    }
                    call.answer(answer.mapError(error))
                }
            }
        }
        session.onLevel = { server.emit(\CaptureInterface.soundLevel, at: DualCam.path, $0) }
        session.onSaved = { [unowned self] file in
            server.emit(\CaptureInterface.recordingSaved, at: DualCam.path, described(file))
        }
        session.onRepaired = { path, seconds in
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
        capture.get(\.livePhoto) { daemon.state.takesLivePhotos }
        capture.set(\.livePhoto) { daemon.send(.photographs(.setLive($0))) }
        capture.get(\.recording) { daemon.state.recording.phase == .running }
        capture.get(\.recordingSeconds) { UInt32(clamping: session.seconds) }
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

    /// The problems of the recording, one sentence each.
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
        if let failure = file.failure { values["error"] = .string(failure.word) }
        return values
    }

    private func request(
        _ options: Options<CaptureInterface.Recording>
    ) throws(DBusError) -> RecordingRequest {
        var request = RecordingRequest()
        request.hasSound = options.audio ?? daemon.configuration.capture.recordsAudio
        request.isMP4 = options.mp4 ?? false
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
