import DualCamCore
import Engine
import Frames
import Glibc
import Logging
import Platform
import Recording

extension Recorder: FrameTap {}

/// Which pictures to record, and how.
struct RecordingRequest {
    var pictures = Set(RecordedPicture.allCases)
    var hasSound = true
    var encoder: VideoEncoder.Kind?
    var isMP4 = false
}

/// Makes recordings, and repairs those that a crash has left.
@MainActor
final class RecordingSession {
    /// Why it cannot be begun or ended.
    enum Refusal: Error {
        case alreadyRecording, notRecording, noCamera
        case failed(RecordingError)
    }

    /// A file that is done.
    struct Saved: Hashable {
        var picture: RecordedPicture
        var movie: Movie
    }

    /// What is being written.
    struct Writing: Hashable {
        var picture: RecordedPicture
        var path: String
        var encoder: String
    }

    /// Called when what is shown of it may have changed.
    var onChange: () -> Void = {}
    /// Called for each file that is done.
    var onSaved: (Saved) -> Void = { _ in }
    /// Called for each file that was repaired, with its length in seconds.
    var onRepaired: (String, Double) -> Void = { _, _ in }
    /// Called with the reason when a recording ends by itself.
    var onFailed: (String) -> Void = { _ in }

    /// What is being written now.
    private(set) var writing: [Writing] = []
    /// What is not as it should be, a sentence for people each.
    private(set) var problems: [String] = []

    private let daemon: Daemon
    private let loop: EventLoop
    private var request = RecordingRequest()
    private var stem = ""
    private var recorders: [RecordedPicture: Recorder] = [:]
    private var microphone: Microphone?
    private var sound: Track?
    private var saved: [Saved] = []
    private var endTime = Timestamp.zero
    /// How many recorders still write.
    private var remaining = 0
    private var starting: [(Result<Void, Refusal>) -> Void] = []
    private var stopping: [([Saved]) -> Void] = []
    private var rotations: PerRole<Int>
    private var startTimer: EventLoop.Timer?
    private var second: EventLoop.Timer?
    /// The paths of files that are not done, for the daemon after this one.
    private let journal = StateFile("recordings")
    private var unfinished: [String] = []
    /// Those of them that ended in the middle, for which there has been no room to be repaired in.
    private var broken: Set<String> = []
    private var mender: EventLoop.Timer?
    /// When it is looked again whether there is, in seconds.
    private var mendDelay = RecordingSession.mendDelays.lowerBound
    private var isMending = false
    /// What is amiss for as long as it is recorded.
    private static let noSound = "The recording has no sound: "
    private static let littleRoom = "There is little room left for the recording."
    private var isEnding = false
    /// How many threads repair or remux.
    private var workers = 0

    /// How long cameras and the microphone may take to be there.
    private static let startTimeout = 3.0
    /// How soon it is looked again whether there is room for repairs: later each time, since a quota is told by no look.
    private static let mendDelays = 5.0...3600
    /// How long the end of the daemon waits for files to be done.
    private static let endDuration = 3.0
    /// How long a thread may take that has told that it ends.
    private static let joinTimeout = Timestamp(seconds: 1)

    /// Repairs what was left, and waits for requests.
    init(_ daemon: Daemon, loop: EventLoop) throws(SystemError) {
        self.daemon = daemon
        self.loop = loop
        rotations = daemon.rotations
        startTimer = try loop.timer { daemon.send(.recordingStartTimedOut) }
        second = try loop.timer { [unowned self] in tick() }
        mender = try loop.timer { [unowned self] in mend() }
        daemon.onRecording = { [unowned self] in carryOut($0) }
        daemon.observers.append { [unowned self] in follow() }
        repair()
    }

    /// For how many whole seconds it has been recorded.
    var seconds: Int {
        daemon.state.recording.seconds(at: MonotonicClock.now) ?? 0
    }

    // MARK: Requests

