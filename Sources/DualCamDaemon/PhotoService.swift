import Control
import DBusKit
import DualCamCore
import Engine
import Frames
import Glibc
import Logging
import Media
import Photos
import Platform

/// Photographs on the session bus: opens cameras for a call and replies once the files are written.
@MainActor
final class PhotoService {
    /// A call that waits for its cameras, its files or their movies.
    @MainActor
    private final class Request {
        let program: String
        let answer: (Result<[[String: Value]], DBusError>) -> Void
        let wish: Wish
        let destination: PhotoWriter.Destination
        /// The subjects. A camera that does not deliver is removed if the call named none.
        private(set) var subjects: [RecordedPicture]
        private(set) var roles: Set<Role>
        /// `true` if each photograph gets a movie.
        let isLive: Bool
        var isTaken = false
        var clips: [String: LivePhotoClip] = [:]
        /// The reply, still incomplete.
        var photos: [[String: Value]] = []
        /// The number of movies not yet written.
        var missing = 0
        var timer: EventLoop.Timer?

        init(
            by program: String,
            _ answer: @escaping (Result<[[String: Value]], DBusError>) -> Void,
            _ wish: Wish,
            to destination: PhotoWriter.Destination,
            _ subjects: [RecordedPicture],
            of roles: Set<Role>,
            isLive: Bool
        ) {
            self.program = program
            self.answer = answer
            self.wish = wish
            self.destination = destination
            self.subjects = subjects
            self.roles = roles
            self.isLive = isLive
        }

        /// The roles whose cameras are to use their largest mode.
        var fullRoles: Set<Role> {
            wish.isFull && !roles.isEmpty ? Set(subjects.compactMap(\.role)) : []
        }

        func release() { roles = [] }

        /// Removes `role`, and returns `true`, if the call named none and another camera is left.
        func leaves(_ role: Role) -> Bool {
            guard wish.subjects == nil, subjects.count > 1 else { return false }
            subjects.removeAll { $0.role == role }
            roles.remove(role)
            return true
        }
    }

    /// The photographs that a call asks for.
    struct Wish {
        /// The pictures; `nil`: those of all cameras that deliver.
        let subjects: [RecordedPicture]?
        /// `true` if the call has room for one photograph.
        let isOne: Bool
        /// `true` if the cameras are to use their largest mode.
        let isFull: Bool
        /// `true` if each photograph is to get a movie; `nil`: as the user has set.
        let wantsMovie: Bool?

        /// Throws the reason why no photographs can be as a call wishes, whatever cameras there
        /// are.
        fileprivate init(
            _ words: [String]?,
            isOne: Bool,
            full: Bool?,
            live: Bool?
        ) throws(DBusError) {
            subjects = try words.map { words throws(DBusError) in
                try PhotoService.subjects(words, isOne: isOne)
            }
            (self.isOne, isFull, wantsMovie) = (isOne, full ?? false, live)
            if isFull, subjects == [.stream] {
                throw .outOfRange(
                    "The stream has only one size. Use full with the back or the front camera."
                )
            }
            if wantsMovie == true, isOne || isFull {
                throw .outOfRange(
                    isOne
                        ? "A photo in a file of your own gets no movie. Leave out live."
                        : "A full-size photo gets no movie. Leave out live or full."
                )
            }
        }
    }

    private let daemon: Daemon
    private let server: ObjectServer
    private let loop: EventLoop
    private let live: LivePhotos
    private var requests: [Request] = []
    /// The cameras that are to be open for something else, for a moment.
    var others: Set<Role> = [] { didSet { if others != oldValue { hold() } } }
    private var isProceeding = false
    private var isEnding = false

    /// The largest number of photographs that one program, and all of them, may wait for.
    private static let (mostOfOne, most) = (8, 64)

    /// Tells the program of a caller by its unique name: what it returns is the same for all
    /// connections of a program, and `nil` if the caller has left.
    var program: (String, @escaping (String?) -> Void) -> Void = { $1($0) }

