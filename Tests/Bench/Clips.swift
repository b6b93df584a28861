import CTurboJPEG
import Capture
import DualCamCore
import Foundation
import Frames
import Platform

/// The inputs: files with what two cameras of 1920x1080 at 30 frames per second would deliver.
///
/// A picture with detail and movement, under the noise of a sensor; all programs measured get the
/// same frames. Created once, and checked before each use.
struct Clips {
    /// A clip of JPEGs, 4:2:2.
    enum Motion: String, CaseIterable {
        /// About 100 kB per frame: much light.
        case clean
        /// About 380 kB per frame: little light.
        case noisy

        /// The mean size of a frame, in bytes.
        var frameBytes: Int { self == .clean ? 100_000 : 380_000 }
    }

    static let size = Size(width: 1920, height: 1080)
    static let rate = 30
    static let sizes = [
        Size(width: 856, height: 480), Size(width: 1280, height: 720), size,
        Size(width: 3840, height: 2160),
    ]
    /// The number of different frames in JPEG clips, and in raw ones.
    static let (motionFrames, rawFrames) = (60, 16)
    /// The number of frames in the files for players, since not all of these can loop.
    static let movieFrames = 300

    let directory: String

    /// Opens the clips in `directory`, and creates those that are missing.
    init(in directory: String) throws {
        self.directory = directory
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true
        )
        for motion in Motion.allCases { try make(motion) }
        try makeRaw()
        for motion in Motion.allCases { try check(motion) }
        let first = try ClipFile(jpegs(.clean))
        try Data(first.jpegs()[0]).write(to: URL(fileURLWithPath: still))
    }

    func jpegs(_ motion: Motion) -> String { "\(directory)/\(motion.rawValue).mjpeg" }
    func movie(_ motion: Motion) -> String { "\(directory)/\(motion.rawValue).avi" }
    /// Returns the path of a few JPEGs of `size`, with the same noise at every size.
    func jpegs(_ size: Size) -> String { "\(directory)/\(size).mjpeg" }
    var still: String { "\(directory)/still.jpg" }
    /// Frames of YUYV without any header, one after the other.
    var raw: String { "\(directory)/clip.yuyv" }
    /// The same frames in a file each, with "%02d" for the number.
    var rawPattern: String { "\(directory)/yuyv-%02d.raw" }

    /// Checks the files: the sizes of frames, and their number.
    private func check(_ motion: Motion) throws {
        let frames = try ClipFile(jpegs(motion)).jpegs()
        let mean = frames.reduce(0) { $0 + $1.count } / max(1, frames.count)
        let error = abs(Double(mean) / Double(motion.frameBytes) - 1)
        guard frames.count == Self.motionFrames, error < 0.1 else {
            throw BenchError(
                "\(jpegs(motion)) has \(frames.count) frames of \(mean) bytes; remove it"
            )
        }
        // Players take the frame rate from the file.
        let told = try Usage.of(
            "ffprobe",
            words("-v error -show_entries stream=r_frame_rate,nb_frames -of csv=p=0") + [
                movie(motion)
            ]
        ).output
        guard told.hasPrefix("\(Self.rate)/1,\(Self.movieFrames)") else {
            throw BenchError("\(movie(motion)) has other frames than it is to have: \(told)")
        }
    }

    // MARK: Making them

    private func make(_ motion: Motion) throws {
        guard !exists(movie(motion)) else { return }
        say("making \(movie(motion))")
        // Enough noise to reach the size.
        var (least, most) = (0.0, 24.0)
        let pictures = try Pictures()
        for _ in 0..<10 {
            let noise = (least + most) / 2
            let count = try pictures.jpeg(at: 0, noise: noise).count
            if count < motion.frameBytes { least = noise } else { most = noise }
        }
        var bytes = Data()
        for index in 0..<Self.motionFrames { bytes += try pictures.jpeg(at: index, noise: least) }
        try bytes.write(to: URL(fileURLWithPath: jpegs(motion)))
        _ = try Usage.of(
            "ffmpeg",
            ["-v", "error", "-y", "-stream_loop", "\(Self.movieFrames / Self.motionFrames - 1)"]
                + ["-f", "mjpeg", "-framerate", "\(Self.rate)", "-i", jpegs(motion)]
                + ["-c", "copy", "-r", "\(Self.rate)", movie(motion)]
        )
    }

    func make(_ size: Size) throws {
        guard !exists(jpegs(size)) else { return }
        say("making \(jpegs(size))")
        let pictures = try Pictures(size, count: 4)
        var bytes = Data()
        for index in 0..<4 { bytes += try pictures.jpeg(at: index, noise: 2) }
        try bytes.write(to: URL(fileURLWithPath: jpegs(size)))
    }

    private func makeRaw() throws {
        guard !exists(raw) else { return }
        say("making \(raw)")
        _ = try Usage.of(
            "ffmpeg",
            ["-v", "error", "-y", "-i", movie(.clean), "-frames:v", "\(Self.rawFrames)"]
                + ["-vf", "scale=out_range=tv", "-f", "rawvideo", "-pix_fmt", "yuyv422", raw]
        )
        let bytes = try Data(contentsOf: URL(fileURLWithPath: raw))
        let count = bytes.count / Self.rawFrames
        for index in 0..<Self.rawFrames {
            let path = String(format: rawPattern, index)
            try bytes[index * count..<(index + 1) * count].write(to: URL(fileURLWithPath: path))
        }
    }

    /// Returns the raw frames, cut to `size`.
    func pictures(_ size: Size) throws -> [Frame] {
        let clip = try ClipFile(raw)
        let from = FrameLayout(size: Self.size, format: .yuyv)
        let to = FrameLayout(size: size, format: .yuyv)
        return (0..<Self.rawFrames).map { index in
            let buffer = FrameBuffer(byteCount: to.byteCount)
            let (target, rowBytes) = (buffer.plane(0, of: to), 2 * size.width)
            for y in 0..<size.height {
                let start = index * from.byteCount + y * 2 * Self.size.width
                for x in 0..<rowBytes { target.row(y)[x] = clip.bytes[start + x] }
            }
            return Frame(
                buffer: buffer,
                layout: to,
                color: .video,
                timestamp: .zero,
                sequence: UInt64(index)
            )
        }
    }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
}

