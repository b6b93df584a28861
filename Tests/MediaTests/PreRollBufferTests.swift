import Foundation
import Frames
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Media

@Suite("A pre-roll", .timeLimit(.minutes(2))) struct PreRollBufferTests {
    private let preRoll = PreRollBuffer()
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func packet(_ bytes: [UInt8], _ seconds: Double) -> Packet {
        Packet(.bytes(bytes), at: Timestamp(seconds: seconds))
    }

    @Test("keeps a second and a half, and no more than it may")
    func bounded() {
        let picture = [UInt8](repeating: 0, count: 1000)
        for number in 0..<300 {
            preRoll.add(packet(picture, Double(number) / 30))
            preRoll.add(sound: packet([0], Double(number) / 30))
        }
        #expect(abs(preRoll.length.seconds - 1.5) < 0.001)
        #expect(preRoll.length.byteCount == 46 * 1000)
        let large = [UInt8](repeating: 0, count: 4 << 20)
        for number in 0..<40 { preRoll.add(packet(large, 10 + Double(number) / 30)) }
        #expect(preRoll.length.byteCount == PreRollBuffer.mostBytes)
        // A clip without a mark or an end is bounded, too.
        let clip = preRoll.clip(.init("back"))
        for number in 0..<40 { preRoll.add(packet(large, 12 + Double(number) / 30)) }
        #expect(clip.content.queue.byteCount == PreRollBuffer.mostBytes)
        clip.mark(Timestamp(seconds: 13.4))
        for number in 0..<40 { preRoll.add(packet(large, 13.5 + Double(number) / 30)) }
        #expect(clip.content.queue.byteCount <= 2 * PreRollBuffer.mostBytes)
        preRoll.flush()
        #expect(preRoll.length == (0, 0))
    }

    @Test("gives a movie of what was before and after, with its sound")
    func movie() throws {
        let path = "\(folder.path)/a_back.mkv"
        let sound = try SoundEncoder(rate: 48000, channels: 2, start: .zero)
        let silence = [Float](repeating: 0, count: 2 * 1600)
        func give(_ numbers: Range<Int>) throws {
            for number in numbers {
                let time = Timestamp(seconds: Double(number) / 30)
                preRoll.add(packet(try jpeg(number % 5, folder), Double(number) / 30))
                let coded = try silence.withUnsafeBufferPointer { try sound.encode($0, at: time) }
                for packet in coded { preRoll.add(sound: packet) }
            }
        }
        try give(0..<100)
        let clip = preRoll.clip(.init("back", rotation: 90, sound: sound.track))
        let isOver = Mutex(false)
        clip.whenOver { isOver.withLock { $0 = true } }
        try give(100..<110)
        clip.mark(Timestamp(seconds: 103.0 / 30))
        try give(110..<148)
        #expect(!isOver.withLock { $0 })
        try give(148..<155)
        #expect(isOver.withLock { $0 })
        try clip.write(to: path)
        let probe = try Probe(path)
        #expect(probe.times.count == 90)
        #expect(abs(try #require(probe.duration) - 3) < 0.05)
        #expect(probe.format.tags?["DUALCAM_MOMENT"] == "1500 ms")
        #expect(probe.streams.map(\.codecName) == ["mjpeg", sound.track.codec.rawValue])
        #expect(probe.streams[0].tags?["rotate"] == "90" || probe.streams[0].sideDataList != nil)
        #expect(try #require(probe.soundTimes.last) > 2.9)
        #expect(try decodedCount(path) == 90)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        // It never replaces another file, and leaves nothing beside it.
        let before = folder.content
        #expect(throws: MediaError.self) { try clip.write(to: path) }
        #expect(throws: MediaError.self) { try clip.write(to: "\(folder.path)/none/a.mkv") }
        #expect(folder.content == before)
    }

    @Test("a camera that is lost ends a movie, and before the photograph begins it anew")
    func flush() throws {
        let picture = try jpeg(1, folder)
        for number in 0..<30 { preRoll.add(packet(picture, Double(number) / 30)) }
        let (marked, early) = (preRoll.clip(.init("back")), preRoll.clip(.init("back")))
        marked.mark(Timestamp(seconds: 29.0 / 30))
        for number in 30..<40 { preRoll.add(packet(picture, Double(number) / 30)) }
        let isOver = Mutex(false)
        marked.whenOver { isOver.withLock { $0 = true } }
        preRoll.flush()
        #expect(isOver.withLock { $0 })
        try marked.write(to: "\(folder.path)/cut.mkv")
        #expect(abs(try #require(try Probe("\(folder.path)/cut.mkv").duration) - 40.0 / 30) < 0.01)
        for number in 90..<100 { preRoll.add(packet(picture, Double(number) / 30)) }
        early.mark(Timestamp(seconds: 91.0 / 30))
        early.end()
        try early.write(to: "\(folder.path)/early.mkv")
        #expect(try Probe("\(folder.path)/early.mkv").times.count == 10)
        // No picture came.
        let none = PreRollBuffer().clip(.init("back"))
        none.mark(.zero)
        none.end()
        #expect(throws: MediaError.self) { try none.write(to: "\(folder.path)/none.mkv") }
        #expect(!folder.content.contains { $0.contains("none") })
    }

    @Test("raw pictures become JPEGs on it, and another size begins it anew")
    func raw() throws {
        let recorder = try Recorder(.init("front", on: preRoll, rate: 30)) { _ in }
        defer {
            recorder.end(at: .zero)
            _ = recorder.wait(until: MonotonicClock.now + Timestamp(seconds: 60))
        }
        func give(_ numbers: Range<Int>, _ size: Size) throws {
            for number in numbers {
                try eventually("room", within: 60) { recorder.hasRoom }
                let time = Timestamp(seconds: Double(number) / 30)
                recorder.take(copying: rawFrame(number, .yuyv, at: time, size))
            }
        }
        try give(0..<60, Size(width: 160, height: 90))
        // The encoder may hold some frames back.
        try eventually("the pictures", within: 60) { preRoll.length.seconds > 1.3 }
        let clip = preRoll.clip(.init("front"))
        clip.mark(Timestamp(seconds: 59.0 / 30))
        try give(60..<75, Size(width: 320, height: 180))
        let isOver = Mutex(false)
        clip.whenOver { isOver.withLock { $0 = true } }
        try eventually("its end", within: 60) { isOver.withLock { $0 } }
        try clip.write(to: "\(folder.path)/a.mkv")
        let probe = try Probe("\(folder.path)/a.mkv")
        #expect(probe.streams.map(\.width) == [160])
        #expect((45...46).contains(probe.times.count))
        #expect(try decodedCount("\(folder.path)/a.mkv") == probe.times.count)
        #expect(preRoll.length.seconds < 0.6)
    }
}
