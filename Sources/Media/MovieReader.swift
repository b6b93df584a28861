import CAV
package import Frames
import Glibc
import Imaging

/// A picture or movie file, read frame by frame by libavformat, in a loop.
///
/// JPEGs are decoded like those of cameras, everything else by libavcodec.
///
/// - Context: bound to one thread at a time.
package final class MovieReader {
    /// The frame rate, in frames per second; 0 for a single picture.
    package let rate: Double
    /// The size, in pixels.
    package let size: Size
    /// The format of its frames: JPEG, or the planar format that the codec gives.
    package let format: PixelFormat
    /// The clockwise rotation that players apply, in degrees: 0, 90, 180 or 270.
    package let rotation: Int

    /// The path of the file.
    package let path: String
    /// The open file; `nil` if it belongs to someone else.
    private let owned: OwnedFile?
    private let input: InputFile
    private var container: UnsafeMutablePointer<AVFormatContext>?
    private var codec: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var picture: UnsafeMutablePointer<AVFrame>?
    /// Converts formats that no `Frame` has to planar YUV.
    private var scaler: OpaquePointer?
    private let stream: CInt
    /// `true` once a frame has come since the start. A file without frames is not read in a loop.
    private var hasFrames = false
    /// The decoder of JPEGs.
    private let jpegDecoder: JPEGDecoder?
    /// The header of the JPEG in `packet`, if that is the current frame.
    private var header: JPEGDecoder.Header?

    /// Opens the file at `path`, of any format that libavformat reads, and reads its properties.
    ///
    /// - Throws: `notFound`; `denied`; `unreadable` with libav's reason, and for what is no regular
    ///   file; `unsupported` if it has no picture, no decoder exists for it, or FFmpeg's libraries
    ///   are missing; `system` without memory.
    package convenience init(path: String) throws(MediaError) {
        let file = try OwnedFile.open(path, O_RDONLY).file
        try self.init(file, file.number, path, formats: nil)
    }

    /// Reads the movie behind `descriptor`, which stays open as long as this object, and its
    /// properties. `path` is for errors, and a hint.
    ///
    /// Only Matroska and MP4, the formats of recordings, are read: strangers' files may be anything
    /// else.
    ///
    /// - Throws: As `init(path:)`.
    package convenience init(descriptor: CInt, path: String) throws(MediaError) {
        try self.init(nil, descriptor, path, formats: "matroska,webm,mov,mp4")
    }

    private init(
        _ owned: OwnedFile?,
        _ descriptor: CInt,
        _ path: String,
        formats: String?
    ) throws(MediaError) {
        try loadLibraries()
        self.path = path
        self.owned = owned
        input = try InputFile(descriptor)
        let container = try Self.opened(input, path, formats)
        var codec: UnsafeMutablePointer<AVCodecContext>?
        var packet = av_packet_alloc()
        var picture = av_frame_alloc()
        do throws(MediaError) {
            let video = try Self.openVideo(of: container, path)
            stream = video.stream
            codec = video.codec
            guard let codec, packet != nil, picture != nil else {
                throw MediaError.libav("avcodec_alloc_context3", path, -ENOMEM, .unreadable)
            }
            size = Size(width: Int(codec.pointee.width), height: Int(codec.pointee.height))
            guard (1...16384).contains(size.width), (1...16384).contains(size.height) else {
                throw MediaError(
                    .unreadable,
                    "avcodec_open2",
                    path,
                    detail: "a picture of \(size)"
                )
            }
            format =
                codec.pointee.codec_id == AV_CODEC_ID_MJPEG
                ? .mjpg : planarFormat(codec.pointee.pix_fmt) ?? .i420
            rotation = Self.rotation(of: video.track)
            jpegDecoder = format == .mjpg ? Self.makeDecoder() : nil
            let fraction = av_guess_frame_rate(container, video.track, nil)
            let declared = fraction.den > 0 ? Double(fraction.num) / Double(fraction.den) : 0
            rate =
                try Self.isPicture(descriptor, path, formats, stream)
                ? 0 : declared > 0 && declared <= 1000 ? declared : 25
        } catch {
            avcodec_free_context(&codec)
            av_packet_free(&packet)
            av_frame_free(&picture)
            var closing: UnsafeMutablePointer<AVFormatContext>? = container
            avformat_close_input(&closing)
            throw error
        }
        self.container = container
        self.codec = codec
        self.packet = packet
        self.picture = picture
    }

    deinit {
        cav_scaler_free(scaler)
        avcodec_free_context(&codec)
        av_packet_free(&packet)
        av_frame_free(&picture)
        avformat_close_input(&container)
    }

    /// `true` if FFmpeg's libraries are installed. Without them, no file can be read.
    package static var isPossible: Bool { cav_load() }

    /// Returns the rotation that the track declares, in degrees.
    private static func rotation(of track: UnsafeMutablePointer<AVStream>) -> Int {
        // libavformat before 6.1 does not read Matroska's rotation of flat pictures, but the tag
        // has it. This can go once 6.1 is required.
        if let value = av_dict_get(track.pointee.metadata, "rotate", nil, 0)?.pointee.value,
            let degrees = Int(String(cString: value))
        {
            return [90, 180, 270].contains(degrees) ? degrees : 0
        }
        guard let matrix = cav_display_matrix(track) else { return 0 }
        let angle = av_display_rotation_get(matrix)
        // The angle counts anticlockwise, and is NaN if the matrix is not a rotation.
        guard angle.isFinite else { return 0 }
        return ((Int((-angle / 90).rounded()) % 4 + 4) % 4) * 90
    }

    private static func makeDecoder() -> JPEGDecoder? { try? JPEGDecoder() }

    /// Opens the decoder of the best video in `container`.
    private static func openVideo(
        of container: UnsafeMutablePointer<AVFormatContext>,
        _ path: String
    ) throws(MediaError) -> (
        codec: UnsafeMutablePointer<AVCodecContext>,
        track: UnsafeMutablePointer<AVStream>,
        stream: CInt
    ) {
        var decoder: UnsafePointer<AVCodec>?
        let stream = av_find_best_stream(container, AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0)
        guard stream >= 0, let track = container.pointee.streams[Int(stream)] else {
            throw .libav("av_find_best_stream", path, stream, .unsupported)
        }
        var codec = avcodec_alloc_context3(decoder)
        guard let made = codec else {
            throw .libav("avcodec_alloc_context3", path, -ENOMEM, .unreadable)
        }
        let copied = avcodec_parameters_to_context(made, track.pointee.codecpar)
        guard copied >= 0 else {
            avcodec_free_context(&codec)
            throw .libav("avcodec_parameters_to_context", path, copied, .unreadable)
        }
        let ready = avcodec_open2(made, decoder, nil)
        guard ready == 0 else {
            avcodec_free_context(&codec)
            throw .libav("avcodec_open2", path, ready, .unreadable)
        }
        return (made, track, stream)
    }

    private static func opened(
        _ input: InputFile,
        _ path: String,
        _ formats: String?
    ) throws(MediaError) -> UnsafeMutablePointer<AVFormatContext> {
        guard let container = try input.open(path, formats: formats) else {
            throw .libav("avformat_open_input", path, cav_end_of_file, .unreadable)
        }
        return container
    }

    /// Returns `true` if stream `stream` of the file behind `descriptor` is a single picture.
    ///
    /// libavformat cannot tell a picture from a bare sequence of them, and claims some rate for
    /// both, so the frames are counted, up to two.
    private static func isPicture(
        _ descriptor: CInt,
        _ path: String,
        _ formats: String?,
        _ stream: CInt
    ) throws(MediaError) -> Bool {
        let input = try InputFile(descriptor)
        var container: UnsafeMutablePointer<AVFormatContext>? = try opened(input, path, formats)
        var packet = av_packet_alloc()
        defer {
            av_packet_free(&packet)
            avformat_close_input(&container)
            withExtendedLifetime(input) {}
        }
        let name = container?.pointee.iformat.pointee.name.map { String(cString: $0) } ?? ""
        guard name == "image2" || name.hasSuffix("_pipe"), let packet else { return false }
        var count = 0
        while count < 2, av_read_frame(container, packet) == 0 {
            if packet.pointee.stream_index == stream { count += 1 }
            av_packet_unref(packet)
        }
        return count < 2
    }

    /// Decodes the next frame, for `copy(into:_:)`. The first follows the last.
    ///
    /// - Returns: `false` for a damaged frame.
    /// - Throws: `unreadable` if the file has no frame at all, or can no longer be read; other
    ///   codes for system errors.
    package func advance() throws(MediaError) -> Bool {
        guard let codec, let container, let packet, let picture else { return false }
        header = nil
        av_packet_unref(packet)
        while true {
            let received = avcodec_receive_frame(codec, picture)
            if received == 0 {
                hasFrames = true
                return true
            }
            if received == cav_end_of_file {
                try rewind()
                continue
            }
            // This packet does not decode; later ones may.
            guard received == -EAGAIN else { return false }
            let read = av_read_frame(container, packet)
            if read == cav_end_of_file {
                // The decoder returns what it still holds, then reports its end.
                avcodec_send_packet(codec, nil)
                continue
            }
            guard read == 0 else {
                throw MediaError.libav("av_read_frame", path, read, .unreadable)
            }
            guard packet.pointee.stream_index == stream else {
                av_packet_unref(packet)
                continue
            }
            if readHeader() {
                hasFrames = true
                return true
            }
            defer { av_packet_unref(packet) }
            let sent = avcodec_send_packet(codec, packet)
            guard sent == 0 || sent == -EAGAIN else { return false }
        }
    }

    /// Reads the packet's header. Returns `true` if it is a JPEG of the file's size, which `copy`
    /// then decodes. libavcodec handles other content of such files (halves of interlaced pictures,
    /// colours other than YUV).
    private func readHeader() -> Bool {
        guard let jpegDecoder, let packet,
            let header = try? jpegDecoder.header(of: Self.bytes(packet)), header.size == size
        else { return false }
        self.header = header
        return true
    }

    private static func bytes(_ packet: UnsafeMutablePointer<AVPacket>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size))
    }

    /// The current frame if it is a JPEG that `copy` would decode; valid until the next.
    package var jpeg: UnsafeRawBufferPointer? { header == nil ? nil : packet.map(Self.bytes) }

    private func rewind() throws(MediaError) {
        guard hasFrames else {
            throw MediaError(.unreadable, "avcodec_receive_frame", path, detail: "no frame in it")
        }
        hasFrames = false
        avcodec_flush_buffers(codec)
        let result = avformat_seek_file(container, -1, .min, 0, .max, 0)
        guard result < 0 else { return }
        // Streams without timestamps are sought by position.
        let again = avformat_seek_file(container, -1, 0, 0, 0, AVSEEK_FLAG_BYTE)
        guard again >= 0 else {
            throw MediaError.libav("avformat_seek_file", path, again, .unreadable)
        }
    }

    /// The layout and colour space of the current frame.
    package var layout: (FrameLayout, ColorSpace) {
        if let header { return (FrameLayout(size: header.size, format: header.format), .jpeg) }
        guard let frame = picture?.pointee else { preconditionFailure("no frame") }
        let size = Size(width: Int(frame.width), height: Int(frame.height))
        let source = AVPixelFormat(frame.format)
        return (
            FrameLayout(size: size, format: planarFormat(source) ?? .i420),
            color(of: frame, isHD: size.height > 576)
        )
    }

    /// Returns the colour space of `frame` once it is planar; if it declares none, what players
    /// assume.
    private func color(of frame: AVFrame, isHD: Bool) -> ColorSpace {
        let source = AVPixelFormat(frame.format)
        // RGB is converted, and the scaler chooses the result.
        if let details = av_pix_fmt_desc_get(source)?.pointee,
            details.flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0
        {
            return .video
        }
        let isMovie = format != .mjpg && codec?.pointee.codec_id != AV_CODEC_ID_RAWVIDEO
        return ColorSpace(of: frame, isHD: isHD && isMovie)
    }

    /// Copies the current frame into `buffer`, laid out as `layout`.
    ///
    /// - Returns: `false` for a damaged frame.
    /// - Throws: `unsupported` if libswscale cannot convert it to planar YUV.
    package func copy(
        into buffer: FrameBuffer,
        _ layout: FrameLayout
    ) throws(MediaError) -> Bool {
        guard let picture, let packet else { return false }
        if let header, let jpegDecoder {
            let isNoisy = try? jpegDecoder.decode(
                Self.bytes(packet),
                header: header,
                into: buffer,
                layout: layout
            )
            return isNoisy != nil
        }
        let source = AVPixelFormat(picture.pointee.format)
        guard planarFormat(source) == nil else {
            copyPlanes(of: picture, into: buffer, layout)
            return true
        }
        try convert(picture, from: source, into: buffer, layout)
        return true
    }

    private func convert(
        _ picture: UnsafeMutablePointer<AVFrame>,
        from source: AVPixelFormat,
        into buffer: FrameBuffer,
        _ layout: FrameLayout
    ) throws(MediaError) {
        scaler = cav_scaler_get(
            scaler,
            picture.pointee.width,
            picture.pointee.height,
            source,
            AV_PIX_FMT_YUV420P,
            true
        )
        guard let scaler else {
            throw MediaError(
                .unsupported,
                "sws_getContext",
                path,
                detail: "pixel format \(source.rawValue)"
            )
        }
        // RGB becomes BT.601 in limited range; YUV keeps its own range.
        let matrix = sws_getCoefficients(SWS_CS_ITU601)
        let isFull =
            layout.format == .i420 && color(of: picture.pointee, isHD: false).range == .full
        let isRGB =
            (av_pix_fmt_desc_get(source)?.pointee.flags ?? 0) & UInt64(AV_PIX_FMT_FLAG_RGB) != 0
        cav_scaler_set_colors(scaler, matrix, isRGB || isFull, matrix, isFull)
        convertPlanes(of: picture, scaler, into: buffer, layout)
    }
}