    /// The longest time for which a photograph waits for its cameras, in seconds.
    private static let timeout = 10.0
    /// The time in seconds that an opened camera needs to find its exposure.
    private static let settled = 2.0
    /// The longest time from a photograph's file to that of its movie, in seconds.
    private static let movieTimeout = PreRollBuffer.span.seconds + 1.5

    /// Creates the service for `daemon`'s cameras and `live`'s movies. Signals go out on `server`.
    init(_ daemon: Daemon, _ live: LivePhotos, on server: ObjectServer, loop: EventLoop) {
        self.daemon = daemon
        self.live = live
        self.server = server
        self.loop = loop
    }

    /// Proceeds with the calls that wait for cameras.
    func refresh() {
        guard !isProceeding else { return }
        isProceeding = true
        for request in requests where !request.isTaken { proceed(with: request) }
        isProceeding = false
    }

    typealias PhotosCall = Call<Void, CaptureInterface.Photo, [[String: Value]]>
    typealias PhotoCall = Call<
        (SharedDescriptor, String), CaptureInterface.PhotoTo, [String: Value]
    >

    /// Returns what a call asks for. Throws the reason why that cannot be, whatever cameras there
    /// are.
    func wish(of call: PhotosCall) throws(DBusError) -> Wish {
        let options = call.options
        return try Wish(options.of, isOne: false, full: options.full, live: options.live)
    }

    /// Returns what a call asks for that brings its file, as the other one does.
    func wish(of call: PhotoCall) throws(DBusError) -> Wish {
        let ((file, word), options) = (call.arguments, call.options)
        guard PhotoWriter.isWritable(file.number) else {
            throw .invalidArguments("The photo's file is not open for writing.")
        }
        return try Wish([word], isOne: true, full: options.full, live: options.live)
    }

    /// Takes photographs as files of their own.
    func take(_ call: PhotosCall, _ wish: Wish) {
        let capture = daemon.configuration.capture
        program(call.sender) { [unowned self] program in
            begin(
                by: program,
                wish,
                to: .folder(capture.photoDirectory, mode: capture.fileMode.bits),
                whenCallerLeaves: call.whenCallerLeaves
            ) { [unowned self] result in
                for photo in (try? result.get()) ?? [] {
                    server.emit(\CaptureInterface.photoSaved, at: DualCam.path, photo)
                }
                call.answer(result)
            }
        }
    }

    /// Takes one photograph into a file of the caller's.
    func take(_ call: PhotoCall, _ wish: Wish) {
        let (file, word) = call.arguments
        program(call.sender) { [unowned self] program in
            begin(
                by: program,
                wish,
                to: .descriptor { file.number },
                whenCallerLeaves: call.whenCallerLeaves
            ) { [unowned self] result in
                let places = Role(rawValue: word).map { corners(of: $0) }
                call.answer(
                    result.map { photos in
                        var photo = photos.first ?? [:]
                        photo["corners"] = places?.dbus
                        return photo
                    }
                )
            }
        }
    }

    /// Begins to take photographs, and drops them when the caller leaves, unless they are being
    /// taken by then. `answer` gets the result, or the reason why they are refused.
    private func begin(
        by program: String?,
        _ wish: Wish,
        to destination: PhotoWriter.Destination,
        whenCallerLeaves: (@escaping () -> Void) -> Void,
        _ answer: @escaping (Result<[[String: Value]], DBusError>) -> Void
    ) {
        let request: Request
        do throws(DBusError) {
            guard let program else { throw Self.left }
            request = try self.request(by: program, wish, to: destination, answer)
        } catch {
            return answer(.failure(error))
        }
        whenCallerLeaves { [unowned self, weak request] in
            guard let request, !request.isTaken else { return }
            end(request, .failure(Self.left))
        }
        requests.append(request)
        hold()
        refresh()
    }

