import Capture
import DualCamCore
import Foundation
import Frames
import Platform
import TestJPEGs
import TestSupport
import Testing

/// Pictures and movies in files, which say how they are to be shown.
@Suite(.timeLimit(.minutes(5))) struct MeantPictureTests {
    private let scratch: ScratchDirectory
    private let bell: Bell
    private static let size = Size(width: 64, height: 32)
    private static let request = CaptureRequest(size: size, rate: 30)

    init() throws {
        scratch = try ScratchDirectory()
        bell = try Bell()
    }

    private func file(_ name: String, _ content: [UInt8]) throws -> String {
        try Data(content).write(to: URL(filePath: "\(scratch.path)/\(name)"))
        return "\(scratch.path)/\(name)"
    }

    private func ffmpeg(_ arguments: [String]) throws {
        let child = try Child("ffmpeg", ["-v", "error", "-y"] + arguments)
        try #require(try child.wait(within: 60) == .status(0), "\(child.errors)")
    }

    /// Returns a picture of which `transform` makes one that is bright in the upper left quarter.
    private func picture(_ transform: Transform, _ format: PixelFormat) -> Frame {
        let shown = transform.apply(to: Self.size)
        return frame(size: Self.size, format: format) { plane, x, y in
            guard plane == 0 else { return UInt8(100 + 30 * plane) }
            let place = transform.apply(toX: x, y: y, in: Self.size)
            return place.x < shown.width / 2 && place.y < shown.height / 2 ? 200 : 60
        }
    }

    private func expectUpright(_ path: String, _ size: Size, _ comment: Comment) throws {
        let stream = try FileSource(path: path).open(Self.request)
        #expect(stream.mode.size == size, comment)
        let frame = try stream.frame(bell)
        #expect(frame.layout.size == size, comment)
        let (w, h) = (size.width, size.height)
        let places = [
            (w / 8, h / 8), (7 * w / 8, h / 8), (w / 8, 7 * h / 8), (7 * w / 8, 7 * h / 8),
        ]
        for (place, luma) in zip(places, [200, 60, 60, 60]) {
            let found = pixel(frame, place.0, place.1)
            for (value, level) in zip(found, [luma, 130, 160]) {
                // FFmpeg 7 writes MPEG-4 of the limited range, whatever it is told.
                #expect(abs(value - level) <= 16, "\(comment): \(found) at \(place)")
            }
        }
    }

    /// Returns `jpeg` with EXIF data of the orientation `tag`.
    private func oriented(_ jpeg: [UInt8], _ tag: UInt8, isLittle: Bool) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            let bytes = (0..<count).map { UInt8(value >> (8 * $0) & 255) }
            return isLittle ? bytes : bytes.reversed()
        }
        let tiff =
            Array((isLittle ? "II" : "MM").utf8) + number(42, 2) + number(8, 4) + number(2, 2)
            + number(0x0100, 2) + number(3, 2) + number(1, 4) + number(64, 2) + [0, 0]
            + number(0x0112, 2) + number(3, 2) + number(1, 4) + number(Int(tag), 2) + [0, 0]
            + number(0, 4)
        let exif = Array("Exif\0\0".utf8) + tiff
        return jpeg.prefix(2) + [0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif + jpeg.dropFirst(2)
    }

    @Test(arguments: EXIFOrientation.allCases, [PixelFormat.i420, .i422, .i440, .i411, .i444])
    func `a JPEG is upright`(orientation: EXIFOrientation, format: PixelFormat) throws {
        let transform = orientation.upright
        let bytes = jpeg(of: picture(transform, format))
        let isLittle = orientation.rawValue % 2 == 0
        let path = try file(
            "a.jpg",
            oriented(bytes, UInt8(orientation.rawValue), isLittle: isLittle)
        )
        try expectUpright(path, transform.apply(to: Self.size), "\(orientation), \(format)")
    }

    @Test func `damaged EXIF data are no reason`() throws {
        let whole = oriented(jpeg(of: picture(.identity, .i422)), 6, isLittle: false)
        for place in 2..<50 {
            for value in [UInt8(0), 0x7F, 0xFF] {
                var bytes = whole
                bytes[place] = value
                bytes.withUnsafeBytes { _ = EXIFOrientation(file: $0) }
                bytes.prefix(place).withUnsafeBytes { _ = EXIFOrientation(file: $0) }
            }
        }
        let path = try file(
            "a.jpg",
            oriented(jpeg(of: picture(.identity, .i422)), 9, isLittle: true)
        )
        try expectUpright(path, Self.size, "tag 9")
    }

    @Test func `a smaller picture after the first belongs to it`() throws {
        let bytes =
            jpeg(of: picture(.identity, .i420)) + flatJPEG(Size(width: 32, height: 16), luma: 9)
        let path = try file("a.jpg", bytes)
        for _ in 0..<2 { try expectUpright(path, Self.size, "two") }
        #expect(try FileSource(path: path).open(Self.request).mode.rate == 30)
    }

    @Test(arguments: ["png", "tiff", "webp"])
    func `other pictures are upright`(kind: String) throws {
        let (path, transform) = ("\(scratch.path)/a.\(kind)", EXIFOrientation.rightTop.upright)
        let source = try file("a.y4m", clip(of: picture(transform, .i420), frames: 1))
        try ffmpeg(["-i", source, path])
        let child = try Child("exiftool", ["-q", "-n", "-Orientation=6", path])
        try #require(try child.wait(within: 60) == .status(0), "\(child.errors)")
        try expectUpright(path, transform.apply(to: Self.size), "\(kind)")
        let whole = Array(try Data(contentsOf: URL(filePath: path)))
        for count in stride(from: 0, to: whole.count, by: 7) {
            whole.prefix(count).withUnsafeBytes { _ = EXIFOrientation(file: $0) }
        }
    }

    private func clip(of picture: Frame, frames: Int) -> [UInt8] {
        var raw = Array("YUV4MPEG2 W64 H32 F25:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL\n".utf8)
        for _ in 0..<frames {
            raw += Array("FRAME\n".utf8)
            for plane in (0..<3).map(picture.plane) {
                for y in 0..<plane.rows { raw += (0..<plane.rowBytes).map { plane.row(y)[$0] } }
            }
        }
        return raw
    }

    /// Makes a movie of `picture`, whose track has the matrix of `transform`.
    private func movie(
        _ picture: Frame,
        _ transform: Transform,
        _ codec: String,
        _ options: [String] = []
    ) throws -> String {
        let (source, path) = (
            try file("a.y4m", clip(of: picture, frames: 3)), "\(scratch.path)/a.mov"
        )
        try ffmpeg(
            ["-i", source, "-c:v", codec, "-q:v", "2", "-pix_fmt", "yuvj420p", "-strict", "-1"]
                + options + [path]
        )
        var bytes = Array(try Data(contentsOf: URL(filePath: path)))
        let start = try #require(
            bytes.indices.dropLast(4).first { bytes[$0..<$0 + 4].elementsEqual("tkhd".utf8) }
        )
        let turns = [(1, 0), (0, 1), (-1, 0), (0, -1)]
        let (right, down) = (turns[transform.quarterTurns], turns[(transform.quarterTurns + 1) % 4])
        let sign = transform.isMirrored ? -1 : 1
        let numbers = [
            sign * right.0 << 16, sign * right.1 << 16, 0, down.0 << 16, down.1 << 16, 0, 0, 0,
            1 << 30,
        ]
        for (index, number) in numbers.enumerated() {
            for byte in 0..<4 {
                bytes[start + 44 + 4 * index + byte] = UInt8(number >> (24 - 8 * byte) & 255)
            }
        }
        return try file("a.mov", bytes)
    }

    @Test(arguments: Transform.all, ["mpeg4", "mjpeg"])
    func `a movie is upright`(transform: Transform, codec: String) throws {
        let path = try movie(picture(transform, .i420), transform, codec)
        try expectUpright(path, transform.apply(to: Self.size), "\(transform), \(codec)")
    }

    @Test(
        "pixels become square",
        arguments: [
            ("4:3", 85, 32), ("1:2", 64, 64), ("1:1", 64, 32), ("0:0", 64, 32), ("1:10000", 64, 32),
            ("100:1", 64, 32),
        ]
    )
    func aspect(ratio: String, width: Int, height: Int) throws {
        var raw = Array("YUV4MPEG2 W64 H32 F25:1 Ip A\(ratio) C420jpeg XCOLORRANGE=FULL\n".utf8)
        let frame = picture(.identity, .i420)
        raw += Array("FRAME\n".utf8) + frame.buffer.bytes.prefix(64 * 32)
        for plane in [1, 2] {
            raw += [UInt8](repeating: UInt8(100 + 30 * plane), count: 16 * 32)
        }
        let path = try file("a.y4m", raw)
        try expectUpright(path, Size(width: width, height: height), "\(ratio)")
    }

    @Test(arguments: ["mpeg4", "mjpeg"])
    func `pixels are square before a movie is turned`(codec: String) throws {
        let turned = Transform.clockwise90
        let path = try movie(picture(turned, .i420), turned, codec, ["-vf", "setsar=3/2"])
        try expectUpright(path, Size(width: 32, height: 96), "\(codec)")
    }

    @Test func `the largest video is shown, and no cover`() throws {
        let (small, cover) = (
            try movie(picture(.clockwise90, .i420), .identity, "mpeg4"),
            try file("cover.jpg", flatJPEG(Size(width: 128, height: 128), luma: 9))
        )
        try FileManager.default.moveItem(atPath: small, toPath: "\(scratch.path)/small.mov")
        let large = try movie(picture(.identity, .i420), .identity, "mpeg4")
        let path = "\(scratch.path)/both.mp4"
        try ffmpeg([
            "-i", cover, "-i", "\(scratch.path)/small.mov", "-i", large, "-map", "0", "-map", "1",
            "-map", "2", "-c", "copy", "-c:v:1", "mpeg4", "-filter:v:1", "scale=32:16",
            "-disposition:v:0", "attached_pic", "-disposition:v:1", "default", path,
        ])
        try expectUpright(path, Self.size, "both")
    }

    @Test func `what is no picture is told in plain words`() throws {
        let jpeg = jpeg(of: picture(.identity, .i422))
        let sound = "\(scratch.path)/sound.mp4"
        try ffmpeg(["-f", "lavfi", "-i", "sine=d=0.1", sound])
        let none = "it is damaged, or no picture or movie that DualCam can show"
        let kind = "its JPEGs are of a kind that DualCam cannot show: "
        var unknown = Array(
            try Data(
                contentsOf: URL(filePath: try movie(picture(.identity, .i420), .identity, "mjpeg"))
            )
        )
        for place in unknown.indices.dropLast(4)
        where unknown[place..<place + 4].elementsEqual("jpeg".utf8) {
            unknown.replaceSubrange(place..<place + 4, with: "zzzz".utf8)
        }
        for (path, words) in [
            (try file("text.jpg", Array("This is no picture.\n".utf8)), none),
            (try file("text.mp4", Array("This is no movie.\n".utf8)), none),
            (try file("text", Array("This is nothing.\n".utf8)), none),
            (try file("none.jpg", []), "it is empty"), (scratch.path, "it is a directory"),
            (try file("half.jpg", Array(jpeg.prefix(jpeg.count / 2))), "it is damaged"),
            (try file("head.jpg", Array(jpeg.prefix(20))), none),
            (try file("half.mov", Array(unknown.prefix(400))), none),
            (sound, "there is no picture in it"),
            (try file("zzzz.mov", unknown), "FFmpeg has no decoder for its video here"),
            (
                try file("deep.jpg", UnusualJPEG.deep.bytes),
                kind + "they do not have 8 bits per colour"
            ),
            (
                try file("slow.jpg", UnusualJPEG.costly(scans: 400).bytes),
                kind + "they take too long to decode"
            ),
        ] {
            let error = #expect(throws: CaptureError.self, "\(path)") {
                try FileSource(path: path).open(Self.request).frame(bell)
            }
            let text = error?.description ?? ""
            let isFolder = path == scratch.path
            #expect(text == "cannot \(isFolder ? "open" : "read") \(path): \(words)")
        }
    }
}
