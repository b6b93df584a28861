import CAV
package import Frames
import Glibc
import Imaging

/// A picture or movie file, read frame by frame by libavformat, in a loop, and shown as players
/// show it: upright, with square pixels.
///
/// JPEGs are decoded like those of cameras, everything else by libavcodec.
///
/// - Context: bound to one thread at a time.
package final class MovieReader {
    /// The frame rate, in frames per second; 0 for a single picture.
    package let rate: Double
    /// The size that is shown, in pixels.
    package let size: Size
    /// The format of its frames: JPEG, or the planar format that the codec gives.
    package let format: PixelFormat
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
    private let codedSize: Size
    private var presentation = Presentation()
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
        let (file, status) = try OwnedFile.open(path, O_RDONLY)
        guard status.st_size > 0 else {
            throw MediaError(.unreadable, "read", path, detail: "it is empty")
        }
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
            codedSize = Size(width: Int(codec.pointee.width), height: Int(codec.pointee.height))
            let single = try Self.picture(descriptor, path, formats, stream)
            // Whatever has the name of a picture is taken for one.
            guard codedSize.width > 0, codedSize.height > 0 else {
                let words = single?.fault?.lasting ?? notMedia
                throw MediaError(.unreadable, "read", path, detail: words)
            }
            guard codedSize.width <= 16384, codedSize.height <= 16384 else {
                throw MediaError(.unreadable, "read", path, detail: "it has \(codedSize) pixels")
            }
            format =
                codec.pointee.codec_id == AV_CODEC_ID_MJPEG
                ? .mjpg : planarFormat(codec.pointee.pix_fmt) ?? .i420
            jpegDecoder = format == .mjpg ? Self.makeDecoder() : nil
            let fraction = av_guess_frame_rate(container, video.track, nil)
            let declared = fraction.den > 0 ? Double(fraction.num) / Double(fraction.den) : 0
            if let single {
                rate = 0
                presentation.upright = single.upright
            } else {
                rate = declared > 0 && declared <= 1000 ? declared : 25
                presentation.upright = Self.upright(video.track)
                let told = video.track.pointee.sample_aspect_ratio
                // A JPEG's own may be its resolution.
                presentation.aspect =
                    told.num == 0 && format != .mjpg
                    ? codec.pointee.sample_aspect_ratio.value : told.value
            }
            size = presentation.size(codedSize)
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

    /// Returns the transform that the track declares.
    private static func upright(_ track: UnsafeMutablePointer<AVStream>) -> Transform {
        // libavformat before 6.1 does not read Matroska's rotation of flat pictures, but the tag
        // has it. This can go once 6.1 is required.
        if let value = av_dict_get(track.pointee.metadata, "rotate", nil, 0)?.pointee.value {
            return Transform(quarterTurns: (Int(String(cString: value)) ?? 0) / 90)
        }
        return cav_display_matrix(track).map { Transform(matrix: $0) } ?? .identity
    }

    private static func makeDecoder() -> JPEGDecoder? { try? JPEGDecoder() }

    /// Opens the decoder of the largest video in `container` that is no cover picture.
    private static func openVideo(
        of container: UnsafeMutablePointer<AVFormatContext>,
        _ path: String
    ) throws(MediaError) -> (
        codec: UnsafeMutablePointer<AVCodecContext>,
        track: UnsafeMutablePointer<AVStream>,
        stream: CInt
    ) {
        let tracks = (0..<Int(container.pointee.nb_streams)).compactMap {
            container.pointee.streams[$0]
        }
        let videos = tracks.filter {
            $0.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_VIDEO
                && $0.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
        }
        let known = videos.filter {
            avcodec_find_decoder($0.pointee.codecpar.pointee.codec_id) != nil
        }
        func rank(_ video: UnsafeMutablePointer<AVStream>) -> (Int, CInt) {
            let facts = video.pointee.codecpar.pointee
            let isDefault = video.pointee.disposition & AV_DISPOSITION_DEFAULT
            return (Int(facts.width) * Int(facts.height), isDefault)
        }
        guard let track = known.max(by: { rank($0) < rank($1) }) else {
            let words = "FFmpeg has no decoder for its video here"
            let detail = videos.isEmpty ? "there is no picture in it" : words
            throw MediaError(.unsupported, "read", path, detail: detail)
        }
        let decoder = avcodec_find_decoder(track.pointee.codecpar.pointee.codec_id)
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
        return (made, track, track.pointee.index)
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

    /// Returns what makes the picture upright if stream `stream` of the file behind `descriptor` is
    /// a single one, and why it cannot be shown if it is a JPEG; `nil` for a movie.
    ///
    /// libavformat cannot tell a picture from a bare sequence of them, and claims some rate for
    /// both, so the frames are counted, up to two. A second one of another size belongs to the
    /// first: telephones leave it there.
    private static func picture(
        _ descriptor: CInt,
        _ path: String,
        _ formats: String?,
        _ stream: CInt
    ) throws(MediaError) -> (upright: Transform, fault: JPEGError?)? {
        let input = try InputFile(descriptor)
        var container: UnsafeMutablePointer<AVFormatContext>? = try opened(input, path, formats)
        var packet = av_packet_alloc()
        defer {
            av_packet_free(&packet)
            avformat_close_input(&container)
            withExtendedLifetime(input) {}
        }
        let name = container?.pointee.iformat.pointee.name.map { String(cString: $0) } ?? ""
        guard name == "image2" || name.hasSuffix("_pipe"), let packet else { return nil }
        var first: (upright: Transform, size: Size?, fault: JPEGError?)?
        while av_read_frame(container, packet) == 0 {
            defer { av_packet_unref(packet) }
            guard packet.pointee.stream_index == stream else { continue }
            let (size, fault) = Self.size(ofJPEG: bytes(packet))
            if let first {
                guard let size, let other = first.size, size != other else { return nil }
                break
            }
            first = (EXIFOrientation(file: bytes(packet)).upright, size, fault)
        }
        return (first?.upright ?? .identity, first?.fault)
    }

    private static func size(ofJPEG bytes: UnsafeRawBufferPointer) -> (Size?, JPEGError?) {
        do throws(JPEGError) {
            return (try JPEGDecoder().header(of: bytes).size, nil)
        } catch {
            return (nil, error)
        }
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
            if try readHeader() {
                hasFrames = true
                return true
            }
            defer { av_packet_unref(packet) }
            let sent = avcodec_send_packet(codec, packet)
            guard sent == 0 || sent == -EAGAIN else { return false }
        }
    }

    /// Reads the packet's header. Returns `true` if it is a JPEG of the file's size, which `copy`
    /// then decodes. libavcodec handles other content of such files (halves of interlaced
    /// pictures).
    private func readHeader() throws(MediaError) -> Bool {
        guard let jpegDecoder, let packet else { return false }
        do throws(JPEGError) {
            let header = try jpegDecoder.header(of: Self.bytes(packet))
            if header.size == codedSize { self.header = header }
        } catch {
            // A later one may be damaged.
            if !hasFrames { try refuse(error) }
        }
        return header != nil
    }

    /// - Throws: `unsupported` if all JPEGs of the file have `fault`.
    private func refuse(_ fault: JPEGError) throws(MediaError) {
        guard let words = fault.lasting else { return }
        throw MediaError(.unsupported, "read", path, detail: words)
    }

    private static func bytes(_ packet: UnsafeMutablePointer<AVPacket>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size))
    }

    /// The current frame if it is a JPEG that is shown as it is; valid until the next.
    package var jpeg: UnsafeRawBufferPointer? {
        header == nil || !presentation.keeps(codedSize) ? nil : packet.map(Self.bytes)
    }

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
        let color: ColorSpace =
            if header == nil, let frame = picture?.pointee {
                self.color(of: frame, isHD: frame.height > 576)
            } else { .jpeg }
        return (presentation.layout(codedLayout), color)
    }

    private var codedLayout: FrameLayout {
        if let header { return header.layout(at: .full) }
        guard let frame = picture?.pointee else { preconditionFailure("no frame") }
        return Media.codedLayout(of: frame)
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

    /// Copies the current frame into `buffer`, laid out as `layout` says.
    ///
    /// - Returns: `false` for a damaged frame.
    /// - Throws: `unsupported` if it cannot be made planar YUV, or is a JPEG that cannot be shown.
    package func copy(into buffer: FrameBuffer) throws(MediaError) -> Bool {
        let coded = codedLayout
        return try presentation.present(coded, into: buffer) { buffer throws(MediaError) in
            try draw(into: buffer, coded)
        }
    }

    private func draw(
        into buffer: FrameBuffer,
        _ layout: FrameLayout
    ) throws(MediaError) -> Bool {
        guard let picture, let packet else { return false }
        if let header, let jpegDecoder {
            do throws(JPEGError) {
                let bytes = Self.bytes(packet)
                try jpegDecoder.decode(bytes, header: header, into: buffer, layout: layout)
                return true
            } catch {
                try refuse(error)
                return false
            }
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
