import Foundation
import Frames
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Media

@Suite("Repair", .timeLimit(.minutes(2))) struct RepairTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private let start = Timestamp(seconds: 1000)

    /// A directory with a recording that was interrupted after two seconds, and its journal.
    private final class Interrupted {
        let folder: Folder
        let path: String
        let journal: RecordingJournal

        init(_ start: Timestamp) throws {
            folder = try Folder()
            path = "\(folder.path)/a.mkv"
            journal = RecordingJournal(StateFile(path: "\(folder.path)/state/recordings"))
            let picture = try jpeg(1, folder)
            let writer = try MatroskaWriter(creating: path, tracks: [.desk], start: start)
            for number in 0..<60 {
                let time = start + Timestamp(seconds: Double(number) / 30)
                try writer.write(Packet(.bytes(picture), at: time), track: 0)
            }
            try writer.flush()
            try journal.add(path)
        }

        func repair(
            by copy: @escaping @Sendable (CInt, CInt) throws(MediaError) -> Double =
                Remux.copyMatroska
        ) -> RecordingRepair.Outcome { RecordingRepair(journal, by: copy).repair(path) }

        var content: [UInt8] { get throws { try readFile(path, limit: 1 << 26) } }
    }

    private func mode(_ path: String) throws -> UInt32 {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return status.st_mode & 0o7777
    }

    @Test("a recording is repaired, leaves the journal and keeps its access rights")
    func repaired() throws {
        let file = try Interrupted(start)
        try #require(chmod(file.path, 0o640) == 0)
        #expect(file.repair().isRepaired(2))
        #expect(try mode(file.path) == 0o640)
        #expect(try file.journal.paths() == [])
        #expect(try Probe(file.path).times.count == 60)
    }

    @Test func `a recording is the user's alone under any umask`() throws {
        let before = umask(0)
        defer { umask(before) }
        let file = try Interrupted(start)
        #expect(try mode(file.path) == 0o600)
        #expect(try mode(Remux.makeMP4(of: file.path)) == 0o600)
        let path = "\(file.folder.path)/b.mkv"
        _ = try MatroskaWriter(creating: path, tracks: [.desk], start: start, mode: 0o644)
        #expect(try mode(path) == 0o644)
    }

    @Test("a file that is being written is left alone, by whomever it is written")
    func locked() throws {
        let path = "\(folder.path)/a.mkv"
        let journal = RecordingJournal(StateFile(path: "\(folder.path)/state/recordings"))
        try journal.add(path)
        let picture = try jpeg(1, folder)
        var writer: MatroskaWriter? =
            try MatroskaWriter(creating: path, tracks: [.desk], start: start)
        try writer?.write(Packet(.bytes(picture), at: start), track: 0)
        try writer?.flush()
        let repair = RecordingRepair(journal) { _, _ in
            Issue.record("it was read")
            return 1
        }
        var before = stat()
        try #require(stat(path, &before) == 0)
        #expect(repair.repair(path) == .busy)
        #expect(#expect(throws: MediaError.self) { try Remux.makeMP4(of: path) }?.code == .busy)
        var after = stat()
        #expect(stat(path, &after) == 0 && after.st_ino == before.st_ino)
        #expect(try journal.paths() == [path])
        #expect(folder.content.contains { $0.hasSuffix(".part") } == false)
        writer = nil
        let now = RecordingRepair(journal, by: Remux.copyMatroska)
        #expect(now.repair(path).isRepaired(nil), "not repaired after its end")
    }

    @Test("a file that ends its reader twice is set aside as it is, and never tried again")
    func harmful() throws {
        let file = try Interrupted(start)
        let before = try file.content
        let attempts = Mutex(0)
        let outcome = file.repair { _, _ throws(MediaError) in
            attempts.withLock { $0 += 1 }
            throw MediaError(.harmful, "repair", detail: "its reader was killed by signal 11")
        }
        #expect(outcome == .setAside(reason: "its reader was killed by signal 11"))
        #expect(attempts.withLock { $0 } == RecordingRepair.attempts)
        #expect(try file.journal.paths() == [])
        #expect(try file.content == before)
        #expect(!file.folder.content.contains { $0.hasSuffix(".part") })
    }

    @Test func `attempts that an earlier version noted are no part of the path`() throws {
        let file = try Interrupted(start)
        try StateFile(path: "\(folder.path)/recordings").store("1 \(file.path)\n/b c.mkv\n")
        let journal = RecordingJournal(StateFile(path: "\(folder.path)/recordings"))
        #expect(try journal.paths() == [file.path, "/b c.mkv"])
        #expect(RecordingRepair(journal, by: Remux.copyMatroska).repair(file.path).isRepaired(2))
        #expect(try journal.paths() == ["/b c.mkv"])
    }

    @Test(
        "a file stays in the journal while it may be repaired later",
        arguments: [
            (MediaError.Code.noSpace, true), (.busy, true), (.system, true), (.denied, true),
            (.unsupported, true), (.unreadable, false),
        ]
    )
    func failures(_ code: MediaError.Code, _ stays: Bool) throws {
        let file = try Interrupted(start)
        _ = file.repair { _, _ throws(MediaError) in throw MediaError(code, "repair") }
        #expect(try file.journal.paths() == (stays ? [file.path] : []))
    }

    @Test func `two daemons' changes of the journal are both in it`() throws {
        let path = "\(folder.path)/state/recordings"
        DispatchQueue.concurrentPerform(iterations: 4) { daemon in
            let journal = RecordingJournal(StateFile(path: path))
            for number in 0..<10 {
                do {
                    try journal.add("/\(daemon)-\(number).mkv")
                    if number % 2 == 0 { try journal.remove("/\(daemon)-\(number).mkv") }
                } catch { Issue.record("\(error)") }
            }
        }
        let paths = try RecordingJournal(StateFile(path: path)).paths()
        #expect(paths.count == 20 && Set(paths).count == 20)
    }

    @Test("answers of the process are checked")
    func answers() throws {
        #expect(try RepairHelper.result(in: Array("done 2.5".utf8)) == 2.5)
        let error = MediaError(.noSpace, "write", errno: ENOSPC, detail: "of 3 bytes")
        let told = #expect(throws: MediaError.self) {
            try RepairHelper.result(in: RepairHelper.answer(error))
        }
        #expect(told == error)
        for strange in ["", "done", "done nan", "done -1", "done inf", "done 1e300", "what 1 2 3"] {
            let error = #expect(throws: MediaError.self) {
                try RepairHelper.result(in: Array(strange.utf8))
            }
            #expect(error?.code == .system)
        }
    }

    @Test(arguments: [UInt64(Int64.max), UInt64(Int64.max) - 1, .max, 1 << 62, 40])
    func `times that nobody can calculate with end no repair`(duration: UInt64) throws {
        let path = "\(folder.path)/a.mkv"
        let picture = try jpeg(1, folder)
        let blocks = (0..<3).map { Matroska.block(picture, at: $0 * 40, lasting: duration) }
        try Data(Matroska.file(blocks)).write(to: URL(filePath: path))
        let seconds = try Remux.repair(path, by: Remux.copyMatroska)
        #expect(seconds > 0.08 && seconds < 1)
        #expect(try Probe(path).times.count == 3)
    }

    @Test func `a file with pictures at impossible times stays as it is`() throws {
        let path = "\(folder.path)/a.mkv"
        let blocks = [Matroska.block(try jpeg(1, folder), at: 0, lasting: 40)]
        let bytes = Data(Matroska.file(blocks, at: 1 << 60))
        try bytes.write(to: URL(filePath: path))
        let error = #expect(throws: MediaError.self) {
            try Remux.repair(path, by: Remux.copyMatroska)
        }
        #expect(error?.code == .unreadable)
        #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    }

    @Test(
        "a frame rate that no camera has is an error, not the end of the daemon",
        arguments: [3_000_000, 1000.5, -1, .infinity, -.infinity, .nan, 1e300]
    )
    func rate(_ rate: Double) throws {
        let size = Size(width: 320, height: 240)
        let error = #expect(throws: MediaError.self) {
            try MatroskaWriter(
                creating: "\(folder.path)/a.mkv",
                tracks: [.jpeg(size: size, rate: rate)],
                start: start
            )
        }
        #expect(error?.code == .unsupported)
        #expect(error?.description.contains("frame rate") ?? false)
        #expect(folder.content.isEmpty)
        // The recorder's own memory for JPEGs.
        let picture = try jpeg(1, folder)
        let plan = Recorder.Plan("back", stem: "\(folder.path)/b", start: start, rate: rate)
        let failures = Mutex<[MediaError]>([])
        let recorder = try Recorder(plan) { report in
            if case .finished(_, _, .failed(let error)) = report {
                failures.withLock { $0.append(error) }
            }
        }
        picture.withUnsafeBytes { recorder.take(jpeg: $0, at: start) }
        recorder.end(at: start + Timestamp(seconds: 1))
        #expect(recorder.wait(until: MonotonicClock.now + Timestamp(seconds: 60)))
        #expect(failures.withLock { $0.map(\.code) } == [.unsupported])
    }
}

