import DualCamCore
import Frames
import Logging
import Media
import Platform

/// Keeps the last seconds of the pictures that may be photographed, while live photos are on and
/// cameras are open, and makes movies of them.
@MainActor
final class LivePhotos {
    /// The pictures whose live photos are being taken, even while live photos are off.
    var wanted: Set<RecordedPicture> = [] { didSet { if wanted != oldValue { follow() } } }

    private struct PreRoll {
        let buffer: PreRollBuffer
        let recorder: Recorder
    }

    private let daemon: Daemon
    private let loop: EventLoop
    private var preRolls: [RecordedPicture: PreRoll] = [:]
    private var microphone: Microphone?
    private var sound: Track?
    /// The number of threads, including those that are ending and those that write movies.
    private var threads = 0
    private var isEnding = false
    /// `true` until `retry` fires, after something failed to start.
    private var isPausing = false
    private var retry: EventLoop.Timer?

    /// The time between two tries to start a thread, in seconds.
    private static let pause = 5.0

    init(_ daemon: Daemon, loop: EventLoop) throws(SystemError) {
        self.daemon = daemon
        self.loop = loop
        retry = try loop.timer { [unowned self] in
            isPausing = false
            follow()
        }
        daemon.observers.append { [weak self] in self?.follow() }
    }

    /// Returns the movie for a photograph of `picture`; `nil` if nothing of it is kept.
    func clip(of picture: RecordedPicture) -> LivePhotoClip? {
        guard let buffer = preRolls[picture]?.buffer else { return nil }
        let turns = picture.role.map { daemon.state.cameras[$0].uprightTurns } ?? 0
        return buffer.clip(.init(picture.rawValue, rotation: 90 * turns, sound: sound))
    }

    /// Writes `clip`, which has ended, to `path`. Calls `done` with the error, or `nil`.
    func write(
        _ clip: LivePhotoClip,
        to path: String,
        done: @escaping @MainActor (MediaError?) -> Void
    ) {
        let mailbox = loop.mailbox
        let mode = daemon.configuration.capture.fileMode.bits
        do throws(SystemError) {
            let writer = try Thread(name: "movie") {
                var failure: MediaError?
                do throws(MediaError) {
                    try clip.write(to: path, mode: mode)
                } catch { failure = error }
                let found = failure
                mailbox.onMain {
                    self.threads -= 1
                    done(found)
                }
            }
            threads += 1
            writer.detach()
        } catch {
            done(MediaError(.system, error.operation, error.subject, errno: error.errno))
        }
    }

    /// Waits at the end of the daemon until its movies are written, at most until `deadline`.
    /// Returns `false` if a thread still runs.
    func end(by deadline: Timestamp) -> Bool {
        isEnding = true
        follow()
        // A pre-roll that ends ends its movies, too, and these are then written.
        while threads > 0, MonotonicClock.now < deadline { loop.runOnce(milliseconds: 20) }
        return threads == 0
    }

    // MARK: Pre-rolls

    /// Begins to keep the pictures that are needed now, and discards the others.
    private func follow() {
        let state = daemon.state
        for picture in RecordedPicture.allCases {
            let isKept = keeps(picture, state)
            if isKept, preRolls[picture] == nil, !isPausing { keep(picture) }
            if !isKept, let preRoll = preRolls.removeValue(forKey: picture) {
                forget(picture, preRoll)
            }
        }
        listen(!preRolls.isEmpty && daemon.configuration.capture.recordsAudio)
    }

    /// Returns `true` if the frames of `picture` are to be kept.
    private func keeps(_ picture: RecordedPicture, _ state: State) -> Bool {
        guard !isEnding, state.suspensions.isEmpty else { return false }
        guard let role = picture.role else {
            let isSeen = Role.allCases.contains { state.cameras[$0].phase == .streaming }
            return (wanted.contains(picture) || state.takesLivePhotos && state.isConsumed)
                && (isSeen
                    || preRolls[picture] != nil && Role.allCases.contains { state.isOpen($0) })
        }
        guard state.takesLivePhotos || wanted.contains(picture) else { return false }
        // The frame rate is known once the camera delivers.
        return state.cameras[role].mode != nil || preRolls[picture] != nil && state.isOpen(role)
    }

    /// Notes what failed to start, and tries again after a while.
    private func fail(_ what: String, _ reason: String) {
        isPausing = true
        retry?.arm(after: Self.pause)
        Log.record.warning("\(what)", metadata: ["reason": "\(reason)"])
    }

    private func keep(_ picture: RecordedPicture) {
        let rate = picture.role.flatMap { daemon.state.cameras[$0].mode?.knownRate }
        let buffer = PreRollBuffer()
        let plan = Recorder.Plan(
            picture.rawValue,
            on: buffer,
            rate: rate ?? Double(daemon.configuration.output.frameRate)
        )
        let mailbox = loop.mailbox
        do throws(SystemError) {
            let recorder = try Recorder(plan) { [weak self] report in
                mailbox.onMain { self?.handle(report) }
            }
            threads += 1
            preRolls[picture] = PreRoll(buffer: buffer, recorder: recorder)
            daemon.record(picture, recorder, for: .livePhotos)
        } catch {
            fail("no live photos", "\(error)")
        }
    }

    private func forget(_ picture: RecordedPicture, _ preRoll: PreRoll) {
        daemon.record(picture, nil, for: .livePhotos)
        preRoll.recorder.end(at: MonotonicClock.now)
        preRoll.recorder.leave()
    }

    private func handle(_ report: Recorder.Report) {
        switch report {
        case .failed(let error):
            Log.record.warning("no live photos", metadata: ["reason": "\(error)"])
        case .ended: threads -= 1
        default: break
        }
    }

    // MARK: Sound

    private func listen(_ isWanted: Bool) {
        if !isWanted, let microphone {
            microphone.end(at: MonotonicClock.now)
            microphone.leave()
            self.microphone = nil
            sound = nil
        }
        guard isWanted, microphone == nil, !isPausing else { return }
        let mailbox = loop.mailbox
        do throws(SystemError) {
            let microphone = try Microphone(
                daemon.configuration.capture.microphone,
                timed: daemon.threads.timed
            ) { [weak self] report in
                mailbox.onMain { self?.handle(report) }
            }
            // All its sound is encoded.
            microphone.begin(at: MonotonicClock.now)
            threads += 1
            self.microphone = microphone
        } catch {
            fail("no sound", "\(error)")
        }
    }

    private func handle(_ report: Microphone.Report) {
        switch report {
        case .ready(let track): if microphone != nil { sound = track }
        case .silent(let reason): Log.record.notice("no sound", metadata: ["reason": "\(reason)"])
        case .level: break  // Nobody measures here.
        case .packet(let packet):
            for preRoll in preRolls.values { preRoll.recorder.take(sound: packet) }
        case .ended: threads -= 1
        }
    }
}

extension State {
    /// Returns `true` if a camera is open, or about to be.
    fileprivate func isOpen(_ role: Role) -> Bool {
        ![.closed, .unavailable].contains(cameras[role].phase)
    }
}