    /// Begins a recording; `done` is called when it has begun, or cannot be.
    func start(_ request: RecordingRequest, done: @escaping (Result<Void, Refusal>) -> Void) {
        let state = daemon.state
        guard state.recording.phase == .off else { return done(.failure(.alreadyRecording)) }
        let isPossible = request.pictures.allSatisfy { picture in
            let roles = picture.role.map { [$0] } ?? Role.allCases
            return roles.contains { state.cameras[$0].phase != .unavailable }
        }
        guard isPossible else { return done(.failure(.noCamera)) }
        do throws(RecordingError) {
            let folder = try VideoDirectory.path(
                configured: daemon.configuration.capture.videoDirectory
            )
            guard !(try DiskSpace(at: folder)).isExhausted else {
                throw RecordingError(.noSpace, "statvfs", folder, errno: ENOSPC)
            }
            if let encoder = request.encoder { try VideoEncoder.check(encoder) }
            stem = "\(folder)/DualCam_\(localTime())"
        } catch {
            return done(.failure(.failed(error)))
        }
        self.request = request
        problems = []
        saved = []
        starting.append(done)
        daemon.send(.startRecording(request.pictures, sound: request.hasSound))
    }

    /// Ends the recording; `done` is called with its files when they are on the disk.
    func stop(done: @escaping (Result<[Saved], Refusal>) -> Void) {
        guard daemon.state.recording.phase != .off else { return done(.failure(.notRecording)) }
        stopping.append { done(.success($0)) }
        daemon.send(.stopRecording)
    }

