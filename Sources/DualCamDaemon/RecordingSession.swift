import DualCamCore
import Engine
import Frames
import Glibc
import Logging
import Media
import Platform
import Recording
import Synchronization

/// The pictures to record, and the format.
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

    /// A finished file.
    struct Saved: Hashable {
        var picture: RecordedPicture
        var movie: Movie
        /// The reason that the recording ended by itself, if it did.
        var failure: RecordingFailure?
    }

    /// A file being written.
    struct Writing: Hashable {
        var picture: RecordedPicture
        var path: String
        var encoder: String
    }

    /// The closure called when the state of the recording may have changed.
    var onChange: () -> Void = {}
    /// The closure called for each finished file.
    var onSaved: (Saved) -> Void = { _ in }
    /// The closure called for each repaired file, with its path and its length in seconds.
    var onRepaired: (String, Double) -> Void = { _, _ in }
    /// The closure called with the reason when a recording ends by itself.
    var onFailed: (RecordingFailure) -> Void = { _ in }

    /// The files being written now.
    private(set) var writing: [Writing] = []
    /// The problems of the recording, one sentence each, for people.
    private(set) var problems: [String] = []

    private let daemon: Daemon
    private let loop: EventLoop
    private var request = RecordingRequest()
    private var folder = ""
    /// The files of the recording that ended by itself, until they are asked for.
    private var endedByItself: [Saved]?
    private var failure: RecordingFailure?
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
    private var rotations: PerRole<Int>
    private var startTimer: EventLoop.Timer?
    private var fileTimer: EventLoop.Timer?
    private var second: EventLoop.Timer?
    /// The paths of unfinished files, kept on disk for the next start of the daemon.
    private let journal = RecordingJournal()
    /// The thread for all that the recording needs of the disk, except for its files.
    private let disk: LoopWorker<Void>
    /// The process that repairs files.
    private let repairer: RepairHelper
    /// The recording that waits for the disk.
    private var preparation: Preparation?
    /// The number of preparations so far, and of those that the disk has not answered yet.
    private var preparations = (count: 0, unanswered: 0)
    private var diskTimer: EventLoop.Timer?
    /// The unfinished files that still lack the room on the disk for their repair.
    private var broken: Set<String> = []
    private var mender: EventLoop.Timer?
    /// The time until the next check for room, in seconds.
    private var mendDelay = RecordingSession.mendDelays.lowerBound
    private var isMending = false
    /// The problems that last as long as the recording.
    private static let noSound = "The recording has no sound: "
    private static let littleRoom = "There is little room left for the recording."
    private var isEnding = false
    /// The number of threads that repair or remux.
    private var workers = 0

    /// The time in seconds after which a recording is refused if the disk has not answered.
    private static let diskTimeout = 10.0
    /// The time in seconds that cameras and the microphone may take to become ready.
    private static let startTimeout = 3.0
    /// The time in seconds that the first frames of a recording may take. A camera that privacy
    /// closes has none.
    private static let fileTimeout = 1.0
    /// The range of the intervals between checks for room, in seconds. Each is longer than the one
    /// before, since a check does not show a quota.
    private static let mendDelays = 5.0...3600
    /// The time in seconds for which the end of the daemon waits for files to be finished.
    private static let endDuration = 3.0
    /// The time that a thread may take to end after it has reported its end.
    private static let joinTimeout = Timestamp(seconds: 1)

    /// A request whose directory is being looked at.
    private struct Preparation {
        let number: Int
        let request: RecordingRequest
        let done: (Result<Void, Refusal>) -> Void
    }

    /// Waits for requests. `helper` are the arguments with which this program runs
    /// `RepairHelper.run()`.
    init(_ daemon: Daemon, helper: [String], loop: EventLoop) throws(SystemError) {
        self.daemon = daemon
        self.loop = loop
        disk = try LoopWorker(name: "disk")
        repairer = try RepairHelper(helper)
        rotations = daemon.rotations
        startTimer = try loop.timer { daemon.send(.recording(.startTimedOut)) }
        fileTimer = try loop.timer { [unowned self] in answerBegun() }
        second = try loop.timer { [unowned self] in tick() }
        mender = try loop.timer { [unowned self] in mend() }
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
        try disk.start { _ in }
        daemon.onRecording = { [unowned self] in carryOut($0) }
        daemon.observers.append { [unowned self] in follow() }
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
        guard preparations.unanswered == 0 else {
            let detail = "the disk does not answer"
            return done(.failure(.failed(MediaError(.system, "record", detail: detail))))
        }
        preparations.count += 1
        preparations.unanswered += 1
        let number = preparations.count
        preparation = Preparation(number: number, request: request, done: done)
        diskTimer?.arm(after: Self.diskTimeout)
        let mailbox = loop.mailbox
        let folder = daemon.configuration.capture.videoDirectory
        let (encoder, hasSound) = (request.encoder, request.hasSound)
        disk.post { [weak self] _ in
            let place = Result { () throws(MediaError) in
                Place(
                    folder: try newFolder(in: folder, encoder),
                    // The same thread, since the encoder's library is loaded from the disk.
                    sound: hasSound
                        ? Result { () throws(MediaError) in try Microphone.track() } : nil
                )
            }
            mailbox.onMain { self?.prepared(number, place) }
        }
    }

    /// The reason why `request` cannot be met now, as far as the disk plays no part.
    private func refusal(of request: RecordingRequest) -> Refusal? {
        let state = daemon.state
        guard state.recording.phase == .off else { return .alreadyRecording }
        do throws(MissingCamera) {
            _ = try state.pictures(toRecord: request.pictures)
            return nil
        } catch { return .noCamera(error.role) }
    }

    /// Begins the recording that waits for the disk, unless it was refused meanwhile.
    private func prepared(_ number: Int, _ result: Result<Place, MediaError>) {
        preparations.unanswered -= 1
        guard let waiting = preparation, waiting.number == number else { return }
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
            switch place.sound {
            case .success(let track)?: sound = track
            case .failure(let error)?: problems.append("\(Self.noSound)\(error).")
            case nil: break
            }
            request.hasSound = sound != nil
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
            return done(files.map { .success($0) } ?? .failure(.notRecording))
        }
        stopping.append { done(.success($0)) }
        daemon.send(.recording(.stop))
    }

    /// Waits at the end of the daemon until the files are finished, at most `endDuration`. Returns
    /// `false` if a thread still runs.
    func end() -> Bool {
        isEnding = true
        refusePreparation(.notRecording)
        repairer.cancel()
        daemon.send(.recording(.stop))
        let deadline = MonotonicClock.now + Timestamp(seconds: Self.endDuration)
        while daemon.state.recording.phase != .off, MonotonicClock.now < deadline {
            loop.runOnce(milliseconds: 50)
        }
        // Unfinished files are repaired at the next start.
        for recorder in recorders.values { recorder.leave() }
        microphone?.leave()
        disk.end()
        while workers > 0, MonotonicClock.now < deadline { loop.runOnce(milliseconds: 20) }
        let isDiskDone = disk.join(until: deadline)
        if !isDiskDone { disk.leave() }
        return recorders.isEmpty && microphone == nil && workers == 0 && isDiskDone
    }

    // MARK: Effects

    private func carryOut(_ effect: Effect) {
        switch effect {
        case .prepareRecording(let wantsSound): prepare(wantsSound)
        case .beginRecording: begin()
        case .endRecording: end(at: MonotonicClock.now)
        default: preconditionFailure("not a recording's")
        }
    }

    private func prepare(_ wantsSound: Bool) {
        startTimer?.arm(after: Self.startTimeout)
        guard wantsSound else { return }
        let mailbox = loop.mailbox
        do throws(SystemError) {
            microphone = try Microphone(timed: daemon.timedThreads, isPatient: true) {
                [weak self] report in
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

    /// Ends all recorders at `time`. The sound ends first, so that the files have it up to their
    /// end.
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
        case .ready:
            problems.removeAll { $0.hasPrefix(Self.noSound) }
            onChange()
        case .silent(let reason):
            problems.append("\(Self.noSound)\(reason).")
            Log.record.warning("no sound", metadata: ["reason": "\(reason)"])
            onChange()
        case .level(let level): onLevel(level)
        case .packet(let packet):
            // Sound after the end of the pictures would make the files longer.
            let isOver = daemon.state.recording.phase == .ending && packet.time >= endTime
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

    private func handle(_ picture: RecordedPicture, _ report: Recorder.Report) {
        switch report {
        case .began(let path, let encoder):
            writing.append(Writing(picture: picture, path: path, encoder: encoder))
            if recorders.keys.allSatisfy({ picture in writing.contains { $0.picture == picture } })
            {
                answerBegun()
            }
            remember(path, true)
            Log.record.notice("file", metadata: ["path": "\(path)", "encoder": "\(encoder)"])
        case .space(let space):
            if space.isExhausted { fail(.noSpace) }
            problems.removeAll { $0 == Self.littleRoom }
            if space.isLow { problems.append(Self.littleRoom) }
        case .saved(let movie):
            writing.removeAll { $0.path == movie.path }
            done(Saved(picture: picture, movie: movie))
        case .failed(let error, let movie):
            Log.record.error("recording", metadata: ["reason": "\(error)"])
            if let movie {
                // The file lacks its index, which is added later, or at the next start.
                writing.removeAll { $0.path == movie.path }
                if error.code == .noSpace { broken.insert(movie.path) }
                saved.append(Saved(picture: picture, movie: movie))
            }
            fail(RecordingFailure(error))
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

    private func done(_ file: Saved) {
        saved.append(file)
        guard !request.isMP4 || isEnding else { return }
        remember(file.movie.path, false)
        onSaved(file)
    }

    /// Ends the recording because of a failure.
    private func fail(_ reason: RecordingFailure) {
        guard daemon.state.recording.phase == .running else { return }
        failure = reason
        problems.append("Recording stopped: \(reason.recordingText)")
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
            for index in made.indices {
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
        broken.subtract(saved.map(\.movie.path).filter { !stayed.contains($0) })
        for file in saved where !broken.contains(file.movie.path) {
            remember(file.movie.path, false)
        }
        saved = files
        problems += failures.map {
            "A recording cannot be converted to MP4, and stays a Matroska file: \($0)"
        }
        workers -= 1
        // Broken files are reported once repaired.
        for file in files where !broken.contains(file.movie.path) { onSaved(file) }
        settle()
    }

    private func settle() {
        problems.removeAll { $0.hasPrefix(Self.noSound) || $0 == Self.littleRoom }
        for index in saved.indices { saved[index].failure = failure }
        let (files, waiting) = (saved, stopping)
        if failure != nil, waiting.isEmpty { endedByItself = files.sorted() }
        saved = []
        stopping = []
        Log.record.notice("recorded", metadata: ["files": "\(files.count)"])
        daemon.send(.recording(.ended))
        for done in waiting { done(files.sorted()) }
        mendDelay = Self.mendDelays.lowerBound
        mend()
        onChange()
    }

    // MARK: Meanwhile

    private func tick() {
        guard daemon.state.recording.phase == .running else { return }
        second?.arm(after: 1)
        daemon.send(.recording(.tick))
    }

    /// Passes the rotation of the cameras on to the recorders.
    private func follow() {
        // A user who asks for privacy, or locks the screen, does not want to be heard either.
        microphone?.pause(!daemon.state.suspensions.isEmpty)
        let now = daemon.rotations
        for role in Role.allCases where now[role] != rotations[role] {
            recorders[RecordedPicture(role)]?.turn(by: now[role])
        }
        rotations = now
    }

    // MARK: Repair

    /// Adds `path` to the journal of unfinished files, or removes it.
    private func remember(_ path: String, _ isUnfinished: Bool) {
        guard let journal else { return }
        disk.post { _ in
            do throws(SystemError) {
                if isUnfinished { try journal.add(path) } else { try journal.remove(path) }
            } catch {
                Log.record.warning("not written down", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// Repairs the files that were being written when a daemon last ended unexpectedly. To be
    /// called once the bus name is owned: another daemon may be writing them otherwise.
    func repair() {
        guard let journal else { return }
        let repairs = RecordingRepair(journal, by: repairer.copy)
        let mailbox = loop.mailbox
        run("repair") { [weak self] in
            let entries = Result { () throws(SystemError) in try journal.entries() }
            switch entries {
            case .success(let entries):
                for path in entries.map(\.path) {
                    let outcome = repairs.repair(path)
                    mailbox.onMain { self?.repaired(path, outcome) }
                }
            case .failure(let error):
                Log.record.warning("nothing is repaired", metadata: ["reason": "\(error)"])
            }
            mailbox.onMain { self?.workers -= 1 }
        }
    }

    /// Repairs broken files as far as there is room for it now. Does nothing during a recording.
    private func mend() {
        guard !isEnding, !isMending, !broken.isEmpty, let journal else { return }
        guard daemon.state.recording.phase == .off else { return }  // Its end calls this again.
        isMending = true
        let paths = broken.sorted()
        let repairs = RecordingRepair(journal, by: repairer.copy)
        let mailbox = loop.mailbox
        run("repair") { [weak self] in
            for path in paths where Remux.hasRoom(toRepair: path) {
                let outcome = repairs.repair(path)
                mailbox.onMain { self?.repaired(path, outcome) }
            }
            mailbox.onMain { self?.mended() }
        }
    }

    private func mended() {
        workers -= 1
        isMending = false
        guard !broken.isEmpty else { return }
        mender?.arm(after: mendDelay)
        mendDelay = min(2 * mendDelay, Self.mendDelays.upperBound)
    }

    private func repaired(_ path: String, _ outcome: RecordingRepair.Outcome) {
        let wasBroken = broken.remove(path) != nil
        switch outcome {
        case .repaired(let seconds):
            problems.append("\(path) was cut off, and was repaired.")
            Log.record.notice("repaired", metadata: ["path": "\(path)", "seconds": "\(seconds)"])
            onRepaired(path, seconds)
        case .empty: Log.record.notice("nothing in it", metadata: ["path": "\(path)"])
        case .busy:
            Log.record.notice("not repaired, since it is in use", metadata: ["path": "\(path)"])
        case .setAside(let reason):
            problems.append(
                "\(path) is left as it is, because its repair failed"
                    + " \(RecordingRepair.attempts) times: \(reason)."
            )
            Log.record.warning(
                "set aside",
                metadata: ["path": "\(path)", "reason": "\(reason)"]
            )
        case .failed(let error) where error.code == .noSpace:
            // The repair may succeed with more room.
            if !wasBroken { Log.record.warning("not repaired", metadata: ["reason": "\(error)"]) }
            broken.insert(path)
            if !isMending { mender?.arm(after: mendDelay) }
            return
        case .failed(let error):
            Log.record.warning("not repaired", metadata: ["reason": "\(error)"])
            if error.code != .notFound { problems.append("\(path) cannot be repaired: \(error)") }
        }
        onChange()
    }

    /// Runs `body` on a thread of its own, since the disk may take long.
    private func run(_ name: String, _ body: @escaping @Sendable () -> Void) {
        workers += 1
        do throws(SystemError) {
            try Thread(name: name, body).detach()
        } catch {
            Log.record.error("no thread", metadata: ["reason": "\(error)"])
            body()
        }
    }
}

extension RecordingFailure {
    /// Creates the reason that `error` is.
    init(_ error: MediaError) {
        self =
            switch error.code {
            case .noSpace: .noSpace
            case .denied: .denied
            default: .other("\(error)")
            }
    }
}

extension RecordedPicture {
    /// Creates the recorded picture of a camera.
    init(_ role: Role) { self = role == .back ? .back : .front }
}

extension Daemon {
    /// The clockwise rotation in degrees that turns each camera's picture upright.
    fileprivate var rotations: PerRole<Int> {
        PerRole { state.cameras[$0].rotation }
    }
}

extension [RecordingSession.Saved] {
    /// Returns the files by their paths.
    fileprivate func sorted() -> [RecordingSession.Saved] {
        sorted { $0.movie.path < $1.movie.path }
    }
}

/// The time in the names of a recording's files: that of the first picture of any of them.
private final class Stamp: Sendable {
    private let first = Mutex<String?>(nil)

    /// Returns the name for the recording, whose first picture is the first that this was called
    /// for.
    func name(at time: Timestamp) -> String {
        first.withLock { name in
            let chosen = name ?? WallTime(time).name
            name = chosen
            return chosen
        }
    }
}

/// The place on the disk that a recording needs before it begins.
private struct Place: Sendable {
    /// The directory of the files.
    var folder: String
    /// The track of the sound, or why there is none; `nil` without a wish for it.
    var sound: Result<Track, MediaError>?
}

/// Returns the directory of a new recording: `configured`, or the user's own, which is created if
/// necessary; tries `encoder`, if there is a wish for one. Waits for the disk.
///
/// - Throws: `noSpace`, `denied`, `notFound`, `unsupported` or `system`.
private func newFolder(
    in configured: String?,
    _ encoder: VideoEncoder.Kind?
) throws(MediaError) -> String {
    let folder = try VideoDirectory.path(configured: configured)
    guard !(try DiskSpace(at: folder)).isExhausted else {
        throw MediaError(.noSpace, "statvfs", folder, errno: ENOSPC)
    }
    if let encoder { try check(encoder) }
    return folder
}

/// Opens `encoder` on trial. An error names one that works without a graphics processor.
private func check(_ encoder: VideoEncoder.Kind) throws(MediaError) {
    do throws(MediaError) {
        try VideoEncoder.check(encoder)
    } catch  where encoder == .vaapi {
        let detail = error.detail.isEmpty ? "" : "\(error.detail); "
        throw MediaError(
            error.code,
            error.operation,
            error.subject,
            errno: error.errno,
            detail: "\(detail)use the encoder x264 instead"
        )
    }
}
