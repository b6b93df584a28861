import Control
import DBusKit
import DualCamCore
import Engine
import Frames
import Glibc
import Logging
import Photos
import Platform

/// Photographs, on the session bus: opens cameras for them and answers once they are files.
@MainActor
final class PhotoService {
    /// Something that can be photographed.
    private enum Subject: String, CaseIterable {
        case back
        case front
        case stream

        var role: Role? { Role(rawValue: rawValue) }
    }

    /// A call that waits for its cameras, or for its files.
    private final class Request {
        let call: Invocation
        let subjects: [Subject]
        let destination: PhotoThread.Destination
        let roles: Set<Role>
        var isTaken = false
        var timer: EventLoop.Timer?

        init(
            _ call: Invocation,
            _ subjects: [Subject],
            to destination: PhotoThread.Destination,
            of roles: Set<Role>
        ) {
            self.call = call
            self.subjects = subjects
            self.destination = destination
            self.roles = roles
        }
    }

    private let daemon: Daemon
    private let server: ObjectServer
    private let loop: EventLoop
    private var requests: [Request] = []
    private var isProceeding = false

    /// For how many seconds a photograph waits for its cameras.
    private static let patience = 10.0
    /// A camera that is open for fewer seconds may not have found its exposure.
    private static let settled = 2.0

    /// For the cameras of `daemon`; signals go out on `server`.
    init(_ daemon: Daemon, on server: ObjectServer, loop: EventLoop) {
        self.daemon = daemon
        self.server = server
        self.loop = loop
    }

    /// Goes on with what waits for cameras.
    func refresh() {
        guard !isProceeding else { return }
        isProceeding = true
        for request in requests where !request.isTaken { proceed(with: request) }
        isProceeding = false
    }

    /// Answers a call that asks for photographs.
    func answer(_ call: Invocation) {
        do throws(DBusError) {
            switch call.member {
            case "TakePhoto": try begin(call, call.options["of"]?.string, to: .folder(folder()))
            case "TakePhotoTo":
                guard case .descriptor(let file) = call.arguments[0] else {
                    throw .invalidArguments("there is no file")
                }
                try begin(call, call.arguments[1].string, to: .descriptor { file.number })
            default: preconditionFailure("\(call.member) is declared and not answered")
            }
        } catch {
            call.fail(error)
        }
    }

    private func begin(
        _ call: Invocation,
        _ word: String?,
        to destination: PhotoThread.Destination
    ) throws(DBusError) {
        let state = daemon.state
        if let suspension = state.suspensions.min(by: { $0.rawValue < $1.rawValue }) {
            throw .locked("The cameras are closed: \(suspension).")
        }
        let present = Role.allCases.filter { state.cameras[$0].phase != .unavailable }
        guard !present.isEmpty else { throw .noCamera("There is no camera.") }
        let isOne = call.member == "TakePhotoTo"
        let subjects: [Subject]
        switch word {
        case nil: subjects = present.compactMap { Subject(rawValue: $0.rawValue) }
        case "both"? where !isOne: subjects = [.back, .front]
        case "all"? where !isOne: subjects = [.back, .front, .stream]
        case let word?:
            guard let subject = Subject(rawValue: word) else {
                let words = isOne ? "back, front, stream" : "back, front, both, stream, all"
                throw .outOfRange("\"\(word.prefix(64))\", expected one of \(words)")
            }
            subjects = [subject]
        }
        for role in subjects.compactMap(\.role) where !present.contains(role) {
            throw .noCamera("There is no \(role.rawValue) camera.")
        }
        let roles = subjects.contains(.stream) ? present : subjects.compactMap(\.role)
        let request = Request(call, subjects, to: destination, of: Set(roles))
        do throws(SystemError) {
            request.timer = try loop.timer { [unowned self, unowned request] in
                end(request, .failure(.cameraLost("The camera does not deliver.")))
            }
        } catch {
            throw .failed("\(error)")
        }
        request.timer?.arm(after: Self.patience)
        requests.append(request)
        hold()
        refresh()
    }

    /// Has the cameras open that are needed, and no others.
    private func hold() {
        let roles = requests.reduce(into: Set<Role>()) { $0.formUnion($1.roles) }
        if roles != daemon.state.photographed { daemon.send(.photograph(roles)) }
    }