extension Track {
    /// The pictures of a camera, as `jpeg` makes them.
    fileprivate static let desk = Track.jpeg(size: Size(width: 320, height: 240), rate: 30)
}

extension RecordingRepair.Outcome {
    /// Returns `true` if it is of a file of about `length` seconds, or of any length.
    fileprivate func isRepaired(_ length: Double?) -> Bool {
        guard case .repaired(let seconds) = self else { return false }
        return length.map { abs($0 - seconds) < 0.1 } ?? true
    }
}

extension Remux {
    @Sendable
    fileprivate static func copyMatroska(
        _ source: CInt,
        _ target: CInt
    ) throws(MediaError) -> Double { try copy(source, to: target, as: .matroska) }
}

/// Matroska files as nobody writes them: RFC 9559.
enum Matroska {
    private static func element(_ id: [UInt8], _ content: [UInt8]) -> [UInt8] {
        let size = (0..<8).map { UInt8(truncatingIfNeeded: content.count >> (56 - 8 * $0)) }
        return id + [0x01] + size.dropFirst() + content
    }

    private static func number(_ id: [UInt8], _ value: UInt64) -> [UInt8] {
        element(id, (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) })
    }

    /// Returns a BlockGroup with a picture of track 1 at `time`, in milliseconds.
    static func block(_ picture: [UInt8], at time: Int, lasting duration: UInt64) -> [UInt8] {
        let header = [0x81, UInt8(time >> 8 & 255), UInt8(time & 255), 0]
        return element([0xA0], element([0xA1], header + picture) + number([0x9B], duration))
    }

    static func file(_ blocks: [[UInt8]], at time: UInt64 = 0) -> [UInt8] {
        let text = { (id: [UInt8], text: String) in element(id, Array(text.utf8)) }
        let head = element([0x1A, 0x45, 0xDF, 0xA3], text([0x42, 0x82], "matroska"))
        let info = element([0x15, 0x49, 0xA9, 0x66], number([0x2A, 0xD7, 0xB1], 1_000_000))
        let video = element([0xE0], number([0xB0], 320) + number([0xBA], 240))
        let track = element(
            [0xAE],
            number([0xD7], 1) + number([0x73, 0xC5], 1) + number([0x83], 1)
                + text([0x86], "V_MJPEG") + video
        )
        let tracks = element([0x16, 0x54, 0xAE, 0x6B], track)
        let content = number([0xE7], time) + blocks.flatMap(\.self)
        let cluster = element([0x1F, 0x43, 0xB6, 0x75], content)
        return head + element([0x18, 0x53, 0x80, 0x67], info + tracks + cluster)
    }
}