    private static let left = DBusError.failed("The caller has left.")
    private static let silent = "The camera sent no picture within \(Int(timeout)) s."

    /// Returns the request for photographs, or throws the reason why they are refused.
    private func request(
        by program: String,
        _ wish: Wish,
        to destination: PhotoWriter.Destination,
        _ answer: @escaping (Result<[[String: Value]], DBusError>) -> Void
    ) throws(DBusError) -> Request {
        try checkRoom(for: program)
        let state = daemon.state
        if let reason = state.suspensionReason, !state.isSuspensionUndecided {
            throw .locked(reason)
        }
        let present = Role.allCases.filter { state.cameras[$0].phase != .unavailable }
        guard !present.isEmpty else { throw .noCamera("There is no camera.") }
        let subjects =
            wish.subjects ?? present.compactMap { RecordedPicture(rawValue: $0.rawValue) }
        for role in subjects.compactMap(\.role) where !present.contains(role) {
            throw .noCamera("There is no \(role.rawValue) camera.")
        }
        let roles = subjects.contains(.stream) ? present : subjects.compactMap(\.role)
        let request = Request(
            by: program,
            answer,
            wish,
            to: destination,
            subjects,
            of: Set(roles),
            isLive: wish.wantsMovie ?? (state.takesLivePhotos && !wish.isOne && !wish.isFull)
        )
        if let role = request.fullRoles.first(where: { state.recording.needs($0) }) {
            throw .busy(
                "The \(role.rawValue) camera is being recorded, so it cannot change its mode now."
            )
        }
        try startTimer(of: request)
        return request
    }

    /// Throws the reason why a request of `program` has to wait for others.
    private func checkRoom(for program: String) throws(DBusError) {
        guard !isEnding else { throw Self.ending }
        guard requests.count(where: { $0.program == program }) < Self.mostOfOne else {
            throw .busy("\(Self.mostOfOne) photos of this program are waiting already.")
        }
        guard requests.count < Self.most else {
            throw .busy("\(Self.most) photos of all programs are waiting already.")
        }
    }

    private func startTimer(of request: Request) throws(DBusError) {
        do throws(SystemError) {
            request.timer = try loop.timer { [unowned self, unowned request] in
                guard !request.isTaken else {
                    // The movies end with the frames there are.
                    for clip in request.clips.values { clip.end() }
                    return
                }
                end(request, .failure(.cameraLost(Self.silent)))
            }
        } catch {
            throw .failed("\(error)")
        }
        request.timer?.arm(after: Self.timeout)
    }

    /// Returns the pictures that `words` name, each once.
    nonisolated static func subjects(
        _ words: [String],
        isOne: Bool
    ) throws(DBusError) -> [RecordedPicture] {
        guard !words.isEmpty else { throw .nothingNamed }
        var subjects: [RecordedPicture] = []
        for word in words {
            let named: [RecordedPicture]
            switch word {
            case "both" where !isOne: named = [.back, .front]
            case "all" where !isOne: named = [.back, .front, .stream]
            default:
                guard let subject = RecordedPicture(rawValue: word) else {
                    let words = RecordedPicture.allCases.map(\.rawValue)
                    throw .outOfRange(
                        isOne ? "Which" : "The option of",
                        word,
                        expecting: isOne ? words : words + ["both", "all"]
                    )
                }
                named = [subject]
            }
            subjects += named.filter { !subjects.contains($0) }
        }
        return subjects
    }

    /// Asks for the cameras that the calls need, no others, and for the pre-rolls of their movies.
    private func hold() {
        live.wanted = Set(requests.filter(\.isLive).flatMap(\.subjects))
        let roles = others.union(requests.flatMap(\.roles))
        let full = Set(requests.flatMap(\.fullRoles))
        let state = daemon.state
        if roles != state.photographed || full != state.photographedFull {
            daemon.send(.photographs(.take(roles, full: full)))
        }
    }

