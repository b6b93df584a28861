import CPipeWire
package import Frames
import Glibc
package import Platform

/// The pictures of a node, as one of its consumers gets them.
///
/// PipeWire's callbacks only store what they report.
///
/// - Context: bound to its connection's thread.
package final class VideoInput {
    /// The kinds of memory that buffers may have.
    package enum Memory: Hashable, Sendable {
        /// Memory of PipeWire's, or a file that we map.
        case mapped
        /// Memory of PipeWire's alone.
        case pointer
    }

    /// A reason why no more pictures come.
    package enum Failure: Error, Hashable, Sendable {
        /// The node is gone, or the link to it.
        case disconnected(String)
        /// The node's format is none that we take.
        case format(VideoFormat.Invalid)
    }

    /// The negotiated format; `nil` before.
    package private(set) var format: VideoFormat?
    /// The reason why no more pictures come; `nil` while they may.
    package private(set) var failure: Failure?

    private let offered: [PixelFormat]
    private let stream: Stream
    private let parameters: Pods
    /// The buffers, with what is to be known of their memory before it is read.
    private var buffers: [(id: UnsafeMutablePointer<pw_buffer>, isFixed: Bool)] = []

    /// Requests pictures of `size` (`nil`: any) in one of `formats` from the node with the serial
    /// number or name `target`. People see the stream as `name`. With `reconnects`, PipeWire links
    /// it to another node when this one goes.
    ///
    /// - Throws: the errno of pw_stream_new() or pw_stream_connect().
    package init(
        of target: String,
        as name: String,
        formats: [PixelFormat],
        size: Size? = nil,
        memory: Memory = .mapped,
        reconnects: Bool = false,
        on connection: PipeWireConnection
    ) throws(SystemError) {
        offered = formats
        parameters = inputParameters(memory)
        stream = try Stream(
            name,
            [
                PW_KEY_MEDIA_TYPE: "Video", PW_KEY_MEDIA_CATEGORY: "Capture",
                PW_KEY_MEDIA_ROLE: "Camera", PW_KEY_TARGET_OBJECT: target,
            ],
            on: connection
        )
        listen()
        var flags = [PW_STREAM_FLAG_AUTOCONNECT, PW_STREAM_FLAG_MAP_BUFFERS]
        if !reconnects { flags.append(PW_STREAM_FLAG_DONT_RECONNECT) }
        try stream.connect(
            SPA_DIRECTION_INPUT,
            flags,
            Pods { builder in
                for format in formats.compactMap(\.videoFormat) {
                    builder.object(SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat) {
                        $0.id(SPA_FORMAT_mediaType, SPA_MEDIA_TYPE_video.rawValue)
                        $0.id(SPA_FORMAT_mediaSubtype, SPA_MEDIA_SUBTYPE_raw.rawValue)
                        $0.id(SPA_FORMAT_VIDEO_format, format.rawValue)
                        guard let size else { return }
                        $0.rectangle(
                            SPA_FORMAT_VIDEO_size,
                            UInt32(size.width),
                            UInt32(size.height)
                        )
                    }
                }
            }
        )
    }

    /// `true` while it is linked to a node that runs.
    package var isStreaming: Bool { stream.state == PW_STREAM_STATE_STREAMING }

    /// Stops or resumes the pictures without disconnecting.
    package func setActive(_ isActive: Bool) { pw_stream_set_active(stream.handle, isActive) }

    /// The time of the graph's clock, on CLOCK_MONOTONIC where its driver has set it.
    package var clock: Timestamp {
        var time = pw_time()
        pw_stream_get_time_n(stream.handle, &time, MemoryLayout<pw_time>.size)
        return Timestamp(nanoseconds: time.now)
    }

    /// Takes the oldest picture that has arrived, or returns `nil` if there is none. To be given
    /// back with `queue(_:)`.
    package func dequeue() -> VideoBuffer? {
        while let buffer = pw_stream_dequeue_buffer(stream.handle) {
            if let content = buffer.pointee.buffer {
                let isFixed = buffers.first { $0.id == buffer }?.isFixed ?? false
                return VideoBuffer(id: buffer, content: content, isFixed: isFixed)
            }
            pw_stream_queue_buffer(stream.handle, buffer)
        }
        return nil
    }

    /// Gives `buffer` back to its node.
    package func queue(_ buffer: VideoBuffer) { pw_stream_queue_buffer(stream.handle, buffer.id) }

    // MARK: - PipeWire's events

    private func listen() {
        stream.events.state_changed = { context, _, state, error in
            let input: VideoInput? = listener(context)
            guard state == PW_STREAM_STATE_ERROR || state == PW_STREAM_STATE_UNCONNECTED else {
                return
            }
            let reason = error.map { String(cString: $0) } ?? "it was disconnected"
            input?.failure = input?.failure ?? .disconnected(reason)
        }
        stream.events.param_changed = { context, id, parameter in
            let input: VideoInput? = listener(context)
            guard id == SPA_PARAM_Format.rawValue, let parameter else { return }
            input?.formatChanged(Pod(parameter))
        }
        stream.events.add_buffer = { context, buffer in
            let input: VideoInput? = listener(context)
            guard let buffer, let content = buffer.pointee.buffer else { return }
            input?.buffers.append((buffer, VideoBuffer.isFixed(content)))
        }
        stream.events.remove_buffer = { context, buffer in
            let input: VideoInput? = listener(context)
            input?.buffers.removeAll { $0.id == buffer }
        }
        stream.listen(self)
    }

    private func formatChanged(_ pod: Pod) {
        do {
            format = try VideoFormat(pod, offered: offered)
            stream.update(parameters)
        } catch {
            format = nil
            failure = failure ?? .format(error)
        }
    }
}

/// Returns what a consumer needs of buffers: memory that it can read, and the time of each frame.
private func inputParameters(_ memory: VideoInput.Memory) -> Pods {
    let kinds =
        switch memory {
        case .mapped: [SPA_DATA_MemPtr, SPA_DATA_MemFd]
        case .pointer: [SPA_DATA_MemPtr]
        }
    return Pods { builder in
        builder.object(SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers) {
            $0.flags(
                SPA_PARAM_BUFFERS_dataType,
                kinds.reduce(0) { $0 | 1 << CInt($1.rawValue) }
            )
        }
        builder.meta(SPA_META_Header, MemoryLayout<spa_meta_header>.size)
        builder.meta(SPA_META_VideoTransform, MemoryLayout<spa_meta_videotransform>.size)
    }
}
