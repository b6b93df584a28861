import Capture
import DualCamCore
import Foundation
import Frames
import Platform
import TestJPEGs
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct FileSourceTests {
    private let folder: ScratchDirectory
    private let bell: Bell

    init() throws {
        folder = try ScratchDirectory()
        bell = try Bell()
    }

    private let request = CaptureRequest(size: Size(width: 1280, height: 720), rate: 100)

    /// Returns a Y4M movie whose frames have the luma levels `levels`; chroma is 100 and 150.
    private func movie(
        _ levels: [UInt8],
        _ sampling: String,
        chroma: Int,
        _ rate: String
    ) -> [UInt8] {
        var bytes = Array("YUV4MPEG2 W64 H32 F\(rate) Ip A1:1 \(sampling)\n".utf8)
        for level in levels {
            bytes += Array("FRAME\n".utf8) + Array(repeating: level, count: 2048)
            bytes += Array(repeating: 100, count: chroma) + Array(repeating: 150, count: chroma)
        }
        return bytes
    }

    @Test func `a movie is looped at its own rate`() throws {
        let levels: [UInt8] = [20, 60, 100, 140, 180]
        let path = try folder.put(movie(levels, "C420mpeg2", chroma: 512, "50:1"), "a.y4m")
        let stream = try FileSource(path: path).open(request)
        #expect(stream.mode.description == "64x32@50/YU12")
        var last: Timestamp?
        for index in 0..<17 {
            let frame = try stream.frame(bell)
            #expect(pixel(frame, 63, 31) == [Int(levels[index % 5]), 100, 150])
            #expect(frame.sequence == UInt64(index))
            #expect(frame.color == .video)
            if let last { #expect((frame.timestamp - last).seconds > 0.0199) }
            last = frame.timestamp
        }
    }

    @Test func `4:2:2 and full range stay what they are`() throws {
        let path = try folder.put(
            movie([250, 5], "C422 XCOLORRANGE=FULL", chroma: 1024, "100:1"),
            "b.y4m"
        )
        let frame = try FileSource(path: path).open(request).frame(bell)
        #expect(frame.layout.format == .i422)
        #expect(frame.color == .jpeg)
        #expect(pixel(frame, 63, 31) == [250, 100, 150])
    }

    @Test func `a single JPEG is shown at the rate asked for, decoded once`() throws {
        let path = try folder.put(flatJPEG(Size(width: 64, height: 32), luma: 90), "c.jpg")
        let stream = try FileSource(path: path).open(request)
        #expect(stream.mode.description == "64x32@100/MJPG")
        let frames = try (0..<10).map { _ in try stream.frame(bell) }
        for (index, frame) in frames.enumerated() {
            #expect(frame.buffer === frames[0].buffer)
            #expect(frame.layout.format == .i422)
            #expect(frame.color == .jpeg)
            #expect(abs(pixel(frame, 40, 16)[0] - 90) <= 2)
            #expect(frame.sequence == UInt64(index))
        }
        #expect((frames[9].timestamp - frames[0].timestamp).seconds > 0.0899)
    }

    @Test func `concatenated JPEGs are a movie; a damaged one in it does not end it`() throws {
        let size = Size(width: 64, height: 32)
        let parts = [UInt8(50), 90, 130, 170].map { flatJPEG(size, luma: $0) }
        let path = try folder.put(
            parts[0] + parts[1] + Array(parts[2].prefix(parts[2].count / 2)) + parts[3],
            "d.mjpg"
        )
        let stream = try FileSource(path: path).open(request)
        #expect(stream.mode.format == .mjpg)
        var levels: [Int] = []
        while levels.count(where: { abs($0 - 170) <= 2 }) < 3 {
            let far = MonotonicClock.now + Timestamp(seconds: 5)
            if let frame = try stream.next(until: far, bell: bell).frame {
                levels.append(pixel(frame, 10, 4)[0])
            }
        }
        #expect(levels.count { abs($0 - 50) <= 2 } == 3)
        #expect(levels.count { abs($0 - 90) <= 2 } == 3)
    }

    @Test("large concatenated JPEGs, which libavformat takes for pictures, are a movie, too")
    func largeMotionJPEG() throws {
        let size = Size(width: 640, height: 480)
        let levels: [UInt8] = [50, 90, 130]
        let path = try folder.put(levels.flatMap { flatJPEG(size, luma: $0) }, "f.mjpg")
        let stream = try FileSource(path: path).open(request)
        #expect(stream.mode.description == "640x480@25/MJPG")
        for index in 0..<7 {
            #expect(abs(pixel(try stream.frame(bell), 10, 4)[0] - Int(levels[index % 3])) <= 2)
        }
    }

    @Test("what is no planar YUV is converted: a PPM in primary colours")
    func converted() throws {
        var bytes = Array("P6 64 32 255\n".utf8)
        for _ in 0..<32 { for x in 0..<64 { bytes += x < 32 ? [255, 0, 0] : [255, 255, 255] } }
        let frame = try FileSource(path: try folder.put(bytes, "e.ppm")).open(request).frame(bell)
        #expect(frame.layout.format == .i420)
        #expect(frame.color == .video)
        for (place, color) in [(8, [81, 90, 240]), (56, [235, 128, 128])] {
            for (value, expected) in zip(pixel(frame, place, 16), color) {
                #expect(abs(value - expected) <= 2)
            }
        }
    }

    @Test func `what cannot be shown is refused, with the file's name and the reason`() throws {
        let rows: [(path: String, code: CaptureError.Code)] = [
            ("\(folder.path)/none.jpg", .notFound),
            (try folder.put([], "empty.jpg"), .unreadable),
            (try folder.put(Array("not a movie at all\n".utf8), "text.mp4"), .unreadable),
            (
                try folder.put(movie([], "C420mpeg2", chroma: 512, "50:1"), "header.y4m"),
                .unreadable
            ),
            (folder.path, .unreadable),
        ]
        for row in rows {
            let error = #expect(throws: CaptureError.self, "\(row.path)") {
                try FileSource(path: row.path).open(request).frame(try Bell())
            }
            #expect(error?.code == row.code, "\(error.map(\.description) ?? "")")
            #expect(error?.description.contains(row.path) == true)
        }
        let path = try folder.put(movie([20], "C420mpeg2", chroma: 512, "50:1"), "a.y4m")
        for (word, isRight) in [
            ("64x32@50", true), ("64x32@50/YU12", true), ("64x32@30", false), ("64x64@50", false),
            ("64x32@50/MJPG", false),
        ] {
            let wanted = CaptureRequest(
                size: request.size,
                rate: 30,
                mode: try CaptureModePreference(parsing: word)
            )
            let opened = try? FileSource(path: path).open(wanted)
            #expect((opened != nil) == isRight, "\(word)")
        }
    }

    @Test("a reader that was late gets the present frame, not a burst of those that it missed")
    func late() throws {
        let path = try folder.put(
            movie([20, 60, 100], "C420mpeg2", chroma: 512, "100:1"),
            "late.y4m"
        )
        let stream = try FileSource(path: path).open(request)
        var last = try stream.frame(bell)
        for _ in 0..<3 {
            // Ten of its frames: that long nobody looks.
            usleep(100_000)
            let before = MonotonicClock.now
            let frame = try stream.frame(bell)
            #expect((frame.timestamp - before).seconds > -0.04, "a frame of the past")
            #expect(frame.sequence == last.sequence + 1)
            last = frame
        }
    }
}