    private func proceed(with request: Request) {
        let state = daemon.state
        // A camera that is no subject appears in the stream as it is: with its picture, or with a
        // notice where it is lost.
        for role in request.roles {
            let camera = state.cameras[role]
            let isSubject = request.subjects.contains { $0.role == role }
            guard isSubject || role == state.scene.main else { continue }
            switch camera.phase {
            case .unavailable:
                if request.leaves(role) { continue }
                return end(request, .failure(.noCamera("There is no \(role.rawValue) camera.")))
            case .interrupted where state.isSuspensionUndecided: return
            case .interrupted where state.suspension != nil:
                return end(request, .failure(.locked(state.suspensionReason ?? "")))
            // Bandwidth is being freed for it, or may be free in a moment.
            case .interrupted where camera.interruption == .bandwidth: return
            case .interrupted:
                guard isSubject, !request.leaves(role) else { continue }
                let reason = camera.reason
                return end(
                    request,
                    .failure(
                        camera.interruption == .busy
                            ? .busy("The \(role.rawValue) camera is in use: \(reason)")
                            : .cameraLost(
                                "The \(role.rawValue) camera sends no pictures: \(reason)"
                            )
                    )
                )
            case .opening, .closed: return
            case .streaming: if request.fullRoles.contains(role), camera.full != .on { return }
            }
        }
        // A photograph of the stream waits for both cameras to have opened.
        guard request.roles.allSatisfy({ ![.opening, .closed].contains(state.cameras[$0].phase) })
        else { return }
        takePhotos(of: request)
    }

    /// Takes the photographs of a call whose cameras are ready.
    private func takePhotos(of request: Request) {
        request.isTaken = true
        request.timer?.disarm()
        let stills = request.subjects.map { subject in
            if request.isLive { request.clips[subject.rawValue] = live.clip(of: subject) }
            return still(of: subject, request.clips[subject.rawValue])
        }
        let mailbox = loop.mailbox
        // No camera waits for a disk, or for the reader of a pipe.
        let taken: @Sendable () -> Void = { mailbox.onMain { self.taken(request) } }
        daemon.threads.takePhotos(
            stills,
            to: request.destination,
            for: request.program,
            taken: taken
        ) { result in
            mailbox.onMain {
                switch result {
                case .success(let photos): self.finish(request, photos)
                case .failure(let failure): self.end(request, .failure(failure.dbusError))
                }
            }
        }
    }

    /// Lets go of the cameras, unless a movie goes on.
    private func taken(_ request: Request) {
        guard !request.isLive else { return }
        request.release()
        hold()
    }

    /// Waits at the end of the daemon until the photographs in progress are written and answered,
    /// at most until `deadline`. Refuses the others.
    func end(by deadline: Timestamp) {
        isEnding = true
        for request in requests where !request.isTaken {
            end(request, .failure(Self.ending))
        }
        // Movies are waited for by `LivePhotos`.
        while requests.contains(where: \.photos.isEmpty), MonotonicClock.now < deadline {
            loop.runOnce(milliseconds: 20)
        }
    }

    private static let ending = DBusError.failed("The daemon is shutting down.")

    /// Takes over the photographs, now files, and makes their movies if the call asks for them.
    private func finish(_ request: Request, _ photos: [PhotoThread.Photo]) {
        request.photos = photos.map(Self.description)
        guard request.isLive else { return end(request, .success(request.photos)) }
        request.missing = photos.count
        request.timer?.arm(after: Self.movieTimeout)
        let mailbox = loop.mailbox
        for (index, photo) in photos.enumerated() {
            guard let clip = request.clips[photo.name], let stem = photo.path?.dropLast(4) else {
                let error = MediaError(.unsupported, "movie", detail: "nothing is kept of it")
                movieDone(request, index, .failure(error))
                continue
            }
            let path = "\(stem).mkv"
            clip.whenOver {
                mailbox.onMain {
                    self.live.write(clip, to: path) { error in
                        let result = error.map { Result.failure($0) } ?? .success(path)
                        self.movieDone(request, index, result)
                    }
                }
            }
        }
    }

