import DualCamCore
import Engine
import Frames
import Glibc
import Logging
import Media
import Platform
import Synchronization

struct RecordingRequest {
    /// The pictures named; `nil` stands for those that there are.
    var pictures: Set<RecordedPicture>?
    var hasSound = true
    var encoder: VideoEncoder.Kind?
    var isMP4 = false
}

/// Makes recordings, and repairs those that a crash left unfinished.
@MainActor
final class RecordingSession {
    /// The reason why a recording cannot be started or stopped.
    enum Refusal: Error {
        case alreadyRecording, notRecording
        /// This camera is not there; `nil`: none is.
        case noCamera(Role?)
        case failed(MediaError)
    }

    struct Saved: Hashable {
        var picture: RecordedPicture
        var movie: Movie
        /// The reason that the recording ended by itself, or that the file is lost.
        var failure: RecordingFailure?
        /// The reason that sound is missing, or empty.
        var silence = ""
        /// `true` if the file was removed meanwhile.
        var isLost = false
    }

    struct Writing: Hashable {
        var picture: RecordedPicture
        var path: String
        var encoder: String
    }

    var onChange: () -> Void = {}
    var onSaved: (Saved) -> Void = { _ in }
    /// The closure called with the reason when a recording ends by itself.
    var onFailed: (RecordingFailure) -> Void = { _ in }

    private(set) var writing: [Writing] = []
    /// The problems of the recording, one sentence each, for people.
    private(set) var problems: [String] = []
    /// The reason that the recording has no sound now; empty if it has, or is to have none.
    private(set) var silence = ""
    /// The room where the files are, during a recording.
    private(set) var space: DiskSpace?

    private let daemon: Daemon
    private let loop: EventLoop
    private var request = RecordingRequest()
    private var folder = ""
    /// The files of the recording that ended by itself, until they are asked for.
    private var endedByItself: [Saved]?
    private var failure: RecordingFailure?
    /// The first reason that this recording had no sound.
    private var firstSilence = ""
    /// `true` once it is known if there is sound, or none is wanted.
    private var isSoundKnown = false
    /// The bytes left when the recording began, and when that was. Pauses do not count.
    private var roomBefore: (left: Int64, time: Timestamp)?
    private var recorders: [RecordedPicture: Recorder] = [:]
    private var microphone: Microphone?
    /// Called with the level of the sound, 0 … 1, while it is measured.
    var onLevel: (Double) -> Void = { _ in }
    /// `true` while somebody asks for the level of the sound.
    var measuresSound = false { didSet { microphone?.measure(measuresSound) } }
    private var sound: Track?
    private var saved: [Saved] = []
    private var endTime = Timestamp.zero
    /// The number of recorders that still write.
    private var remaining = 0
    private var starting: [(Result<Void, Refusal>) -> Void] = []
    /// The answers to give once the files of the recording that has begun are there.
    private var begun: [(Result<Void, Refusal>) -> Void] = []
    private var stopping: [([Saved]) -> Void] = []
    /// The files of a recording whose end the state does not have yet.
    private var ended: [Saved]?
    private var rotations: PerRole<Int>
    private var startTimer: EventLoop.Timer?
    private var fileTimer: EventLoop.Timer?
    private var second: EventLoop.Timer?
    /// The paths of unfinished files, kept on disk for the next start of the daemon.
    private let journal = RecordingJournal()
    /// Repairs unfinished files; `nil` without a home directory.
    private(set) var mender: RecordingMender?
    /// The request whose directory is being looked at.
    private var preparation: (request: RecordingRequest, done: (Result<Void, Refusal>) -> Void)?
    /// `true` until the disk has answered, even if the request was refused meanwhile.
    private var isDiskAsked = false
    private var diskTimer: EventLoop.Timer?
    private var roomTimer: EventLoop.Timer?
    /// The problems that last as long as the recording.
    private static let noSound = "The recording has no sound: "
    /// The seconds before a full disk from which on a warning is given.
    private static let warning = 300.0
    private static let littleRoom = "There is little room left for the recording: "
    private static let stopped = "Recording stopped: "
    /// This one, until somebody who stops it is told.
    private static let removed = "A file was removed while it was recorded: "
    private var isEnding = false
    /// The number of threads that repair or remux.
    private var workers = 0

