package import Frames
import Glibc
package import Platform
import Synchronization

/// The sound of a recording: PipeWire's default source, coded by a thread of its own, called `sound`.
package final class Microphone: Sendable {
    /// What the thread tells.
    package enum Report: Sendable {
        /// There is sound, which is coded as this track.
        case ready(Track)
        /// There is none, and why.
        case silent(String)
        /// Coded sound.
        case packet(Packet)
        /// All up to the end has been told; the thread ends.
        case ended
    }

    /// What is wanted of the sound.
    private struct Span {
        var start: Timestamp?
        var end: Timestamp?
        var isPaused = false
    }

    private let span = Mutex(Span())
    private let remote: String?
    private let report: @Sendable (Report) -> Void
    private let thread = Mutex<Thread?>(nil)

    /// How long a microphone may take to be heard.
    private static let timeout = Timestamp(seconds: 1.5)
    /// How long the end waits for sound that is on its way.
    private static let endTimeout = Timestamp(seconds: 0.3)

    /// Starts to listen, at the PipeWire called `remote` or the user's, and tells `report`, on the thread, what
    /// comes of it. Throws when the system has no thread to give.
    package init(
        remote: String? = nil,
        report: @escaping @Sendable (Report) -> Void
    ) throws(SystemError) {
        self.remote = remote
        self.report = report
        let started = try Thread(name: "sound") { [self] in run() }
        thread.withLock { $0 = started }
    }

    /// Has sound coded from `time` on.
    package func begin(at time: Timestamp) { span.withLock { $0.start = time } }

    /// Lets go of the microphone for a while, or takes it again; the gap is silent in the recording.
    package func pause(_ isPaused: Bool) { span.withLock { $0.isPaused = isPaused } }

    /// Codes what there is up to `time`, and ends. Does not wait.
    package func end(at time: Timestamp) { span.withLock { $0.end = $0.end ?? time } }

    /// Waits for the end of the thread, at most until `deadline`; whether it has ended. After `end(at:)`.
    package func wait(until deadline: Timestamp) -> Bool { thread.join(until: deadline) }

    /// Lets the thread end by itself. After `end(at:)`.
    package func leave() { thread.leave() }

    // MARK: The thread's own

    private func run() {
        var encoder: SoundEncoder?
        do throws(SystemError) {
            let source = try SoundSource(remote: remote)
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
        var isHeard = false
        var isPaused = false
        var recordedUntil = Timestamp.zero
        while true {
            source.iterate(20)
            let span = span.withLock { $0 }
            if let end = span.end,
                encoder == nil || recordedUntil >= end || MonotonicClock.now > end + Self.endTimeout
            {
                send { () throws(RecordingError) in try encoder?.finish() ?? [] }
                return
            }
            if span.isPaused != isPaused {
                isPaused = span.isPaused
                source.setActive(!isPaused)
                deadline = MonotonicClock.now + Self.timeout
            }
            while let block = source.next() {
                guard !isPaused else { continue }
                if !isHeard {
                    guard announce() else { return }
                    isHeard = true
                }
                guard let start = span.start else { continue }
                if encoder == nil { encoder = try? makeEncoder(start) }
                let length = Timestamp(seconds: Double(block.count) / Double(SoundSource.rate))
                recordedUntil = block.time + length
                guard recordedUntil > start else { continue }
                let current = encoder
                send { () throws(RecordingError) in
                    try current?.encode(block.samples, at: block.time) ?? []
                }
            }
            if !isHeard, !isPaused, MonotonicClock.now > deadline {
                return report(.silent("PipeWire has no microphone"))
            }
        }
    }

    private func makeEncoder(_ start: Timestamp) throws(RecordingError) -> SoundEncoder {
        try SoundEncoder(rate: SoundSource.rate, channels: SoundSource.channels, start: start)
    }

    /// Tells of the track that there will be; whether there is an encoder for it.
    private func announce() -> Bool {
        do throws(RecordingError) {
            report(.ready(try makeEncoder(MonotonicClock.now).track))
            return true
        } catch {
            report(.silent("\(error)"))
            return false
        }
    }

    private func send(_ code: () throws(RecordingError) -> [Packet]) {
        // What does not code now may do so later; the resampler fills the gap.
        guard let packets = try? code() else { return }
        for packet in packets { report(.packet(packet)) }
    }
}
