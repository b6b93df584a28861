package import Frames
import Glibc
package import Platform
import Synchronization

/// The sound of a recording, encoded on a thread of its own, `sound`.
package final class Microphone: Sendable {
    /// An event of the thread.
    package enum Report: Sendable {
        /// Sound arrives; it will be encoded as this track.
        case ready(Track)
        /// There is no sound, or no sound any more, for this reason.
        case silent(String)
        /// A packet of encoded sound.
        case packet(Packet)
        /// The loudest sample of the last moment, 0 … 1; reported while somebody measures.
        case level(Double)
        /// All packets up to the end were reported; the thread ends.
        case ended
    }

    /// The part of the sound that the recording wants.
    private struct Span {
        var start: Timestamp?
        var end: Timestamp?
        var isPaused = false
        var pauses = Pauses()
        var isMeasured = false
    }

    private let span = Mutex(Span())
    private let name: String?
    private let remote: String?
    private let isPatient: Bool
    private let report: @Sendable (Report) -> Void
    private let worker: Worker

    /// The time within which sound must arrive.
    private static let timeout = Timestamp(seconds: 1.5)
    /// The time that the end waits for sound still on its way.
    private static let endTimeout = Timestamp(seconds: 0.3)
    /// The time from one level to the next.
    private static let levelInterval = Timestamp(seconds: 0.1)

    /// Starts to listen to the node called `name`, if it is there, or else to PipeWire's default
    /// source, at the instance `remote` or the user's own. `report` is called on
    /// the thread, which is one of `timed`. If it `isPatient`, it goes on waiting for a first sound
    /// after it has reported that there is none; for a lost microphone it waits in any case.
    ///
    /// - Throws: `SystemError` if the system is out of threads or descriptors.
    package init(
        _ name: String? = nil,
        remote: String? = nil,
        timed: RealTimeThreads? = nil,
        isPatient: Bool = false,
        report: @escaping @Sendable (Report) -> Void
    ) throws(SystemError) {
        self.name = name
        self.remote = remote
        self.isPatient = isPatient
        self.report = report
        worker = try Worker(name: "sound")
        try worker.start(timed: timed) { [self] in run() }
    }

    /// Returns the track that sound will be encoded as. Loads the encoder, which takes a moment.
    ///
    /// - Throws: `unsupported` without an encoder for sound.
    package static func track() throws(MediaError) -> Track {
        try SoundEncoder(
            rate: SoundSource.rate,
            channels: SoundSource.channels,
            start: .zero
        ).track
    }

    /// Encodes sound from `time` on.
    package func begin(at time: Timestamp) { span.withLock { $0.start = time } }

    /// Releases the microphone for a while, or takes it again. The gap is silent in the recording.
    package func pause(_ isPaused: Bool) { span.withLock { $0.isPaused = isPaused } }

    /// Leaves these times out of the sound, and of the times of packets. The microphone stays open.
    package func leaveOut(_ pauses: Pauses) { span.withLock { $0.pauses = pauses } }

    /// Reports the level of the sound ten times a second, or no longer.
    package func measure(_ isMeasured: Bool) { span.withLock { $0.isMeasured = isMeasured } }

    /// Encodes the sound up to `time`, then ends. Does not wait. The first call counts.
    package func end(at time: Timestamp) { span.withLock { $0.end = $0.end ?? time } }

    /// Waits until the thread has ended, at most until `deadline`, and returns `true` if it has. To
    /// be called after `end(at:)`.
    package func wait(until deadline: Timestamp) -> Bool { worker.join(until: deadline) }

    /// Lets the thread end by itself. To be called after `end(at:)`.
    package func leave() { worker.leave() }

    // MARK: On the thread

    private func run() {
        var encoder: SoundEncoder?
        do throws(SystemError) {
            let source = try SoundSource(name, remote: remote)
            try listen(to: source, with: &encoder)
        } catch {
            report(.silent("\(error)"))
        }
        report(.ended)
    }

    private func listen(
        to source: SoundSource,
        with encoder: inout SoundEncoder?
    ) throws(SystemError) {
        var deadline = MonotonicClock.now + Self.timeout
        var (isHeard, wasHeard, isMissed, isPaused) = (false, false, false, false)
        var recordedUntil = Timestamp.zero
        var (loudest, levelled): (Float, Timestamp) = (0, .zero)
        while true {
            source.iterate(20)
            let span = span.withLock { $0 }
            if let end = span.end,
                encoder == nil || recordedUntil >= end || MonotonicClock.now > end + Self.endTimeout
            {
                send { () throws(MediaError) in try encoder?.finish() ?? [] }
                return
            }
            if span.isPaused != isPaused {
                isPaused = span.isPaused
                source.setActive(!isPaused)
                deadline = MonotonicClock.now + Self.timeout
            }
            while let block = source.next() {
                guard !isPaused else { continue }
                deadline = MonotonicClock.now + Self.timeout
                if span.isMeasured {
                    loudest = block.samples.reduce(loudest) { max($0, abs($1)) }
                }
                if !isHeard {
                    guard announce() else { return }
                    (isHeard, wasHeard, isMissed) = (true, true, false)
                }
                guard let start = span.start else { continue }
                if encoder == nil { encoder = try? makeEncoder(start) }
                let length = Timestamp(seconds: Double(block.count) / Double(SoundSource.rate))
                recordedUntil = block.time + length
                guard recordedUntil > start, !span.pauses.contains(block.time) else { continue }
                let time = span.pauses.place(of: block.time)
                let current = encoder
                send { () throws(MediaError) in
                    try current?.encode(block.samples, at: time) ?? []
                }
            }
            if span.isMeasured, MonotonicClock.now - levelled >= Self.levelInterval {
                report(.level(loudest.isFinite ? min(1, Double(loudest)) : 0))
                (loudest, levelled) = (0, MonotonicClock.now)
            }
            if !isPaused, !isMissed, MonotonicClock.now > deadline {
                report(.silent(wasHeard ? "the microphone is gone" : "there is no microphone"))
                guard isPatient || wasHeard else { return }
                (isHeard, isMissed) = (false, true)
            }
        }
    }

    private func makeEncoder(_ start: Timestamp) throws(MediaError) -> SoundEncoder {
        try SoundEncoder(rate: SoundSource.rate, channels: SoundSource.channels, start: start)
    }

    /// Reports the track to come, and returns `true` if there is an encoder for it.
    private func announce() -> Bool {
        do throws(MediaError) {
            report(.ready(try makeEncoder(MonotonicClock.now).track))
            return true
        } catch {
            report(.silent("\(error)"))
            return false
        }
    }

    private func send(_ code: () throws(MediaError) -> [Packet]) {
        // A block that fails is left out: a later one may succeed, and the resampler fills the gap.
        guard let packets = try? code() else { return }
        for packet in packets { report(.packet(packet)) }
    }
}