    /// The time in seconds after which a recording is refused if the disk has not answered.
    private static let diskTimeout = 10.0
    /// The time in seconds that cameras and the microphone may take to become ready.
    private static let startTimeout = 3.0
    /// The seconds for the first frames and the sound. A camera closed for privacy has none.
    private static let fileTimeout = 2.0
    /// The interval in seconds at which room is looked for after a full disk.
    private static let roomInterval = 10.0
    /// The time for which the end of the daemon waits for files to be finished.
    static let endDuration = Timestamp(seconds: 1.2)
    /// The time that a thread may take to end after it has reported its end.
    private static let joinTimeout = Timestamp(seconds: 1)

    /// Waits for requests. With the arguments `helper` this program runs `RepairHelper.run()`.
    init(_ daemon: Daemon, helper: [String], loop: EventLoop) throws(SystemError) {
        self.daemon = daemon
        self.loop = loop
        rotations = daemon.rotations
        startTimer = try loop.timer { daemon.send(.recording(.startTimedOut)) }
        fileTimer = try loop.timer { [unowned self] in answerBegun() }
        second = try loop.timer { [unowned self] in tick() }
        roomTimer = try loop.timer { [unowned self] in lookForRoom() }
        diskTimer = try loop.timer { [unowned self] in
            refusePreparation(
                .failed(
                    MediaError(
                        .system,
                        "record",
                        detail: "the disk did not answer within \(Int(Self.diskTimeout)) s; "
                            + "nothing is recorded"
                    )
                )
            )
        }
        mender = try journal.map { journal throws(SystemError) in
            try RecordingMender(daemon, journal, helper: helper, loop: loop) {
                [unowned self] name, body in run(name, body)
            }
        }
        mender?.onProblem = { [unowned self] problem in
            problems.append(problem)
            onChange()
        }
        daemon.performers.append { [unowned self] in carryOut($0) }
        daemon.observers.append { [weak self] in self?.follow() }
    }

    /// The length of the recording in whole seconds.
    var seconds: Int {
        daemon.state.recording.seconds(at: MonotonicClock.now) ?? 0
    }

    // MARK: Requests

    /// Starts a recording. Calls `done` when it has begun, or will not begin.
    func start(_ request: RecordingRequest, done: @escaping (Result<Void, Refusal>) -> Void) {
        if let refusal = refusal(of: request) { return done(.failure(refusal)) }
        guard preparation == nil else { return done(.failure(.alreadyRecording)) }
        guard !isDiskAsked else {
            let detail = "the disk has not answered the last request yet"
            return done(.failure(.failed(MediaError(.system, "record", detail: detail))))
        }
        isDiskAsked = true
        preparation = (request, done)
        diskTimer?.arm(after: Self.diskTimeout)
        let mailbox = loop.mailbox
        let folder = daemon.configuration.capture.videoDirectory
        let (encoder, hasSound) = (request.encoder, request.hasSound)
        daemon.files.post(.movies) { [weak self] in
            let place = Result { () throws(MediaError) in
                try RecordingPlace(in: folder, encoder, hasSound: hasSound)
            }
            mailbox.onMain { self?.prepared(place) }
        }
    }

    /// The reason why `request` cannot be met now, as far as the disk plays no part.
    func refusal(of request: RecordingRequest) -> Refusal? {
        let state = daemon.state
        guard state.recording.phase == .off else { return .alreadyRecording }
        do throws(MissingCamera) {
            _ = try state.pictures(toRecord: request.pictures)
            return nil
        } catch { return .noCamera(error.role) }
    }

    /// Begins the recording that waits for the disk, unless it was refused meanwhile.
    private func prepared(_ result: Result<RecordingPlace, MediaError>) {
        isDiskAsked = false
        guard let waiting = preparation else { return }
        if let refusal = refusal(of: waiting.request) { return refusePreparation(refusal) }
        guard let pictures = try? daemon.state.pictures(toRecord: waiting.request.pictures) else {
            return refusePreparation(.noCamera(nil))
        }
        switch result {
        case .failure(let error): refusePreparation(.failed(error))
        case .success(let place):
            preparation = nil
            diskTimer?.disarm()
            folder = place.folder
            request = waiting.request
            (problems, saved, endedByItself, failure, sound) = ([], [], nil, nil, nil)
            (silence, firstSilence, space, roomBefore) = ("", "", nil, nil)
            switch place.sound {
            case .success(let track)?: sound = track
            case .failure(let error)?: setSilence("\(error)")
            case nil: break
            }
            request.hasSound = sound != nil
            isSoundKnown = sound == nil
            starting.append(waiting.done)
            daemon.send(.recording(.start(pictures, sound: request.hasSound)))
        }
    }

