import Frames
import Glibc
import PipeWire
import Platform
import Synchronization

/// A block of sound from PipeWire.
struct SoundBlock {
    let time: Timestamp
    /// The number of moments, each a sample of every channel.
    let count: Int
    /// The interleaved samples, valid until the next call of `next()`.
    let samples: UnsafeBufferPointer<Float>
}

/// A microphone.
///
/// - Context: bound to its thread.
final class SoundSource {
    /// The sample rate, in samples per second and channel.
    static let rate = 48000
    /// The number of channels; a mono microphone is in both.
    static let channels = 2

    private let connection: PipeWireConnection
    private let input: SoundInput
    private let blocks = SoundBlocks()

    /// Connects to the PipeWire instance `remote`, or the user's own, and requests the sound of
    /// `microphone`, a node, or else of the default source, without waiting for it.
    ///
    /// - Throws: `SystemError` without PipeWire.
    init(_ microphone: String?, remote: String?) throws(SystemError) {
        connection = try PipeWireConnection(
            remote: remote,
            client: ["application.name": "DualCam"]
        )
        input = try SoundInput(
            as: "DualCam recording",
            node: "dualcam-sound",
            of: microphone,
            rate: Self.rate,
            channels: Self.channels,
            on: connection
        ) { [blocks] in blocks.put($0) }
    }

    /// Handles PipeWire's events for at most `milliseconds`.
    func iterate(_ milliseconds: CInt) { connection.iterate(milliseconds: milliseconds) }

    /// Starts or stops the sound. While stopped, PipeWire releases the microphone if no other app
    /// has it.
    func setActive(_ isActive: Bool) { input.setActive(isActive) }

    /// Returns the next block of sound, or `nil` if none has arrived.
    func next() -> SoundBlock? { blocks.next() }
}

/// The sound on its way from PipeWire's thread to the source's: a ring of which each side moves its
/// own end.
///
/// - Context: `put` runs on PipeWire's thread, everything else on the source's. A block is
///   complete before `written` counts it, and read before `taken` does.
private final class SoundBlocks: @unchecked Sendable {
    // Unchecked: the memory is shared as described above.

    /// The capacity in blocks: more than a second at PipeWire's sizes.
    private static let count = 128
    /// The most samples of a block; PipeWire's largest period is 8192 moments.
    private static let size = 8192 * SoundSource.channels

    private let samples = UnsafeMutablePointer<Float>.allocate(capacity: count * size)
    private let times = UnsafeMutablePointer<(Timestamp, Int)>.allocate(capacity: count)
    private let written = Atomic(0)
    private let taken = Atomic(0)
    /// `true` while the last block returned is not yet marked as taken.
    private var isHolding = false

    deinit {
        samples.deallocate()
        times.deallocate()
    }

    /// Copies `block`, or drops it if there is no room. Neither waits nor allocates.
    ///
    /// - Context: PipeWire's real-time thread.
    func put(_ block: SoundInput.Block) {
        let count = min(block.samples.count / MemoryLayout<Float>.size, Self.size)
        let index = written.load(ordering: .relaxed)
        guard let start = block.samples.baseAddress,
            index - taken.load(ordering: .acquiring) < Self.count
        else { return }
        let slot = index % Self.count
        memcpy(samples + slot * Self.size, start, count * MemoryLayout<Float>.size)
        times[slot] = (block.time, count)
        written.store(index + 1, ordering: .releasing)
    }

    /// Returns the next block.
    ///
    /// - Context: The source's thread.
    func next() -> SoundBlock? {
        var index = taken.load(ordering: .relaxed)
        if isHolding {
            index += 1
            taken.store(index, ordering: .releasing)
            isHolding = false
        }
        guard index < written.load(ordering: .acquiring) else { return nil }
        isHolding = true
        let slot = index % Self.count
        return SoundBlock(
            time: times[slot].0,
            count: times[slot].1 / SoundSource.channels,
            samples: UnsafeBufferPointer(start: samples + slot * Self.size, count: times[slot].1)
        )
    }
}
