import CPipeWire
package import Frames
import Glibc
package import Platform

/// The pictures of a node, as one of its consumers gets them. PipeWire's callbacks only store what
/// they report. Bound to its connection's thread.
package final class VideoInput {
    /// The kinds of memory that buffers may have.
    package enum Memory: Hashable, Sendable {
        /// Memory of PipeWire's, or a file that we map.
        case mapped
        /// Whatever the node has: nothing is said. GStreamer's node of 0.3.65 ends when a reader
        /// names kinds and `compositor` made the buffers (invalid memory type, in its log).
        case any
        /// Memory of PipeWire's alone.
        case pointer
    }

    /// A reason why no more pictures come.
    package enum Failure: Error, Hashable, Sendable {
        case disconnected(String)
        case format(VideoFormat.Invalid)
    }

    /// The negotiated format; `nil` before.
    package private(set) var format: VideoFormat?
    /// The reason why no more pictures come; `nil` while they may.
    package private(set) var failure: Failure?

    private let offered: [PixelFormat]
    private let stream: Stream
    private let memory: Memory
    /// The buffers, with what is to be known of their memory before it is read.
    private var buffers: [(id: UnsafeMutablePointer<pw_buffer>, isFixed: Bool)] = []

    /// The size and the rate that are wanted most.
    package struct Wish: Hashable, Sendable {
        package var size: Size
        /// The rate in frames per second.
        package var rate: Int

        package init(size: Size, rate: Int) {
            self.size = size
            self.rate = rate
        }
    }

    /// Requests pictures of `size` (`nil`: any) in one of `formats` from the node with the serial
    /// number or name `target`. People see the stream as `name`. With `reconnects`, PipeWire links
    /// it to another node when this one goes. With a `wish`, the format that has it is taken, or
    /// else the first of `formats` that there is. Throws the errno of pw_stream_new() or
    /// pw_stream_connect().
    package init(
        of target: String,
        as name: String,
        formats: [PixelFormat],
        size: Size? = nil,
        wish: Wish? = nil,
        memory: Memory = .mapped,
        reconnects: Bool = false,
        on connection: PipeWireConnection
    ) throws(SystemError) {
        offered = formats
        self.memory = memory
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
            inputFormats(formats, size: size, wish: wish)
        )
    }

    /// Stops or resumes the pictures without disconnecting.
    package func setActive(_ isActive: Bool) { pw_stream_set_active(stream.handle, isActive) }

    /// The time of the graph's clock, on CLOCK_MONOTONIC where its driver has set it.
    package var clock: Timestamp {
        var time = pw_time()
        pw_stream_get_time_n(stream.handle, &time, MemoryLayout<pw_time>.size)
        return Timestamp(nanoseconds: time.now)
    }

    /// Takes the oldest picture that has arrived, for `queue(_:)` later; `nil` if there is none.
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
            let format = try VideoFormat(pod, offered: offered)
            self.format = format
            stream.update(inputParameters(memory, format))
        } catch {
            format = nil
            failure = failure ?? .format(error)
        }
    }
}

/// Returns `formats` as offered: of `size`, or in the size and at the rate of `wish` first of all.
private func inputFormats(
    _ formats: [PixelFormat],
    size: Size?,
    wish: VideoInput.Wish?
) -> Pods {
    Pods { builder in
        for isExact in wish == nil ? [false] : [true, false] {
            for format in formats {
                builder.object(SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat) {
                    $0.id(SPA_FORMAT_mediaType, SPA_MEDIA_TYPE_video.rawValue)
                    $0.id(SPA_FORMAT_mediaSubtype, format.mediaSubtype.rawValue)
                    if let raw = format.videoFormat {
                        $0.id(SPA_FORMAT_VIDEO_format, raw.rawValue)
                    }
                    if let size {
                        let (width, height) = (UInt32(size.width), UInt32(size.height))
                        $0.rectangle(SPA_FORMAT_VIDEO_size, width, height)
                    } else if let wish {
                        // The exact size is a range, too: a V4L2 camera of PipeWire 1.4 takes a
                        // single one for a size that it has, and then fails.
                        let wanted = (UInt32(wish.size.width), UInt32(wish.size.height))
                        $0.rectangleRange(
                            SPA_FORMAT_VIDEO_size,
                            wanted,
                            from: isExact ? wanted : (1, 1),
                            upTo: isExact ? wanted : (16384, 16384)
                        )
                    }
                    if let wish {
                        $0.fractionRange(SPA_FORMAT_VIDEO_framerate, UInt32(wish.rate), upTo: 1000)
                    }
                }
            }
        }
    }
}

/// Returns what a consumer needs of buffers: memory that it can read, and the time of each frame.
private func inputParameters(_ memory: VideoInput.Memory, _ format: VideoFormat) -> Pods {
    let kinds: [spa_data_type] =
        switch memory {
        case .any: []
        case .mapped: [SPA_DATA_MemPtr, SPA_DATA_MemFd]
        case .pointer: [SPA_DATA_MemPtr]
        }
    return Pods { builder in
        let isCompressed = format.pixels.videoFormat == nil
        if !kinds.isEmpty || isCompressed {
            builder.object(SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers) {
                if !kinds.isEmpty {
                    $0.flags(
                        SPA_PARAM_BUFFERS_dataType,
                        kinds.reduce(0) { $0 | 1 << CInt($1.rawValue) }
                    )
                }
                if isCompressed {
                    // A node may not know how long they are.
                    let size = CInt(max(65536, 2 * format.size.area))
                    $0.range(SPA_PARAM_BUFFERS_size, size, within: 4096...CInt.max)
                }
            }
        }
        builder.meta(SPA_META_Header, MemoryLayout<spa_meta_header>.size)
        builder.meta(SPA_META_VideoTransform, MemoryLayout<spa_meta_videotransform>.size)
        builder.meta(SPA_META_VideoCrop, MemoryLayout<spa_meta_region>.size)
    }
}
