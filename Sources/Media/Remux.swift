import CAV
import Glibc
import Platform

/// Rewrites files packet by packet, without transcoding.
package enum Remux {
    /// A container format.
    package enum Format: String, Sendable {
        /// Matroska, with an index and a duration.
        case matroska
        /// MP4, with its index first.
        case mp4
    }

    /// A copy of the first descriptor's file to that of the second, an empty one. Returns the
    /// duration in seconds, 0 for a file without a packet.
    package typealias Copy = (_ from: CInt, _ to: CInt) throws(MediaError) -> Double

    /// Adds the missing duration and index to the Matroska file at `path`, whose recording was
    /// interrupted, and returns its duration in seconds.
    ///
    /// `copy` makes the copy that takes the file's place, with its access rights; the file is
    /// locked meanwhile. A file without a packet is removed; its duration is 0. On failure the file
    /// stays as it is. Reads and writes the whole file.
    ///
    /// - Throws: `busy` if someone else writes the file, `notFound`, `unreadable`, `noSpace`,
    ///   `denied`, `system`, and the errors of `copy`.
    package static func repair(_ path: String, by copy: Copy) throws(MediaError) -> Double {
        let (source, mode) = try lock(path)
        // Removes half an MP4 file that a crash may have left.
        unlink(passingPath(for: mp4Path(for: path)))
        let passing = passingPath(for: path)
        let seconds = try write(passing, mode: mode) { (file) throws(MediaError) in
            try copy(source.number, file)
        }
        guard seconds > 0 else {
            unlink(path)
            return 0
        }
        guard rename(passing, path) == 0 else {
            let error = MediaError.last("rename", path)
            unlink(passing)
            throw error
        }
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

    /// Converts the Matroska file at `path`, a finished recording, to an MP4 file beside it,
    /// removes the original, and returns the new path.
    ///
    /// - Throws: As `repair`; `system` with EEXIST if the MP4 file exists, `unreadable` without a
    ///   packet, and `unsupported` without libav. The Matroska file then stays.
    package static func makeMP4(of path: String) throws(MediaError) -> String {
        let new = mp4Path(for: path)
        guard access(new, F_OK) != 0 else {
            throw MediaError(.system, "rename", new, errno: EEXIST)
        }
        let (source, mode) = try lock(path)
        let passing = passingPath(for: new)
        let seconds = try write(passing, mode: mode) { (file) throws(MediaError) in
            try self.copy(source.number, to: file, as: .mp4)
        }
        guard seconds > 0 else {
            throw MediaError(.unreadable, "av_read_frame", path, detail: "nothing is in it")
        }
        do throws(SystemError) {
            try renameToNew(passing, new)
        } catch {
            unlink(passing)
            throw MediaError(error)
        }
        unlink(path)
        return new
    }

    /// Returns the size of the file at `path`, in bytes.
    ///
    /// - Throws: `notFound`, `denied` or `system`.
    package static func size(of path: String) throws(MediaError) -> Int64 {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .last("stat", path) }
        return Int64(status.st_size)
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

    /// The time for which a file on a disk without locks must not have changed to be taken for one
    /// that nobody writes, in seconds.
    private static let calm = 60

    /// Opens and locks the file at `path`, and returns it with its access rights.
    private static func lock(_ path: String) throws(MediaError) -> (OwnedFile, UInt32) {
        let (file, status) = try OwnedFile.open(path, O_RDWR | O_NOFOLLOW)
        let busy = MediaError(.busy, "lock", path, detail: "another program is writing it")
        switch FileLock.take(file.number) {
        case .locked: break
        case .taken: throw busy
        case .unsupported: guard time(nil) - status.st_mtim.tv_sec > calm else { throw busy }
        }
        // Someone else may have put another file in its place before it was locked.
        var named = stat()
        guard lstat(path, &named) == 0 else { throw .last("lstat", path) }
        guard named.st_ino == status.st_ino, named.st_dev == status.st_dev else { throw busy }
        return (file, status.st_mode & 0o7777)
    }

    /// Creates the temporary file `passing`, has `body` write it, and waits until it is on the
    /// disk. Removes it on failure, and if it is empty, with a duration of 0.
    private static func write(
        _ passing: String,
        mode: UInt32,
        _ body: (CInt) throws(MediaError) -> Double
    ) throws(MediaError) -> Double {
        // A crash may have left one.
        unlink(passing)
        let file = OwnedFile(try OutputFile.create(passing, mode: mode))
        do throws(MediaError) {
            let seconds = try body(file.number)
            guard seconds > 0 else {
                unlink(passing)
                return 0
            }
            guard fdatasync(file.number) == 0 || errno == EINVAL else {
                throw MediaError.last("fdatasync", passing)
            }
            return seconds
        } catch {
            unlink(passing)
            throw error
        }
    }

    /// Copies all packets of the Matroska file behind `source` to the empty file behind `target`,
    /// and returns the end of the last in seconds, 0 without a packet. Opens no other file.
    ///
    /// - Throws: `unreadable`, `noSpace`, `denied`, `system`, or `unsupported` without libav.
    package static func copy(
        _ source: CInt,
        to target: CInt,
        as format: Format
    ) throws(MediaError) -> Double {
        try loadLibraries()
        let pace = format == .mp4 ? try read(source) { Pace(of: $0) } ?? nil : nil
        let output = try OutputFile(target, "the copy")
        let end = try read(source) { (input) throws(MediaError) in
            try copy(input, to: output, as: format, pace)
        }
        try output.flush()
        return end ?? 0
    }

    /// Opens the Matroska file behind `source` at its start for `body`; `nil` if it is empty.
    private static func read<Result>(
        _ source: CInt,
        _ body: (UnsafeMutablePointer<AVFormatContext>) throws(MediaError) -> Result
    ) throws(MediaError) -> Result? {
        let file = try InputFile(source)
        var input = try file.open("the recording", formats: "matroska,webm")
        defer {
            avformat_close_input(&input)
            withExtendedLifetime(file) {}
        }
        guard let opened = input else { return nil }
        return try body(opened)
    }

    /// The even pace of a camera that keeps its rate: the times at which its pictures are shown.
    private struct Pace {
        /// The unit of time, as a part of a second, and the number of units per picture.
        let ticksPerSecond: CInt
        let ticksPerPicture: Int64
        /// The time of the first picture, in units.
        let first: Int64

        /// Reads `input` to its end. `nil` if a picture is more than half an interval away from
        /// where an even pace has it.
        init?(of input: UnsafeMutablePointer<AVFormatContext>) {
            guard input.pointee.nb_streams > 0, let stream = input.pointee.streams[0],
                stream.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_VIDEO
            else { return nil }
            let base = stream.pointee.time_base
            let unit = Double(base.num) / Double(max(1, base.den))
            var times: [Int64] = []
            var packet = av_packet_alloc()
            defer { av_packet_free(&packet) }
            while let packet, av_read_frame(input, packet) >= 0 {
                if packet.pointee.stream_index == 0, packet.settle(base) != nil {
                    times.append(packet.pointee.pts)
                }
                av_packet_unref(packet)
            }
            guard times.count > 2, let start = times.first, let last = times.last, last > start
            else { return nil }
            let count = Double(times.count - 1)
            var interval = Double(last - start) * unit / count
            // The rate that the camera was asked for, unless that would drift.
            let asked = stream.pointee.avg_frame_rate
            if asked.num > 0, asked.den > 0 {
                let nominal = Double(asked.den) / Double(asked.num)
                if abs(interval - nominal) * count < nominal / 2 { interval = nominal }
            }
            let isEven = times.enumerated().allSatisfy { index, time in
                abs(Double(time - start) * unit - Double(index) * interval) <= 0.5 * interval
            }
            // Units of which there are a thousand in a picture: 30 a second are exact, and an odd
            // rate is right within a millionth.
            let ticks = (1000 / interval).rounded()
            guard isEven, (1...1e6).contains(ticks) else { return nil }
            ticksPerSecond = CInt(ticks)
            ticksPerPicture = 1000
            first = Int64((Double(start) * unit * ticks).rounded())
        }

        /// The unit of time.
        var base: AVRational { AVRational(num: 1, den: ticksPerSecond) }
    }

    /// Copies all packets of `input`, and returns the end of the last in seconds.
    private static func copy(
        _ input: UnsafeMutablePointer<AVFormatContext>,
        to file: OutputFile,
        as format: Format,
        _ pace: Pace? = nil
    ) throws(MediaError) -> Double {
        var made: UnsafeMutablePointer<AVFormatContext>?
        let result = avformat_alloc_output_context2(&made, nil, format.rawValue, nil)
        guard result >= 0, let output = made else {
            throw file.error("avformat_alloc_output_context2", result)
        }
        defer { avformat_free_context(output) }
        let isMatroska = format == .matroska
        try begin(output, like: input, in: file, isMatroska, pace)
        let copied = try copyPackets(of: input, to: output, in: file, pace)
        file.isHeader = isMatroska
        // After a read error the original must stay: it may hold more.
        if let failure = input.pointee.pb?.pointee.error, failure < 0, failure != cav_end_of_file {
            throw .libav("av_read_frame", file.path, failure, .unreadable)
        }
        // What is there but makes no sense is not nothing.
        guard copied.isEmpty || copied.end > 0 else {
            let detail = "no packet has a time"
            throw MediaError(.unreadable, "av_read_frame", file.path, detail: detail)
        }
        let ended = av_write_trailer(output)
        guard ended >= 0, file.failure == 0 else { throw file.error("av_write_trailer", ended) }
        if isMatroska, !copied.isEmpty {
            try file.flush()
            for track in 0..<Int(output.pointee.nb_streams) where !copied.used.contains(track) {
                file.voidTrack(track + 1)
            }
        }
        return copied.end
    }

    /// Gives `output`, which is written to `file`, the streams and tags of `input`, and writes its
    /// header.
    private static func begin(
        _ output: UnsafeMutablePointer<AVFormatContext>,
        like input: UnsafeMutablePointer<AVFormatContext>,
        in file: OutputFile,
        _ isMatroska: Bool,
        _ pace: Pace?
    ) throws(MediaError) {
        output.pointee.pb = file.io
        output.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
        av_dict_copy(&output.pointee.metadata, input.pointee.metadata, 0)
        for index in 0..<Int(input.pointee.nb_streams) {
            guard let from = input.pointee.streams[index] else { continue }
            try addStream(like: from, to: output, isMatroska)
        }
        if let pace, let stream = output.pointee.streams[0] {
            stream.pointee.time_base = pace.base
            stream.pointee.avg_frame_rate = AVRational(
                num: pace.ticksPerSecond,
                den: CInt(pace.ticksPerPicture)
            )
        }
        var options: OpaquePointer?
        if !isMatroska {
            output.addTagsOfMP4(&options)
            for index in 0..<Int(input.pointee.nb_chapters) {
                guard let from = input.pointee.chapters[index]?.pointee else { continue }
                _ = cav_add_chapter(output, from.time_base, from.start, from.end)
            }
        }
        if isMatroska {
            // As in `MatroskaWriter`.
            output.pointee.avoid_negative_ts = AVFMT_AVOID_NEG_TS_DISABLED
            av_dict_set(&options, "write_crc32", "0", 0)
        }
        file.isHeader = isMatroska
        let begun = avformat_write_header(output, &options)
        av_dict_free(&options)
        guard begun >= 0 else { throw file.error("avformat_write_header", begun) }
        file.isHeader = false
    }

    /// The packets that were copied.
    private struct Copied {
        /// The end of the last, in seconds.
        var end = 0.0
        /// `true` if `input` had none, not even one without a time.
        var isEmpty = true
        /// The indices of the streams that have any.
        var used: Set<Int> = []
    }

    /// Copies the packets of `input` to `output`, whose header is written.
    private static func copyPackets(
        of input: UnsafeMutablePointer<AVFormatContext>,
        to output: UnsafeMutablePointer<AVFormatContext>,
        in file: OutputFile,
        _ pace: Pace?
    ) throws(MediaError) -> Copied {
        var packet = av_packet_alloc()
        defer { av_packet_free(&packet) }
        var copied = Copied()
        var pictures: Int64 = 0
        // Anything that ends reading, such as an incomplete last packet, ends the copy.
        while let packet, av_read_frame(input, packet) >= 0 {
            copied.isEmpty = false
            let index = Int(packet.pointee.stream_index)
            // The demuxer may find further streams in mid-file.
            let count = min(input.pointee.nb_streams, output.pointee.nb_streams)
            guard index >= 0, index < Int(count), let from = input.pointee.streams[index],
                let to = output.pointee.streams[index],
                let last = packet.settle(from.pointee.time_base)
            else {
                av_packet_unref(packet)
                continue
            }
            copied.end = max(copied.end, last)
            copied.used.insert(index)
            if index == 0, let pace {
                packet.pointee.pts = pace.first + pictures * pace.ticksPerPicture
                packet.pointee.dts = packet.pointee.pts
                packet.pointee.duration = pace.ticksPerPicture
                pictures += 1
                av_packet_rescale_ts(packet, pace.base, to.pointee.time_base)
            } else {
                av_packet_rescale_ts(packet, from.pointee.time_base, to.pointee.time_base)
            }
            packet.pointee.pos = -1
            let written = av_interleaved_write_frame(output, packet)
            guard written >= 0, file.failure == 0 else {
                throw file.error("av_interleaved_write_frame", written)
            }
        }
        return copied
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
        av_dict_copy(&to.pointee.metadata, from.pointee.metadata, 0)
        // It is that of the part that was written.
        av_dict_set(&to.pointee.metadata, "DURATION", nil, 0)
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

extension UnsafeMutablePointer<AVFormatContext> {
    /// Makes libavformat write the file's tags to MP4, besides under the names that Apple's
    /// programs use and others read.
    fileprivate func addTagsOfMP4(_ options: inout OpaquePointer?) {
        av_dict_set(&options, "movflags", "use_metadata_tags", 0)
        for (name, apple) in [
            ("title", "com.apple.quicktime.title"), ("MODEL", "com.apple.quicktime.model"),
        ] {
            guard let entry = av_dict_get(pointee.metadata, name, nil, 0) else { continue }
            av_dict_set(&pointee.metadata, apple, entry.pointee.value, 0)
        }
        // creation_time is UTC; Apple's is the local time with its distance from UTC.
        guard let entry = av_dict_get(pointee.metadata, "creation_time", nil, 0),
            let value = entry.pointee.value, let time = WallTime(utc: String(cString: value))
        else { return }
        av_dict_set(&pointee.metadata, "com.apple.quicktime.creationdate", time.localWithOffset, 0)
    }
}

extension UnsafeMutablePointer<AVPacket> {
    /// The longest duration of a packet that is believed, and the latest time, in seconds. Times in
    /// a damaged file may be any 64 bits, with which neither we nor libavformat can calculate.
    private static var longest: Double { 3600 }
    private static var latest: Double { 1e9 }

    /// Checks the packet's times, in units of `base`, and returns its end in seconds. A duration
    /// that cannot be true becomes an unknown one. Returns `nil` if the packet has no usable time.
    fileprivate func settle(_ base: AVRational) -> Double? {
        guard base.num > 0, base.den > 0, pointee.pts != cav_no_time else { return nil }
        let unit = Double(base.num) / Double(base.den)
        let start = Double(pointee.pts) * unit
        guard abs(start) < Self.latest else { return nil }
        if pointee.dts == cav_no_time || abs(Double(pointee.dts) * unit) >= Self.latest {
            pointee.dts = pointee.pts
        }
        if !(0...Self.longest).contains(Double(pointee.duration) * unit) { pointee.duration = 0 }
        return start + max(1, Double(pointee.duration)) * unit
    }
}
