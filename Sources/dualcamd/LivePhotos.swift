import DualCamCore
import Frames
import Logging
import Platform
import Recording

/// Keeps the last moments of what may be photographed while live photos are on and cameras are open, and makes
/// movies of them.
@MainActor
final class LivePhotos {
    /// Pictures whose live photos are being taken, also where live photos are off.
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
    /// How many threads there are, also of what ends by itself and of movies that are being written.
    private var threads = 0
    private var isEnding = false

    /// Follows what `daemon` does.
    init(_ daemon: Daemon, loop: EventLoop) {
        self.daemon = daemon
        self.loop = loop
        daemon.observers.append { [unowned self] in follow() }
    }

    /// The movie of a photograph of `picture` that is about to be taken; `nil` where nothing is kept of it.
    func clip(of picture: RecordedPicture) -> LivePhotoClip? {
        guard let buffer = preRolls[picture]?.buffer else { return nil }
        let turns = picture.role.map { daemon.state.cameras[$0].uprightTurns } ?? 0
        return buffer.clip(.init(picture.rawValue, rotation: 90 * turns, sound: sound))
    }

    /// Writes `clip`, which has come to its end, to `path`; `done` is called with what is wrong, if anything.
    func write(
        _ clip: LivePhotoClip,
        to path: String,
        done: @escaping @MainActor (RecordingError?) -> Void
    ) {
        let mailbox = loop.mailbox
        do throws(SystemError) {
            let writer = try Thread(name: "movie") {
                var failure: RecordingError?
                do throws(RecordingError) { try clip.write(to: path) } catch { failure = error }
                let found = failure
                mailbox.post {
                    MainActor.assumeIsolated {
                        self.threads -= 1
                        done(found)
                    }
                }
            }
            threads += 1
            writer.detach()
        } catch {
            done(RecordingError(.system, error.operation, error.subject, errno: error.errno))
        }
    }

    /// At the end of the daemon: waits until its movies are written, at most until `deadline`. False when a thread
    /// still runs.
    func end(by deadline: Timestamp) -> Bool {
        isEnding = true
        follow()
        // What ends has movies end, too, which are then written.
        while threads > 0, MonotonicClock.now < deadline { loop.runOnce(milliseconds: 20) }
        return threads == 0
    }

    // MARK: What is kept

    /// Keeps what is to be kept now, and forgets the rest.
    private func follow() {
        let state = daemon.state
        for picture in RecordedPicture.allCases {
            let isKept = keeps(picture, state)
            if isKept, preRolls[picture] == nil { keep(picture) }
            if !isKept, let preRoll = preRolls.removeValue(forKey: picture) {
                forget(picture, preRoll)
            }
        }
        listen(!preRolls.isEmpty && daemon.configuration.capture.recordsAudio)
    }

    /// Whether what comes of `picture` is kept.
    private func keeps(_ picture: RecordedPicture, _ state: State) -> Bool {
        guard !isEnding, state.suspensions.isEmpty else { return false }
        guard let role = picture.role else {
            let isSeen = Role.allCases.contains { state.cameras[$0].phase == .streaming }
            return (wanted.contains(picture) || state.takesLivePhotos && state.isConsumed)
                && (isSeen
                    || preRolls[picture] != nil && Role.allCases.contains { state.isOpen($0) })
        }
        guard state.takesLivePhotos || wanted.contains(picture) else { return false }
        // What rate it has is known once it delivers.
        return state.cameras[role].mode != nil || preRolls[picture] != nil && state.isOpen(role)
    }

    private func keep(_ picture: RecordedPicture) {
        let rate = picture.role.flatMap { daemon.state.cameras[$0].mode?.rate }
        let buffer = PreRollBuffer()
        let plan = Recorder.Plan(
            picture.rawValue,
            on: buffer,
            rate: rate ?? Double(daemon.configuration.output.frameRate)
        )
        let mailbox = loop.mailbox
        do throws(SystemError) {
            let recorder = try Recorder(plan) { [weak self] report in
                mailbox.post { MainActor.assumeIsolated { self?.handle(report) } }
            }
            threads += 1
            preRolls[picture] = PreRoll(buffer: buffer, recorder: recorder)
            daemon.record(picture, recorder, for: .livePhotos)
        } catch {
            Log.record.warning("no live photos", metadata: ["reason": "\(error)"])
        }
    }

    private func forget(_ picture: RecordedPicture, _ preRoll: PreRoll) {
        daemon.record(picture, nil, for: .livePhotos)
        preRoll.recorder.end(at: MonotonicClock.now)
        preRoll.recorder.leave()
    }

    private func handle(_ report: Recorder.Report) {
        switch report {
        case .failed(let error, _):
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
        guard isWanted, microphone == nil else { return }
        let mailbox = loop.mailbox
        do throws(SystemError) {
            let microphone = try Microphone { [weak self] report in
                mailbox.post { MainActor.assumeIsolated { self?.handle(report) } }
            }
            // All that it hears is coded.
            microphone.begin(at: MonotonicClock.now)
            threads += 1
            self.microphone = microphone
        } catch {
            Log.record.warning("no sound", metadata: ["reason": "\(error)"])
        }
    }

    private func handle(_ report: Microphone.Report) {
        switch report {
        case .ready(let track): if microphone != nil { sound = track }
        case .silent(let reason): Log.record.notice("no sound", metadata: ["reason": "\(reason)"])
        case .packet(let packet):
            for preRoll in preRolls.values { preRoll.recorder.take(sound: packet) }
        case .ended: threads -= 1
        }
    }
}

extension State {
    /// Whether a camera is open, or about to be.
    fileprivate func isOpen(_ role: Role) -> Bool {
        ![.closed, .unavailable].contains(cameras[role].phase)
    }
}
