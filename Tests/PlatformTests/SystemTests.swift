import Foundation
import Frames
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@Suite("Files, bells and threads") struct SystemTests {
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
        #expect(#expect(throws: SystemError.self) { try readFile(path, limit: 3) }?.errno == EFBIG)
    }

    @Test func `of the kernel's files the first line is read, without its end`() throws {
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
        let thread = try Thread(name: "a name longer than it may be") { gate.wait(until: nil) }
        #expect(!thread.join(until: MonotonicClock.now + Timestamp(seconds: 0.01)))
        gate.ring()
        #expect(thread.join(until: MonotonicClock.now + Timestamp(seconds: 60)))
    }

    @Test func `an error says what could not be done, with what, and why`() {
        let error = SystemError("open", "/dev/video0", errno: EBUSY)
        #expect(error.description == "cannot open /dev/video0: another program is using it")
        #expect(SystemError("poll", errno: EINTR).description == "interrupted system call")
        #expect(describe("read", "x", reason: "", detail: "no end") == "cannot read x: no end")
        #expect(describe("read", "x", reason: "a", detail: "b") == "cannot read x: a; b")
        #expect(describe("read", "", reason: "") == "cannot read")
        #expect(describe("ioctl", "", reason: "it is gone") == "it is gone")
        errno = ENOENT
        #expect(SystemError.last("stat", "y") == SystemError("stat", "y", errno: ENOENT))
    }

    @Test func `only an interrupted call is repeated`() {
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
        let (reader, writer) = try unsharedPipe()
        let bytes = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
        let received = Mutex<[UInt8]>([])
        let thread = try Thread(name: "reader") {
            var piece = [UInt8](repeating: 0, count: 7000)
            while true {
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

    /// Every name of a call in the sources, with every errno, is told in words.
    @Test func noErrorShowsNamesOfCode() throws {
        let sources = repository.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(atPath: sources.path))
        var calls: Set<String> = []
        for case let file as String in files where file.hasSuffix(".swift") {
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            for match in text.matches(
                of:
                    /(?:SystemError\(|\.last\(|\.libav\(|failure\(|(?:Capture|Media)Error\(\s*\.[a-zA-Z]+,)\s*"([^"\\]+)"/
            ) { calls.insert(String(match.1)) }
        }
        #expect(calls.count > 60 && calls.contains("VIDIOC_S_FMT"))
        for call in calls {
            for number in 0..<134 as Range<CInt> {
                let text = describe(call, "/dev/video0", reason: reason(number))
                #expect(
                    !text.contains(/_|VIDIOC|errno|\b(fstat|mmap|pread|statvfs|lstat|dlopen)\b/),
                    "\(text)"
                )
                #expect(!text.isEmpty || call == "dlopen")
            }
            // What is done has words of its own wherever a person might wonder.
            if call.contains("_") { #expect(describe(call, "x", reason: "y").hasSuffix(": y")) }
        }
    }

    @Test(
        arguments: [
            (
                "create", "/nope/x.jpg", ENOENT,
                "cannot create /nope/x.jpg: there is no directory /nope"
            ),
            ("create", "/a/b/x.jpg", ENOTDIR, "cannot create /a/b/x.jpg: /a/b is not a directory"),
            (
                "mkdir", "/proc/nope", ENOENT,
                "cannot create /proc/nope: no directory can be made there"
            ),
            ("open", "/a/b", ENOENT, "cannot open /a/b: there is no such file"),
            ("create", "x.jpg", ENOENT, "cannot create x.jpg: there is no such file"),
        ] as [(String, String, CInt, String)]
    )
    func aDirectoryThatIsMissingIsNamed(
        _ call: String,
        _ path: String,
        _ number: CInt,
        _ words: String
    ) {
        #expect(SystemError(call, path, errno: number).description == words)
    }

    @Test(arguments: [
        ("there is no camera", "There is no camera."), ("Already so.", "Already so."),
        ("/tmp/x cannot be read", "/tmp/x cannot be read."), ("", ""),
        ("ramp-ms must be small", "ramp-ms must be small."), ("is it?", "Is it?"),
        ("dualcamd is not running", "dualcamd is not running."),
        ("cannot open x: there is no such file", "Cannot open x: there is no such file."),
    ])
    func aMessageBecomesASentence(_ text: String, _ sentence: String) {
        #expect(text.sentence == sentence)
    }

    @Test(arguments: [(0.0, ":00"), (0.2, ":06"), (0.5, ":15"), (0.999, ":29")])
    func aTimecodeHasFramesOfTwoDigits(_ fraction: Double, _ end: String) {
        let moment = WallTime(microseconds: 1_795_000_000_000_000 + Int64(fraction * 1e6))
        for rate in [30, 29.97] {
            #expect(moment.timecode(rate: rate).wholeMatch(of: /\d\d:\d\d:\d\d:\d\d/) != nil)
            #expect(moment.timecode(rate: rate).hasSuffix(end))
        }
    }

    @Test func aMomentOfTheMonotonicClockIsOneOfTheWallClock() {
        let now = MonotonicClock.now
        let (present, before) = (WallTime(now), WallTime(now - Timestamp(seconds: 10)))
        #expect(abs(present.microseconds - before.microseconds - 10_000_000) < 1_000_000)
        // The milliseconds shortly after a full second.
        #expect(WallTime(microseconds: 5_007_900).name.hasSuffix(".007"))
    }
}
