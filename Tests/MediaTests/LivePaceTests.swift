import Foundation
import Frames
import Glibc
import Platform
import TestSupport
import Testing

@testable import Media

/// One after another: with FFmpeg 7.1 an attempt to connect over SRT that fails ends the other
/// connections of its process, since it calls srt_cleanup() once too often. (A helper of a camera
/// has one.)
@Suite("The pace of a live stream", .serialized, .timeLimit(.minutes(5))) struct LivePaceTests {
    /// Counts `count` packets, 30 a second by the stream's time, of which each is read `step`
    /// seconds after the one before.
    private func lag(_ count: Int, step: Double, hasWaited: Bool, drift: Double = 0) -> Double {
        var pace = LivePace()
        for number in 0..<count {
            let time = Double(number) / 30 * (1 + drift)
            pace.count(time, at: 50 + Double(number) * step, hasWaited: hasWaited)
        }
        return pace.lag
    }

    @Test func readingInTimeIsNoLag() {
        #expect(lag(900, step: 1 / 30, hasWaited: true) < 0.001)
        #expect(lag(900, step: 1 / 30, hasWaited: false) < 0.001)
    }

    @Test func slowDecodingIsALagThatGrows() {
        // Each picture takes 40 ms instead of 33: after 300 of them, 2 s.
        #expect(abs(lag(300, step: 0.04, hasWaited: false) - 2) < 0.05)
    }

    @Test func clocksThatRunApartAreNone() {
        for drift in [-0.0002, 0.0002] {
            #expect(lag(30 * 3600, step: 1 / 30, hasWaited: false, drift: drift) < 0.01)
        }
    }

    @Test func aLongerWayIsNoneAndABurstIs() {
        var pace = LivePace()
        func read(_ numbers: Range<Int>, late: Double, hasWaited: Bool) {
            for number in numbers {
                let time = Double(number) / 30
                pace.count(time, at: 50 + time + late, hasWaited: hasWaited)
            }
        }
        read(0..<100, late: 0, hasWaited: true)
        read(100..<120, late: 0.8, hasWaited: true)
        #expect(pace.lag < 0.001)
        // What was held up comes at once.
        read(120..<121, late: 3, hasWaited: true)
        read(121..<150, late: 2.5, hasWaited: false)
        #expect(pace.lag > 1)
        // The longer way counts once five have come by it in a row.
        for (count, isLag) in [(4, true), (5, false)] {
            pace = LivePace()
            read(0..<100, late: 0, hasWaited: true)
            read(100..<100 + count, late: 0.8, hasWaited: true)
            #expect((pace.lag > 0.7) == isLag, "after \(count)")
        }
        // A new count of time.
        pace.count(90_000, at: 60, hasWaited: false)
        #expect(pace.lag < 0.001)
    }

    @Test(
        "is given up soon if it was fast, and late if it is slow or has just begun",
        arguments: [
            (0, 30.0, 20.0), (1, 30, 20), (9, 30, 3), (3, 1, 5), (2, 0.1, 30), (2, 0.01, 30),
        ]
    )
    func patience(count: Int, rate: Double, patience: Double) {
        var pauses = LivePauses()
        for number in 0..<count { pauses.count(Timestamp(seconds: 100 + Double(number) / rate)) }
        #expect(abs(pauses.patience - patience) < 0.01)
    }

    /// The brightness of each picture is its number. Each takes three times as long as the stream
    /// has for it.
    @Test func aSlowReaderShowsNewPictures() throws {
        let (server, reader) = try open("geq=lum='mod(N,200)+20':cb=128:cr=128")
        defer { server.end() }
        var numbers: [Int] = []
        while numbers.count < 30, let (picture, _) = try reader.next() {
            guard case .planes(let layout, _) = picture else {
                Issue.record("not decoded")
                return
            }
            let buffer = FrameBuffer(byteCount: layout.byteCount)
            try reader.copy(into: buffer.bytes, layout)
            numbers.append(Int(buffer.bytes[layout.size.area / 2 + 32]) - 20)
            usleep(100_000)
        }
        try #require(numbers.count == 30)
        // Of all that came, so that few are waiting: two thirds would be behind.
        #expect(reader.leftOut > 20)
        let missing = numbers[29] - numbers[0] - 29 - reader.leftOut
        #expect((missing % 200 + 202) % 200 <= 4, "\(numbers), \(reader.leftOut) left out")
    }

    @Test func theShapeOfPixelsIsThatOfThePicture() throws {
        let (server, reader) = try open("geq=lum=90:cb=100:cr=160,setsar=4/3")
        defer { server.end() }
        guard case .planes(let layout, _)? = try reader.next()?.0 else {
            Issue.record("no picture")
            return
        }
        #expect(layout.size == Size(width: 85, height: 64))
        let buffer = FrameBuffer(byteCount: layout.byteCount)
        try reader.copy(into: buffer.bytes, layout)
        for (index, level) in [90, 100, 160].enumerated() {
            let plane = buffer.plane(index, of: layout)
            let last = plane.row(plane.rows - 1)[plane.rowBytes - 1]
            #expect(abs(Int(last) - level) <= 3, "plane \(index)")
        }
    }

    @Test(arguments: [
        (640, 480, 4, 3, 853, 480), (720, 576, 16, 11, 1047, 576), (480, 480, 3, 4, 480, 640),
        // Unknown, absurd, or beyond what a picture from a network may have.
        (640, 480, 0, 1, 640, 480), (640, 480, 1, 0, 640, 480), (640, 480, 0, 0, 640, 480),
        (640, 480, -4, 3, 640, 480), (640, 480, 1, 10000, 640, 480), (640, 480, 9, 1, 640, 480),
        (4096, 2160, 2, 1, 4096, 1080), (4096, 2160, 1, 2, 2048, 2160), (2, 1, 1, 8, 2, 8),
        (3840, 2160, 1, 1, 3840, 2160), (16384, 1, 8, 1, 16384, 1),
    ])
    func pixelsBecomeSquare(w: Int, h: Int, num: Double, den: Double, shownW: Int, shownH: Int) {
        var presentation = Presentation()
        presentation.aspect = num / den
        let (size, shown) = (Size(width: w, height: h), Size(width: shownW, height: shownH))
        #expect(presentation.size(size) == shown)
        presentation.upright = .clockwise90
        #expect(presentation.size(size) == shown.transposed)
    }

    /// Starts a stream of pictures of 64x64 that `filter` draws, and opens it.
    private func open(_ filter: String) throws -> (Child, LiveReader) {
        let claim = try DatagramPort()
        let port = claim.number
        defer { withExtendedLifetime(claim) {} }
        var arguments = ["-v", "error", "-re", "-f", "lavfi", "-i"]
        arguments.append("nullsrc=s=64x64:r=30,\(filter)")
        arguments += ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency"]
        arguments += ["-pix_fmt", "yuv420p", "-g", "15", "-f", "mpegts"]
        arguments.append("srt://127.0.0.1:\(port)?mode=listener")
        let server = try Child("ffmpeg", arguments)
        let deadline = MonotonicClock.now + Timestamp(seconds: 40)
        let reader = try eventually("the server", within: 30, while: server) {
            try? LiveReader(url: "srt://127.0.0.1:\(port)", as: "a camera") {
                MonotonicClock.now < deadline
            }
        }
        return (server, reader)
    }
}