    /// Refuses the recording that waits for the disk, if there is one. It does not begin later.
    private func refusePreparation(_ refusal: Refusal) {
        diskTimer?.disarm()
        let waiting = preparation
        preparation = nil
        waiting?.done(.failure(refusal))
    }

    /// Stops the recording. Calls `done` with its files once they are on the disk.
    func stop(done: @escaping (Result<[Saved], Refusal>) -> Void) {
        if preparation != nil {
            refusePreparation(.notRecording)
            return done(.success([]))
        }
        guard daemon.state.recording.phase != .off else {
            // Who stops a recording that a full disk has ended still wants its files.
            let files = endedByItself
            endedByItself = nil
            note(Self.removed, "")
            onChange()
            return done(files.map { .success($0) } ?? .failure(.notRecording))
        }
        stopping.append { done(.success($0)) }
        daemon.send(.recording(.stop))
    }

    /// `true` while a recording is made, or is about to be.
    var isOn: Bool { preparation != nil || daemon.state.recording.phase != .off }

    func pause(_ isPaused: Bool) -> Result<Void, Refusal> {
        guard daemon.state.recording.phase == .running else { return .failure(.notRecording) }
        daemon.send(.recording(.pause(isPaused)))
        guard daemon.state.recording.isPaused == isPaused else {
            let detail = "it was paused too often"
            return .failure(.failed(MediaError(.busy, "pause", detail: detail)))
        }
        return .success(())
    }

    /// Waits at the end of the daemon until the files are finished, at most until `deadline`.
    /// Returns `false` if a thread still runs.
    func end(by deadline: Timestamp = MonotonicClock.now + endDuration) -> Bool {
        isEnding = true
        refusePreparation(.notRecording)
        mender?.end()
        daemon.send(.recording(.stop))
        while daemon.state.recording.phase != .off, MonotonicClock.now < deadline {
            loop.runOnce(milliseconds: 50)
        }
        // Unfinished files are repaired at the next start.
        for recorder in recorders.values { recorder.leave() }
        microphone?.leave()
        while workers > 0, MonotonicClock.now < deadline { loop.runOnce(milliseconds: 20) }
        return recorders.isEmpty && microphone == nil && workers == 0
    }

    // MARK: Effects

    private func carryOut(_ effect: Effect) {
        switch effect {
        case .prepareRecording(let wantsSound): prepare(wantsSound)
        case .beginRecording: begin()
        case .pauseRecording(let pauses):
            Log.record.notice(pauses.isOpen ? "paused" : "resumed")
            for recorder in recorders.values { recorder.leaveOut(pauses) }
            microphone?.leaveOut(pauses)
        case .endRecording: end(at: MonotonicClock.now)
        default: break
        }
    }

    private func prepare(_ wantsSound: Bool) {
        startTimer?.arm(after: Self.startTimeout)
        guard wantsSound else { return }
        let mailbox = loop.mailbox
        do throws(SystemError) {
            microphone = try Microphone(
                daemon.configuration.capture.microphone,
                timed: daemon.threads.timed,
                isPatient: true
            ) { [weak self] report in
                mailbox.onMain { self?.handle(report) }
            }
            microphone?.pause(!daemon.state.suspensions.isEmpty)
            microphone?.measure(measuresSound)
        } catch {
            handle(.silent("\(error)"))
        }
    }

