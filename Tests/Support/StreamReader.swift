import CPipeWire
package import Frames
import Glibc
import Platform
import Synchronization

/// A test's own consumer of a node in a private session. Like an application it takes frames on a
/// thread of its own.
package final class StreamReader: @unchecked Sendable {
    // Unchecked: the C objects are created before the thread runs and destroyed after it ended, and
    // accessed only under the thread's lock between; the rest is behind `state`.

    /// A frame that arrived.
    package struct Frame: Sendable {
        /// The pixels, `stride` × height bytes; empty if the reader does not copy.
        package var bytes: [UInt8]
        /// The number of bytes from one row to the next.
        package var stride: Int
        /// The time of capture in the header; `nil` without a header.
        package var pts: Timestamp?
        /// The sequence number in the header.
        package var sequence: UInt64
        /// `true` if the frame is marked as discontinuous with the one before.
        package var isDiscontinuous: Bool
        /// The transform that a consumer should apply (0: none); `nil` without this metadata.
        package var transform: UInt32?
        /// The time of the graph's clock for the frame.
        package var clock: Timestamp
        /// The time of its arrival at the reader.
        package var arrival: Timestamp
    }

    /// The format that was negotiated.
    package struct Format: Hashable, Sendable {
        /// The size of the picture, in pixels.
        package var size: Size
        /// The frame rate in frames per second, as a fraction.
        package var rate: (numerator: Int, denominator: Int) { (Int(over), Int(under)) }
        /// The colour space; `nil` if none is given, or one other than BT.601 and BT.709.
        package var color: ColorSpace?
        fileprivate var over: UInt32
        fileprivate var under: UInt32
    }

    /// The way in which a reader treats its frames.
    package enum Manner: Hashable, Sendable {
        /// Returns each frame at once.
        case prompt
        /// Holds each frame for this many seconds.
        case slow(seconds: Double)
        /// Takes frames and never returns one.
        case hoarding
    }

    /// The kind of memory that a reader accepts.
    package enum Memory: Hashable, Sendable {
        /// Any kind.
        case any
        /// Pointers alone, and from a list of formats, as OBS asks for them.
        case pointer
    }

    private struct State {
        var frames: [Frame] = []
        var count = 0
        var format: Format?
        var linkTime = Timestamp.zero
        var failure: String?
        var manner: Manner
        var isStreaming = false
        var lastArrival: Timestamp?
        var longestWait = 0.0
    }

    private let state: Mutex<State>
    private let copies: Bool
    private let memory: Memory
    private let thread: OpaquePointer
    private let context: OpaquePointer
    private var stream: OpaquePointer?
    private var core: OpaquePointer?
    private let hook = UnsafeMutablePointer<spa_hook>.allocate(capacity: 1)
    private let events = UnsafeMutablePointer<pw_stream_events>.allocate(capacity: 1)

    /// Creates a reader of the node called `target` (or with that serial number), which the
    /// session's WirePlumber links as soon as both are there.
    ///
    /// `size` is the only one that it accepts; `nil` stands for any. With `copies` it keeps the
    /// bytes of frames, not only their metadata. It accepts no other `memory`.
    ///
    /// - Throws: An error when there is no PipeWire to connect to.
    package init(
        _ target: String,
        in session: PrivateSession,
        size: Size? = nil,
        manner: Manner = .prompt,
        memory: Memory = .any,
        copies: Bool = false
    ) throws {
        pw_init(nil, nil)
        state = Mutex(State(manner: manner))
        self.copies = copies
        self.memory = memory
        hook.initialize(to: spa_hook())
        events.initialize(to: pw_stream_events())
        guard let thread = pw_thread_loop_new("reader", nil),
            let context = pw_context_new(pw_thread_loop_get_loop(thread), nil, 0)
        else { preconditionFailure("no memory") }
        self.thread = thread
        self.context = context
        core = pw_context_connect(context, properties([PW_KEY_REMOTE_NAME: session.socket]), 0)
        guard let core else { throw SystemError.last("pw_context_connect", session.socket) }
        stream = pw_stream_new(
            core,
            "reader",
            properties([
                PW_KEY_MEDIA_TYPE: "Video",
                PW_KEY_MEDIA_CATEGORY: "Capture",
                PW_KEY_MEDIA_ROLE: "Camera",
                PW_KEY_TARGET_OBJECT: target,
            ])
        )
        guard let stream else { throw SystemError.last("pw_stream_new") }
        listen(to: stream)
        connect(stream, size: size)
        pw_thread_loop_start(thread)
    }

    deinit { close() }

    // MARK: Received frames

    /// The negotiated format; `nil` before.
    package var format: Format? { state.withLock { $0.format } }

    /// The time of the first link, at which a format was negotiated; zero before.
    package var linkTime: Timestamp { state.withLock { $0.linkTime } }

    /// The number of frames so far, whether taken by `next` or not.
    package var count: Int { state.withLock { $0.count } }

    /// The reason why the connection or the link failed; `nil` if it did not.
    package var failure: String? { state.withLock { $0.failure } }

    /// `true` while it is linked and running.
    package var isStreaming: Bool { state.withLock { $0.isStreaming } }

    /// Returns the oldest frame not taken yet, and waits for one if there is none.
    ///
    /// - Throws: `TimedOut` when none comes.
    package func next(within seconds: Double = 20) throws -> Frame {
        try eventually("a frame\(trouble)", within: seconds) {
            state.withLock { $0.frames.isEmpty ? nil : $0.frames.removeFirst() }
        }
    }

    /// Returns the next `count` frames, in order.
    ///
    /// - Throws: `TimedOut` when they take too long.
    package func frames(_ count: Int, within seconds: Double) throws -> [Frame] {
        try eventually(
            "\(count) frames, had \(state.withLock { $0.frames.count })\(trouble)",
            within: seconds
        ) {
            state.withLock { state in
                guard state.frames.count >= count else { return nil }
                defer { state.frames.removeFirst(count) }
                return Array(state.frames.prefix(count))
            }
        }
    }

    /// Returns the longest time in seconds between the arrivals of two frames, or from the last one
    /// until now, since the first frame or the last call of this method.
    package func longestWait() -> Double {
        state.withLock { state in
            let open = state.lastArrival.map { (MonotonicClock.now - $0).seconds } ?? 0
            defer { state.longestWait = 0 }
            return max(state.longestWait, open)
        }
    }

    /// Discards the frames not taken yet, so that the next one is new.
    package func flush() { state.withLock { $0.frames = [] } }

    private var trouble: String { failure.map { "; \($0)" } ?? "" }

    // MARK: Behaviour

    /// Sets the manner for the frames to come.
    package func behave(_ manner: Manner) { state.withLock { $0.manner = manner } }

    /// Stops or resumes reading without disconnecting, as a muted application does.
    package func setActive(_ isActive: Bool) {
        pw_thread_loop_lock(thread)
        if let stream { pw_stream_set_active(stream, isActive) }
        pw_thread_loop_unlock(thread)
    }

    /// Disconnects. Harmless when called twice.
    package func close() {
        guard let stream, let core else { return }
        pw_thread_loop_stop(thread)
        spa_hook_remove(hook)
        pw_stream_destroy(stream)
        pw_core_disconnect(core)
        pw_context_destroy(context)
        pw_thread_loop_destroy(thread)
        hook.deallocate()
        events.deallocate()
        self.stream = nil
        self.core = nil
    }

    // MARK: PipeWire

    private func listen(to stream: OpaquePointer) {
        events.pointee.version = UInt32(PW_VERSION_STREAM_EVENTS)
        events.pointee.state_changed = { context, _, new, error in
            StreamReader.at(context)?.state.withLock { state in
                state.isStreaming = new == PW_STREAM_STATE_STREAMING
                if new == PW_STREAM_STATE_ERROR || new == PW_STREAM_STATE_UNCONNECTED {
                    state.failure = error.map { String(cString: $0) } ?? "disconnected"
                }
            }
        }
        events.pointee.param_changed = { context, id, parameter in
            guard id == SPA_PARAM_Format.rawValue, let parameter else { return }
            StreamReader.at(context)?.formatChanged(parameter)
        }
        events.pointee.process = { StreamReader.at($0)?.take() }
        // Not retained: `close` stops the thread that calls it.
        let context = Unmanaged.passUnretained(self).toOpaque()
        pw_stream_add_listener(stream, hook, events, context)
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> StreamReader? {
        context.map { Unmanaged<StreamReader>.fromOpaque($0).takeUnretainedValue() }
    }

    private func connect(_ stream: OpaquePointer, size: Size?) {
        var info = spa_video_info_raw()
        if let size {
            info.size = spa_rectangle(width: UInt32(size.width), height: UInt32(size.height))
        }
        let others =
            memory == .pointer
            ? [SPA_VIDEO_FORMAT_BGRA, SPA_VIDEO_FORMAT_RGBA, SPA_VIDEO_FORMAT_BGRx] : []
        withPods { builder in
            var formats = (others + [SPA_VIDEO_FORMAT_YUY2]).map { format in
                info.format = format
                return UnsafePointer(
                    spa_format_video_raw_build(builder, SPA_PARAM_EnumFormat.rawValue, &info)
                )
            }
            let flags = PW_STREAM_FLAG_AUTOCONNECT.rawValue | PW_STREAM_FLAG_MAP_BUFFERS.rawValue
            let result = pw_stream_connect(
                stream,
                SPA_DIRECTION_INPUT,
                SPA_ID_INVALID,
                pw_stream_flags(rawValue: flags),
                &formats,
                UInt32(formats.count)
            )
            precondition(result >= 0, "a reader that cannot connect")
        }
    }

    private func formatChanged(_ parameter: UnsafePointer<spa_pod>) {
        var info = spa_video_info_raw()
        spa_format_video_raw_parse(parameter, &info)
        let format = Format(
            size: Size(width: Int(info.size.width), height: Int(info.size.height)),
            color: color(of: info),
            over: info.framerate.num,
            under: info.framerate.denom
        )
        state.withLock { state in
            state.format = format
            if state.linkTime == .zero { state.linkTime = MonotonicClock.now }
        }
        withPods { builder in
            var pods: [UnsafePointer<spa_pod>?] = [
                meta(builder, SPA_META_Header, MemoryLayout<spa_meta_header>.size),
                meta(
                    builder,
                    SPA_META_VideoTransform,
                    MemoryLayout<spa_meta_videotransform>.size
                ),
            ]
            if memory == .pointer { pods.append(buffers(builder, SPA_DATA_MemPtr)) }
            pw_stream_update_params(stream, &pods, UInt32(pods.count))
        }
    }

    private func take() {
        guard let stream, let buffer = pw_stream_dequeue_buffer(stream) else { return }
        let manner = state.withLock { $0.manner }
        if let content = buffer.pointee.buffer { keep(content) }
        switch manner {
        case .prompt: break
        case .slow(let seconds): usleep(UInt32(seconds * 1_000_000))
        case .hoarding: return
        }
        pw_stream_queue_buffer(stream, buffer)
    }

    private func keep(_ content: UnsafeMutablePointer<spa_buffer>) {
        var time = pw_time()
        pw_stream_get_time_n(stream, &time, MemoryLayout<pw_time>.size)
        guard let plane = content.pointee.datas, let chunk = plane.pointee.chunk?.pointee else {
            return
        }
        guard let base = plane.pointee.data else {
            return state.withLock { $0.failure = "memory that is not of the kind that it wants" }
        }
        let header = spa_buffer_find_meta_data(
            content,
            SPA_META_Header.rawValue,
            MemoryLayout<spa_meta_header>.size
        )?.load(as: spa_meta_header.self)
        let transform = spa_buffer_find_meta_data(
            content,
            SPA_META_VideoTransform.rawValue,
            MemoryLayout<spa_meta_videotransform>.size
        )?.load(as: spa_meta_videotransform.self)
        let picture = UnsafeRawBufferPointer(
            start: base + Int(chunk.offset),
            count: Int(chunk.size)
        )
        let frame = Frame(
            bytes: copies ? Array(picture) : [],
            stride: Int(chunk.stride),
            pts: header.map { Timestamp(nanoseconds: $0.pts) },
            sequence: header?.seq ?? 0,
            isDiscontinuous: (header?.flags ?? 0) & UInt32(SPA_META_HEADER_FLAG_DISCONT) != 0,
            transform: transform?.transform,
            clock: Timestamp(nanoseconds: time.now),
            arrival: MonotonicClock.now
        )
        state.withLock {
            $0.frames.append(frame)
            $0.count += 1
            if let last = $0.lastArrival {
                $0.longestWait = max($0.longestWait, (frame.arrival - last).seconds)
            }
            $0.lastArrival = frame.arrival
        }
    }
}

/// Returns properties in PipeWire's form, which the recipient owns.
private func properties(_ values: [String: String]) -> UnsafeMutablePointer<pw_properties>? {
    var empty = spa_dict()
    let properties = pw_properties_new_dict(&empty)
    for (key, value) in values { pw_properties_set(properties, key, value) }
    return properties
}

/// Calls `body` with memory to build parameters in, valid during the call.
private func withPods(_ body: (UnsafeMutablePointer<spa_pod_builder>) -> Void) {
    withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { bytes in
        var builder = spa_pod_builder()
        spa_pod_builder_init(&builder, bytes.baseAddress, UInt32(bytes.count))
        withUnsafeMutablePointer(to: &builder, body)
    }
}

/// Builds a request for memory of one kind alone.
private func buffers(
    _ builder: UnsafeMutablePointer<spa_pod_builder>,
    _ kind: spa_data_type
) -> UnsafePointer<spa_pod>? {
    withUnsafeTemporaryAllocation(of: spa_pod_frame.self, capacity: 2) { frames in
        spa_pod_builder_push_object(
            builder,
            frames.baseAddress,
            UInt32(SPA_TYPE_OBJECT_ParamBuffers),
            SPA_PARAM_Buffers.rawValue
        )
        spa_pod_builder_prop(builder, SPA_PARAM_BUFFERS_dataType.rawValue, 0)
        let choice = frames.baseAddress.map { $0 + 1 }
        spa_pod_builder_push_choice(builder, choice, SPA_CHOICE_Flags.rawValue, 0)
        spa_pod_builder_int(builder, 1 << CInt(kind.rawValue))
        spa_pod_builder_pop(builder, choice)
        return spa_pod_builder_pop(builder, frames.baseAddress).map {
            UnsafePointer($0.assumingMemoryBound(to: spa_pod.self))
        }
    }
}

/// Builds a request for the metadata of `type` with each frame.
private func meta(
    _ builder: UnsafeMutablePointer<spa_pod_builder>,
    _ type: spa_meta_type,
    _ size: Int
) -> UnsafePointer<spa_pod>? {
    withUnsafeTemporaryAllocation(of: spa_pod_frame.self, capacity: 1) { frame in
        spa_pod_builder_push_object(
            builder,
            frame.baseAddress,
            UInt32(SPA_TYPE_OBJECT_ParamMeta),
            SPA_PARAM_Meta.rawValue
        )
        spa_pod_builder_prop(builder, SPA_PARAM_META_type.rawValue, 0)
        spa_pod_builder_id(builder, type.rawValue)
        spa_pod_builder_prop(builder, SPA_PARAM_META_size.rawValue, 0)
        spa_pod_builder_int(builder, CInt(size))
        return spa_pod_builder_pop(builder, frame.baseAddress).map {
            UnsafePointer($0.assumingMemoryBound(to: spa_pod.self))
        }
    }
}

private func color(of info: spa_video_info_raw) -> ColorSpace? {
    let range: ColorSpace.Range
    switch info.color_range {
    case SPA_VIDEO_COLOR_RANGE_0_255: range = .full
    case SPA_VIDEO_COLOR_RANGE_16_235: range = .limited
    default: return nil
    }
    switch info.color_matrix {
    case SPA_VIDEO_COLOR_MATRIX_BT601: return ColorSpace(matrix: .bt601, range: range)
    case SPA_VIDEO_COLOR_MATRIX_BT709: return ColorSpace(matrix: .bt709, range: range)
    default: return nil
    }
}
