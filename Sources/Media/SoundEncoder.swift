import CAV
import Frames
import Glibc

/// Encodes sound, and keeps it in step with the clock of the pictures.
///
/// A sound card has a clock of its own, which drifts by some seconds a day. Each block of sound has
/// a timestamp; the resampler stretches its output so that sample number n lies n samples after the
/// start, within a few milliseconds, and fills gaps with silence.
///
/// - Context: One thread at a time.
final class SoundEncoder {
    let track: Track
    /// The moment of the first sample.
    let start: Timestamp

    private let rate: Int
    private let channels: Int
    private var codec: UnsafeMutablePointer<AVCodecContext>?
    private var resampler: OpaquePointer?
    /// The samples of one packet.
    private var frame: UnsafeMutablePointer<AVFrame>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    /// The number of samples in `frame`, per channel.
    private var filled = 0
    /// The number of samples given to the encoder, per channel.
    private var count: Int64 = 0

    /// Creates an encoder for `channels` interleaved channels at `rate` samples per second, the
    /// first of them taken at `start`. It is Opus if available, otherwise FLAC.
    ///
    /// - Throws: `unsupported` without either, `system` when out of memory.
    init(rate: Int, channels: Int, start: Timestamp) throws(MediaError) {
        try loadLibraries()
        self.rate = rate
        self.channels = channels
        self.start = start
        var reason = MediaError(.unsupported, "avcodec_find_encoder_by_name")
        var opened: (Track.Codec, UnsafeMutablePointer<AVCodecContext>)?
        for (kind, name) in [(Track.Codec.opus, "libopus"), (.flac, "flac")] {
            do throws(MediaError) {
                opened = (kind, try Self.open(name, rate, channels))
                break
            } catch { reason = error }
        }
        guard let (kind, context) = opened else { throw reason }
        track = Track(
            kind,
            .sound(rate: rate, channels: channels),
            header: Array(
                UnsafeBufferPointer(
                    start: context.pointee.extradata,
                    count: Int(context.pointee.extradata_size)
                )
            ),
            padding: Int(context.pointee.initial_padding)
        )
        codec = context
        packet = av_packet_alloc()
        frame = av_frame_alloc()
        guard let frame, packet != nil else {
            throw MediaError(.system, "av_frame_alloc", errno: ENOMEM)
        }
        frame.pointee.format = context.pointee.sample_fmt.rawValue
        frame.pointee.nb_samples = context.pointee.frame_size
        frame.pointee.sample_rate = CInt(rate)
        av_channel_layout_default(&frame.pointee.ch_layout, CInt(channels))
        let result = av_frame_get_buffer(frame, 0)
        guard result >= 0 else { throw .libav("av_frame_get_buffer", "", result) }
        try makeResampler(context.pointee.sample_fmt)
    }

    deinit {
        av_packet_free(&packet)
        av_frame_free(&frame)
        swr_free(&resampler)
        avcodec_free_context(&codec)
    }

    private static func open(
        _ name: String,
        _ rate: Int,
        _ channels: Int
    ) throws(MediaError) -> UnsafeMutablePointer<AVCodecContext> {
        guard let encoder = avcodec_find_encoder_by_name(name),
            let context = avcodec_alloc_context3(encoder)
        else { throw MediaError(.unsupported, "avcodec_find_encoder_by_name", name) }
        context.pointee.sample_rate = CInt(rate)
        av_channel_layout_default(&context.pointee.ch_layout, CInt(channels))
        context.pointee.sample_fmt = name == "flac" ? AV_SAMPLE_FMT_S16 : AV_SAMPLE_FMT_FLT
        context.pointee.time_base = AVRational(num: 1, den: CInt(rate))
        context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        if name == "libopus" { context.pointee.bit_rate = Int64(64_000 * channels) }
        let result = avcodec_open2(context, encoder, nil)
        guard result >= 0 else {
            var failed: UnsafeMutablePointer<AVCodecContext>? = context
            avcodec_free_context(&failed)
            throw .libav("avcodec_open2", name, result, .unsupported)
        }
        return context
    }

    private func makeResampler(_ format: AVSampleFormat) throws(MediaError) {
        var layout = AVChannelLayout()
        av_channel_layout_default(&layout, CInt(channels))
        let from = AV_SAMPLE_FMT_FLT
        var made = cav_resampler_make(&resampler, &layout, format, &layout, from, CInt(rate))
        if made >= 0, let resampler {
            let context = UnsafeMutableRawPointer(resampler)
            // The resampler stretches an offset above 3 ms away, by half a per cent at most, which
            // is inaudible. An offset above 40 ms would be seen on lips: it is a gap to fill or a
            // repetition to drop.
            for (name, value) in [
                ("first_pts", "0"), ("min_comp", "0.003"), ("min_hard_comp", "0.04"),
                ("comp_duration", "1"), ("max_soft_comp", "0.005"), ("flags", "res"),
            ] {
                let set = av_opt_set(context, name, value, 0)
                precondition(set >= 0, "libswresample has no option \(name)")
            }
            made = swr_init(resampler)
        }
        guard made >= 0 else { throw .libav("swr_init", "", made, .unsupported) }
    }

