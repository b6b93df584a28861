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
    private let photos: PhotoService

    /// Exports the interface on `server`, with the state of `session` as of each `refresh`.
    init(
        _ daemon: Daemon,
        _ session: RecordingSession,
        _ photos: PhotoService,
        on server: ObjectServer
    ) {
        self.photos = photos
        self.daemon = daemon
        self.session = session
        self.server = server
        server.export(.capture, at: DualCam.path, properties: properties) { [unowned self] in
            call($0)
        } onWrite: { write in
            daemon.send(.photographs(.setLive(write.value.boolean ?? false)))
            write.accept()
        }
        session.onSaved = { [unowned self] file in
            server.emit("RecordingSaved", of: .capture, at: DualCam.path, .named(described(file)))
        }
        session.onRepaired = { path, seconds in
            server.emit(
                "RecordingSaved",
                of: .capture,
                at: DualCam.path,
                .named([
                    "path": .string(path), "seconds": .double(seconds), "repaired": .boolean(true),
                ])
            )
        }
        session.onFailed = { reason in
            server.emit("RecordingFailed", of: .capture, at: DualCam.path, .string(reason))
        }
    }

    /// Updates the properties to the present state.
    func refresh() { server.set(properties, of: .capture, at: DualCam.path) }

    /// The problems of the recording, one sentence each.
    var problems: [String] { session.problems }

    private var properties: [String: Value] {
        [
            "LivePhoto": .boolean(daemon.state.takesLivePhotos),
            "Recording": .boolean(daemon.state.recording.phase == .running),
            "RecordingSeconds": .uint32(UInt32(clamping: session.seconds)),
            "RecordingFiles": .array(
                // Files appear in the order in which the first frames come.
                session.writing.sorted { $0.picture.rawValue < $1.picture.rawValue }.map {
                    .named([
                        "path": .string($0.path), "picture": .string($0.picture.rawValue),
                        "encoder": .string($0.encoder),
                    ])
                },
                of: .dictionary(key: .string, value: .variant)
            ),
        ]
    }

    private func described(_ file: RecordingSession.Saved) -> [String: Value] {
        [
            "path": .string(file.movie.path),
            "picture": .string(file.picture.rawValue),
            "seconds": .double(file.movie.seconds),
            "frames": .uint32(UInt32(clamping: file.movie.frames)),
            "dropped": .uint32(UInt32(clamping: file.movie.dropped)),
            "encoder": .string(file.movie.encoder),
            "sound": .boolean(file.movie.hasSound),
            "size": .uint64(UInt64(clamping: file.movie.byteCount)),
        ]
    }

    private func call(_ call: Invocation) {
        switch call.member {
        case "TakePhoto", "TakePhotoTo": photos.answer(call)
        case "StartRecording":
            do throws(DBusError) {
                session.start(try request(call)) { [unowned self] result in
                    switch result {
                    case .success: call.reply()
                    case .failure(let refusal): call.fail(error(refusal))
                    }
                }
            } catch {
                call.fail(error)
            }
        case "StopRecording":
            session.stop { [unowned self] result in
                switch result {
                case .success(let files):
                    call.reply(
                        .array(
                            files.sorted { $0.picture.rawValue < $1.picture.rawValue }
                                .map { .named(described($0)) },
                            of: .dictionary(key: .string, value: .variant)
                        )
                    )
                case .failure(let refusal): call.fail(error(refusal))
                }
            }
        default: preconditionFailure("\(call.member) is declared and not answered")
        }
    }

    private func request(_ call: Invocation) throws(DBusError) -> RecordingRequest {
        var request = RecordingRequest()
        let configured = daemon.configuration.capture.recordsAudio
        request.hasSound = try call.option("audio", "a boolean", \.boolean) ?? configured
        request.isMP4 = try call.option("mp4", "a boolean", \.boolean) ?? false
        if let values = try call.option("of", "an array of strings", \.array),
            !values.isEmpty
        {
            request.pictures = []
            for value in values {
                request.pictures.insert(try choice(value.string ?? "", RecordedPicture.self, "of"))
            }
        }
        if let word = try call.option("encoder", "a string", \.string) {
            request.encoder = try choice(word, VideoEncoder.Kind.self, "encoder")
        }
        return request
    }

    private func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ word: String,
        _ type: Choice.Type,
        _ option: String
    ) throws(DBusError) -> Choice {
        guard let choice = Choice(rawValue: word) else {
            let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw .outOfRange("\(option) is \"\(word.prefix(64))\", expected one of \(words)")
        }
        return choice
    }

    private func error(_ refusal: RecordingSession.Refusal) -> DBusError {
        switch refusal {
        case .alreadyRecording: .alreadyRecording("A recording is being made already.")
        case .notRecording: .notRecording("Nothing is being recorded.")
        case .noCamera: .noCamera("There is no camera to record.")
        case .failed(let error):
            switch error.code {
            case .noSpace: .noSpace("There is no room for a recording: \(error)")
            case .denied: .denied("\(error)")
            default: .failed("\(error)")
            }
        }
    }
}

extension Invocation {
    /// Returns the option called `name`, or `nil` when it is not given.
    ///
    /// - Throws: `outOfRange` when its type is not `expected`.
    func option<Content>(
        _ name: String,
        _ expected: String,
        _ read: (Value) -> Content?
    ) throws(DBusError) -> Content? {
        guard let value = options[name] else { return nil }
        guard let content = read(value) else {
            throw .outOfRange("\(name) is \("\(value)".prefix(64)), expected \(expected)")
        }
        return content
    }
}
