import CPipeWire
import Frames
import Glibc
import Platform
import Synchronization

/// A block of sound from PipeWire.
struct SoundBlock {
    /// The time of the first sample.
    let time: Timestamp
    /// The number of moments, each a sample of every channel.
    let count: Int
    /// The interleaved samples, valid until the next call of `next()`.
    let samples: UnsafeBufferPointer<Float>
}

/// PipeWire's default source, recorded as by any app: other listeners are not disturbed.
///
/// - Context: Bound to its thread, except for `process`, which PipeWire's own thread calls.
final class SoundSource {
    /// The sample rate, in samples per second and channel.
    static let rate = 48000
    /// The number of channels; a mono microphone is in both.
    static let channels = 2

    // In order of creation, destroyed in reverse.
    private let loop: UnsafeMutablePointer<pw_loop>
    private let context: OpaquePointer
    private let core: OpaquePointer
    private let stream: OpaquePointer
    private let listeners = UnsafeMutablePointer<cpw_listeners>.allocate(capacity: 1)
    private let blocks = SoundBlocks()

    /// PipeWire's library, initialised once for the life of the process.
    private static let library: Void = pw_init(nil, nil)

    /// Connects to the PipeWire instance `remote`, or the user's own, and requests sound without
    /// waiting for it.
    ///
    /// - Throws: `SystemError` without PipeWire.
    init(remote: String?) throws(SystemError) {
        _ = Self.library
        listeners.initialize(to: cpw_listeners())
        var undo: [() -> Void] = []
        defer { for step in undo.reversed() { step() } }
        let listeners = listeners
        undo.append { listeners.deallocate() }
        guard let loop = pw_loop_new(nil) else { throw .last("pw_loop_new") }
        cpw_loop_enter(loop)
        undo.append {
            cpw_loop_leave(loop)
            pw_loop_destroy(loop)
        }
        guard let context = pw_context_new(loop, nil, 0) else { throw .last("pw_context_new") }
        undo.append { pw_context_destroy(context) }
        var named = [PW_KEY_APP_NAME: "DualCam"]
        named[PW_KEY_REMOTE_NAME] = remote
        let client = Self.properties(named)
        guard let core = pw_context_connect(context, client, 0) else {
            throw .last("pw_context_connect")
        }
        undo.append { pw_core_disconnect(core) }
        let properties = Self.properties([
            PW_KEY_MEDIA_TYPE: "Audio", PW_KEY_MEDIA_CATEGORY: "Capture",
            PW_KEY_MEDIA_ROLE: "Production", PW_KEY_NODE_NAME: "dualcam-sound",
            PW_KEY_NODE_DESCRIPTION: "DualCam recording",
        ])
        guard let stream = pw_stream_new(core, "DualCam recording", properties) else {
            throw .last("pw_stream_new")
        }
        self.loop = loop
        self.context = context
        self.core = core
        self.stream = stream
        undo = []  // `deinit` takes over.

        listeners.pointee.stream.process = { context in
            guard let context else { return }
            Unmanaged<SoundBlocks>.fromOpaque(context).takeUnretainedValue().process()
        }
        blocks.stream = stream
        // Not retained: the stream is destroyed before its blocks.
        cpw_listen_stream(listeners, stream, Unmanaged.passUnretained(blocks).toOpaque())
        try withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) {
            memory throws(SystemError) in
            var formats: [UnsafePointer<spa_pod>?] = [
                cpw_build_sound_format(
                    memory.baseAddress,
                    UInt32(memory.count),
                    UInt32(Self.rate),
                    UInt32(Self.channels)
                )
            ]
            let flags =
                PW_STREAM_FLAG_AUTOCONNECT.rawValue | PW_STREAM_FLAG_MAP_BUFFERS.rawValue
                | PW_STREAM_FLAG_RT_PROCESS.rawValue
            let result = pw_stream_connect(
                stream,
                SPA_DIRECTION_INPUT,
                SPA_ID_INVALID,
                pw_stream_flags(rawValue: flags),
                &formats,
                UInt32(formats.count)
            )
            guard result >= 0 else { throw SystemError("pw_stream_connect", errno: -result) }
        }
    }

    deinit {
        pw_stream_disconnect(stream)
        cpw_unlisten(listeners)
        pw_stream_destroy(stream)
        pw_core_disconnect(core)
        pw_context_destroy(context)
        cpw_loop_leave(loop)
        pw_loop_destroy(loop)
        listeners.deallocate()
    }

    private static func properties(
        _ values: [String: String]
    ) -> UnsafeMutablePointer<pw_properties>? {
        var empty = spa_dict()
        let properties = pw_properties_new_dict(&empty)
        for (key, value) in values { pw_properties_set(properties, key, value) }
        return properties
    }

    /// Handles PipeWire's events for at most `milliseconds`.
    func iterate(_ milliseconds: CInt) { _ = cpw_loop_iterate(loop, milliseconds) }

    /// Starts or stops the sound with pw_stream_set_active(). While stopped, PipeWire releases the
    /// microphone if no other app has it.
    func setActive(_ isActive: Bool) { pw_stream_set_active(stream, isActive) }

    /// Returns the next block of sound, or `nil` if none has arrived.
    func next() -> SoundBlock? { blocks.next() }
}

