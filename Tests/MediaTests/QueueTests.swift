import Frames
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Media

@Suite("What waits to be written", .timeLimit(.minutes(5)))
struct QueueTests {
    private func packet(_ seconds: Double, count: Int = 10) -> Packet {
        Packet(.bytes([UInt8](repeating: 0, count: count)), at: Timestamp(seconds: seconds))
    }

    @Test("sound is kept as long as the pictures that it belongs to, and no longer")
    func sound() {
        var queue = PacketQueue()
        queue.add(sound: packet(0))
        #expect(queue.sound.isEmpty, "there is no picture yet")
        for number in 0..<900 {
            queue.add(packet(Double(number) / 30))
            queue.add(sound: packet(Double(number) / 30 + 0.01))
            queue.keep(PreRollBuffer.span)
        }
        #expect(queue.pictures.count == 46 && queue.sound.count == 46)
        #expect(queue.byteCount == 460)
    }

    @Test("a discontinuity before the first picture of a clip ends nothing, one after it does")
    func discontinuity() {
        let preRoll = PreRollBuffer()
        let clip = preRoll.clip(.init("back"))
        let isOver = Mutex(false)
        clip.whenOver { isOver.withLock { $0 = true } }
        clip.mark(Timestamp(seconds: 1))
        preRoll.flush()
        #expect(!isOver.withLock { $0 })
        preRoll.add(packet(1))
        #expect(clip.content.queue.pictures.count == 1)
        preRoll.flush()
        #expect(isOver.withLock { $0 })
    }

    @Test("a file takes any amount, as long as not too much of it waits")
    func limit() throws {
        let folder = try Folder()
        let picture = try jpeg(1, folder)
        let file = try MovieFile(
            "\(folder.path)/a.mkv",
            name: "write-test",
            tracks: [.jpeg(size: Size(width: 320, height: 180), rate: 30, rotation: 0)],
            start: .zero,
            tags: [:],
            limit: 4 * picture.count
        ) { _ in }
        for number in 0..<40 {
            let packet = Packet(.bytes(picture), at: Timestamp(seconds: Double(number) / 30))
            try eventually("room for picture \(number)") { file.put(packet, track: 0) }
        }
        file.end(at: Timestamp(seconds: 2))
        #expect(file.wait(until: MonotonicClock.now + Timestamp(seconds: 30)))
    }

    @Test func `a clip waits for the sound of its end, which comes after the pictures`() {
        let preRoll = PreRollBuffer()
        // Of a track it only counts that there is one.
        let sound = Track.jpeg(size: Size(width: 2, height: 2), rate: 1)
        let clip = preRoll.clip(LivePhotoClip.Plan("back", sound: sound))
        let isOver = Mutex(false)
        clip.whenOver { isOver.withLock { $0 = true } }
        preRoll.add(packet(0))
        clip.mark(Timestamp(seconds: 0))
        preRoll.add(sound: packet(0.1))
        preRoll.add(packet(1.4))
        preRoll.add(packet(1.6))
        #expect(!isOver.withLock { $0 }, "its sound is missing")
        preRoll.add(sound: packet(1.5))
        preRoll.add(packet(1.7))
        #expect(isOver.withLock { $0 })
        #expect(clip.content.queue.pictures.map(\.time.seconds) == [0, 1.4])
        #expect(clip.content.queue.sound.count == 2)
    }

    @Test("what is kept takes no more memory than there is for it")
    func memory() {
        var queue = PacketQueue()
        let large = PreRollBuffer.mostBytes / 4
        for number in 0..<40 {
            queue.add(packet(Double(number) / 1000, count: large))
            queue.keep(PreRollBuffer.span)
            #expect(queue.byteCount <= PreRollBuffer.mostBytes)
        }
        #expect(queue.pictures.count == 4 && queue.byteCount == 4 * large)
        queue.add(packet(9, count: 2 * PreRollBuffer.mostBytes))
        queue.keep(PreRollBuffer.span)
        #expect(queue.pictures.count == 1, "the newest stays, whatever its size")
    }

    @Test("a file that failed takes nothing more, and says how it ended once")
    func failed() throws {
        let folder = try Folder()
        let picture = try jpeg(1, folder)
        let endings = Mutex<[MovieFile.Ending]>([])
        let file = try MovieFile(
            "\(folder.path)/none/a.mkv",
            name: "write-test",
            tracks: [.jpeg(size: Size(width: 320, height: 180), rate: 30, rotation: 0)],
            start: .zero,
            tags: [:]
        ) { report in
            if case .ended(_, _, let ending) = report {
                endings.withLock { $0.append(ending) }
            }
        }
        #expect(file.wait(until: MonotonicClock.now + Timestamp(seconds: 30)))
        #expect(!file.put(Packet(.bytes(picture), at: .zero), track: 0))
        file.end(at: .zero)
        #expect(endings.withLock { $0.count } == 1 && endings.withLock { $0[0] } != .whole)
    }
}

@Suite("The journal of recordings") struct RecordingJournalTests {
    @Test("keeps each file once, and forgives lines that it did not write")
    func paths() throws {
        let folder = try Folder()
        let file = StateFile(path: "\(folder.path)/recordings")
        let journal = RecordingJournal(file)
        for path in ["/a/1.mkv", "/a/2.mkv", "/a/1.mkv"] { try journal.add(path) }
        #expect(try journal.paths() == ["/a/1.mkv", "/a/2.mkv"])
        try journal.remove("/a/1.mkv")
        #expect(try journal.paths() == ["/a/2.mkv"])
        try file.store("3\n3 e\n\nx\n1000 /f g\n/h i\n")
        #expect(try journal.paths() == ["/f g", "/h i"])
    }
}
