import CAV
package import Frames
import Glibc
import Platform

/// A stream of pictures over RTSP or SRT, read and decoded by libav with as little delay as it
/// allows.
///
/// - Context: bound to one thread.
package final class LiveReader {
    /// A picture that has just come.
    package enum Picture {
        /// A JPEG, valid until the next call.
        case jpeg(UnsafeRawBufferPointer)
        /// A decoded picture, for `copy(into:_:)`.
        case planes(FrameLayout, ColorSpace)
    }

    /// The address, without anything secret: for errors.
    private let name: String
    private let isConnected: () -> Bool
    private let proceed: () -> Bool
    private var container: UnsafeMutablePointer<AVFormatContext>?
    private var codec: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var picture: UnsafeMutablePointer<AVFrame>?
    private var scaler: OpaquePointer?
    private var presentation = Presentation()
    private var stream: CInt = -1
    /// The time of the last byte that came, as far as libav tells.
    private var lastSign = MonotonicClock.now
    /// The time when the last packet came.
    private var arrival = MonotonicClock.now
    private var pace = LivePace()
    /// `true` while packets are left out until the next key picture, since decoding is behind.
    private var isCatchingUp = false
    /// The number of packets left out so far.
    package private(set) var leftOut = 0

    /// The seconds behind from which pictures that no other needs are not decoded; those from which
    /// everything is left out until the next key picture.
    private static let (slight, large) = (0.15, 0.5)
    /// The seconds that reading a packet takes at least if it had not come yet.
    private static let waiting = 0.002

    private var pauses = LivePauses()
    /// `true` once there was a connection.
    private var wasReached = false
    /// `true` once the camera was given up.
    private var wasSilent = false
    /// `true` once the video is asked for.
    private var isPlaying = false
    /// The seconds to connect, and to begin with the video: a server that never does may begin for
    /// another client.
    private static let (connecting, beginning) = (5.0, 10.0)
    /// The codecs that a camera may send. Each further decoder is a further way in.
    private static let codecs = ["h264", "hevc", "mjpeg", "mpeg4"]

    /// `true` if FFmpeg's libraries are installed.
    package static var isPossible: Bool { cav_load() }

    /// Connects to `url`, of the scheme `rtsp` or `srt`; `name` stands for it in errors. SRT is
    /// encrypted by `passphrase` unless that is empty. Waits till the server has answered.
    /// `isConnected` tells if there is a connection to an RTSP server yet, for which less time is
    /// allowed. `proceed` is called many times a second, from within all calls, which return soon
    /// after it has returned `false`.
    ///
    /// - Throws: `notFound` of "connect" if nothing is reached there; `notFound` if the server has
    ///   ended it; `denied` if it wants another password; `unsupported` and `unreadable`.
    package init(
        url: String,
        as name: String,
        passphrase: String = "",
        isConnected: @escaping () -> Bool = { false },
        proceed: @escaping () -> Bool
    ) throws(MediaError) {
        try loadLibraries()
        self.name = name
        self.isConnected = isConnected
        self.proceed = proceed
        (packet, picture) = (av_packet_alloc(), av_frame_alloc())
        guard let made = avformat_alloc_context(), packet != nil, picture != nil else {
            throw MediaError(.system, "avformat_alloc_context", name, errno: ENOMEM)
        }
        made.pointee.interrupt_callback = AVIOInterruptCB(
            callback: { context in
                guard let context else { return 1 }
                let reader = Unmanaged<LiveReader>.fromOpaque(context).takeUnretainedValue()
                return reader.isOver ? 1 : 0
            },
            opaque: Unmanaged.passUnretained(self).toOpaque()
        )
        // Nothing is kept to learn more of the stream.
        made.pointee.flags |= AVFMT_FLAG_NOBUFFER
        let isSession = url.hasPrefix("rtsp:")
        var options: OpaquePointer?
        // Not UDP, whatever the server says. The video begins once its kind is known.
        let session = [
            ("rtsp_transport", "tcp"), ("allowed_media_types", "video"), ("initial_pause", "1"),
        ]
        for (key, value) in [
            ("protocol_whitelist", isSession ? "rtsp,tcp" : "srt"),
            ("format_whitelist", isSession ? "rtsp" : "mpegts"),
            ("codec_whitelist", Self.codecs.joined(separator: ",")), ("max_delay", "100000"),
            ("probesize", "32768"),
        ] + (isSession ? session : []) {
            av_dict_set(&options, key, value, 0)
        }
        // Not in the address, where libav would not decode %20.
        if !isSession, !passphrase.isEmpty { av_dict_set(&options, "passphrase", passphrase, 0) }
        container = made
        // libav would read 32 KB of SRT before it named the format, which a camera of a still scene
        // takes seconds to send.
        let format = isSession ? nil : av_find_input_format("mpegts")
        let opened = avformat_open_input(&container, url, format, &options)
        av_dict_free(&options)
        guard opened >= 0 else { throw failure("avformat_open_input", opened) }
        wasReached = true
        if isSession {
            try checkVideo()
            (isPlaying, lastSign) = (true, MonotonicClock.now)
            let started = av_read_play(container)
            guard started >= 0 else { throw failure("av_read_play", started) }
        }
        lastSign = MonotonicClock.now
    }

    /// - Throws: `unsupported` unless there is a video of a kind that is decoded here.
    private func checkVideo() throws(MediaError) {
        var detail = "it sends no video"
        for index in 0..<Int(container?.pointee.nb_streams ?? 0) {
            guard let track = container?.pointee.streams[index]?.pointee.codecpar,
                track.pointee.codec_type == AVMEDIA_TYPE_VIDEO
            else { continue }
            let codec = String(cString: avcodec_get_name(track.pointee.codec_id))
            if Self.codecs.contains(codec) { return }
            let known = codec == "none" ? "of another kind" : codec.uppercased()
            detail = "its video is \(known), which DualCam cannot show"
        }
        throw MediaError(.unsupported, "av_find_best_stream", name, detail: detail)
    }

    deinit {
        cav_scaler_free(scaler)
        avcodec_free_context(&codec)
        av_packet_free(&packet)
        av_frame_free(&picture)
        avformat_close_input(&container)
    }

    private var isOver: Bool {
        wasReached = wasReached || isConnected()
        let silence = (MonotonicClock.now - lastSign).seconds
        let patience = isPlaying && stream < 0 ? Self.beginning : pauses.patience
        wasSilent = silence > (wasReached ? patience : Self.connecting)
        return !proceed() || wasSilent
    }

    /// Waits for the next picture, and returns it with the time of its arrival; `nil` once
    /// `proceed` has returned `false`.
    ///
    /// - Throws: the reason that no more come.
    package func next() throws(MediaError) -> (Picture, arrival: Timestamp)? {
        guard let packet, let picture else { return nil }
        while true {
            if let codec {
                let received = avcodec_receive_frame(codec, picture)
                if received == 0 {
                    // What is known to be damaged is not shown.
                    if picture.pointee.decode_error_flags != 0 { continue }
                    return (try planes(picture), arrival)
                }
            }
            av_packet_unref(packet)
            let start = MonotonicClock.now
            let read = av_read_frame(container, packet)
            guard proceed() else { return nil }
            if read == -EAGAIN { continue }
            guard read >= 0 else { throw failure("av_read_frame", read) }
            lastSign = MonotonicClock.now
            arrival = lastSign
            let hasWaited = (arrival - start).seconds > Self.waiting
            if stream < 0 {
                try checkVideo()
                try openDecoder(for: packet.pointee.stream_index)
            }
            guard packet.pointee.stream_index == stream else { continue }
            pauses.count(arrival)
            guard let codec else {
                return (.jpeg(Self.bytes(packet)), arrival)
            }
            if leavesOut(packet, hasWaited: hasWaited, codec) { continue }
            // A packet that does not decode is lost; later ones may.
            avcodec_send_packet(codec, packet)
        }
    }

    /// Returns `true` if `packet` is not to be decoded, since newer ones are waiting and decoding
    /// is too slow for all.
    private func leavesOut(
        _ packet: UnsafeMutablePointer<AVPacket>,
        hasWaited: Bool,
        _ codec: UnsafeMutablePointer<AVCodecContext>
    ) -> Bool {
        let isKey = packet.pointee.flags & AV_PKT_FLAG_KEY != 0
        // Their times of decoding never fall, but RTSP may not tell them.
        let time =
            packet.pointee.dts != cav_no_time ? packet.pointee.dts : packet.pointee.pts
        if time != cav_no_time,
            let base = container?.pointee.streams[Int(stream)]?.pointee.time_base,
            base.den > 0
        {
            let seconds = Double(time) * Double(base.num) / Double(base.den)
            pace.count(seconds, at: arrival.seconds, hasWaited: hasWaited)
        }
        codec.pointee.skip_frame = pace.lag > Self.slight ? AVDISCARD_NONREF : AVDISCARD_DEFAULT
        if isKey { isCatchingUp = false }
        if pace.lag > Self.large, !hasWaited, !isKey { isCatchingUp = true }
        if isCatchingUp { leftOut += 1 }
        return isCatchingUp
    }

    private static func bytes(_ packet: UnsafeMutablePointer<AVPacket>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size))
    }

    /// Makes the decoder of stream `index` if that is the one to show.
    private func openDecoder(for index: CInt) throws(MediaError) {
        var decoder: UnsafePointer<AVCodec>?
        let best = av_find_best_stream(container, AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0)
        guard best == index, let track = container?.pointee.streams[Int(index)],
            let parameters = track.pointee.codecpar
        else { return }
        stream = index
        // Decoded by libjpeg, as those of all cameras.
        guard parameters.pointee.codec_id != AV_CODEC_ID_MJPEG else { return }
        codec = avcodec_alloc_context3(decoder)
        guard let codec else {
            throw MediaError(.system, "avcodec_alloc_context3", name, errno: ENOMEM)
        }
        avcodec_parameters_to_context(codec, parameters)
        VideoDecoder.avoidDelay(of: codec)
        var options: OpaquePointer?
        av_dict_set(&options, "codec_whitelist", Self.codecs.joined(separator: ","), 0)
        let ready = avcodec_open2(codec, decoder, &options)
        av_dict_free(&options)
        guard ready == 0 else {
            throw .libav("avcodec_open2", name, ready, .unsupported)
        }
    }

    private func planes(_ frame: UnsafeMutablePointer<AVFrame>) throws(MediaError) -> Picture {
        let size = Size(width: Int(frame.pointee.width), height: Int(frame.pointee.height))
        guard (1...16384).contains(size.width), (1...16384).contains(size.height) else {
            throw MediaError(.unreadable, "avcodec_receive_frame", name, detail: "\(size)")
        }
        presentation.aspect = frame.pointee.sample_aspect_ratio.value
        return .planes(
            presentation.layout(codedLayout(of: frame.pointee)),
            ColorSpace(of: frame.pointee, isHD: size.height > 576)
        )
    }

    /// Copies the planes of the last picture to `bytes`, laid out as it said.
    ///
    /// - Throws: `unsupported` if libswscale does not know the format.
    package func copy(
        into bytes: UnsafeMutableRawBufferPointer,
        _ layout: FrameLayout
    ) throws(MediaError) {
        guard let picture else { return }
        let buffer = FrameBuffer(borrowing: bytes, owner: self)
        let coded = codedLayout(of: picture.pointee)
        _ = try presentation.present(coded, into: buffer) { buffer throws(MediaError) in
            let source = AVPixelFormat(picture.pointee.format)
            guard planarFormat(source) == nil else {
                copyPlanes(of: picture, into: buffer, coded)
                return true
            }
            let (width, height) = (picture.pointee.width, picture.pointee.height)
            scaler = cav_scaler_get(scaler, width, height, source, AV_PIX_FMT_YUV420P, false)
            guard let scaler else {
                let detail = "pixel format \(source.rawValue)"
                throw MediaError(.unsupported, "sws_getContext", name, detail: detail)
            }
            convertPlanes(of: picture, scaler, into: buffer, coded)
            return true
        }
    }

    private func failure(_ operation: String, _ result: CInt) -> MediaError {
        func error(_ code: MediaError.Code, _ words: String) -> MediaError {
            MediaError(code, wasReached ? operation : "connect", name, detail: words)
        }
        if wasSilent { return error(.notFound, wasReached ? "it is silent" : "nothing answers") }
        return switch result {
        // RTSP ends with -1, too, which is no EPERM.
        case cav_end_of_file, -1: error(.notFound, "it has ended the connection")
        case cav_unauthorized, cav_forbidden: error(.denied, "it wants another user or password")
        case cav_not_found: error(.unsupported, "it has nothing at this address (404)")
        case cav_bad_request, cav_refused: error(.unsupported, "it refuses the request")
        case cav_server_error: error(.unsupported, "it has an error of its own (5xx)")
        case -EPROTONOSUPPORT where operation == "avformat_open_input":
            error(.unsupported, "it does not send its video over TCP")
        case cav_invalid: error(.unreadable, "it gives no answer that makes sense")
        case -ECONNREFUSED, -ETIMEDOUT, -EHOSTUNREACH, -ENETUNREACH, -ECONNRESET, -EPIPE, -EIO:
            error(.notFound, String(cString: strerror(-result)).uncapitalized)
        // libsrt gives no reason.
        case cav_unknown: error(.notFound, wasReached ? "the connection broke" : "nothing answers")
        default: .libav(operation, name, result, .unreadable)
        }
    }
}