/// The sound on its way from PipeWire's thread to the source's: a ring of which each side moves its
/// own end.
///
/// - Context: `process` runs on PipeWire's thread, everything else on the source's. A block is
///   complete before `written` counts it, and read before `taken` does.
private final class SoundBlocks {
    /// The capacity in blocks: more than a second at PipeWire's sizes.
    private static let count = 128
    /// The most samples of a block; PipeWire's largest period is 8192 moments.
    private static let size = 8192 * SoundSource.channels

    /// The stream, set before it is connected, and so before PipeWire's thread reads it.
    var stream: OpaquePointer?
    private let samples = UnsafeMutablePointer<Float>.allocate(capacity: count * size)
    private let times = UnsafeMutablePointer<(Int64, Int)>.allocate(capacity: count)
    private let written = Atomic(0)
    private let taken = Atomic(0)
    /// `true` while the last block returned is not yet marked as taken.
    private var isHolding = false

    deinit {
        samples.deallocate()
        times.deallocate()
    }

    /// Copies PipeWire's current buffer. Neither waits nor allocates.
    ///
    /// - Context: PipeWire's real-time thread.
    func process() {
        guard let stream, let buffer = pw_stream_dequeue_buffer(stream) else { return }
        defer { pw_stream_queue_buffer(stream, buffer) }
        guard let content = buffer.pointee.buffer, content.pointee.n_datas > 0,
            let plane = content.pointee.datas, let base = plane.pointee.data,
            let chunk = plane.pointee.chunk
        else { return }
        let offset = min(Int(chunk.pointee.offset), Int(plane.pointee.maxsize))
        let bytes = min(Int(chunk.pointee.size), Int(plane.pointee.maxsize) - offset)
        let count = min(bytes / MemoryLayout<Float>.size, Self.size)
        let index = written.load(ordering: .relaxed)
        guard count > 0, index - taken.load(ordering: .acquiring) < Self.count else { return }
        var time = pw_time()
        pw_stream_get_time_n(stream, &time, MemoryLayout<pw_time>.size)
        let slot = index % Self.count
        memcpy(samples + slot * Self.size, base + offset, count * MemoryLayout<Float>.size)
        // The cycle began when the last sample had arrived; `delay` is the time that it took from
        // the source.
        let rate = Int64(SoundSource.rate)
        let length = Int64(count / SoundSource.channels)
        let delay =
            time.rate.denom > 0
            ? (time.delay + Int64(time.buffered)) * 1_000_000_000 * Int64(time.rate.num)
                / Int64(time.rate.denom)
            : 0
        times[slot] = (time.now - delay - length * 1_000_000_000 / rate, count)
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
            time: Timestamp(nanoseconds: times[slot].0),
            count: times[slot].1 / SoundSource.channels,
            samples: UnsafeBufferPointer(start: samples + slot * Self.size, count: times[slot].1)
        )
    }
}
