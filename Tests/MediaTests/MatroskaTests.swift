import Foundation
import Frames
import Platform
import TestSupport
import Testing

@testable import Media

@Suite("Matroska files", .timeLimit(.minutes(2))) struct MatroskaTests {
    private let folder: Folder
    private var path: String { "\(folder.path)/a.mkv" }

    init() throws { folder = try Folder() }

    private let start = Timestamp(seconds: 1000)
    private let size = Size(width: 320, height: 240)

    /// Repairs the file at `path` in this process.
    private func repair(_ path: String) throws -> Double {
        try Remux.repair(path) { (source, target) throws(MediaError) in
            try Remux.copy(source, to: target, as: .matroska)
        }
    }

    /// Begins a file of one camera.
    private func writer(_ path: String, _ tags: [String: String] = [:]) throws -> MatroskaWriter {
        let tracks = [Track.jpeg(size: size, rate: 30)]
        return try MatroskaWriter(creating: path, tracks: tracks, start: start, tags: tags)
    }

    /// Writes `count` pictures at uneven times, and returns these in seconds.
    private func write(_ count: Int, to writer: MatroskaWriter) throws -> [Double] {
        let picture = try jpeg(1, folder)
        return try (0..<count).map { number in
            let time = Double(number) / 30 + (number % 3 == 0 ? 0.004 : 0)
            try writer.write(
                Packet(
                    .bytes(picture),
                    at: start + Timestamp(seconds: time),
                    lasting: Timestamp(seconds: 1 / 30)
                ),
                track: 0
            )
            return time
        }
    }

    @Test("a camera's pictures are in it as they came, at the times at which they were taken")
    func passthrough() throws {
        let writer = try writer(path, ["title": "A desk"])
        let times = try write(90, to: writer)
        try writer.finish()
        let probe = try Probe(path)
        #expect(probe.streams.map(\.codecName) == ["mjpeg"])
        #expect(probe.streams[0].width == 320 && probe.streams[0].height == 240)
        #expect(probe.format.tags?["title"] == "A desk")
        #expect(probe.times.count == 90)
        #expect(zip(probe.times, times).allSatisfy { abs($0 - $1) < 0.001 })
        #expect(abs(try #require(probe.duration) - 3) < 0.01)
        let file = try Data(contentsOf: URL(filePath: path))
        #expect(file.range(of: Data(try jpeg(1, folder))) != nil)
        #expect(try decodedCount(path) == 90)
    }

    @Test("how the camera is mounted is in the metadata", arguments: [90, 180, 270])
    func rotation(degrees: Int) throws {
        let track = Track.jpeg(size: size, rate: 30, rotation: degrees)
        do {
            let writer = try MatroskaWriter(creating: path, tracks: [track], start: start)
            _ = try write(3, to: writer)
            try writer.finish()
        }
        #expect(try Probe(path).streams[0].tags?["ROTATE"] == "\(degrees)")
        // RFC 9559: a flat picture (ProjectionType 0), rolled anticlockwise (ProjectionPoseRoll, a
        // double).
        let roll = Double(degrees == 270 ? 90 : -degrees)
        func expectRoll() throws {
            let file = try Data(contentsOf: URL(filePath: path))
            #expect(file.range(of: Data([0x76, 0x71, 0x81, 0x00])) != nil)
            let bits = withUnsafeBytes(of: roll.bitPattern.bigEndian) { Data($0) }
            #expect(file.range(of: Data([0x76, 0x75, 0x88]) + bits) != nil)
        }
        try expectRoll()
        _ = try repair(path)
        try expectRoll()
        #expect(try Probe(path).streams[0].tags?["ROTATE"] == "\(degrees)")

        // As a camera, it is upright.
        let shown = Transform(quarterTurns: degrees / 90).apply(to: size)
        #expect(try MovieReader(path: path).size == shown)

        let movie = try Remux.makeMP4(of: path)
        // Players of MP4 rotate by a matrix, which ffprobe reports anticlockwise.
        let told = try #require(try Probe(movie).streams[0].sideDataList?.first?.rotation)
        #expect((told + degrees) % 360 == 0)
        #expect(try MovieReader(path: movie).size == shown)
    }

    private static let tags = [
        "title": "DualCam, back", "camera": "back", "model": "Desk Cam",
        "creation_time": "2026-11-21T13:30:05.123456Z", "timecode": "14:30:05:03",
    ]

    @Test("when, with which camera and in what colours it was taken stays over repair and MP4")
    func metadata() throws {
        do {
            let writer = try writer(path, Self.tags)
            _ = try write(30, to: writer)
            try writer.flush()
        }
        func expectTags(_ path: String, isWhole: Bool = true) throws {
            let probe = try Probe(path, isTruncated: !isWhole)
            let tags = try #require(probe.format.tags)
            #expect(tags["title"] == "DualCam, back")
            #expect(tags["creation_time"]?.hasPrefix("2026-11-21T13:30:05.") ?? false)
            #expect((tags["MODEL"] ?? tags["com.apple.quicktime.model"]) == "Desk Cam")
            let stream = probe.streams[0]
            #expect((tags["TIMECODE"] ?? stream.tags?["timecode"]) == "14:30:05:03")
            #expect(stream.colorPrimaries == "bt709" && stream.colorTransfer == "iec61966-2-1")
            #expect(["smpte170m", "bt470bg"].contains(stream.colorSpace))
        }
        try expectTags(path, isWhole: false)
        _ = try repair(path)
        try expectTags(path)
        let movie = try Remux.makeMP4(of: path)
        try expectTags(movie)
        let date = try Probe(movie).format.tags?["com.apple.quicktime.creationdate"]
        #expect(date == WallTime(microseconds: 1_795_267_805_000_000).localWithOffset)
        #expect(date?.wholeMatch(of: /2026-11-2[12]T\d\d:\d\d:05[+-]\d{4}/) != nil)
    }

    @Test(
        "as MP4, a camera that keeps its rate has it evenly, also an odd one; others keep their times",
        arguments: [(30.0, false), (29.41, false), (30, true)]
    )
    func pace(rate: Double, hasGaps: Bool) throws {
        let picture = try jpeg(1, folder)
        var times: [Double] = []
        do {
            let writer = try writer(path)
            for number in 0..<300 where !(hasGaps && number % 50 == 7) {
                let time = 0.01 + Double(number) / rate + (number % 3 == 0 ? 0.004 : 0)
                times.append(time)
                let packet = Packet(
                    .bytes(picture),
                    at: start + Timestamp(seconds: time),
                    lasting: Timestamp(seconds: 1 / rate)
                )
                try writer.write(packet, track: 0)
            }
            try writer.finish()
        }
        let movie = try Remux.makeMP4(of: path)
        let probe = try Probe(movie)
        #expect(probe.times.count == times.count)
        // In step with the sound to the end.
        let furthest = zip(probe.times, times).map { abs($0 - $1) }.max() ?? 1
        #expect(furthest < (hasGaps ? 0.0011 : 0.005))
        let intervals = zip(probe.times.dropFirst(), probe.times).map { $0 - $1 }
        let spread = (intervals.max() ?? 1) - (intervals.min() ?? 0)
        #expect(hasGaps ? spread > 0.02 : spread < 0.000_01, "\(spread)")
        if rate == 30, !hasGaps { #expect(probe.streams[0].avgFrameRate == "30/1") }
        #expect(try Remux.size(of: movie) == Data(contentsOf: URL(filePath: movie)).count)
    }

    @Test("a sound track that no sound came for is not in the file", arguments: [false, true])
    func emptyTrack(isInterrupted: Bool) throws {
        let tracks = [Track.jpeg(size: size, rate: 30), try Microphone.track()]
        do {
            let writer = try MatroskaWriter(creating: path, tracks: tracks, start: start)
            _ = try write(30, to: writer)
            #expect(writer.isUsed(0) && !writer.isUsed(1))
            if isInterrupted { try writer.flush() } else { try writer.finish() }
        }
        if isInterrupted { _ = try repair(path) }
        #expect(try Probe(path).streams.map(\.codecName) == ["mjpeg"])
        #expect(try decodedCount(path) == 30)
        #expect(try Probe(Remux.makeMP4(of: path)).streams[0].codecName == "mjpeg")
    }

    @Test("a file that ends in the middle is played, and repaired")
    func repair() throws {
        let times: [Double]
        do {
            let writer = try writer(path)
            times = try write(60, to: writer)
            try writer.flush()
        }
        // As after a power cut: the last picture is incomplete.
        let whole = try Data(contentsOf: URL(filePath: path))
        try whole.dropLast(100).write(to: URL(filePath: path))
        let truncated = try Probe(path, isTruncated: true)
        #expect(truncated.duration == nil)
        #expect(truncated.times.count >= 59)

        #expect(try abs(repair(path) - 2) < 0.1)
        let repaired = try Probe(path)
        #expect(repaired.times.count >= 59)
        #expect(abs(try #require(repaired.duration) - 2) < 0.1)
        #expect(zip(repaired.times, times).allSatisfy { abs($0 - $1) < 0.001 })
        // The index: Cues (0x1C53BB6B).
        let file = try Data(contentsOf: URL(filePath: path))
        #expect(file.range(of: Data([0x1C, 0x53, 0xBB, 0x6B]), options: .backwards) != nil)
        #expect(folder.content.allSatisfy { $0 == "a.mkv" || $0.hasSuffix(".jpg") })
    }

    @Test("a file without a picture goes when it is repaired, one that is none stays")
    func hopeless() throws {
        let empty = "\(folder.path)/a.mkv"
        _ = try writer(empty)
        #expect(try repair(empty) == 0)
        _ = try writer(empty)
        let nothing = #expect(throws: MediaError.self) { try Remux.makeMP4(of: empty) }
        #expect(nothing?.code == .unreadable)
        #expect(folder.content == ["a.mkv"])
        try FileManager.default.removeItem(atPath: empty)
        let other = "\(folder.path)/b.mkv"
        try Data("no movie".utf8).write(to: URL(filePath: other))
        #expect(#expect(throws: MediaError.self) { try repair(other) }?.code == .unreadable)
        #expect(throws: MediaError.self) { try repair("\(folder.path)/c.mkv") }
        #expect(folder.content == ["b.mkv"])
    }

    @Test func `nothing is written over`() throws {
        try Data("mine".utf8).write(to: URL(filePath: path))
        let error = #expect(throws: MediaError.self) { try writer(path) }
        #expect(error?.errno == EEXIST)
        try Data("mine".utf8).write(to: URL(filePath: "\(folder.path)/a.mp4"))
        #expect(throws: MediaError.self) { try Remux.makeMP4(of: path) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")

        // Detected only when the file is put in place: a link that leads nowhere.
        let movie = "\(folder.path)/b.mkv"
        do {
            let writer = try writer(movie)
            _ = try write(3, to: writer)
            try writer.finish()
        }
        let manager = FileManager.default
        try manager.createSymbolicLink(
            atPath: "\(folder.path)/b.mp4",
            withDestinationPath: "\(folder.path)/none"
        )
        #expect(#expect(throws: MediaError.self) { try Remux.makeMP4(of: movie) }?.errno == EEXIST)
        let names = folder.content.filter { !$0.hasSuffix(".jpg") }
        #expect(names == ["a.mkv", "a.mp4", "b.mkv", "b.mp4"])
    }
}
