import Frames
import Glibc
import Platform
import Synchronization
import Testing

@Suite("Files, bells and threads")
struct SystemTests {
    private func path(_ bytes: [UInt8]) throws -> String {
        let path = "/tmp/dualcam-test-\(UInt64.random(in: 0 ... .max))"
        try writeFile(bytes, to: path)
        return path
    }

    @Test("a file is read to its limit, and none beyond")
    func limit() throws {
        let path = try path([1, 2, 3, 4])
        defer { unlink(path) }
        #expect(try readFile(path, limit: 4) == [1, 2, 3, 4])
        let error = #expect(throws: SystemError.self) { try readFile(path, limit: 3) }
        #expect(error?.errno == EFBIG)
    }

    @Test("of the kernel's files the first line is read, without its end")
    func lines() throws {
        let path = try path(Array("one\ntwo\n".utf8))
        defer { unlink(path) }
        #expect(content(path) == "one")
        #expect(content("/nonexistent") == nil)
        try writeFile([UInt8](repeating: 0x61, count: 300), to: path)
        #expect(content(path)?.count == 256)
        #expect(!entries(of: "/proc/self").contains { $0 == "." || $0 == ".." })
        #expect(entries(of: "/nonexistent") == [])
    }

    @Test("rings do not add up, and a wait without one ends at its deadline")
    func bell() throws {
        let bell = try Bell()
        #expect(!bell.wait(until: MonotonicClock.now))
        let start = MonotonicClock.now
        #expect(!bell.wait(until: start + Timestamp(seconds: 0.03)))
        #expect((MonotonicClock.now - start).seconds >= 0.03)
        bell.ring()
        bell.ring()
        #expect(bell.wait(until: nil))
        #expect(!bell.wait(until: MonotonicClock.now + Timestamp(seconds: 0.001)))
        bell.ring()
        bell.silence()
        #expect(!bell.wait(until: MonotonicClock.now + Timestamp(seconds: 0.001)))
    }

    @Test("a thread that does not end in time is not joined, and can be later")
    func join() throws {
        let gate = try Bell()
        let thread = try Thread(name: "a name longer than it may be") {
            gate.wait(until: nil)
        }
        #expect(!thread.join(until: MonotonicClock.now + Timestamp(seconds: 0.01)))
        gate.ring()
        #expect(thread.join(until: MonotonicClock.now + Timestamp(seconds: 60)))
    }

    @Test("an error names the call, its object and the reason")
    func errors() {
        let error = SystemError("open", "/dev/video0", errno: EBUSY)
        #expect(error.description == "open /dev/video0: Device or resource busy")
        #expect(SystemError("poll", errno: EINTR).description == "poll: Interrupted system call")
        #expect(describe("read", "x", errno: 0, detail: "no frame") == "read x: no frame")
        #expect(
            describe("read", "x", errno: EIO, detail: "no frame")
                == "read x: Input/output error; no frame"
        )
        #expect(describe("read", "", errno: 0) == "read: unknown")
        errno = ENOENT
        #expect(SystemError.last("stat", "y") == SystemError("stat", "y", errno: ENOENT))
    }

    @Test("only an interrupted call is repeated")
    func interrupts() {
        var calls = 0
        let result = retryingInterrupts { () -> Int in
            calls += 1
            errno = calls < 3 ? EINTR : EAGAIN
            return calls < 3 ? -1 : calls == 3 ? -1 : 7
        }
        #expect(result == -1 && calls == 3)
        // A result is one, whatever an earlier call left in errno.
        errno = EINTR
        #expect(retryingInterrupts { 5 } == 5)
    }

    @Test("all is written, in as many pieces as it takes")
    func pieces() throws {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        let bytes = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
        let (reader, writer) = (ends[0], ends[1])
        let received = Mutex<[UInt8]>([])
        let thread = try Thread(name: "reader") {
            var piece = [UInt8](repeating: 0, count: 7000)
            // Not until the end: a process that another test has started meanwhile may hold it
            // open.
            while received.withLock({ $0.count }) < bytes.count {
                let count = read(reader, &piece, piece.count)
                guard count > 0 else { return }
                received.withLock { $0 += piece[..<count] }
            }
        }
        try write(bytes, to: writer, called: "a pipe")
        close(writer)
        thread.join()
        close(reader)
        #expect(received.withLock { $0 } == bytes)
    }
}