    private func movieDone(
        _ request: Request,
        _ index: Int,
        _ result: Result<String, MediaError>
    ) {
        switch result {
        case .success(let path): request.photos[index]["movie"] = .string(path)
        case .failure(let error):
            Log.record.warning("no movie", metadata: ["reason": "\(error)"])
            request.photos[index]["movie-error"] = .string(RecordingFailure(error).word)
        }
        request.missing -= 1
        if request.missing == 0 { end(request, .success(request.photos)) }
    }

    private func end(_ request: Request, _ result: Result<[[String: Value]], DBusError>) {
        request.timer?.disarm()
        for clip in request.clips.values { clip.end() }
        requests.removeAll { $0 === request }
        if case .failure(let error) = result {
            Log.control.warning("no photograph", metadata: ["reason": "\(error.message)"])
        }
        request.answer(result)
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

    // MARK: Photographs

    private func still(
        of subject: RecordedPicture,
        _ clip: LivePhotoClip?
    ) -> PhotoThread.StillRequest {
        let cameras = daemon.state.cameras
        /// Returns `true` if the camera was opened too recently to have settled.
        func isFresh(_ role: Role) -> Bool {
            cameras[role].mode != nil
                && (MonotonicClock.now - cameras[role].deliveringSince).seconds < Self.settled
        }
        let taken: @Sendable (Timestamp) -> Void = { clip?.mark($0) }
        guard let role = subject.role else {
            return PhotoThread.StillRequest(
                name: subject.rawValue,
                source: daemon.streamSource,
                settles: Role.allCases.contains(where: isFresh),
                tags: Self.ownTags,
                taken: taken
            )
        }
        let camera = cameras[role]
        let isMirrored = mirrorsPhotos(of: camera)
        return PhotoThread.StillRequest(
            name: subject.rawValue,
            source: .camera(daemon.shownSlot(of: role), camera.upright(mirrored: isMirrored)),
            settles: isFresh(role),
            tags: tags(of: camera),
            taken: taken
        )
    }

    /// Returns the corners of a camera's photograph in the terms of `CameraSettings.perspective`.
    private func corners(of role: Role) -> [Pair<Double, Double>] {
        let camera = daemon.state.cameras[role]
        let taken = camera.upright(mirrored: mirrorsPhotos(of: camera)).inverse
        let delivered = Perspective.none.points.map { taken.apply(to: $0) }
        return delivered.map { point in
            let own = camera.mountingTransform.apply(to: daemon.state.place(of: point, in: role))
            return Pair(own.x, own.y)
        }
    }

    private func mirrorsPhotos(of camera: CameraState) -> Bool {
        camera.mirror && daemon.configuration.capture.mirrorsPhotos
    }

    private static let ownTags = ["Exif.Image.Software": "DualCam \(DualCam.version)"]

    /// Returns the EXIF tags of a photograph of `camera`. They hold known facts alone. Values that
    /// the camera chose by itself are left out, since the last known ones may be out of date.
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
    fileprivate var dbusError: DBusError {
        switch self {
        case .cameraLost(let name): .cameraLost("The \(name) camera sent no complete picture.")
        case .photo(let error): .failed("The photo cannot be made: \(error).")
        case .file(let error) where error.operation == "home directory":
            .failed("\(error) for photos. Name one with photo-directory in [capture].")
        case .file(let error):
            switch error.errno {
            case ENOSPC, EDQUOT: .noSpace("\(error)")
            case EBUSY: .busy("Too many photos of this program are being written already.")
            case EACCES, EPERM, EROFS: .denied("\(error)")
            default: .failed("\(error)")
            }
        }
    }
}

extension DBusError {
    /// An option "of" is an empty list.
    static let nothingNamed = DBusError.outOfRange(
        "The option of is empty. Name back, front or stream, or leave it out."
    )
}