/// The test picture, as a camera sees it.
private final class Pictures {
    private let frames: [Frame]
    private let compressor: tjhandle

    init(_ size: Size = Clips.size, count: Int = Clips.motionFrames) throws {
        let request = CaptureRequest(size: size, rate: 120)
        let stream = try TestSource("front", role: .front).open(request)
        let bell = try Bell()
        var frames: [Frame] = []
        while frames.count < count {
            let deadline = MonotonicClock.now + Timestamp(seconds: 5)
            let event = try stream.next(until: deadline, bell: bell)
            guard case .frame(let frame) = event else {
                throw BenchError("the test picture does not come")
            }
            // A copy, since the frame's memory is only lent.
            let copy = FrameBuffer(byteCount: frame.layout.byteCount)
            copy.bytes.copyMemory(
                from: UnsafeRawBufferPointer(
                    rebasing: frame.buffer.bytes[..<frame.layout.byteCount]
                )
            )
            frames.append(
                Frame(
                    buffer: copy,
                    layout: frame.layout,
                    color: frame.color,
                    timestamp: frame.timestamp,
                    sequence: frame.sequence
                )
            )
        }
        self.frames = frames
        guard let compressor = tjInitCompress() else { throw BenchError("no JPEG compressor") }
        self.compressor = compressor
    }

    deinit { tjDestroy(compressor) }

    /// Returns frame `index` as a JPEG, 4:2:2 in full range, with `noise` (its deviation in luma).
    func jpeg(at index: Int, noise: Double) throws -> Data {
        let frame = frames[index]
        let (width, height) = (frame.layout.size.width, frame.layout.size.height)
        var random = UInt64(index + 1) &* 0x9e37_79b9_7f4a_7c15
        func expand(
            _ plane: Plane,
            rowsPerRow: Int,
            black: Double,
            span: Double,
            noise: Double
        )
            -> [UInt8]
        {
            var bytes = [UInt8](repeating: 0, count: plane.rowBytes * plane.rows * rowsPerRow)
            for y in 0..<plane.rows * rowsPerRow {
                let row = plane.row(y / rowsPerRow)
                for x in 0..<plane.rowBytes {
                    random ^= random << 13
                    random ^= random >> 7
                    random ^= random << 17
                    // The sum of four bytes is close enough to the noise of a sensor.
                    let sum = (random & 0xff) + (random >> 8 & 0xff) + (random >> 16 & 0xff)
                    let four = Int(sum + (random >> 24 & 0xff)) - 510
                    let level = (Double(row[x]) - black) * 255 / span + (black == 128 ? 128 : 0)
                    bytes[y * plane.rowBytes + x] = UInt8(
                        min(255, max(0, (level + Double(four) / 148 * noise).rounded()))
                    )
                }
            }
            return bytes
        }
        let luma = expand(frame.plane(0), rowsPerRow: 1, black: 16, span: 219, noise: noise)
        let chroma = (1...2).map {
            expand(frame.plane($0), rowsPerRow: 2, black: 128, span: 224, noise: noise / 2)
        }
        var jpeg: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        defer { tjFree(jpeg) }
        let result = luma.withUnsafeBufferPointer { luma in
            chroma[0].withUnsafeBufferPointer { u in
                chroma[1].withUnsafeBufferPointer { v in
                    var planes = [luma.baseAddress, u.baseAddress, v.baseAddress]
                    return tjCompressFromYUVPlanes(
                        compressor,
                        &planes,
                        CInt(width),
                        nil,
                        CInt(height),
                        CInt(TJSAMP_422.rawValue),
                        &jpeg,
                        &count,
                        85,
                        0
                    )
                }
            }
        }
        guard result == 0, let jpeg else { throw BenchError("a frame does not compress") }
        return Data(bytes: jpeg, count: Int(count))
    }
}

/// A file in memory, fully loaded in advance.
final class ClipFile {
    let bytes: UnsafeMutableRawBufferPointer

    init(_ path: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes = .allocate(byteCount: data.count, alignment: 64)
        data.copyBytes(to: bytes)
    }

    deinit { bytes.deallocate() }

    /// Returns the JPEGs in the file, from start marker to end marker: entropy-coded bytes hold
    /// neither.
    func jpegs() -> [UnsafeRawBufferPointer] {
        var result: [UnsafeRawBufferPointer] = []
        var start = 0
        var index = 0
        while index + 1 < bytes.count {
            if bytes[index] == 0xff, bytes[index + 1] == 0xd9 {
                result.append(UnsafeRawBufferPointer(rebasing: bytes[start..<index + 2]))
                start = index + 2
                index += 1
            }
            index += 1
        }
        return result
    }
}

/// The reason why the bench cannot continue.
struct BenchError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