    /// Encodes `samples`, `channels` interleaved floats per moment, the first taken at `time`, and
    /// returns the finished packets. What is missing before them becomes silence.
    ///
    /// - Throws: `system` when the encoder fails.
    func encode(
        _ samples: UnsafeBufferPointer<Float>,
        at time: Timestamp
    ) throws(MediaError) -> [Packet] {
        // The resampler holds all of a gap at once. A long one is given to it second by second.
        var packets: [Packet] = []
        while true {
            let next = start + Timestamp(seconds: Double(count + Int64(filled)) / Double(rate))
            guard (time - next).seconds > 2 else { break }
            let silence = [Float](repeating: 0, count: rate * channels)
            packets += try silence.withUnsafeBufferPointer { (block) throws(MediaError) in
                try resample(block, at: next)
            }
        }
        return try packets + resample(samples, at: time)
    }

    private func resample(
        _ samples: UnsafeBufferPointer<Float>,
        at time: Timestamp
    ) throws(MediaError) -> [Packet] {
        guard let resampler, let base = samples.baseAddress, samples.count >= channels else {
            return []
        }
        // In units of input samples times output samples.
        let square = Double(rate) * Double(rate)
        swr_next_pts(resampler, Int64((time - start).seconds * square))
        var input: UnsafePointer<UInt8>? = UnsafePointer(
            UnsafeRawPointer(base).assumingMemoryBound(to: UInt8.self)
        )
        return try fill { output, room in
            guard input != nil else {
                return cav_resampler_convert(resampler, output, room, nil, 0)
            }
            defer { input = nil }
            return cav_resampler_convert(
                resampler,
                output,
                room,
                &input,
                CInt(samples.count / channels)
            )
        }
    }

    /// Returns the remaining packets. The encoder takes no more samples.
    ///
    /// - Throws: As `encode`.
    func finish() throws(MediaError) -> [Packet] {
        guard let codec, let frame, let resampler else { return [] }
        var packets = try fill { cav_resampler_convert(resampler, $0, $1, nil, 0) }
        if filled > 0 {
            // Only the last frame may be short.
            frame.pointee.nb_samples = CInt(filled)
            frame.pointee.pts = count
            filled = 0
            packets += try self.packets(after: avcodec_send_frame(codec, frame))
        }
        return try packets + self.packets(after: avcodec_send_frame(codec, nil))
    }

    /// Encodes the output of `convert` until it returns less than there is room for.
    private func fill(
        _ convert: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, CInt) -> CInt
    ) throws(MediaError) -> [Packet] {
        guard let codec, let frame else { return [] }
        let size = codec.pointee.sample_fmt == AV_SAMPLE_FMT_S16 ? 2 : 4
        var packets: [Packet] = []
        while true {
            let writable = av_frame_make_writable(frame)
            guard writable >= 0, let base = frame.pointee.data.0 else {
                throw .libav("av_frame_make_writable", "", writable)
            }
            var output: UnsafeMutablePointer<UInt8>? = base + filled * size * channels
            let room = Int(codec.pointee.frame_size) - filled
            let written = convert(&output, CInt(room))
            guard written >= 0 else { throw .libav("swr_convert", "", written) }
            filled += Int(written)
            guard written == room else { return packets }
            filled = 0
            frame.pointee.pts = count
            count += Int64(frame.pointee.nb_samples)
            packets += try self.packets(after: avcodec_send_frame(codec, frame))
        }
    }

    private func packets(after result: CInt) throws(MediaError) -> [Packet] {
        guard result >= 0 else { throw .libav("avcodec_send_frame", track.codec.rawValue, result) }
        var packets: [Packet] = []
        while avcodec_receive_packet(codec, packet) >= 0 {
            guard let packet else { break }
            func time(_ samples: Int64) -> Timestamp {
                Timestamp(seconds: Double(samples) / Double(rate))
            }
            packets.append(
                packet.copied(
                    at: start + time(packet.pointee.pts),
                    lasting: time(packet.pointee.duration)
                )
            )
            av_packet_unref(packet)
        }
        return packets
    }
}
