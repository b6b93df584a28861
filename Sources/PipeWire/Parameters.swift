import CPipeWire
import Frames

/// The node's parameters as PipeWire pods (spa_pod), built once.
///
/// They offer exactly one format, size and rate: all that browsers, OBS, GStreamer and SDL have in
/// common, and a format that never changes cannot break a stream.
final class Parameters {
    /// The one format: packed 4:2:2 of a fixed size and rate, in the stream's colours.
    let format: UnsafePointer<spa_pod>
    /// The layout of a frame's memory, and its metadata.
    let memory: [UnsafePointer<spa_pod>?]

    private let bytes: UnsafeMutableRawBufferPointer

    /// Creates the parameters for pictures of `size` at `rate` frames per second.
    init(size: Size, rate: Int) {
        bytes = .allocate(byteCount: 4096, alignment: 8)
        var builder = PodBuilder(bytes)
        format = builder.object(SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat) {
            $0.id(SPA_FORMAT_mediaType, SPA_MEDIA_TYPE_video.rawValue)
            $0.id(SPA_FORMAT_mediaSubtype, SPA_MEDIA_SUBTYPE_raw.rawValue)
            $0.id(SPA_FORMAT_VIDEO_format, SPA_VIDEO_FORMAT_YUY2.rawValue)
            $0.rectangle(SPA_FORMAT_VIDEO_size, UInt32(size.width), UInt32(size.height))
            $0.fraction(SPA_FORMAT_VIDEO_framerate, UInt32(rate), 1)
            $0.id(SPA_FORMAT_VIDEO_colorRange, SPA_VIDEO_COLOR_RANGE_16_235.rawValue)
            $0.id(SPA_FORMAT_VIDEO_colorMatrix, SPA_VIDEO_COLOR_MATRIX_BT601.rawValue)
        }
        let stride = CInt(size.width * 2)
        // Both ends agree on the count. Consumers ask for four or more, but with four, a single
        // slow consumer among several can hold them all. Rows are unpadded, as browsers compute
        // them.
        let buffers = builder.object(SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers) {
            $0.range(SPA_PARAM_BUFFERS_buffers, 8, within: 6...16)
            $0.integer(SPA_PARAM_BUFFERS_blocks, 1)
            $0.integer(SPA_PARAM_BUFFERS_size, stride * CInt(size.height))
            $0.integer(SPA_PARAM_BUFFERS_stride, stride)
            $0.flags(
                SPA_PARAM_BUFFERS_dataType,
                1 << CInt(SPA_DATA_MemPtr.rawValue) | 1 << CInt(SPA_DATA_MemFd.rawValue)
            )
        }
        // Only metadata that both ends list is present. Browsers read the header without a check.
        let header = builder.object(SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta) {
            $0.id(SPA_PARAM_META_type, SPA_META_Header.rawValue)
            $0.integer(SPA_PARAM_META_size, CInt(MemoryLayout<spa_meta_header>.size))
        }
        let transform = builder.object(SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta) {
            $0.id(SPA_PARAM_META_type, SPA_META_VideoTransform.rawValue)
            $0.integer(SPA_PARAM_META_size, CInt(MemoryLayout<spa_meta_videotransform>.size))
        }
        memory = [buffers, header, transform]
    }

    deinit { bytes.deallocate() }
}

/// Writes objects one after another into memory that does not move.
struct PodBuilder {
    private var builder = spa_pod_builder()
    private let bytes: UnsafeMutableRawBufferPointer
    private var used = 0

    init(_ bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

    /// Writes an object of `type` for the parameter `id`, with the properties that `body` adds.
    mutating func object(
        _ type: some BinaryInteger,
        _ id: spa_param_type,
        _ body: (inout PodBuilder) -> Void
    ) -> UnsafePointer<spa_pod> {
        let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[used...])
        spa_pod_builder_init(&builder, rest.baseAddress, UInt32(rest.count))
        // The builder points at `frame` until it is popped.
        let pod = withUnsafeTemporaryAllocation(of: spa_pod_frame.self, capacity: 1) { frame in
            spa_pod_builder_push_object(&builder, frame.baseAddress, UInt32(type), id.rawValue)
            body(&self)
            return spa_pod_builder_pop(&builder, frame.baseAddress)
        }
        guard let pod else { preconditionFailure("parameters larger than their memory") }
        used += Int(builder.state.offset + 7) & ~7
        return UnsafePointer(pod.assumingMemoryBound(to: spa_pod.self))
    }

    mutating func id(_ key: some RawRepresentable<UInt32>, _ value: UInt32) {
        spa_pod_builder_prop(&builder, key.rawValue, 0)
        spa_pod_builder_id(&builder, value)
    }

    mutating func integer(_ key: some RawRepresentable<UInt32>, _ value: CInt) {
        spa_pod_builder_prop(&builder, key.rawValue, 0)
        spa_pod_builder_int(&builder, value)
    }

    mutating func integer(key: UInt32, _ value: CInt) {
        spa_pod_builder_prop(&builder, key, 0)
        spa_pod_builder_int(&builder, value)
    }

    mutating func number(key: UInt32, _ value: Float) {
        spa_pod_builder_prop(&builder, key, 0)
        spa_pod_builder_float(&builder, value)
    }

    mutating func string(_ key: some RawRepresentable<UInt32>, _ value: String) {
        spa_pod_builder_prop(&builder, key.rawValue, 0)
        spa_pod_builder_string(&builder, value)
    }

    mutating func rectangle(_ key: some RawRepresentable<UInt32>, _ width: UInt32, _ height: UInt32)
    {
        spa_pod_builder_prop(&builder, key.rawValue, 0)
        spa_pod_builder_rectangle(&builder, width, height)
    }

    mutating func fraction(_ key: some RawRepresentable<UInt32>, _ over: UInt32, _ under: UInt32) {
        spa_pod_builder_prop(&builder, key.rawValue, 0)
        spa_pod_builder_fraction(&builder, over, under)
    }

    mutating func range(
        _ key: some RawRepresentable<UInt32>,
        _ value: CInt,
        within limits: ClosedRange<CInt>
    ) {
        choice(key, SPA_CHOICE_Range, [value, limits.lowerBound, limits.upperBound])
    }

    mutating func numberRange(
        _ key: some RawRepresentable<UInt32>,
        _ value: Float,
        within limits: ClosedRange<Float>
    ) {
        spa_pod_builder_prop(&builder, key.rawValue, 0)
        withUnsafeTemporaryAllocation(of: spa_pod_frame.self, capacity: 1) { frame in
            spa_pod_builder_push_choice(
                &builder,
                frame.baseAddress,
                SPA_CHOICE_Range.rawValue,
                0
            )
            for value in [value, limits.lowerBound, limits.upperBound] {
                spa_pod_builder_float(&builder, value)
            }
            spa_pod_builder_pop(&builder, frame.baseAddress)
        }
    }

    mutating func flags(_ key: some RawRepresentable<UInt32>, _ value: CInt) {
        choice(key, SPA_CHOICE_Flags, [value])
    }

    private mutating func choice(
        _ key: some RawRepresentable<UInt32>,
        _ type: spa_choice_type,
        _ values: [CInt]
    ) {
        spa_pod_builder_prop(&builder, key.rawValue, 0)
        withUnsafeTemporaryAllocation(of: spa_pod_frame.self, capacity: 1) { frame in
            spa_pod_builder_push_choice(&builder, frame.baseAddress, type.rawValue, 0)
            for value in values { spa_pod_builder_int(&builder, value) }
            spa_pod_builder_pop(&builder, frame.baseAddress)
        }
    }
}
