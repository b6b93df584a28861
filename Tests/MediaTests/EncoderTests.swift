import Foundation
import Frames
import TestSupport
import Testing

@testable import Media

@Suite("Encoders", .timeLimit(.minutes(3))) struct EncoderTests {
    private let start = Timestamp(seconds: 1000)

    @Test(
        "raw pictures of every format are coded by each encoder",
        arguments: [VideoEncoder.Kind.x264, .mjpeg],
        [PixelFormat.yuyv, .uyvy, .nv12, .i420, .i422, .gray]
    )
    func video(kind: VideoEncoder.Kind, format: PixelFormat) throws {
        let folder = try Folder()
        let path = "\(folder.path)/a.mkv"
        let size = Size(width: 162, height: 90)
        let encoder = try VideoEncoder(size: size, rate: 30, color: .video, wanted: kind)
        #expect(encoder.kind == kind)
        let writer = try MatroskaWriter(creating: path, tracks: [encoder.track], start: start)
        var packets: [Packet] = []
        for number in 0..<40 {
            let time = start + Timestamp(seconds: Double(number) / 30)
            packets += try encoder.encode(rawFrame(number, format, at: time, size))
        }
        packets += try encoder.finish()
        for packet in packets { try writer.write(packet, track: 0) }
        try writer.finish()
        let probe = try Probe(path)
        #expect(probe.streams[0].codecName == (kind == .mjpeg ? "mjpeg" : "h264"))
        #expect(probe.times.count == 40)
        #expect(try decodedCount(path) == 40)
    }

    @Test func `without a wish, the first encoder that works is taken, and told`() throws {
        let size = Size(width: 320, height: 180)
        let encoder = try VideoEncoder(size: size, rate: 30, color: .video)
        let hasGraphics =
            (try? VideoEncoder(size: size, rate: 30, color: .video, wanted: .vaapi)) != nil
        #expect(encoder.kind == (hasGraphics ? .vaapi : .x264))
        #expect(encoder.track.codec == .h264)
        #expect(!encoder.track.header.isEmpty)
    }

    @Test("sound stays in step with a clock that is wrong by 300 millionths, for 30 minutes")
    func drift() throws {
        // Few samples, so that half an hour takes seconds.
        let rate = 8000
        let wrong = 1.0003
        let folder = try Folder()
        let path = "\(folder.path)/a.mkv"
        let encoder = try SoundEncoder(rate: rate, channels: 1, start: start)
        let writer = try MatroskaWriter(creating: path, tracks: [encoder.track], start: start)
        let duration = 1800
        // A beep of 50 ms at each whole minute, and some seconds after the start.
        let beeps = [5.0] + (1..<30).map { Double($0 * 60) }
        var samples = [Float](repeating: 0, count: 160)
        let step = 1 / (Double(rate) * wrong)
        for block in 0..<Int(Double(duration * rate) * wrong) / 160 {
            let first = Double(block * 160) * step
            for index in samples.indices {
                let time = first + Double(index) * step
                let minute = time.truncatingRemainder(dividingBy: 60)
                let beep = time < 30 ? time - 5 : minute
                let isBeep = time >= 5 && beep >= 0 && beep < 0.05
                samples[index] = isBeep ? Float(sin(2 * .pi * 1000 * time)) * 0.8 : 0
            }
            // The times of the graph's clock have a little noise.
            let noise = Double(block % 7 - 3) * 0.0003
            let packets = try samples.withUnsafeBufferPointer {
                try encoder.encode($0, at: start + Timestamp(seconds: first + noise))
            }
            for packet in packets { try writer.write(packet, track: 0) }
        }
        for packet in try encoder.finish() { try writer.write(packet, track: 0) }
        try writer.finish()

        let sound = try decodedSound(path, rate: rate)
        #expect(abs(Double(sound.count) / Double(rate) - Double(duration)) < 0.1)
        var found: [Double] = []
        for (index, sample) in sound.enumerated() where abs(Int(sample)) > 8000 {
            let time = Double(index) / Double(rate)
            if time > (found.last ?? -1) + 1 { found.append(time) }
        }
        try #require(found.count == beeps.count)
        let worst = zip(found, beeps).map { abs($0 - $1) }.max() ?? 1
        print("sound after 30 minutes: at most \(Int(worst * 1000)) ms off, without help 540 ms")
        #expect(worst < 0.02)
    }

    @Test func `sound is there to its end, whatever part of a packet that is`() throws {
        let encoder = try SoundEncoder(rate: 48000, channels: 2, start: start)
        let samples = [Float](repeating: 0.1, count: 2 * 480)
        var packets: [Packet] = []
        // 1.01 seconds: a packet lasts for 20 ms.
        for block in 0..<101 {
            let time = start + Timestamp(seconds: Double(block) * 0.01)
            packets += try samples.withUnsafeBufferPointer { try encoder.encode($0, at: time) }
        }
        packets += try encoder.finish()
        let last = try #require(packets.last)
        #expect(abs((last.time + last.duration - start).seconds - 1.01) < 0.002)
    }

    @Test("sound that joins late comes after silence, as much as is missing")
    func late() throws {
        let encoder = try SoundEncoder(rate: 48000, channels: 2, start: start)
        let tone = [Float](repeating: 0.5, count: 960)
        var packets: [Packet] = []
        for block in 0..<20 {
            let time = start + Timestamp(seconds: 40 + Double(block) * 0.01)
            packets += try tone.withUnsafeBufferPointer { try encoder.encode($0, at: time) }
        }
        packets += try encoder.finish()
        let first = try #require(packets.first)
        #expect(abs((first.time - start).seconds) < 0.03)
        for (one, next) in zip(packets, packets.dropFirst()) {
            #expect(abs((next.time - one.time - one.duration).seconds) < 0.001)
        }
        let last = try #require(packets.last)
        #expect(abs((last.time + last.duration - start).seconds - 40.2) < 0.03)
    }

    @Test(
        "a gap in the sound is silence, and what comes after it is in its place",
        arguments: [6, 100]
    )
    func gap(_ blocks: Int) throws {
        let rate = 48000
        let folder = try Folder()
        let path = "\(folder.path)/a.mkv"
        let encoder = try SoundEncoder(rate: rate, channels: 2, start: start)
        let writer = try MatroskaWriter(creating: path, tracks: [encoder.track], start: start)
        // The sound begins before the recording, and lacks some blocks of 10 ms.
        let (gap, length) = (100..<100 + blocks, Double(blocks) * 0.01)
        let tone = (0..<960).map { Float(sin(2 * .pi * Double($0 / 2) / 48)) * 0.8 }
        for block in -10..<300 where !gap.contains(block) {
            let time = start + Timestamp(seconds: Double(block) * 0.01)
            let packets = try tone.withUnsafeBufferPointer { try encoder.encode($0, at: time) }
            for packet in packets { try writer.write(packet, track: 0) }
        }
        for packet in try encoder.finish() { try writer.write(packet, track: 0) }
        try writer.finish()
        let sound = try decodedSound(path, rate: rate)
        #expect(abs(Double(sound.count) / 48000 - 3) < 0.1)
        func loudness(_ from: Double, _ to: Double) -> Int {
            sound[Int(from * 48000)..<Int(to * 48000)].map { abs(Int($0)) }.max() ?? 0
        }
        #expect(loudness(0.1, 0.9) > 8000)
        #expect(loudness(1.015, 0.985 + length) < 1000)
        #expect(loudness(1.015 + length, 1.045 + length) > 8000)
        #expect(loudness(2.1, 2.8) > 8000)
    }
}