    private func proceed(with request: Request) {
        let state = daemon.state
        // Whoever is not asked for is in the stream as it is there.
        let awaited = request.roles.filter { role in
            request.subjects.contains { $0.role == role } || role == state.scene.main
        }
        for role in awaited {
            let camera = state.cameras[role]
            switch camera.phase {
            case .unavailable:
                return end(request, .failure(.noCamera("There is no \(role.rawValue) camera.")))
            case .interrupted where !state.suspensions.isEmpty:
                let why = camera.interruption.rawValue
                return end(request, .failure(.locked("The cameras are closed: \(why).")))
            // Room is being made for it, or it may be free in a moment.
            case .interrupted where camera.interruption == .bandwidth: return
            case .interrupted:
                let reason = camera.reason
                return end(
                    request,
                    .failure(
                        camera.interruption == .busy
                            ? .busy("The \(role.rawValue) camera is in use: \(reason)")
                            : .cameraLost("The \(role.rawValue) camera does not deliver: \(reason)")
                    )
                )
            case .opening, .closed: return
            case .streaming: break
            }
        }
        // The stream waits for both to have begun.
        guard request.roles.allSatisfy({ ![.opening, .closed].contains(state.cameras[$0].phase) })
        else { return }
        request.isTaken = true
        request.timer?.disarm()
        let isFresh = (MonotonicClock.now - state.neededSince).seconds < Self.settled
        let shots = request.subjects.map { shot(of: $0, settles: isFresh) }
        let mailbox = loop.mailbox
        let id = ObjectIdentifier(request)
        daemon.takePhotos(shots, to: request.destination) { result in
            mailbox.post {
                MainActor.assumeIsolated {
                    guard let request = self.requests.first(where: { ObjectIdentifier($0) == id })
                    else { return }
                    self.end(request, result.mapError { $0.dbusError })
                }
            }
        }
    }

    private func end(_ request: Request, _ result: Result<[PhotoThread.Photo], DBusError>) {
        request.timer?.disarm()
        requests.removeAll { $0 === request }
        switch result {
        case .success(let photos):
            let files = photos.map { Value.named(Self.description(of: $0)) }
            if request.call.member == "TakePhotoTo" {
                request.call.reply(files.first ?? .named([:]))
            } else {
                for file in files {
                    server.emit("PhotoSaved", of: .capture, at: DualCam.path, file)
                }
                request.call.reply(
                    .array(files, of: .dictionary(key: .string, value: .variant))
                )
            }
        case .failure(let error):
            Log.control.warning("no photograph", metadata: ["reason": "\(error.message)"])
            request.call.fail(error)
        }
        hold()
    }

    private static func description(of photo: PhotoThread.Photo) -> [String: Value] {
        var values: [String: Value] = [
            "camera": .string(photo.name),
            "width": .uint32(UInt32(clamping: photo.size.width)),
            "height": .uint32(UInt32(clamping: photo.size.height)),
            "time": .int64(photo.moment.microseconds),
        ]
        if let path = photo.path { values["path"] = .string(path) }
        return values
    }

    // MARK: What is taken

    private func folder() throws(DBusError) -> String {
        if let path = daemon.configuration.capture.photoDirectory { return expandingHome(path) }
        guard let pictures = UserDirectory.pictures.path else {
            throw .failed("There is no home for photographs; photo-directory can name one.")
        }
        return "\(pictures)/DualCam"
    }

    private func shot(of subject: Subject, settles: Bool) -> PhotoThread.Shot {
        guard let role = subject.role else {
            return PhotoThread.Shot(
                name: subject.rawValue,
                source: daemon.streamSource,
                settles: settles,
                tags: Self.ownTags
            )
        }
        let camera = daemon.state.cameras[role]
        let isMirrored = camera.mirror && daemon.configuration.capture.mirrorsPhotos
        return PhotoThread.Shot(
            name: subject.rawValue,
            source: .camera(daemon.shownSlot(of: role), camera.upright(mirrored: isMirrored)),
            settles: settles,
            tags: tags(of: camera)
        )
    }

    private static let ownTags = ["Exif.Image.Software": "DualCam \(DualCam.version)"]

    /// What is known of a photograph of `camera`: nothing is made up, and what the camera chose by itself is not
    /// told, since what it says of that may be old.
    private func tags(of camera: CameraState) -> [String: String] {
        var tags = Self.ownTags
        if !camera.name.isEmpty { tags["Exif.Image.Model"] = camera.name }
        if camera.aperture > 0 {
            tags["Exif.Photo.FNumber"] = "\(Int((camera.aperture * 100).rounded()))/100"
        }
        let controls = camera.controls
        if let shutter = controls.shutter {
            tags["Exif.Photo.ExposureMode"] = controls.isExposureAutomatic ? "0" : "1"
            if !controls.isExposureAutomatic {
                tags["Exif.Photo.ExposureTime"] = "\(shutter)/1000000"
            }
        }
        if let iso = controls.iso, !controls.isISOApproximate, !controls.isISOAutomatic {
            tags["Exif.Photo.ISOSpeedRatings"] = "\(iso)"
        }
        if controls.kelvin != nil {
            tags["Exif.Photo.WhiteBalance"] = controls.whiteBalance == .auto ? "0" : "1"
        }
        return tags
    }
}

extension PhotoThread.Failure {
    /// What the caller is told.
    fileprivate var dbusError: DBusError {
        switch self {
        case .cameraLost(let name): .cameraLost("The \(name) camera gives no whole picture.")
        case .photo(let error): .failed("The picture is no photograph: \(error).")
        case .file(let error):
            switch error.errno {
            case ENOSPC, EDQUOT: .noSpace("\(error)")
            case EACCES, EPERM, EROFS: .denied("\(error)")
            default: .failed("\(error)")
            }
        }
    }
}
