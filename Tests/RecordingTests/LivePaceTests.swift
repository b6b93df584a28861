import Foundation
import Frames
import Glibc
import Platform
import TestSupport
import Testing

@testable import Media

@Suite("The pace of a live stream", .timeLimit(.minutes(5))) struct LivePaceTests {
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

    /// The brightness of each picture is its number. Each takes three times as long as the stream
    /// has for it.
    @Test func aSlowReaderShowsNewPictures() throws {
        let claim = try DatagramPort()
        let port = claim.number
        defer { withExtendedLifetime(claim) {} }
        var arguments = ["-v", "error", "-re", "-f", "lavfi", "-i"]
        arguments.append("nullsrc=s=64x64:r=30,geq=lum='mod(N,200)+20':cb=128:cr=128")
        arguments += ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency"]
        arguments += ["-pix_fmt", "yuv420p", "-g", "15", "-f", "mpegts"]
        arguments.append("srt://127.0.0.1:\(port)?mode=listener")
        let server = try Child("ffmpeg", arguments)
        defer { server.end() }
        let deadline = MonotonicClock.now + Timestamp(seconds: 40)
        func open() -> LiveReader? {
            try? LiveReader(url: "srt://127.0.0.1:\(port)", as: "a camera") {
                MonotonicClock.now < deadline
            }
        }
        let reader = try eventually("the server", within: 30, while: server) { open() }
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
}