    private func begin() {
        startTimer?.disarm()
        let start = MonotonicClock.now
        // Sound that is there by now is not missing.
        firstSilence = silence
        rotations = daemon.rotations
        let stamp = Stamp()
        let folder = folder
        let mailbox = loop.mailbox
        for picture in daemon.state.recording.pictures {
            let rate = picture.role.flatMap { daemon.state.cameras[$0].mode?.knownRate }
            var plan = Recorder.Plan(
                picture.rawValue,
                name: { "\(folder)/DualCam_\(stamp.name(at: $0))_\(picture.rawValue)" },
                start: start,
                rate: rate ?? Double(daemon.configuration.output.frameRate)
            )
            plan.rotation = picture.role.map { rotations[$0] } ?? 0
            plan.sound = sound
            plan.encoder = request.encoder
            plan.mode = daemon.configuration.capture.fileMode.bits
            plan.tags["title"] = "DualCam, \(picture.rawValue)"
            if let role = picture.role {
                plan.tags["camera"] = role.rawValue
                let model = daemon.state.cameras[role].name
                if !model.isEmpty { plan.tags["model"] = model }
            }
            do throws(SystemError) {
                let recorder = try Recorder(plan) { [weak self] report in
                    mailbox.onMain { self?.handle(picture, report) }
                }
                recorders[picture] = recorder
                remaining += 1
                daemon.record(picture, recorder, for: .recording)
            } catch {
                problems.append("The \(picture.rawValue) picture is not recorded: \(error)")
            }
        }
        microphone?.begin(at: start)
        second?.arm(after: 1)
        Log.record.notice(
            "recording",
            metadata: ["directory": "\(folder)", "sound": "\(sound != nil)"]
        )
        begun = starting
        starting = []
        fileTimer?.arm(after: Self.fileTimeout)
    }

    /// Answers those who started the recording.
    private func answerBegun() {
        fileTimer?.disarm()
        let waiting = begun
        begun = []
        for done in waiting { done(.success(())) }
    }

    /// Ends all recorders at `time`, the sound first, so that the files have it up to their end.
    private func end(at time: Timestamp) {
        startTimer?.disarm()
        second?.disarm()
        answerBegun()
        for picture in recorders.keys { daemon.record(picture, nil, for: .recording) }
        endTime = time
        let waiting = starting
        starting = []
        for done in waiting { done(.failure(.notRecording)) }
        guard let microphone else { return endRecorders() }
        microphone.end(at: time)
    }

    private func endRecorders() {
        for recorder in recorders.values { recorder.end(at: endTime) }
        if remaining == 0 { finish() }
    }

    // MARK: Reports of the threads

    private func handle(_ report: Microphone.Report) {
        switch report {
        case .ready: setSilence("")
        case .silent(let reason): setSilence(reason)
        case .level(let level): onLevel(level)
        case .packet(let packet):
            // Sound after the end of the pictures would make the files longer.
            let recording = daemon.state.recording
            let isOver =
                recording.phase == .ending && packet.time >= recording.pauses.place(of: endTime)
            if !isOver { for recorder in recorders.values { recorder.take(sound: packet) } }
        case .ended:
            // The thread has nothing left to do.
            if let microphone, !microphone.wait(until: MonotonicClock.now + Self.joinTimeout) {
                microphone.leave()
            }
            microphone = nil
            if daemon.state.recording.phase == .ending { endRecorders() }
        }
    }

    private func setSilence(_ reason: String) {
        if !reason.isEmpty { Log.record.warning("no sound", metadata: ["reason": "\(reason)"]) }
        silence = reason
        if firstSilence.isEmpty { firstSilence = reason }
        note(Self.noSound, reason)
        isSoundKnown = true
        answerIfBegun()
        onChange()
    }

    /// Puts the problem that begins with `kind` in place of the last one; `text` may be empty.
    private func note(_ kind: String, _ text: String) {
        problems.removeAll { $0.hasPrefix(kind) }
        if !text.isEmpty { problems.append(kind + text) }
    }

    /// Answers those who started the recording once all its files and its sound are there.
    private func answerIfBegun() {
        let isWritten = recorders.keys.allSatisfy { picture in
            writing.contains { $0.picture == picture }
        }
        if isWritten, isSoundKnown { answerBegun() }
    }

    /// Takes over the room on the disk, and warns while little is left.
    private func take(_ space: DiskSpace) {
        self.space = space
        if space.isExhausted { return fail(.noSpace(space.shortage)) }
        let now = daemon.state.recording.pauses.place(of: MonotonicClock.now)
        let (before, since) = roomBefore ?? (space.left, now)
        roomBefore = (before, since)
        let wasLow = problems.contains { $0.hasPrefix(Self.littleRoom) }
        let left = (now - since).seconds * Double(space.left) / Double(before - space.left)
        // What is written in the first seconds tells little.
        let isKnown = left.isFinite && left >= 0 && left < 360_000 && (now - since).seconds > 5
        let secondsLeft = isKnown ? left : nil
        let time =
            secondsLeft.map { left in
                left < 60 ? ", less than a minute" : ", about \(Int(left / 60)) min"
            } ?? ""
        let isShort = space.isLow || secondsLeft.map { $0 < Self.warning } ?? false
        let text = "\(space.left / 10_000_000 * 10) MB\(time)"
        note(Self.littleRoom, isShort ? text : "")
        if isShort, !wasLow { Log.record.warning("little room", metadata: ["left": "\(text)"]) }
    }

