import CAV
import Frames
import Glibc

/// A Matroska file under construction, playable at any time up to the last `flush()`.
///
/// - Context: One thread at a time. Every call may wait for the disk.
final class MatroskaWriter {
    let path: String
    let tracks: [Track]
    /// The moment that players show as 0.
    let start: Timestamp

    private let output: OutputFile
    private var context: UnsafeMutablePointer<AVFormatContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    /// The timestamp of the last packet of each track.
    private var last: [Int64]
    private var isOpen = true

    /// Creates the file at `path` with the access rights `mode`, under any umask, and writes its
    /// header. The file is locked (`FileLock`) until this object is released.
    ///
    /// `start` is the moment that players show as 0; `tags` describe the whole file.
    ///
    /// - Throws: `noSpace`, `denied`, `notFound` without the directory, `system` (with EEXIST if
    ///   the file exists), `unsupported` without libav, or for a frame rate or size that no camera
    ///   has.
    init(
        creating path: String,
        tracks: [Track],
        start: Timestamp,
        tags: [String: String] = [:],
        mode: UInt32 = 0o600
    ) throws(MediaError) {
        precondition(!tracks.isEmpty, "a file without a track")
        for track in tracks { try track.check() }
        try loadLibraries()
        self.path = path
        self.tracks = tracks
        self.start = start
        last = tracks.map { _ in .min }
        output = try OutputFile(creating: path, mode: mode)
        var context: UnsafeMutablePointer<AVFormatContext>?
        let result = avformat_alloc_output_context2(&context, nil, "matroska", nil)
        guard result >= 0, let context else {
            unlink(path)
            throw output.error("avformat_alloc_output_context2", result)
        }
        do throws(MediaError) {
            context.pointee.pb = output.io
            // Timestamps are kept as they are: sound may begin a moment before the first picture.
            context.pointee.avoid_negative_ts = AVFMT_AVOID_NEG_TS_DISABLED
            for (key, value) in tags { av_dict_set(&context.pointee.metadata, key, value, 0) }
            for track in tracks { try track.add(to: context) }
            packet = av_packet_alloc()
            guard packet != nil else {
                throw MediaError(.system, "av_packet_alloc", errno: ENOMEM)
            }
            var options: OpaquePointer?
            av_dict_set(&options, "cluster_time_limit", "1000", 0)
            // No checksum, because `OutputFile` changes the header on its way.
            av_dict_set(&options, "write_crc32", "0", 0)
            output.isHeader = true
            let written = avformat_write_header(context, &options)
            av_dict_free(&options)
            guard written >= 0 else { throw output.error("avformat_write_header", written) }
            try output.sync()
            output.isHeader = false
        } catch {
            av_packet_free(&packet)
            avformat_free_context(context)
            unlink(path)
            throw error
        }
        self.context = context
    }

    deinit {
        av_packet_free(&packet)
        avformat_free_context(context)
    }

    /// Adds `packet` to the track with index `track`.
    ///
    /// A packet that is not later than the last of its track is moved to one millisecond after it,
    /// the resolution of timestamps. Does nothing after `finish()` or a failure.
    ///
    /// - Throws: As `flush()`.
    func write(_ packet: Packet, track: Int) throws(MediaError) {
        guard isOpen, let context, let out = self.packet,
            let stream = context.pointee.streams[track]
        else { return }
        let base = stream.pointee.time_base
        let clock = AVRational(num: 1, den: 1_000_000_000)
        let time = av_rescale_q((packet.time - start).nanoseconds, clock, base)
        last[track] = last[track] == .min ? time : max(time, last[track] + 1)
        let result = packet.withBytes { bytes in
            out.pointee.data = UnsafeMutablePointer(
                mutating: bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            )
            out.pointee.size = CInt(bytes.count)
            out.pointee.stream_index = CInt(track)
            out.pointee.pts = last[track]
            out.pointee.dts = last[track]
            out.pointee.duration = av_rescale_q(packet.duration.nanoseconds, clock, base)
            out.pointee.flags = packet.isKey ? AV_PKT_FLAG_KEY : 0
            let result = av_write_frame(context, out)
            out.pointee.data = nil
            out.pointee.size = 0
            return result
        }
        try check("av_write_frame", result)
    }

    /// Writes all packets to the file, so that they outlive the process, and with `durably` a power
    /// cut.
    ///
    /// - Throws: `noSpace`, `denied` or `system`. The file then ends at the last flush and takes no
    ///   more packets.
    func flush(durably: Bool = true) throws(MediaError) {
        guard isOpen, let context else { return }
        try check("av_write_frame", av_write_frame(context, nil))
        do throws(MediaError) {
            if durably { try output.sync() } else { try output.flush() }
        } catch {
            abandon()
            throw error
        }
    }

    /// Returns `true` if the track with index `track` has a packet.
    func isUsed(_ track: Int) -> Bool { last[track] != .min }