    /// At the end of the daemon: waits until the files are done, or for as long as it may take. False when a
    /// thread still runs.
    func end() -> Bool {
        isEnding = true
        daemon.send(.stopRecording)
        let deadline = MonotonicClock.now + Timestamp(seconds: Self.endDuration)
        while daemon.state.recording.phase != .off, MonotonicClock.now < deadline {
            loop.runOnce(milliseconds: 50)
        }
        // What is not done is repaired at the next start.
        for recorder in recorders.values { recorder.leave() }
        microphone?.leave()
        return recorders.isEmpty && microphone == nil && workers == 0
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
            microphone = try Microphone { [weak self] report in
                mailbox.post { MainActor.assumeIsolated { self?.handle(report) } }
            }
            microphone?.pause(!daemon.state.suspensions.isEmpty)
        } catch {
            handle(.silent("\(error)"))
        }
    }

    private func begin() {
        startTimer?.disarm()
        let start = MonotonicClock.now
        if daemon.state.recording.hasSound != true { sound = nil }
        rotations = daemon.rotations
        let mailbox = loop.mailbox
        for picture in daemon.state.recording.pictures {
            let rate = picture.role.flatMap { daemon.state.cameras[$0].mode?.rate }
            var plan = Recorder.Plan(
                picture.rawValue,
                stem: "\(stem)_\(picture.rawValue)",
                start: start,
                rate: rate ?? Double(daemon.configuration.output.frameRate)
            )
            plan.rotation = picture.role.map { rotations[$0] } ?? 0
            plan.sound = sound
            plan.encoder = request.encoder
            plan.tags["title"] = "DualCam, \(picture.rawValue)"
            do throws(SystemError) {
                let recorder = try Recorder(plan) { [weak self] report in
                    mailbox.post { MainActor.assumeIsolated { self?.handle(picture, report) } }
                }
                recorders[picture] = recorder
                remaining += 1
                daemon.record(picture, recorder, for: .recording)
            } catch {
                problems.append("The \(picture.rawValue) picture is not recorded: \(error)")
            }
        }
        if sound == nil { microphone?.end(at: start) } else { microphone?.begin(at: start) }
        second?.arm(after: 1)
        Log.record.notice(
            "recording",
            metadata: ["files": "\(stem)_*.mkv", "sound": "\(sound != nil)"]
        )
        let waiting = starting
        starting = []
        for done in waiting { done(.success(())) }
    }

    /// Ends everything at `time`: the sound first, so that it is in the files to their end.
    private func end(at time: Timestamp) {
        startTimer?.disarm()
        second?.disarm()
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

    // MARK: What the threads tell

    private func handle(_ report: Microphone.Report) {
        switch report {
        case .ready(let track):
            sound = track
            daemon.send(.microphone(true))
        case .silent(let reason):
            sound = nil
            problems.append("\(Self.noSound)\(reason).")
            Log.record.warning("no sound", metadata: ["reason": "\(reason)"])
            daemon.send(.microphone(false))
        case .packet(let packet):
            // What comes after the end of the pictures would make the files longer.
            let isOver = daemon.state.recording.phase == .ending && packet.time >= endTime
            if !isOver { for recorder in recorders.values { recorder.take(sound: packet) } }
        case .ended:
            // It has nothing left to do.
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
            remember(path, true)
            Log.record.notice("file", metadata: ["path": "\(path)", "encoder": "\(encoder)"])
        case .space(let space):
            if space.isExhausted { fail("NoSpace") }
            problems.removeAll { $0 == Self.littleRoom }
            if space.isLow { problems.append(Self.littleRoom) }
        case .saved(let movie):
            writing.removeAll { $0.path == movie.path }
            done(Saved(picture: picture, movie: movie))
        case .failed(let error, let movie):
            Log.record.error("recording", metadata: ["reason": "\(error)"])
            if let movie {
                // It lacks its index, which is added afterwards, or by the next start.
                writing.removeAll { $0.path == movie.path }
                if error.code == .noSpace { broken.insert(movie.path) }
                saved.append(Saved(picture: picture, movie: movie))
            }
            fail(error.word)
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

    /// The recording ends by itself.
    private func fail(_ reason: String) {
        guard daemon.state.recording.phase == .running else { return }
        problems.append(
            reason == "NoSpace"
                ? "The recording ended since the disk is full."
                : "The recording ended: \(reason)"
        )
        Log.record.error("recording failed", metadata: ["reason": "\(reason)"])
        onFailed(reason)
        daemon.send(.stopRecording)
    }

    /// All files are done.
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
                do throws(RecordingError) {
                    made[index].movie.path = try Remux.makeMP4(of: files[index].movie.path)
                } catch { failures.append("\(error)") }
            }
            let (result, reasons) = (made, failures)
            mailbox.post { MainActor.assumeIsolated { self?.settle(result, reasons) } }
        }
    }

    private func settle(_ files: [Saved], _ failures: [String]) {
        let stayed = Set(files.map(\.movie.path))
        broken.subtract(saved.map(\.movie.path).filter { !stayed.contains($0) })
        for file in saved where !broken.contains(file.movie.path) {
            remember(file.movie.path, false)
        }
        saved = files
        problems += failures.map { "A file stays Matroska: \($0)" }
        workers -= 1
        // Those are told of when they are repaired.
        for file in files where !broken.contains(file.movie.path) { onSaved(file) }
        settle()
    }

    private func settle() {
        problems.removeAll { $0.hasPrefix(Self.noSound) || $0 == Self.littleRoom }
        let (files, waiting) = (saved, stopping)
        saved = []
        stopping = []
        Log.record.notice("recorded", metadata: ["files": "\(files.count)"])
        daemon.send(.recordingEnded)
        for done in waiting { done(files.sorted { $0.movie.path < $1.movie.path }) }
        mendDelay = Self.mendDelays.lowerBound
        mend()
        onChange()
    }

    // MARK: Meanwhile

    private func tick() {
        guard daemon.state.recording.phase == .running else { return }
        second?.arm(after: 1)
        daemon.send(.recordingTick)
    }

    /// Tells recorders how their cameras are mounted.
    private func follow() {
        // Who asks for privacy, or locks the screen, does not want to be heard either.
        microphone?.pause(!daemon.state.suspensions.isEmpty)
        let now = daemon.rotations
        for role in Role.allCases where now[role] != rotations[role] {
            recorders[RecordedPicture(role)]?.turn(by: now[role])
        }
        rotations = now
    }

    // MARK: Repair

    /// Writes down that the file at `path` is not done, or is.
    private func remember(_ path: String, _ isUnfinished: Bool) {
        unfinished.removeAll { $0 == path }
        if isUnfinished { unfinished.append(path) }
        do throws(SystemError) {
            try journal?.store(unfinished.map { $0 + "\n" }.joined())
        } catch {
            Log.record.warning("not written down", metadata: ["reason": "\(error)"])
        }
    }

    /// Repairs what was being written when the daemon before this one died.
    private func repair() {
        let text = (try? journal?.load()) ?? nil
        unfinished = text?.split(separator: "\n").map(String.init) ?? []
        let paths = unfinished
        guard !paths.isEmpty else { return }
        let mailbox = loop.mailbox
        run("repair") { [weak self] in
            for path in paths {
                let result = Result { () throws(RecordingError) in try Remux.repair(path) }
                mailbox.post { MainActor.assumeIsolated { self?.repaired(path, result) } }
            }
            mailbox.post { MainActor.assumeIsolated { self?.workers -= 1 } }
        }
    }

    /// Repairs what has ended in the middle, as far as there is room for that now; nothing while it is recorded.
    private func mend() {
        guard !isEnding, !isMending, !broken.isEmpty else { return }
        guard daemon.state.recording.phase == .off else { return }  // Its end comes here again.
        isMending = true
        let paths = broken.sorted()
        let mailbox = loop.mailbox
        run("repair") { [weak self] in
            for path in paths where Remux.hasRoom(toRepair: path) {
                let result = Result { () throws(RecordingError) in try Remux.repair(path) }
                mailbox.post { MainActor.assumeIsolated { self?.repaired(path, result) } }
            }
            mailbox.post { MainActor.assumeIsolated { self?.mended() } }
        }
    }

    private func mended() {
        workers -= 1
        isMending = false
        guard !broken.isEmpty else { return }
        mender?.arm(after: mendDelay)
        mendDelay = min(2 * mendDelay, Self.mendDelays.upperBound)
    }

    private func repaired(_ path: String, _ result: Result<Double, RecordingError>) {
        let wasBroken = broken.remove(path) != nil
        switch result {
        case .success(let seconds) where seconds > 0:
            problems.append("\(path) had not been ended, and was repaired.")
            Log.record.notice("repaired", metadata: ["path": "\(path)", "seconds": "\(seconds)"])
            onRepaired(path, seconds)
        case .success:
            Log.record.notice("nothing in it", metadata: ["path": "\(path)"])
        case .failure(let error):
            let isNews = !wasBroken || error.code != .noSpace
            if isNews {
                Log.record.warning("not repaired", metadata: ["reason": "\(error)"])
            }
            // With more room it may be.
            if error.code == .noSpace {
                broken.insert(path)
                if !isMending { mender?.arm(after: mendDelay) }
                return
            }
            // Its disk may come back; the next start looks again.
            if wasBroken { return }
            if error.code != .notFound { problems.append("\(path) cannot be repaired: \(error)") }
        }
        remember(path, false)
        onChange()
    }

    /// Runs `body` on a thread of its own, which takes as long as the disk does.
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

extension RecordingError {
    /// What others are told: a word for what they can do something about, else a sentence for people.
    var word: String {
        switch code {
        case .noSpace: "NoSpace"
        case .denied: "Denied"
        default: "\(self)"
        }
    }
}

extension RecordedPicture {
    /// The camera's own picture.
    init(_ role: Role) { self = role == .back ? .back : .front }
}

extension Daemon {
    /// By how many degrees clockwise each camera's picture is turned to stand upright.
    fileprivate var rotations: PerRole<Int> {
        PerRole(back: state.cameras.back.rotation, front: state.cameras.front.rotation)
    }
}

/// "2026-11-21_143005.123", the local time.
private func localTime() -> String {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    var parts = tm()
    localtime_r(&now.tv_sec, &parts)
    var text = [CChar](repeating: 0, count: 32)
    strftime(&text, text.count, "%Y-%m-%d_%H%M%S", &parts)
    let milliseconds = String(1000 + now.tv_nsec / 1_000_000).dropFirst()
    let date = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return "\(date).\(milliseconds)"
}
