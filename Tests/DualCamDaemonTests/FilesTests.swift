import Foundation
import Frames
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@testable import DualCamDaemon

@Suite("The daemon's files") struct FilesTests {
    /// A disk that hangs until it is let go.
    private final class Disk: Sendable {
        let hangs = Atomic(true)
        let done = Mutex<[String]>([])

        func wait() { while hangs.load(ordering: .relaxed) { usleep(1000) } }
        func note(_ what: String) { done.withLock { $0.append(what) } }
        var notes: [String] { done.withLock { $0 } }
    }

    private static func threads() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").compactMap {
            try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)
        }
    }

    private static func soon(_ seconds: Double = 10) -> Timestamp {
        MonotonicClock.now + Timestamp(seconds: seconds)
    }

    @Test("a disk that hangs holds up its own place alone, where all is done in order")
    func hanging() throws {
        let (files, disk) = (try Files(), Disk())
        files.post(.configuration) {
            disk.wait()
            disk.note("a")
        }
        files.post(.configuration) { disk.note("b") }
        files.post(.movies) { disk.note("movies") }
        try eventually("the recordings") { disk.notes == ["movies"] }
        files.post(.state) { disk.note("state") }
        try eventually("the state") { disk.notes == ["movies", "state"] }
        #expect(!files.end(by: Self.soon(0.05)))
        disk.hangs.store(false, ordering: .relaxed)
        try eventually("the rest") { disk.notes == ["movies", "state", "a", "b"] }
        #expect(files.end(by: Self.soon()))
    }

    @Test("a place has no thread while there is no work")
    func idle() throws {
        let (files, disk) = (try Files(), Disk())
        disk.hangs.store(false, ordering: .relaxed)
        for round in 1...3 {
            files.post(.movies) { disk.note("\(round)") }
            try eventually("round \(round)") { disk.notes.count == round }
            try eventually("its end") { try !Self.threads().contains("movies\n") }
        }
        #expect(files.end(by: Self.soon()))
    }

    /// Does work in a process that cannot have another thread, and expects it on `files`.
    private static func withoutThreads() throws {
        let (files, disk) = (try Files(), Disk())
        files.post(.state) { disk.note("state") }
        try eventually("the state") { disk.notes == ["state"] }
        // Less room than a stack takes.
        let used = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        let pages = used.split(separator: " ").first.flatMap { Int($0) } ?? 0
        let most = rlim_t(pages * 4096 + 4 << 20)
        var limit = rlimit(rlim_cur: most, rlim_max: most)
        precondition(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
        precondition((try? Platform.Thread(name: "none") {}) == nil)
        for _ in 1...2 {
            files.post(.movies) {
                let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
                disk.note(name ?? "")
            }
        }
        try eventually("the work") { disk.notes == ["state", "files\n", "files\n"] }
        precondition(files.end(by: soon()))
    }

    @Test("where there is no thread left, the work is done nevertheless")
    func noThread() async {
        await #expect(processExitsWith: .success) { try FilesTests.withoutThreads() }
    }

    @Test("the end completes what waits")
    func end() throws {
        let (files, disk) = (try Files(), Disk())
        disk.hangs.store(false, ordering: .relaxed)
        for place in [Files.Place.state, .configuration, .movies] {
            for _ in 1...20 { files.post(place) { disk.note(place.rawValue) } }
        }
        #expect(files.end(by: Self.soon()))
        #expect(disk.notes.count == 60)
    }
}

@MainActor
@Suite("Callers in turn") struct CallerTurnsTests {
    @Test("so many at once, and none waits for all that another one has")
    func turns() {
        let turns = CallerTurns(limit: 2)
        var begun: [String] = []
        for work in ["a1", "a2", "a3", "a4", "b1"] {
            turns.add({ begun.append(work) }, of: String(work.prefix(1)))
        }
        #expect(begun == ["a1", "a2"] && turns.count(of: "a") == 2)
        turns.finish()
        turns.finish()
        #expect(begun == ["a1", "a2", "a3", "b1"])
        turns.clear()
        turns.finish()
        #expect(begun.count == 4)
    }

    @Test("what ends at once does not keep the next waiting")
    func atOnce() {
        let turns = CallerTurns()
        var begun = 0
        for _ in 1...3 {
            turns.add(
                {
                    begun += 1
                    turns.finish()
                },
                of: "a"
            )
        }
        #expect(begun == 3)
    }
}
