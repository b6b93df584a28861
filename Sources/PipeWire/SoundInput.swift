import CPipeWire
package import Frames
import Glibc
package import Platform

/// The sound of a microphone, recorded as by any app: other listeners are not
/// disturbed. Bound to its connection's thread, but the blocks come on PipeWire's own.
package final class SoundInput {
    /// Sound that has just arrived.
    package struct Block {
        /// The time of the first sample, within 10 s of now.
        package let time: Timestamp
        /// The interleaved samples, any bits; whole moments of all channels. Valid during the call.
        package let samples: UnsafeRawBufferPointer
    }

    private let stream: Stream
    private let receiver: Receiver

    /// Requests the sound in interleaved floats, `rate` samples a second of each of `channels`,
    /// without waiting for it. Programs see the stream as the node `node`, people as `name`.
    /// It comes from the node called `target`, if there is one, or else from the default source.
    /// `receive` is called for each block on PipeWire's real-time thread: it must neither wait nor
    /// allocate. Throws the errno of pw_stream_new() or pw_stream_connect().
    package init(
        as name: String,
        node: String,
        of target: String?,
        rate: Int,
        channels: Int,
        on connection: PipeWireConnection,
        receive: @escaping @Sendable (Block) -> Void
    ) throws(SystemError) {
        var properties = [
            PW_KEY_MEDIA_TYPE: "Audio", PW_KEY_MEDIA_CATEGORY: "Capture",
            PW_KEY_MEDIA_ROLE: "Production", PW_KEY_NODE_NAME: node, PW_KEY_NODE_DESCRIPTION: name,
        ]
        properties[PW_KEY_TARGET_OBJECT] = target
        stream = try Stream(name, properties, on: connection)
        receiver = Receiver(stream.handle, rate: rate, channels: channels, receive)
        stream.events.process = { context in
            let receiver: Receiver? = listener(context)
            receiver?.process()
        }
        stream.listen(receiver)
        try stream.connect(
            SPA_DIRECTION_INPUT,
            [PW_STREAM_FLAG_AUTOCONNECT, PW_STREAM_FLAG_MAP_BUFFERS, PW_STREAM_FLAG_RT_PROCESS],
            Pods { $0.soundFormat(rate: rate, channels: channels) }
        )
    }

    deinit {
        // Ends the calls on PipeWire's thread before their receiver goes.
        pw_stream_disconnect(stream.handle)
    }

    /// Starts or stops the sound with pw_stream_set_active(). While stopped, PipeWire releases the
    /// microphone if no other app has it.
    package func setActive(_ isActive: Bool) { pw_stream_set_active(stream.handle, isActive) }
}

/// The part of the input that PipeWire's real-time thread uses.
private final class Receiver {
    private let stream: OpaquePointer
    private let rate: Int
    private let channels: Int
    private let receive: @Sendable (SoundInput.Block) -> Void

    init(
        _ stream: OpaquePointer,
        rate: Int,
        channels: Int,
        _ receive: @escaping @Sendable (SoundInput.Block) -> Void
    ) {
        self.stream = stream
        self.rate = rate
        self.channels = channels
        self.receive = receive
    }

    /// Passes PipeWire's current buffer on. Neither waits nor allocates.
    func process() {
        guard let buffer = pw_stream_dequeue_buffer(stream) else { return }
        defer { pw_stream_queue_buffer(stream, buffer) }
        guard let content = buffer.pointee.buffer, content.pointee.n_datas > 0,
            let plane = content.pointee.datas?.pointee, let base = plane.data,
            let chunk = plane.chunk?.pointee
        else { return }
        let offset = min(Int(chunk.offset), Int(plane.maxsize))
        let bytes = min(Int(chunk.size), Int(plane.maxsize) - offset)
        let moments = bytes / (MemoryLayout<Float>.size * channels)
        guard moments > 0 else { return }
        var time = pw_time()
        pw_stream_get_time_n(stream, &time, MemoryLayout<pw_time>.size)
        receive(
            SoundInput.Block(
                time: soundStart(
                    cycle: time.now,
                    delay: Double(time.delay) + Double(time.buffered),
                    tick: time.rate,
                    length: Timestamp(seconds: Double(moments) / Double(rate)),
                    now: MonotonicClock.now
                ),
                samples: UnsafeRawBufferPointer(
                    start: base + offset,
                    count: moments * MemoryLayout<Float>.size * channels
                )
            )
        )
    }
}

/// Returns the time of the first sample of sound that takes `length`.
///
/// The cycle began at `cycle` nanoseconds, when the last sample had arrived; `delay` is the time
/// that it took from the source, in ticks of `tick` seconds. All three are what the graph's driver
/// wrote, which is any program with a source: where they do not give a time of the last 10 s, the
/// sound has arrived just `now`.
func soundStart(
    cycle: Int64,
    delay: Double,
    tick: spa_fraction,
    length: Timestamp,
    now: Timestamp
) -> Timestamp {
    let nanoseconds = delay * 1e9 * Double(tick.num) / Double(tick.denom)
    // Not so for what is no number, either.
    let wait = abs(nanoseconds) <= 1e10 ? Int64(nanoseconds) : 0
    let (start, overflow) = cycle.subtractingReportingOverflow(wait + length.nanoseconds)
    let isOurs = !overflow && abs(Double(start) - Double(now.nanoseconds)) <= 1e10
    return isOurs ? Timestamp(nanoseconds: start) : now - length
}
