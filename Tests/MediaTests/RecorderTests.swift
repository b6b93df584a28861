import Foundation
import Frames
import Platform
import Synchronization
import TestJPEGs
import TestSupport
import Testing

@testable import Media

@Suite("A recorder", .timeLimit(.minutes(2))) struct RecorderTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private final class ReportLog: Sendable {
        let reports = Mutex<[Recorder.Report]>([])
        var movies: [Movie] {
            reports.withLock { reports in
                reports.compactMap {
                    if case .finished(let movie, _, .whole) = $0 { movie } else { nil }
                }
            }
        }
        var failures: [MediaError] {
            reports.withLock { reports in
                reports.compactMap {
                    switch $0 {
                    case .failed(let error), .finished(_, _, .failed(let error)): error
                    default: nil
                    }
                }
            }
        }
    }

    private func record(
        _ plan: Recorder.Plan,
        failing codes: [MediaError.Code] = [],
        _ body: (Recorder) throws -> Timestamp
    ) throws -> ReportLog {
        let log = ReportLog()
        let recorder = try Recorder(plan) { report in log.reports.withLock { $0.append(report) } }
        let end: Timestamp
        do {
            end = try body(recorder)
        } catch {
            recorder.end(at: plan.start)
            _ = recorder.wait(until: .init(nanoseconds: .max))
            throw error
        }
        recorder.end(at: end)
        #expect(recorder.wait(until: MonotonicClock.now + Timestamp(seconds: 60)))
        #expect(log.failures.map(\.code) == codes)
        return log
    }

    private func plan(_ picture: String, in folder: Folder) -> Recorder.Plan {
        Recorder.Plan(
            picture,
            stem: "\(folder.path)/a-\(picture)",
            start: MonotonicClock.now,
            rate: 30
        )
    }

    /// Gives `recorder` the pictures `numbers` as a camera would, but waits where it would drop
    /// one.
    private func give(
        _ numbers: Range<Int>,
        _ plan: Recorder.Plan,
        to recorder: Recorder,
        _ picture: (Int, Timestamp) throws -> Void
    ) throws {
        for number in numbers {
            try eventually("room", within: 60) { recorder.hasRoom }
            try picture(number, plan.start + Timestamp(seconds: Double(number) / 30))
        }
    }

    private func give(
        _ numbers: Range<Int>,
        of jpeg: [UInt8],
        _ plan: Recorder.Plan,
        to recorder: Recorder
    ) throws {
        try give(numbers, plan, to: recorder) { _, time in
            jpeg.withUnsafeBytes { recorder.take(jpeg: $0, at: time) }
        }
    }

    @Test func `a camera's JPEGs become one file, as long as it was recorded`() throws {
        // With a comment, which must not get into the file.
        var picture = try jpeg(1, folder)
        picture.insert(contentsOf: [0xFF, 0xFE, 0, 8] + Array("SECRET".utf8), at: 2)
        let plan = plan("back", in: folder)
        let log = try record(plan) { recorder in
            // One from before the start, and one that is damaged.
            let early = plan.start + Timestamp(seconds: -0.1)
            picture.withUnsafeBytes { recorder.take(jpeg: $0, at: early) }
            try give(0..<60, plan, to: recorder) { number, time in
                let bytes = number == 30 ? Array(picture.prefix(20)) : picture
                bytes.withUnsafeBytes { recorder.take(jpeg: $0, at: time) }
            }
            return plan.start + Timestamp(seconds: 2.1)
        }
        let movie = try #require(log.movies.first)
        #expect(movie.path == "\(folder.path)/a-back.mkv")
        #expect(movie.frames == 59 && movie.dropped == 1 && movie.encoder == "camera")
        #expect(abs(movie.seconds - 2.1) < 0.002)
        let probe = try Probe(movie.path)
        #expect(probe.times.count == 59)
        #expect(abs(try #require(probe.duration) - 2.1) < 0.002)
        let bytes = try Data(contentsOf: URL(filePath: movie.path))
        #expect(!bytes.contains(Data("SECRET".utf8)))
    }

    @Test func `JPEGs that few programs show become a video that all do`() throws {
        let unusual = UnusualJPEG.shown[0]
        let plan = plan("back", in: folder)
        let log = try record(plan) { recorder in
            try give(0..<10, of: unusual.bytes, plan, to: recorder)
            return plan.start + Timestamp(seconds: 10.0 / 30)
        }
        let movie = try #require(log.movies.first)
        #expect(movie.frames == 10 && movie.dropped == 0 && movie.encoder != "camera")
        let pixels = try ffmpegPixels(of: movie.path, folder)
        #expect(pixels.count == 10 * unusual.size.area)
        #expect(pixels.allSatisfy { abs(Int($0) - unusual.color[0]) <= 4 })
    }

    @Test("noise in a camera's JPEGs is not in the file, and damaged ones are dropped")
    func noise() throws {
        let plan = plan("back", in: folder)
        let faults = FaultyJPEG.all
        let log = try record(plan) { recorder in
            try give(0..<faults.count, plan, to: recorder) { number, time in
                faults[number].bytes.withUnsafeBytes { recorder.take(jpeg: $0, at: time) }
            }
            return plan.start + Timestamp(seconds: Double(faults.count) / 30)
        }
        let movie = try #require(log.movies.first)
        let damaged = faults.count { $0.verdict == .damage }
        #expect(movie.frames == faults.count - damaged && movie.dropped == damaged)
        let pixels = try ffmpegPixels(of: movie.path, folder)
        let whole = ScriptedJPEG.decoded(ScriptedJPEG().bytes)
        #expect(pixels.count == movie.frames * whole.count)
        for (number, start) in stride(from: 0, to: pixels.count, by: whole.count).enumerated() {
            #expect(Array(pixels[start..<start + whole.count]) == whole, "picture \(number)")
        }
    }

    @Test func `a file is named after its first picture, and tells when it was taken`() throws {
        let picture = try jpeg(1, folder)
        let start = MonotonicClock.now
        let first = Mutex<Timestamp?>(nil)
        var plan = Recorder.Plan(
            "back",
            name: { time in
                first.withLock { $0 = time }
                return "\(folder.path)/named"
            },
            start: start,
            rate: 30
        )
        plan.mode = 0o640
        let log = try record(plan) { recorder in
            // The camera takes a second to begin.
            try give(30..<40, of: picture, plan, to: recorder)
            return start + Timestamp(seconds: 2)
        }
        let movie = try #require(log.movies.first)
        #expect(movie.path == "\(folder.path)/named.mkv")
        #expect(first.withLock { $0 } == start + Timestamp(seconds: 1))
        let tags = try #require(try Probe(movie.path).format.tags)
        // Players show the start as 0.
        let told = try #require(tags["creation_time"])
        let wanted = WallTime(start).microseconds
        let near = [-1_000_000, 0, 1_000_000].map { (step: Int64) -> String in
            String(WallTime(microseconds: wanted + step).utc.prefix(19))
        }
        #expect(near.contains(String(told.prefix(19))), "\(told)")
        #expect(tags["TIMECODE"]?.count == 11)
        var status = stat()
        #expect(stat(movie.path, &status) == 0 && status.st_mode & 0o777 == 0o640)
        #expect(movie.byteCount == Int64(status.st_size) && !movie.hasSound)
    }

    @Test("a camera that is lost ends its file, and begins another one when it is back")
    func lost() throws {
        let size = Size(width: 160, height: 90)
        var plan = plan("front", in: folder)
        plan.encoder = .x264
        let log = try record(plan) { recorder in
            try give(0..<30, plan, to: recorder) { number, time in
                recorder.take(rawFrame(number, .yuyv, at: time, size))
            }
            recorder.discontinue(at: plan.start + Timestamp(seconds: 1))
            try give(90..<120, plan, to: recorder) { number, time in
                recorder.take(rawFrame(number, .yuyv, at: time, size))
            }
            // All but the last 16 are taken: the second file has begun.
            recorder.drop()
            // Another format, as from another camera.
            try give(120..<150, plan, to: recorder) { number, time in
                recorder.take(rawFrame(number, .i420, at: time, size))
            }
            return plan.start + Timestamp(seconds: 5)
        }
        let movies = log.movies.sorted { ($0.path.count, $0.path) < ($1.path.count, $1.path) }
        try #require(movies.count == 3)
        #expect(movies.map(\.path) == ["", "-2", "-3"].map { "\(folder.path)/a-front\($0).mkv" })
        #expect(movies.map(\.dropped) == [0, 1, 0])
        for movie in movies {
            #expect(movie.frames == 30)
            #expect(abs(movie.seconds - 1) < 0.005)
            #expect(movie.encoder == "x264")
            #expect(try decodedCount(movie.path) == movie.frames)
        }
        #expect(try Probe(movies[1].path).format.tags?["DUALCAM_OFFSET"] == "3000 ms")
    }

    /// Records three seconds, the second of which is a pause, and returns the path.
    private func paused(_ encoder: VideoEncoder.Kind) throws -> String {
        var plan = plan("stream", in: folder)
        plan.encoder = encoder
        let size = Size(width: 160, height: 90)
        let log = try record(plan) { recorder in
            var pauses = Pauses()
            for second in 0..<3 {
                // The camera's pictures are between those moments.
                let time = plan.start + Timestamp(seconds: Double(second) - 0.01)
                if second > 0 { pauses.turn(on: second == 1, at: time) }
                recorder.leaveOut(pauses)
                try give(second * 30..<second * 30 + 30, plan, to: recorder) { number, time in
                    let frame = rawFrame(number, .yuyv, at: time, size)
                    if number % 2 == 0 {
                        recorder.take(frame)
                    } else {
                        recorder.take(copying: frame)
                    }
                }
            }
            return plan.start + Timestamp(seconds: 3)
        }
        #expect(log.failures == [])
        let movie = try #require(log.movies.first)
        #expect(log.movies.count == 1 && movie.frames == 60 && movie.dropped == 0)
        #expect(abs(movie.seconds - 2) < 0.002)
        return movie.path
    }

    @Test(
        "a pause is not in the file, which has a chapter there",
        arguments: [VideoEncoder.Kind.x264, .mjpeg]
    )
    func pause(encoder: VideoEncoder.Kind) throws {
        var path = try paused(encoder)
        for isMP4 in [false, true] {
            if isMP4 { path = try Remux.makeMP4(of: path) }
            let probe = try Probe(path)
            #expect(abs(try #require(probe.duration) - 2) < 0.01)
            #expect(probe.times.count == 60)
            for (index, time) in probe.times.enumerated() {
                #expect(abs(time - Double(index) / 30) < 0.002, "\(path)")
            }
            let times = probe.chapters.flatMap(\.times)
            #expect(times.count == 4, "\(path)")
            for (time, wanted) in zip(times, [0, 0.99, 0.99, 2]) {
                #expect(abs(time - wanted) < 0.002, "\(path)")
            }
            #expect(probe.chapters.map { $0.tags?["title"] } == ["1", "2"])
            #expect(try decodedCount(path) == 60)
        }
    }

    @Test func `a camera that is lost in a pause ends its file there, and so does the end`() throws
    {
        let picture = try jpeg(1, folder)
        let plan = plan("back", in: folder)
        func at(_ seconds: Double) -> Timestamp { plan.start + Timestamp(seconds: seconds) }
        let log = try record(plan) { recorder in
            var pauses = Pauses()
            func pause(_ isOn: Bool, at seconds: Double) {
                pauses.turn(on: isOn, at: at(seconds))
                recorder.leaveOut(pauses)
            }
            func give(_ numbers: Range<Int>) throws {
                try self.give(numbers, plan, to: recorder) { _, time in
                    picture.withUnsafeBytes { recorder.take(jpeg: $0, at: time) }
                }
            }
            try give(0..<30)
            pause(true, at: 1)
            try give(30..<60)
            recorder.discontinue(at: at(2))
            try give(90..<120)
            pause(false, at: 4)
            try give(120..<150)
            pause(true, at: 5)
            return at(7)
        }
        #expect(log.failures == [])
        let movies = log.movies.sorted { $0.path.count < $1.path.count }
        #expect(movies.map(\.frames) == [30, 30] && movies.map(\.dropped) == [0, 0])
        let probes = try movies.map { try Probe($0.path) }
        for (movie, probe) in zip(movies, probes) {
            #expect(abs(movie.seconds - 1) < 0.002)
            #expect(abs(try #require(probe.duration) - 1) < 0.002 && probe.chapters.isEmpty)
        }
        // The offset is that in the recording, and the time that of the clock.
        #expect(probes[1].format.tags?["DUALCAM_OFFSET"] == "1000 ms")
        let created = try #require(probes[1].format.tags?["creation_time"])
        let moment = try #require(WallTime(utc: created)).microseconds
        #expect(abs(moment - WallTime(at(4)).microseconds) <= 1_000_000)
    }

    @Test func `a camera that changes its format all the time begins few files`() throws {
        let sizes = ["320x240", "160x120"]
        let pictures = try sizes.map { try jpeg(1, folder, size: $0) }
        let plan = plan("back", in: folder)
        let log = try record(plan) { recorder in
            try give(0..<90, plan, to: recorder) { number, time in
                pictures[number % 2].withUnsafeBytes { recorder.take(jpeg: $0, at: time) }
            }
            return plan.start + Timestamp(seconds: 3)
        }
        #expect(log.movies.count == 11)
        let frames = log.movies.map(\.frames).reduce(0, +)
        // The last file goes on with every second picture.
        #expect(frames > 45 && frames + log.movies.map(\.dropped).reduce(0, +) == 90)
    }

    @Test func `what there is no room for is dropped, and nobody waits`() throws {
        let ended = Mutex(false)
        let file = try MovieFile(
            "\(folder.path)/a.mkv",
            name: "write-test",
            tracks: [.jpeg(size: Size(width: 320, height: 240), rate: 30)],
            start: .zero,
            tags: [:],
            limit: 4000
        ) { report in
            if case .ended = report { ended.withLock { $0 = true } }
        }
        let picture = try jpeg(1, folder)
        try #require(picture.count > 4000)
        #expect(!file.put(Packet(.bytes(picture), at: .zero), track: 0))
        #expect(file.put(Packet(.bytes(Array(picture.prefix(3999))), at: .zero), track: 0))
        file.end(at: Timestamp(seconds: 1))
        #expect(file.wait(until: MonotonicClock.now + Timestamp(seconds: 60)))
        #expect(ended.withLock { $0 })
    }

    @Test func `a file that somebody moves goes on, and the room where it is now is told`() throws {
        let path = "\(folder.path)/a.mkv"
        let reports = Mutex<[MovieFile.Report]>([])
        let file = try MovieFile(
            path,
            name: "write-test",
            tracks: [.jpeg(size: Size(width: 320, height: 240), rate: 30)],
            start: .zero,
            tags: [:]
        ) { report in reports.withLock { $0.append(report) } }
        defer {
            file.end(at: Timestamp(seconds: 1))
            _ = file.wait(until: MonotonicClock.now + Timestamp(seconds: 60))
        }
        let picture = try jpeg(1, folder)
        #expect(file.put(Packet(.bytes(picture), at: .zero), track: 0))
        try eventually("the file", within: 60) { reports.withLock { !$0.isEmpty } }
        try FileManager.default.moveItem(atPath: path, toPath: "\(folder.path)/b.mkv")
        let before = reports.withLock { $0.count }
        // One report may have been under way.
        try eventually("how much room there is", within: 60) {
            reports.withLock { $0.count >= before + 2 }
        }
        file.end(at: Timestamp(seconds: 1))
        try #require(file.wait(until: MonotonicClock.now + Timestamp(seconds: 60)))
        guard case .ended(let movie, isCounted: false, .whole) = reports.withLock({ $0.last })
        else {
            Issue.record("\(reports.withLock { $0 })")
            return
        }
        let size = Int64(try Data(contentsOf: URL(filePath: "\(folder.path)/b.mkv")).count)
        let told = Movie(path: "\(folder.path)/b.mkv", seconds: 1, frames: 1, byteCount: size)
        #expect(movie == told)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a file that is renamed again and again is not taken for removed`() throws {
        let path = "\(folder.path)/a.mkv"
        let names = [path, "\(folder.path)/b.mkv", "\(folder.path)/c.mkv", path]
        let file = try OutputFile(creating: path, mode: 0o600)
        let isOver = Atomic(false)
        let renaming = try Platform.Thread(name: "rename") {
            while !isOver.load(ordering: .relaxed) {
                for (from, to) in zip(names, names.dropFirst()) { rename(from, to) }
            }
        }
        let misses = (0..<20_000).count { _ in file.place == nil }
        isOver.store(true, ordering: .relaxed)
        renaming.join()
        #expect(misses == 0)
        #expect(file.place == path)
        unlink(path)
        #expect(file.place == nil)
    }

    @Test("a file that somebody removes is told at once, and another one goes on")
    func removed() throws {
        let picture = try jpeg(1, folder)
        let plan = plan("back", in: folder)
        let path = "\(folder.path)/a-back.mkv"
        let log = ReportLog()
        let recorder = try Recorder(plan) { report in log.reports.withLock { $0.append(report) } }
        defer {
            recorder.end(at: plan.start + Timestamp(seconds: 9))
            _ = recorder.wait(until: MonotonicClock.now + Timestamp(seconds: 60))
        }
        func give(_ numbers: Range<Int>) throws {
            try self.give(numbers, of: picture, plan, to: recorder)
        }
        try give(0..<30)
        let began = Recorder.Report.began(path: path, encoder: "camera")
        try eventually("the file", within: 60) { log.reports.withLock { $0.contains(began) } }
        try FileManager.default.removeItem(atPath: path)
        try eventually("the word", within: 60) {
            log.reports.withLock { reports in
                reports.contains {
                    if case .finished(_, path, .removed) = $0 { true } else { false }
                }
            }
        }
        try give(90..<120)
        recorder.end(at: plan.start + Timestamp(seconds: 4))
        try #require(recorder.wait(until: MonotonicClock.now + Timestamp(seconds: 60)))
        #expect(log.failures == [])
        #expect(log.movies.map(\.path) == ["\(folder.path)/a-back-2.mkv"])
        #expect(log.movies.map(\.frames) == [30] && log.movies.map(\.dropped) == [0])
    }

    @Test func `a directory that is not there is told, and no picture is waited for`() throws {
        let picture = try jpeg(1, folder)
        let plan = Recorder.Plan(
            "back",
            stem: "\(folder.path)/none/a",
            start: MonotonicClock.now,
            rate: 30
        )
        let log = try record(plan, failing: [.notFound]) { recorder in
            try give(0..<3, of: picture, plan, to: recorder)
            return plan.start + Timestamp(seconds: 1)
        }
        #expect(log.movies == [])
    }

    @Test("raw pictures from before the start are left out, copied or not")
    func early() throws {
        var plan = plan("stream", in: folder)
        plan.encoder = .mjpeg
        let size = Size(width: 64, height: 32)
        let log = try record(plan) { recorder in
            for number in -3..<0 {
                let time = plan.start + Timestamp(seconds: Double(number) / 30)
                recorder.take(rawFrame(number + 3, .yuyv, at: time, size))
                recorder.take(copying: rawFrame(number + 3, .yuyv, at: time, size))
            }
            try give(0..<6, plan, to: recorder) { number, time in
                let frame = rawFrame(number, .yuyv, at: time, size)
                if number % 2 == 0 { recorder.take(frame) } else { recorder.take(copying: frame) }
            }
            return plan.start + Timestamp(seconds: 0.2)
        }
        #expect(log.movies.map(\.frames) == [6] && log.movies.map(\.dropped) == [0])
    }

    @Test("each file counts what was dropped for it, and a picture lasts a second at most")
    func droppedApart() throws {
        let picture = try jpeg(1, folder)
        let plan = plan("back", in: folder)
        let log = try record(plan) { recorder in
            try give(0..<3, of: picture, plan, to: recorder)
            for _ in 1...2 { recorder.drop() }
            // Both are counted before the file ends.
            recorder.discontinue(at: plan.start + Timestamp(seconds: 30))
            try give(1000..<1003, of: picture, plan, to: recorder)
            return plan.start + Timestamp(seconds: 34)
        }
        let movies = log.movies.sorted { $0.path.count < $1.path.count }
        #expect(movies.map(\.frames) == [3, 3])
        #expect(movies.map(\.dropped) == [2, 0])
        let expected = [2.0 / 30 + 1, 2.0 / 30 + 34 - 1002.0 / 30]
        for (movie, seconds) in zip(movies, expected) {
            #expect(abs(movie.seconds - seconds) < 0.05, "\(movie.seconds), not \(seconds)")
        }
    }

    @Test func `sound that comes before the first picture is in its file`() throws {
        let picture = try jpeg(1, folder)
        var plan = plan("back", in: folder)
        plan.sound = try SoundEncoder(rate: 48000, channels: 1, start: plan.start).track
        let log = try record(plan) { recorder in
            for number in 0..<5 {
                let time = plan.start + Timestamp(seconds: Double(number) / 50)
                recorder.take(sound: Packet(.bytes([0xF8, 0xFF, 0xFE]), at: time))
            }
            try give(3..<6, of: picture, plan, to: recorder)
            return plan.start + Timestamp(seconds: 0.3)
        }
        let movie = try #require(log.movies.first)
        #expect(movie.hasSound)
        #expect(try Probe(movie.path).soundTimes.count == 5)
    }

    @Test func `sound that came before the first picture is in no later file`() throws {
        let picture = try jpeg(1, folder)
        var plan = plan("back", in: folder)
        plan.sound = try SoundEncoder(rate: 48000, channels: 1, start: plan.start).track
        let log = try record(plan) { recorder in
            recorder.take(sound: Packet(.bytes([0xF8, 0xFF, 0xFE]), at: plan.start))
            for numbers in [3..<6, 30..<33] {
                try give(numbers, of: picture, plan, to: recorder)
                recorder.discontinue(
                    at: plan.start + Timestamp(seconds: Double(numbers.upperBound) / 30)
                )
            }
            return plan.start + Timestamp(seconds: 2)
        }
        let movies = log.movies.sorted { $0.path.count < $1.path.count }
        #expect(movies.map(\.frames) == [3, 3])
        #expect(movies.map(\.hasSound) == [true, false])
    }
}

/// Returns the luma of all pictures of the movie at `path`, as decoded by FFmpeg, which says
/// nothing of damage in them: a decoder that loses what follows a stray byte.
func ffmpegPixels(of path: String, _ folder: Folder) throws -> [UInt8] {
    let raw = "\(folder.path)/raw"
    // One second each: their own times may be nearer than the rate that the file tells.
    try ffmpeg([
        "-i", path, "-vf", "setpts=N/TB", "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt",
        "gray", raw,
    ])
    return Array(try Data(contentsOf: URL(filePath: raw)))
}
