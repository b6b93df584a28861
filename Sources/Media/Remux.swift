import CAV
import CLinux
import Glibc

/// Rewrites files packet by packet, without transcoding.
package enum Remux {
    /// Adds the missing duration and index to the Matroska file at `path`, whose recording was
    /// interrupted, and returns its duration in seconds.
    ///
    /// A file without a packet is removed; its duration is 0. On failure the file stays as it is.
    /// Reads and writes the whole file.
    ///
    /// - Throws: `notFound`, `unreadable`, `noSpace`, `denied`, `system`, or `unsupported` without
    ///   libav.
    package static func repair(_ path: String) throws(MediaError) -> Double {
        // Removes half an MP4 file that a crash may have left.
        unlink(passingPath(for: mp4Path(for: path)))
        let seconds = try rewrite(path, to: path, as: "matroska") { rename($0, $1) }
        if seconds == 0 { unlink(path) }
        return seconds
    }

    /// Returns `true` if the disk has room for the copy that `repair` makes of the file at `path`,
    /// and some to spare; `false` if there is no such file. Waits for the disk.
    package static func hasRoom(toRepair path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, let space = try? DiskSpace(at: path) else { return false }
        let left = space.free - Int64(status.st_size)
        return !DiskSpace(free: left, total: space.total).isExhausted
    }

    /// Converts the Matroska file at `path` to an MP4 file beside it, removes the original, and
    /// returns the new path.
    ///
    /// - Throws: As `repair`; `system` with EEXIST if the MP4 file exists, and `unreadable` without
    ///   a packet. The Matroska file then stays.
    package static func makeMP4(of path: String) throws(MediaError) -> String {
        let new = mp4Path(for: path)
        guard access(new, F_OK) != 0 else {
            throw MediaError(.system, "rename", new, errno: EEXIST)
        }
        let seconds = try rewrite(path, to: new, as: "mp4") { passing, new in
            // Another program may have created the file meanwhile.
            let result = clinux_rename_to_new(passing, new)
            guard result != 0, errno == EINVAL || errno == ENOSYS else { return result }
            // Not every file system supports this rename; those that do not have links.
            guard link(passing, new) == 0 else { return -1 }
            unlink(passing)
            return 0
        }
        guard seconds > 0 else {
            throw MediaError(.unreadable, "av_read_frame", path, detail: "nothing is in it")
        }
        unlink(path)
        return new
    }

    /// Returns the path of the MP4 file for the Matroska file at `path`.
    private static func mp4Path(for path: String) -> String {
        (path.hasSuffix(".mkv") ? String(path.dropLast(4)) : path) + ".mp4"
    }

    /// Returns the path of the temporary file for `path`.
    private static func passingPath(for path: String) -> String {
        let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        return "\(path[..<slash]).\(path[slash...]).part"
    }

    /// Rewrites the file at `path`, moves the copy to `new` with `place`, and returns the duration
    /// in seconds. Without a packet it does nothing and returns 0.
    ///
    /// `place` returns 0, or -1 with errno set.
    private static func rewrite(
        _ path: String,
        to new: String,
        as format: String,
        _ place: (String, String) -> CInt
    ) throws(MediaError) -> Double {
        try loadLibraries()
        var input = try open(path)
        defer { avformat_close_input(&input) }
        guard let input else { return 0 }
        let passing = passingPath(for: new)
        // A crash may have left one.
        unlink(passing)
        let output = try OutputFile(creating: passing, mode: 0o666)
        do throws(MediaError) {
            let seconds = try copy(input, to: output, as: format)
            guard seconds > 0 else {
                unlink(passing)
                return 0
            }
            try output.sync()
            guard place(passing, new) == 0 else { throw MediaError.last("rename", new) }
            return seconds
        } catch {
            unlink(passing)
            throw error
        }
    }

    /// Opens the file at `path` and reads its beginning. Returns `nil` if it ends before the first
    /// packet.
    private static func open(
        _ path: String
    ) throws(MediaError) -> UnsafeMutablePointer<AVFormatContext>? {
        var input: UnsafeMutablePointer<AVFormatContext>?
        var options: OpaquePointer?
        av_dict_set(&options, "protocol_whitelist", "file", 0)
        av_dict_set(&options, "format_whitelist", "matroska,webm", 0)
        let opened = avformat_open_input(&input, path, nil, &options)
        av_dict_free(&options)
        if opened == cav_end_of_file { return nil }
        guard opened >= 0 else { throw .libav("avformat_open_input", path, opened, .unreadable) }
        let found = avformat_find_stream_info(input, nil)
        guard found >= 0 else {
            avformat_close_input(&input)
            throw .libav("avformat_find_stream_info", path, found, .unreadable)
        }
        return input
    }

    /// Copies all packets of `input`, and returns the end of the last in seconds.
    private static func copy(
        _ input: UnsafeMutablePointer<AVFormatContext>,
        to file: OutputFile,
        as format: String
    ) throws(MediaError) -> Double {
        var made: UnsafeMutablePointer<AVFormatContext>?
        let result = avformat_alloc_output_context2(&made, nil, format, nil)
        guard result >= 0, let output = made else {
            throw file.error("avformat_alloc_output_context2", result)
        }
        defer { avformat_free_context(output) }
        output.pointee.pb = file.io
        output.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
        av_dict_copy(&output.pointee.metadata, input.pointee.metadata, 0)
        let isMatroska = format == "matroska"
        for index in 0..<Int(input.pointee.nb_streams) {
            guard let from = input.pointee.streams[index] else { continue }
            try addStream(like: from, to: output, isMatroska)
        }
        var options: OpaquePointer?
        if isMatroska {
            // As in `MatroskaWriter`.
            output.pointee.avoid_negative_ts = AVFMT_AVOID_NEG_TS_DISABLED
            av_dict_set(&options, "write_crc", "0", 0)
        }
        file.isHeader = isMatroska
        let begun = avformat_write_header(output, &options)
        av_dict_free(&options)
        guard begun >= 0 else { throw file.error("avformat_write_header", begun) }
        if isMatroska { try file.sync() }
        file.isHeader = false

        var packet = av_packet_alloc()
        defer { av_packet_free(&packet) }
        var end = 0.0
        // Anything that ends reading, such as an incomplete last packet, ends the copy.
        while let packet, av_read_frame(input, packet) >= 0 {
            let index = Int(packet.pointee.stream_index)
            // The demuxer may find further streams in mid-file.
            let count = min(input.pointee.nb_streams, output.pointee.nb_streams)
            guard index >= 0, index < Int(count), let from = input.pointee.streams[index],
                let to = output.pointee.streams[index]
            else {
                av_packet_unref(packet)
                continue
            }
            let base = from.pointee.time_base
            let last = packet.pointee.pts + max(1, packet.pointee.duration)
            end = max(end, Double(last) * Double(base.num) / Double(max(1, base.den)))
            av_packet_rescale_ts(packet, base, to.pointee.time_base)
            packet.pointee.pos = -1
            let written = av_interleaved_write_frame(output, packet)
            guard written >= 0, file.failure == 0 else {
                throw file.error("av_interleaved_write_frame", written)
            }
        }
        file.isHeader = isMatroska
        // After a read error the original must stay: it may hold more.
        if let failure = input.pointee.pb?.pointee.error, failure < 0, failure != cav_end_of_file {
            throw .libav("av_read_frame", file.path, failure, .unreadable)
        }
        let ended = av_write_trailer(output)
        guard ended >= 0, file.failure == 0 else { throw file.error("av_write_trailer", ended) }
        return end
    }

    private static func addStream(
        like from: UnsafeMutablePointer<AVStream>,
        to output: UnsafeMutablePointer<AVFormatContext>,
        _ isMatroska: Bool
    ) throws(MediaError) {
        let failure = MediaError(.system, "avformat_new_stream", errno: ENOMEM)
        guard let to = avformat_new_stream(output, nil) else { throw failure }
        let copied = avcodec_parameters_copy(to.pointee.codecpar, from.pointee.codecpar)
        guard copied >= 0 else { throw .libav("avcodec_parameters_copy", "", copied) }
        to.pointee.codecpar.pointee.codec_tag = 0
        to.pointee.time_base = from.pointee.time_base
        to.pointee.avg_frame_rate = from.pointee.avg_frame_rate
        // libavformat before 6.1 reads no rotation of flat pictures from Matroska; the tag has it
        // as well.
        let entry = av_dict_get(from.pointee.metadata, "rotate", nil, 0)
        guard let value = entry?.pointee.value, let rotation = Int(String(cString: value)),
            [90, 180, 270].contains(rotation)
        else { return }
        if isMatroska {
            try to.turn(by: rotation, failure)
        } else {
            let size = 9 * MemoryLayout<Int32>.size
            guard let data = cav_add_side_data(to, AV_PKT_DATA_DISPLAYMATRIX, size) else {
                throw failure
            }
            let matrix = UnsafeMutableRawPointer(data).assumingMemoryBound(to: Int32.self)
            av_display_rotation_set(matrix, Double(rotation))
        }
    }
}