    private func handle(_ picture: RecordedPicture, _ report: Recorder.Report) {
        switch report {
        case .began(let path, let encoder):
            writing.append(Writing(picture: picture, path: path, encoder: encoder))
            answerIfBegun()
            remember(path, true)
            Log.record.notice("file", metadata: ["path": "\(path)", "encoder": "\(encoder)"])
        case .space(let space): take(space)
        case .finished(let movie, let began, let ending):
            writing.removeAll { $0.path == began }
            // The file may have been moved.
            if movie.path != began {
                remember(began, false)
                remember(movie.path, true)
            }
            finished(Saved(picture: picture, movie: movie), ending)
        case .failed(let error): fail(error)
        case .ended:
            if let recorder = recorders.removeValue(forKey: picture),
                !recorder.wait(until: MonotonicClock.now + Self.joinTimeout)
            {
                recorder.leave()
            }
            remaining -= 1
            if remaining == 0 { finish() }
        }
        onChange()
    }

    private func finished(_ file: Saved, _ ending: MovieFile.Ending) {
        var file = file
        let path = file.movie.path
        switch ending {
        case .whole: break
        case .cut:
            Log.record.notice("the file may not grow", metadata: ["path": "\(path)"])
            mender?.broken.insert(path)
        case .removed:
            Log.record.error("removed", metadata: ["path": "\(path)"])
            remember(path, false)
            problems.append(Self.removed + path)
            file.failure = .other(Self.removed + path)
            file.isLost = true
        case .failed(let error):
            // The file lacks its index, which is added later, or at the next start.
            if file.movie.frames > 0 {
                if error.code == .noSpace { mender?.broken.insert(path) }
                saved.append(file)
            }
            return fail(error)
        }
        saved.append(file)
        guard ending == .whole, !request.isMP4 || isEnding else { return }
        remember(path, false)
        onSaved(file)
    }

    private func fail(_ error: MediaError) {
        Log.record.error("recording", metadata: ["reason": "\(error)"])
        fail(RecordingFailure(error))
    }

    private func fail(_ reason: RecordingFailure) {
        guard daemon.state.recording.phase == .running else { return }
        failure = reason
        problems.append(Self.stopped + reason.recordingText)
        // The room of a disk does not show a quota.
        if case .noSpace(let why) = reason, why != Platform.reason(EDQUOT) {
            roomTimer?.arm(after: Self.roomInterval)
        }
        Log.record.error("recording failed", metadata: ["reason": "\(reason.word)"])
        onFailed(reason)
        daemon.send(.recording(.stop))
    }

    /// Completes the recording once all files are finished.
    private func finish() {
        recorders = [:]
        writing = []
        sound = nil
        guard request.isMP4, !isEnding, !saved.isEmpty else { return settle() }
        let files = saved
        let mailbox = loop.mailbox
        run("remux") { [weak self] in
            var made = files
            var failures: [String] = []
            for index in made.indices where !made[index].isLost {
                do throws(MediaError) {
                    let path = try Remux.makeMP4(of: files[index].movie.path)
                    made[index].movie.path = path
                    made[index].movie.byteCount = try Remux.size(of: path)
                } catch { failures.append("\(error)") }
            }
            let (result, reasons) = (made, failures)
            mailbox.onMain { self?.settle(result, reasons) }
        }
    }

    private func settle(_ files: [Saved], _ failures: [String]) {
        let stayed = Set(files.map(\.movie.path))
        mender?.broken.subtract(saved.map(\.movie.path).filter { !stayed.contains($0) })
        for file in saved where !isBroken(file) {
            remember(file.movie.path, false)
        }
        saved = files
        problems += failures.map {
            "A recording cannot be converted to MP4, and stays a Matroska file: \($0)"
        }
        // Broken files are reported once repaired.
        for file in files where !isBroken(file) && !file.isLost { onSaved(file) }
        settle()
    }

