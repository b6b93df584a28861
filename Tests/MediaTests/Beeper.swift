import CPipeWire
import Frames
import Glibc
import Platform
import Synchronization
import TestSupport

/// A microphone with a beep of 50 ms at each whole second of CLOCK_MONOTONIC, as PipeWire's clock
/// has it.
final class Beeper {
    private let loop: OpaquePointer
    private let stream: OpaquePointer
    private let events = UnsafeMutablePointer<pw_stream_events>.allocate(capacity: 1)
    private let context = UnsafeMutablePointer<Beeping>.allocate(capacity: 1)

    private struct Beeping { var stream: OpaquePointer? }

    private static let rate = 48000.0

    /// Creates a source in `session`, with PipeWire's own driver.
    init(in session: PrivateSession) throws {
        pw_init(nil, nil)
        guard let loop = pw_thread_loop_new("beeper", nil) else { throw SystemError.last("loop") }
        self.loop = loop
        var empty = spa_dict()
        let properties = pw_properties_new_dict(&empty)
        for (key, value) in [
            (PW_KEY_MEDIA_CLASS, "Audio/Source"), (PW_KEY_MEDIA_TYPE, "Audio"),
            (PW_KEY_NODE_NAME, "beeper"), (PW_KEY_NODE_DESCRIPTION, "Beeper"),
            (PW_KEY_REMOTE_NAME, session.socket), (PW_KEY_PRIORITY_SESSION, "2000"),
        ] {
            pw_properties_set(properties, key, value)
        }
        context.initialize(to: Beeping())
        events.initialize(to: pw_stream_events())
        events.pointee.version = UInt32(PW_VERSION_STREAM_EVENTS)
        events.pointee.process = { context in
            guard let context else { return }
            Beeper.beep(context.assumingMemoryBound(to: Beeping.self).pointee.stream)
        }
        let made = pw_stream_new_simple(
            pw_thread_loop_get_loop(loop),
            "beeper",
            properties,
            events,
            context
        )
        guard let made else { throw SystemError.last("pw_stream_new_simple") }
        stream = made
        context.pointee.stream = made
        let result = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { memory in
            var formats: [UnsafePointer<spa_pod>?] = [
                cpw_build_sound_format(memory.baseAddress, UInt32(memory.count), 48000, 1)
            ]
            let flags =
                PW_STREAM_FLAG_MAP_BUFFERS.rawValue | PW_STREAM_FLAG_RT_PROCESS.rawValue
            return pw_stream_connect(
                made,
                SPA_DIRECTION_OUTPUT,
                SPA_ID_INVALID,
                pw_stream_flags(rawValue: flags),
                &formats,
                1
            )
        }
        guard result >= 0, pw_thread_loop_start(loop) >= 0 else {
            throw SystemError("pw_stream_connect", errno: -result)
        }
    }

    deinit {
        pw_thread_loop_stop(loop)
        pw_stream_destroy(stream)
        pw_thread_loop_destroy(loop)
        events.deallocate()
        context.deallocate()
    }

    /// Fills the buffer of one cycle with the sound that a microphone would have recorded up to its
    /// beginning.
    private static func beep(_ stream: OpaquePointer?) {
        guard let stream, let buffer = pw_stream_dequeue_buffer(stream) else { return }
        defer { pw_stream_queue_buffer(stream, buffer) }
        guard let plane = buffer.pointee.buffer?.pointee.datas, let base = plane.pointee.data,
            let chunk = plane.pointee.chunk
        else { return }
        let room = Int(plane.pointee.maxsize) / 4
        let asked = Int(buffer.pointee.requested)
        let count = asked > 0 ? min(asked, room) : min(1024, room)
        var time = pw_time()
        pw_stream_get_time_n(stream, &time, MemoryLayout<pw_time>.size)
        let first = Double(time.now) / 1e9 - Double(count) / rate
        let samples = base.assumingMemoryBound(to: Float.self)
        for index in 0..<count {
            let moment = first + Double(index) / rate
            let part = moment - moment.rounded(.down)
            samples[index] = part < 0.05 ? Float(sin(2 * .pi * 1000 * part)) * 0.8 : 0
        }
        chunk.pointee.offset = 0
        chunk.pointee.stride = 4
        chunk.pointee.size = UInt32(4 * count)
    }
}
