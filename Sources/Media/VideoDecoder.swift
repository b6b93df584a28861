import CAV
package import Frames
import Glibc

/// Decodes the H.264 or HEVC of a camera, one packet a picture, with libavcodec and without delay.
///
/// Packets are untrusted. No other codec can be chosen by them, and pictures with more than 8 bits
/// or other planes than a camera's are refused.
///
/// - Context: bound to one thread.
package final class VideoDecoder {
    /// The codecs that a camera may send.
    package enum Codec: String, Sendable {
        case h264
        case hevc
    }

    private let name: String
    private var codec: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    /// The picture decoded last.
    private var picture: UnsafeMutablePointer<AVFrame>?
    /// The target of the next one: libav empties it even if there is none.
    private var next: UnsafeMutablePointer<AVFrame>?
    private var presentation = Presentation()

    /// The most pixels of a picture: 4096x4096.
    private static let largest = 1 << 24

    /// Creates a decoder.
    ///
    /// - Throws: `unsupported` if libav is not installed, or cannot decode it.
    package init(_ wanted: Codec) throws(MediaError) {
        name = wanted.rawValue
        // Before any of its functions is called.
        try loadLibraries()
        let id = wanted == .h264 ? AV_CODEC_ID_H264 : AV_CODEC_ID_HEVC
        guard let decoder = avcodec_find_decoder(id) else {
            throw MediaError(.unsupported, "avcodec_find_decoder", name)
        }
        codec = avcodec_alloc_context3(decoder)
        packet = av_packet_alloc()
        picture = av_frame_alloc()
        next = av_frame_alloc()
        guard let codec, packet != nil, picture != nil, next != nil else {
            throw MediaError(.system, "avcodec_alloc_context3", name, errno: ENOMEM)
        }
        Self.avoidDelay(of: codec)
        let ready = avcodec_open2(codec, decoder, nil)
        guard ready == 0 else { throw .libav("avcodec_open2", name, ready, .unsupported) }
    }

    /// Makes `codec`, which is not open yet, give each picture as soon as it can, and none that is
    /// too large.
    static func avoidDelay(of codec: UnsafeMutablePointer<AVCodecContext>) {
        codec.pointee.flags |= AV_CODEC_FLAG_LOW_DELAY
        // Threads that share a picture add no delay; those that take one each would.
        codec.pointee.thread_count = 2
        codec.pointee.thread_type = FF_THREAD_SLICE
        codec.pointee.max_pixels = Int64(largest)
    }

    deinit {
        avcodec_free_context(&codec)
        av_packet_free(&packet)
        av_frame_free(&picture)
        av_frame_free(&next)
    }

    /// Decodes `bytes`, which hold one coded picture. Every picture has to be decoded, since later
    /// ones are made from it. Returns its layout with square pixels, for `copy(into:)`, or `nil` if
    /// there is none: before the first key picture, and after damage.
    ///
    /// - Throws: `unsupported` for pictures that no frame can hold.
    package func decode(
        _ bytes: UnsafeRawBufferPointer
    ) throws(MediaError) -> (FrameLayout, ColorSpace)? {
        guard let codec, let packet, let base = bytes.baseAddress else { return nil }
        // libav copies what it does not own, with the padding that it needs.
        packet.pointee.data = UnsafeMutablePointer(
            mutating: base.assumingMemoryBound(to: UInt8.self)
        )
        packet.pointee.size = CInt(bytes.count)
        defer { av_packet_unref(packet) }
        guard avcodec_send_packet(codec, packet) == 0 else { return nil }
        var isThere = false
        // The newest whole one, if there are more after all.
        while avcodec_receive_frame(codec, next) == 0 {
            guard let made = next?.pointee, made.decode_error_flags == 0, made.width > 0 else {
                continue
            }
            swap(&picture, &next)
            isThere = true
        }
        guard isThere, let picture else { return nil }
        let source = AVPixelFormat(picture.pointee.format)
        let size = Size(width: Int(picture.pointee.width), height: Int(picture.pointee.height))
        guard let format = planarFormat(source), (2...16384).contains(size.width),
            (2...16384).contains(size.height)
        else {
            let detail = "\(size) in pixel format \(source.rawValue)"
            throw MediaError(.unsupported, "avcodec_receive_frame", name, detail: detail)
        }
        presentation.aspect = picture.pointee.sample_aspect_ratio.value
        return (
            presentation.layout(FrameLayout(size: size, format: format)),
            ColorSpace(of: picture.pointee, isHD: size.height > 576)
        )
    }

    /// Copies the picture decoded last into `buffer`, laid out as `decode` said.
    package func copy(into buffer: FrameBuffer) {
        guard let picture else { return }
        let coded = codedLayout(of: picture.pointee)
        _ = presentation.present(coded, into: buffer) {
            copyPlanes(of: picture, into: $0, coded)
            return true
        }
    }
}