    private func settle() {
        note(Self.noSound, "")
        note(Self.littleRoom, "")
        for index in saved.indices {
            saved[index].failure = saved[index].failure ?? failure
            saved[index].silence = firstSilence
        }
        (silence, space) = ("", nil)
        let files = saved
        if !stopping.isEmpty { note(Self.removed, "") }
        if failure != nil, stopping.isEmpty { endedByItself = files.sorted() }
        saved = []
        ended = files.sorted()
        Log.record.notice("recorded", metadata: ["files": "\(files.count)"])
        daemon.send(.recording(.ended))
        answerEnded()
        // The end of the recording may wait for its turn.
        loop.mailbox.onMain { [weak self] in self?.mender?.mendSoon() }
        onChange()
    }

    /// Answers those who asked for the end, once the state has it: who starts anew is to find it.
    private func answerEnded() {
        guard let files = ended, daemon.state.recording.phase == .off else { return }
        ended = nil
        let waiting = stopping
        stopping = []
        for done in waiting { done(files) }
    }

    /// Takes back that a recording stopped for lack of room, once there is some.
    private func lookForRoom() {
        let (mailbox, folder) = (loop.mailbox, folder)
        daemon.files.post(.movies) { [weak self] in
            let hasRoom = (try? DiskSpace(at: folder)).map { !$0.isExhausted } ?? false
            mailbox.onMain {
                guard let self, case .noSpace = self.failure else { return }
                if hasRoom {
                    self.note(Self.stopped, "")
                    self.onChange()
                } else {
                    self.roomTimer?.arm(after: Self.roomInterval)
                }
            }
        }
    }

    // MARK: Meanwhile

    private func tick() {
        guard daemon.state.recording.phase == .running else { return }
        second?.arm(after: 1)
        daemon.send(.recording(.tick))
    }

    /// Passes the rotation of the cameras on to the recorders.
    private func follow() {
        answerEnded()
        // A user who asks for privacy, or locks the screen, does not want to be heard either.
        microphone?.pause(!daemon.state.suspensions.isEmpty)
        let now = daemon.rotations
        for role in Role.allCases where now[role] != rotations[role] {
            recorders[RecordedPicture(role)]?.turn(by: now[role])
        }
        rotations = now
    }

    // MARK: The disk

    private func isBroken(_ file: Saved) -> Bool {
        mender?.broken.contains(file.movie.path) ?? false
    }

    /// Adds `path` to the journal of unfinished files, or removes it.
    private func remember(_ path: String, _ isUnfinished: Bool) {
        guard let journal else { return }
        daemon.files.post(.journal) {
            do throws(SystemError) {
                if isUnfinished { try journal.add(path) } else { try journal.remove(path) }
            } catch {
                Log.record.warning("not written down", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// Runs `body` on a thread of its own, since the disk may take long.
    private func run(_ name: String, _ body: @escaping @Sendable () -> Void) {
        workers += 1
        let mailbox = loop.mailbox
        let work = { @Sendable [weak self] in
            body()
            mailbox.onMain { self?.workers -= 1 }
        }
        do throws(SystemError) {
            try Thread(name: name, work).detach()
        } catch {
            Log.record.error("no thread", metadata: ["reason": "\(error)"])
            // There is always this one.
            daemon.files.post(.movies, work)
        }
    }
}

extension RecordingFailure {
    init(_ error: MediaError) {
        self =
            switch error.code {
            case .noSpace: .noSpace(error.reason)
            case .denied where error.errno != EROFS: .denied
            default: .other("\(error)")
            }
    }
}

extension RecordedPicture {
    init(_ role: Role) { self = role == .back ? .back : .front }
}

extension Daemon {
    /// The clockwise rotation in degrees that turns each camera's picture upright.
    fileprivate var rotations: PerRole<Int> {
        PerRole { state.cameras[$0].rotation }
    }
}

extension [RecordingSession.Saved] {
    /// Returns the files by picture, in the order in which they began: "-10" comes after "-2".
    fileprivate func sorted() -> [RecordingSession.Saved] {
        func place(_ file: RecordingSession.Saved) -> (String, Int, String) {
            (file.picture.rawValue, file.movie.path.utf8.count, file.movie.path)
        }
        return sorted { place($0) < place($1) }
    }
}

/// The time in the names of a recording's files: that of the first picture of any of them.
private final class Stamp: Sendable {
    private let first = Mutex<String?>(nil)

    /// Returns the recording's name: by the first picture that this was called for.
    func name(at time: Timestamp) -> String {
        first.withLock { name in
            let chosen = name ?? WallTime(time).name
            name = chosen
            return chosen
        }
    }
}