    /// Finishes the file: adds its duration and an index, takes out tracks without a packet, and
    /// waits until it is on the disk. Each of `chapters` is the begin of one and the end of the one
    /// before.
    ///
    /// - Throws: As `flush()`.
    func finish(chapters: [Timestamp] = []) throws(MediaError) {
        guard isOpen, let context else { return }
        let unit = AVRational(num: 1, den: 1_000_000_000)
        for (begin, end) in zip(chapters, chapters.dropFirst()) {
            let (begin, end) = ((begin - start).nanoseconds, (end - start).nanoseconds)
            // The file is worth more than the mark.
            _ = cav_add_chapter(context, unit, begin, end)
        }
        output.isHeader = true
        let result = av_write_trailer(context)
        try check("av_write_trailer", result)
        do throws(MediaError) {
            try output.flush()
            for track in tracks.indices where !isUsed(track) { output.voidTrack(track + 1) }
            try output.sync()
        } catch {
            abandon()
            throw error
        }
        isOpen = false
    }

    /// The room where the file is now, even if it was moved; `nil` if the system call fails.
    var space: DiskSpace? { output.space }

    /// The path at which the file is now; `nil` if it was removed.
    var place: String? { output.place }

    /// The most bytes that the file may have.
    var sizeLimit: Int64 { output.sizeLimit }

    /// The length of the file in bytes, or 0 if the system call fails.
    var byteCount: Int64 { output.byteCount }

    private func check(_ operation: String, _ result: CInt) throws(MediaError) {
        guard result < 0 || output.failure != 0 else { return }
        abandon()
        throw output.error(operation, result)
    }

    private func abandon() {
        isOpen = false
        output.cutBack()
    }
}

extension ColorSpace {
    /// The transfer function: that of sRGB for what comes as JPEGs, else that of video.
    var transfer: AVColorTransferCharacteristic {
        range == .full ? AVCOL_TRC_IEC61966_2_1 : AVCOL_TRC_BT709
    }
}

extension Track {
    /// Adds the track to `context` as its next stream.
    fileprivate func add(
        to context: UnsafeMutablePointer<AVFormatContext>
    ) throws(MediaError) {
        let failure = MediaError(.system, "avformat_new_stream", errno: ENOMEM)
        guard let stream = avformat_new_stream(context, nil),
            let parameters = stream.pointee.codecpar
        else { throw failure }
        if !header.isEmpty {
            let room = header.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)
            guard let memory = av_mallocz(room) else { throw failure }
            header.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                memory.copyMemory(from: base, byteCount: bytes.count)
            }
            parameters.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
            parameters.pointee.extradata_size = CInt(header.count)
        }
        parameters.pointee.codec_id =
            switch codec {
            case .mjpeg: AV_CODEC_ID_MJPEG
            case .h264: AV_CODEC_ID_H264
            case .opus: AV_CODEC_ID_OPUS
            case .flac: AV_CODEC_ID_FLAC
            }
        stream.pointee.time_base = AVRational(num: 1, den: 1000)
        switch media {
        case .video(let size, let rate, let rotation, let color):
            parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
            parameters.pointee.width = CInt(size.width)
            parameters.pointee.height = CInt(size.height)
            parameters.pointee.color_range =
                color.range == .full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
            parameters.pointee.color_space =
                color.matrix == .bt709 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M
            // Cameras have the primaries of sRGB, which are those of BT.709.
            parameters.pointee.color_primaries = AVCOL_PRI_BT709
            parameters.pointee.color_trc = color.transfer
            if rate > 0 {
                stream.pointee.avg_frame_rate = AVRational(
                    num: CInt((rate * 1000).rounded()),
                    den: 1000
                )
            }
            if rotation != 0 { try stream.turn(by: rotation, failure) }
        case .sound(let rate, let channels):
            parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
            parameters.pointee.sample_rate = CInt(rate)
            parameters.pointee.initial_padding = CInt(padding)
            if codec == .opus { parameters.pointee.seek_preroll = CInt(rate * 80 / 1000) }
            av_channel_layout_default(&parameters.pointee.ch_layout, CInt(channels))
        }
    }
}

extension UnsafeMutablePointer<AVStream> {
    /// Makes players turn the picture by `degrees` clockwise, with the Matroska element and with
    /// the tag that older players read.
    func turn(by degrees: Int, _ failure: MediaError) throws(MediaError) {
        av_dict_set(&pointee.metadata, "rotate", "\(degrees)", 0)
        let size = MemoryLayout<AVSphericalMapping>.size
        guard let data = cav_add_side_data(self, AV_PKT_DATA_SPHERICAL, size) else {
            throw failure
        }
        // ProjectionPoseRoll counts anticlockwise, from -180 to 180.
        let roll = degrees > 180 ? 360 - degrees : -degrees
        var mapping = AVSphericalMapping()
        mapping.projection = AV_SPHERICAL_EQUIRECTANGULAR
        mapping.roll = Int32(roll) << 16
        UnsafeMutableRawPointer(data).copyMemory(from: &mapping, byteCount: size)
    }
}
