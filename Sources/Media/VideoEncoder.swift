import CAV
package import Frames
import Glibc

/// Encodes raw pictures, as H.264 if possible.
///
/// - Context: One thread at a time.
package final class VideoEncoder {
    /// The encoders, in the order in which they are tried.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        /// H.264 by the graphics processor, through VA-API.
        case vaapi
        /// H.264 by libx264.
        case x264
        /// A JPEG per picture.
        case mjpeg

        /// The encoder's name in libavcodec.
        var name: String {
            switch self {
            case .vaapi: "h264_vaapi"
            case .x264: "libx264"
            case .mjpeg: "mjpeg"
            }
        }
    }

    package let kind: Kind
    package let track: Track

    private let size: Size
    private let color: ColorSpace
    private var codec: UnsafeMutablePointer<AVCodecContext>?
    /// The picture in the encoder's format.
    private var picture: UnsafeMutablePointer<AVFrame>?
    /// The same picture in the graphics processor's memory; `nil` without VA-API.
    private var surface: UnsafeMutablePointer<AVFrame>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var scaler: OpaquePointer?
    /// The time of the first picture, the encoder's 0.
    private var origin: Timestamp?
    private var last = Int64.min

    /// The unit of the encoder's timestamps: microseconds.
    private static let timeBase = AVRational(num: 1, den: 1_000_000)

    /// Creates an encoder for pictures of `size` and `color`, about `rate` per second, to be turned
    /// clockwise by `rotation` degrees for display. It is of the kind `wanted`, or else of the
    /// first kind that works. Odd sizes are rounded down to even ones.
    ///
    /// - Throws: `unsupported` when `wanted`, or every kind, is unavailable; `denied`, `notFound`
    ///   or `system` where libav fails with such an errno.
    package init(
        size: Size,
        rate: Double,
        color: ColorSpace,
        rotation: Int = 0,
        wanted: Kind? = nil
    ) throws(MediaError) {
        try loadLibraries()
        // Chroma is halved, so both sides must be even.
        let even = Size(width: size.width & ~1, height: size.height & ~1)
        guard even.width > 0, even.height > 0 else {
            throw MediaError(.unsupported, "encode", detail: "a picture of \(size)")
        }
        var reason = MediaError(.unsupported, "avcodec_find_encoder_by_name")
        var opened: (Kind, UnsafeMutablePointer<AVCodecContext>)?
        for kind in wanted.map({ [$0] }) ?? Kind.allCases {
            do throws(MediaError) {
                opened = (kind, try Self.open(kind, even, rate, color))
                break
            } catch { reason = error }
        }
        guard let (kind, context) = opened else { throw reason }
        self.kind = kind
        self.size = even
        self.color = kind == .mjpeg ? .jpeg : color
        var header: [UInt8] = []
        if kind != .mjpeg, let extra = context.pointee.extradata {
            header = Array(
                UnsafeBufferPointer(start: extra, count: Int(context.pointee.extradata_size))
            )
        }
        track = Track(
            kind == .mjpeg ? .mjpeg : .h264,
            .video(size: even, rate: rate, rotation: rotation, color: self.color),
            header: header
        )
        codec = context
        packet = av_packet_alloc()
        picture = av_frame_alloc()
        if kind == .vaapi { surface = av_frame_alloc() }
        guard let picture, packet != nil, kind != .vaapi || surface != nil else {
            throw MediaError(.system, "av_frame_alloc", errno: ENOMEM)
        }
        picture.pointee.format =
            (kind == .vaapi ? AV_PIX_FMT_NV12 : context.pointee.pix_fmt).rawValue
        picture.pointee.width = CInt(even.width)
        picture.pointee.height = CInt(even.height)
        picture.pointee.color_range = context.pointee.color_range
        let result = av_frame_get_buffer(picture, 0)
        guard result >= 0 else { throw .libav("av_frame_get_buffer", "", result) }
    }

    /// Opens an encoder of `kind` on trial, which takes some milliseconds.
    ///
    /// - Throws: The error with which a recording would fail on this machine.
    package static func check(_ kind: Kind) throws(MediaError) {
        _ = try VideoEncoder(
            size: Size(width: 1280, height: 720),
            rate: 30,
            color: .video,
            wanted: kind
        )
    }

    deinit {
        cav_scaler_free(scaler)
        av_packet_free(&packet)
        av_frame_free(&picture)
        av_frame_free(&surface)
        avcodec_free_context(&codec)
    }

    private static func open(
        _ kind: Kind,
        _ size: Size,
        _ rate: Double,
        _ color: ColorSpace
    ) throws(MediaError) -> UnsafeMutablePointer<AVCodecContext> {
        guard let encoder = avcodec_find_encoder_by_name(kind.name),
            let context = avcodec_alloc_context3(encoder)
        else {
            throw MediaError(.unsupported, "avcodec_find_encoder_by_name", kind.name)
        }
        var failed: UnsafeMutablePointer<AVCodecContext>? = context
        do throws(MediaError) {
            context.pointee.width = CInt(size.width)
            context.pointee.height = CInt(size.height)
            context.pointee.time_base = timeBase
            let rate = rate > 0 ? min(rate, 1000) : 30
            context.pointee.framerate = AVRational(num: CInt((rate * 1000).rounded()), den: 1000)
            // A key picture each second, for players to seek to.
            context.pointee.gop_size = CInt(rate.rounded(.up))
            context.pointee.max_b_frames = 0
            context.pointee.thread_count = CInt(min(4, max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN)))))
            context.pointee.color_range = color.range == .full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
            context.pointee.colorspace =
                color.matrix == .bt709 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M
            context.pointee.color_primaries = AVCOL_PRI_BT709
            context.pointee.color_trc = color.transfer
            context.pointee.pix_fmt = AV_PIX_FMT_YUV420P
            if kind != .mjpeg { context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER }
            switch kind {
            case .vaapi: try useGraphics(context, size)
            case .x264:
                // Fast enough for three pictures on two cores. It holds back little, a picture per
                // thread: a power cut loses the pictures that are not yet encoded.
                av_opt_set(context.pointee.priv_data, "preset", "superfast", 0)
                av_opt_set(context.pointee.priv_data, "crf", "22", 0)
                av_opt_set(context.pointee.priv_data, "x264-params", "sync-lookahead=0", 0)
            case .mjpeg:
                context.pointee.pix_fmt = AV_PIX_FMT_YUVJ422P
                context.pointee.color_range = AVCOL_RANGE_JPEG
                context.pointee.flags |= AV_CODEC_FLAG_QSCALE
                context.pointee.global_quality = FF_QP2LAMBDA * 4
            }
            let result = avcodec_open2(context, encoder, nil)
            guard result >= 0 else {
                throw .libav("avcodec_open2", kind.name, result, .unsupported)
            }
        } catch {
            avcodec_free_context(&failed)
            throw error
        }
        return context
    }

    /// Makes `context` take pictures from the graphics processor's memory.
    private static func useGraphics(
        _ context: UnsafeMutablePointer<AVCodecContext>,
        _ size: Size
    ) throws(MediaError) {
        var device: UnsafeMutablePointer<AVBufferRef>?
        let made = av_hwdevice_ctx_create(&device, AV_HWDEVICE_TYPE_VAAPI, nil, nil, 0)
        guard made >= 0 else {
            throw .libav("av_hwdevice_ctx_create", "VA-API", made, .unsupported)
        }
        var frames = av_hwframe_ctx_alloc(device)
        av_buffer_unref(&device)
        guard let held = frames else {
            throw MediaError(.system, "av_hwframe_ctx_alloc", errno: ENOMEM)
        }
        let settings = UnsafeMutableRawPointer(held.pointee.data)
            .assumingMemoryBound(to: AVHWFramesContext.self)
        settings.pointee.format = AV_PIX_FMT_VAAPI
        settings.pointee.sw_format = AV_PIX_FMT_NV12
        settings.pointee.width = CInt(size.width)
        settings.pointee.height = CInt(size.height)
        settings.pointee.initial_pool_size = 8
        let ready = av_hwframe_ctx_init(held)
        guard ready >= 0 else {
            av_buffer_unref(&frames)
            throw .libav("av_hwframe_ctx_init", "VA-API", ready, .unsupported)
        }
        // The context frees it.
        context.pointee.hw_frames_ctx = held
        context.pointee.pix_fmt = AV_PIX_FMT_VAAPI
        context.pointee.global_quality = 22
        av_opt_set(context.pointee.priv_data, "rc_mode", "CQP", 0)
    }

    /// Encodes `frame`, a raw picture later than the one before, and returns the finished packets,
    /// most often one.
    ///
    /// - Throws: `unsupported` for a frame of another size or a format that cannot be converted,
    ///   `system` when the encoder fails.
    package func encode(_ frame: Frame) throws(MediaError) -> [Packet] {
        guard let codec, let picture else { return [] }
        let result = av_frame_make_writable(picture)
        guard result >= 0 else { throw .libav("av_frame_make_writable", "", result) }
        try convert(frame, into: picture)
        let origin = origin ?? frame.timestamp
        self.origin = origin
        last = max(last == .min ? .min : last + 1, (frame.timestamp - origin).nanoseconds / 1000)
        var sent = picture
        if let surface {
            av_frame_unref(surface)
            let got = av_hwframe_get_buffer(codec.pointee.hw_frames_ctx, surface, 0)
            guard got >= 0 else { throw .libav("av_hwframe_get_buffer", "VA-API", got) }
            let moved = av_hwframe_transfer_data(surface, picture, 0)
            guard moved >= 0 else { throw .libav("av_hwframe_transfer_data", "VA-API", moved) }
            sent = surface
        }
        sent.pointee.pts = last
        sent.pointee.quality = codec.pointee.global_quality
        return try packets(after: avcodec_send_frame(codec, sent))
    }

    /// Returns the remaining packets. The encoder takes no more pictures.
    ///
    /// - Throws: `system` when the encoder fails.
    package func finish() throws(MediaError) -> [Packet] {
        guard let codec else { return [] }
        return try packets(after: avcodec_send_frame(codec, nil))
    }

    private func packets(after result: CInt) throws(MediaError) -> [Packet] {
        guard let codec, let packet, let origin else { return [] }
        guard result >= 0 else { throw .libav("avcodec_send_frame", kind.name, result) }
        var packets: [Packet] = []
        while avcodec_receive_packet(codec, packet) >= 0 {
            let time = origin + Timestamp(nanoseconds: packet.pointee.pts * 1000)
            packets.append(packet.copied(at: time))
            av_packet_unref(packet)
        }
        return packets
    }

    private func convert(
        _ frame: Frame,
        into picture: UnsafeMutablePointer<AVFrame>
    ) throws(MediaError) {
        let from = frame.layout
        guard let format = from.format.libav, from.size.width & ~1 == size.width,
            from.size.height & ~1 == size.height
        else {
            throw MediaError(
                .unsupported,
                "encode",
                detail: "\(from.size) \(from.format) among pictures of \(size)"
            )
        }
        let (width, height) = (CInt(size.width), CInt(size.height))
        let to = AVPixelFormat(picture.pointee.format)
        scaler = cav_scaler_get(scaler, width, height, format, to, false)
        guard let scaler else {
            throw MediaError(.unsupported, "sws_getContext", "\(from.format)")
        }
        func coefficients(_ color: ColorSpace) -> UnsafePointer<CInt>? {
            sws_getCoefficients(color.matrix == .bt709 ? SWS_CS_ITU709 : SWS_CS_ITU601)
        }
        cav_scaler_set_colors(
            scaler,
            coefficients(frame.color),
            frame.color.range == .full,
            coefficients(color),
            color.range == .full
        )
        let planes = (0..<4).map { index -> UnsafePointer<UInt8>? in
            index < from.planeCount ? UnsafePointer(frame.plane(index).base) : nil
        }
        let strides = (0..<4).map { $0 < from.planeCount ? CInt(from.plane($0).stride) : 0 }
        let scaled = withUnsafeMutableBytes(of: &picture.pointee.data) { data in
            withUnsafeBytes(of: &picture.pointee.linesize) { lines in
                cav_scaler_convert(
                    scaler,
                    planes,
                    strides,
                    height,
                    data.assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self).baseAddress,
                    lines.assumingMemoryBound(to: CInt.self).baseAddress
                )
            }
        }
        guard scaled > 0 else { throw .libav("sws_scale", "\(from.format)", scaled) }
    }
}

extension UnsafeMutablePointer<AVPacket> {
    /// Returns a copy of the bytes as a packet taken at `time`.
    func copied(at time: Timestamp, lasting duration: Timestamp = .zero) -> Packet {
        let bytes = UnsafeBufferPointer(start: pointee.data, count: Int(pointee.size))
        return Packet(
            .bytes(Array(bytes)),
            at: time,
            lasting: duration,
            isKey: pointee.flags & AV_PKT_FLAG_KEY != 0
        )
    }
}

extension PixelFormat {
    /// libav's name for the format; `nil` if it is not raw.
    fileprivate var libav: AVPixelFormat? {
        switch self {
        case .yuyv: AV_PIX_FMT_YUYV422
        case .uyvy: AV_PIX_FMT_UYVY422
        case .nv12: AV_PIX_FMT_NV12
        case .i420: AV_PIX_FMT_YUV420P
        case .i422: AV_PIX_FMT_YUV422P
        case .i444: AV_PIX_FMT_YUV444P
        case .i440: AV_PIX_FMT_YUV440P
        case .i411: AV_PIX_FMT_YUV411P
        case .gray: AV_PIX_FMT_GRAY8
        default: nil
        }
    }
}
