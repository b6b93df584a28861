import CPipeWire
import Frames
import Glibc
import Platform
import Synchronization

/// A stretch of sound as PipeWire gave it.
struct SoundBlock {
    /// When its first sample was taken.
    let time: Timestamp
    /// How many moments it has, of all channels each.
    let count: Int
    /// Its samples, channels interleaved; valid until the next is asked for.
    let samples: UnsafeBufferPointer<Float>
}

/// PipeWire's default source, listened to as any app may. Others that listen are not disturbed.
///
/// - Context: bound to its thread, but for PipeWire's own, which calls `process`.
final class SoundSource {
    /// Samples a second, of each channel.
    static let rate = 48000
    /// Channels; a microphone with one is in both.
    static let channels = 2

    // In the order in which they are made; undone in reverse.
    private let loop: UnsafeMutablePointer<pw_loop>
    private let context: OpaquePointer
    private let core: OpaquePointer
    private let stream: OpaquePointer
    private let listeners = UnsafeMutablePointer<cpw_listeners>.allocate(capacity: 1)
    private let blocks = SoundBlocks()

    /// PipeWire's library, made ready once and for as long as we run.
    private static let library: Void = pw_init(nil, nil)

    /// Connects to the PipeWire called `remote`, or the user's, and asks for sound; does not wait for it. Throws
    /// when there is none.
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
        undo = []  // From here on `deinit` sees to it.

        listeners.pointee.stream.process = { context in
            guard let context else { return }
            Unmanaged<SoundBlocks>.fromOpaque(context).takeUnretainedValue().process()
        }
        blocks.stream = stream
        // Not retained: the stream is destroyed before its blocks go.
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

    /// Sees to what PipeWire has to say, for at most `milliseconds`.
    func iterate(_ milliseconds: CInt) { _ = cpw_loop_iterate(loop, milliseconds) }

    /// Whether sound is taken at all; while it is not, PipeWire lets go of the microphone if nobody else has it:
    /// pw_stream_set_active().
    func setActive(_ isActive: Bool) { pw_stream_set_active(stream, isActive) }

    /// The next stretch of sound; `nil` where there is none yet.
    func next() -> SoundBlock? { blocks.next() }
}

/// Sound on its way from PipeWire's thread to ours: a ring of which each side moves its own end.
///
/// - Context: `process` runs on PipeWire's thread, all else on the source's. They share a block through `written`
///   and `taken`: it is written before the one says so, and read before the other does.
private final class SoundBlocks {
    /// How many blocks there is room for: a second and more, at the sizes that PipeWire has.
    private static let count = 128
    /// The most samples of a block; PipeWire's largest period is 8192 moments.
    private static let size = 8192 * SoundSource.channels

    /// The stream; set before it is connected, and so before PipeWire's thread reads it.
    var stream: OpaquePointer?
    private let samples = UnsafeMutablePointer<Float>.allocate(capacity: count * size)
    private let times = UnsafeMutablePointer<(Int64, Int)>.allocate(capacity: count)
    private let written = Atomic(0)
    private let taken = Atomic(0)
    /// Whether the last block that was given is still to be marked as taken.
    private var isHolding = false

    deinit {
        samples.deallocate()
        times.deallocate()
    }

    /// Copies what PipeWire has. On its thread, in real time: neither waits nor allocates.
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
        // The cycle began when its last sample was there; `delay` is how long that took to come here.
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

    /// The next stretch. On the source's thread.
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
