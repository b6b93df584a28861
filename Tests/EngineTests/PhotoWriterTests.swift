import Foundation
import Frames
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Engine

/// The answers of a writer, by the name of what was written.
private final class Answers: Sendable {
    private let all = Mutex<[String: [Result<[String?], SystemError>]]>([:])

    /// Returns a closure that notes the answer about `name`.
    func about(_ name: String) -> PhotoWriter.Answer {
        { result in self.all.withLock { $0[name, default: []].append(result) } }
    }

    var names: Set<String> { Set(all.withLock { $0.keys }) }

    func wait(for name: String) throws -> Result<[String?], SystemError> {
        try eventually("an answer about \(name)", within: 60) { names.contains(name) }
        let answers = all.withLock { $0[name] ?? [] }
        #expect(answers.count == 1)
        return answers[0]
    }

    func failure(of name: String) throws -> CInt? {
        guard case .failure(let error) = try wait(for: name) else { return nil }
        return error.errno
    }
}

/// A pipe, closed when it is released.
private final class Pipe: @unchecked Sendable {
    private(set) var ends: [CInt] = [0, 0]
    private var isClosed = false

    init() throws {
        let pipe = try unsharedPipe()
        ends = [pipe.reader, pipe.writer]
    }

    /// Creates a pair of sockets in place of a pipe.
    init(socket: Void) {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        precondition(socketpair(AF_UNIX, kind, 0, &ends) == 0)
    }

    var destination: PhotoWriter.Destination { .descriptor { self.ends[1] } }

    func closeReader() {
        isClosed = true
        close(ends[0])
    }

    /// Reads until `count` bytes have come.
    func read(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < count {
            let read = Glibc.read(ends[0], &piece, piece.count)
            guard read > 0 else { break }
            bytes += piece[..<read]
        }
        return bytes
    }

    deinit {
        if !isClosed { close(ends[0]) }
        close(ends[1])
    }
}

@Suite("Writing photographs", .timeLimit(.minutes(3))) struct PhotoWriterTests {
    private let scratch: ScratchDirectory
    private var folder: String { scratch.path }
    private let answers = Answers()
    /// A photograph that no pipe holds.
    private let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }

    init() throws {
        // As in the daemon: a reader that has gone is an error.
        signal(SIGPIPE, SIG_IGN)
        scratch = try ScratchDirectory()
    }

    private func with(timeout: Double = 100, _ body: (PhotoWriter) throws -> Void) throws {
        let writer = try PhotoWriter(timeout: timeout)
        defer {
            writer.end()
            #expect(writer.wait(until: MonotonicClock.now + Timestamp(seconds: 60)))
        }
        try body(writer)
    }

    private func file(_ name: String = "a") -> [PhotoWriter.File] {
        [PhotoWriter.File(name: name, bytes: bytes)]
    }

    @Test func `who never reads holds up nobody else`() throws {
        try with { writer throws in
            let slow = try (0..<4).map { $0 == 0 ? Pipe(socket: ()) : try Pipe() }
            for (index, pipe) in slow.enumerated() {
                writer.write(file(), to: pipe.destination, answer: answers.about("slow \(index)"))
            }
            let quick = try Pipe()
            let flags = fcntl(quick.ends[1], F_GETFL)
            writer.write(file(), to: quick.destination, answer: answers.about("quick"))
            writer.write(file(), to: .folder(folder), answer: answers.about("file"))
            #expect(quick.read(bytes.count) == bytes)
            #expect(try answers.wait(for: "quick") == .success([nil]))
            #expect(try answers.wait(for: "file") == .success(["\(folder)/a.jpg"]))
            #expect(answers.names == ["quick", "file"])
            // The caller's own pipe blocks, as before.
            #expect(fcntl(quick.ends[1], F_GETFL) == flags && flags & O_NONBLOCK == 0)
            for (index, pipe) in slow.enumerated() {
                pipe.closeReader()
                #expect(try answers.failure(of: "slow \(index)") == EPIPE)
            }
        }
    }

    @Test("a reader has one deadline for the whole, however long it goes on reading")
    func deadline() throws {
        try with(timeout: 0.3) { writer throws in
            let pipe = try Pipe()
            let isOver = Mutex(false)
            let reader = try Platform.Thread(name: "reader") {
                while !isOver.withLock({ $0 }) {
                    _ = pipe.read(1)
                    usleep(20_000)
                }
            }
            let long = [PhotoWriter.File(name: "a", bytes: Array(repeating: 1, count: 1 << 24))]
            writer.write(long, to: pipe.destination, answer: answers.about("slow"))
            #expect(try answers.failure(of: "slow") == ETIMEDOUT)
            isOver.withLock { $0 = true }
            // It may wait for a byte. A pipe that is full has one.
            _ = fcntl(pipe.ends[1], F_SETFL, O_NONBLOCK)
            _ = Glibc.write(pipe.ends[1], [1], 1)
            reader.join()
        }
    }

    @Test("a disk that hangs is answered about at its deadline, and only once")
    func hanging() throws {
        try with(timeout: 0.05) { writer throws in
            let gate = try Pipe()
            let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
            defer { close(null) }
            let destination = PhotoWriter.Destination.descriptor {
                _ = gate.read(1)
                return null
            }
            writer.write(file(), to: destination, answer: answers.about("hanging"))
            try eventually("its deadline", within: 60) { writer.expire() == nil }
            #expect(try answers.failure(of: "hanging") == ETIMEDOUT)
            writer.write(file(), to: .folder(folder), answer: answers.about("file"))
            // It has a deadline as well, on a machine that may be busy.
            _ = try answers.wait(for: "file")
            _ = Glibc.write(gate.ends[1], [1], 1)
        }
        #expect(try answers.failure(of: "hanging") == ETIMEDOUT)
    }

    @Test("a file that is there only after its deadline goes, since nobody would look for it")
    func late() throws {
        let gate = try Pipe()
        let path = "\(folder)/a.jpg"
        let writer = try PhotoWriter(timeout: 0.5) { _, _, _ throws(SystemError) in
            _ = gate.read(1)
            try writeFile([1], to: path)
            return [path]
        }
        writer.write(file(), to: .folder(folder), answer: answers.about("late"))
        try eventually("its deadline", within: 60) { writer.expire() == nil }
        #expect(try answers.failure(of: "late") == ETIMEDOUT)
        _ = Glibc.write(gate.ends[1], [1], 1)
        writer.end()
        #expect(writer.wait(until: MonotonicClock.now + Timestamp(seconds: 60)))
        #expect(try answers.failure(of: "late") == ETIMEDOUT)
        #expect(scratch.content == [])
    }

    @Test func `of several deadlines the first is the next`() throws {
        try with { writer throws in
            let (first, second) = (try Pipe(), try Pipe())
            writer.write(file(), to: first.destination, answer: answers.about("first"))
            let between = MonotonicClock.now
            writer.write(file(), to: second.destination, answer: answers.about("second"))
            let next = try #require(writer.expire())
            #expect(next <= between + Timestamp(seconds: 100))
            for (pipe, name) in [(first, "first"), (second, "second")] {
                pipe.closeReader()
                #expect(try answers.failure(of: name) == EPIPE)
            }
        }
    }

    @Test func `so many wait, and no more; files do not wait for descriptors`() throws {
        try with { writer throws in
            let pipes = try (0..<PhotoWriter.mostWaiting).map { _ in try Pipe() }
            for (index, pipe) in pipes.enumerated() {
                writer.write(file(), to: pipe.destination, answer: answers.about("\(index)"))
            }
            let more = try Pipe()
            writer.write(file(), to: more.destination, answer: answers.about("more"))
            #expect(try answers.failure(of: "more") == EBUSY)
            writer.write(file(), to: .folder(folder), answer: answers.about("file"))
            #expect(try answers.wait(for: "file") == .success(["\(folder)/a.jpg"]))
            #expect(answers.names == ["more", "file"])
            for pipe in pipes { pipe.closeReader() }
            for index in pipes.indices { #expect(try answers.failure(of: "\(index)") == EPIPE) }
            // There is room again.
            writer.write(file(), to: more.destination, answer: answers.about("again"))
            #expect(more.read(bytes.count) == bytes)
            #expect(try answers.wait(for: "again") == .success([nil]))
        }
    }

    @Test func `one program's photographs take no room from another's`() throws {
        try with { writer throws in
            let pipes = try (0...PhotoWriter.mostWaiting).map { _ in try Pipe() }
            for (index, pipe) in pipes.enumerated() {
                let answer = answers.about("\(index)")
                writer.write(file(), to: pipe.destination, for: "greedy", answer: answer)
            }
            let last = "\(PhotoWriter.mostWaiting)"
            #expect(try answers.failure(of: last) == EBUSY)
            let other = try Pipe()
            let answer = answers.about("other")
            writer.write(file(), to: other.destination, for: "other", answer: answer)
            #expect(other.read(bytes.count) == bytes)
            #expect(try answers.wait(for: "other") == .success([nil]))
            #expect(answers.names == [last, "other"])
            for pipe in pipes { pipe.closeReader() }
        }
    }

    /// Some writers find room, and another one takes it. A mode of 0 keeps all but root from
    /// opening the pipe once more.
    @Test func `many writers of one full pipe of mode 0 have their deadline, too`() throws {
        try with(timeout: 0.3) { writer throws in
            let pipe = try Pipe()
            #expect(fchmod(pipe.ends[1], 0) == 0)
            let long = [PhotoWriter.File(name: "a", bytes: Array(repeating: 1, count: 1 << 22))]
            for number in 0..<8 {
                writer.write(long, to: pipe.destination, answer: answers.about("\(number)"))
            }
            // Room for one of them at a time.
            #expect(fcntl(pipe.ends[0], F_SETFL, O_NONBLOCK) == 0)
            var room = [UInt8](repeating: 0, count: 4096)
            for _ in 0..<20 { _ = read(pipe.ends[0], &room, room.count) }
            for number in 0..<8 {
                try eventually("its deadline", within: 60) {
                    _ = writer.expire()
                    return answers.names.contains("\(number)")
                }
                #expect(try answers.failure(of: "\(number)") == ETIMEDOUT)
            }
            writer.end()
            #expect(writer.wait(until: MonotonicClock.now + Timestamp(seconds: 10)))
        }
    }

    @Test func `a descriptor that is not open for writing stays so`() throws {
        let path = "\(folder)/own"
        try writeFile([7], to: path)
        let (pipe, bell) = (try Pipe(), try Bell())
        let cases: [(String, CInt, CInt)] = [
            ("a file to read", open(path, O_RDONLY | O_CLOEXEC), EBADF),
            ("a place", open(path, __O_PATH | O_CLOEXEC), EBADF),
            ("a directory", open(folder, O_RDONLY | O_CLOEXEC), EBADF),
            ("a device to read", open("/dev/zero", O_RDONLY | O_CLOEXEC), EBADF),
            ("the wrong end of a pipe", dup(pipe.ends[0]), EBADF),
            ("no descriptor", -1, EBADF), ("a bell", dup(bell.descriptor), EINVAL),
        ]
        try with { writer throws in
            for (name, number, errno) in cases {
                writer.write(file(), to: .descriptor { number }, answer: answers.about(name))
                #expect(try answers.failure(of: name) == errno, "\(name)")
                close(number)
            }
        }
        #expect(try readFile(path, limit: 99) == [7])
        var count: CInt = 0
        #expect(ioctl(pipe.ends[0], UInt(FIONREAD), &count) == 0 && count == 0)
    }

    @Test("at its end what waits is still written, and nothing more")
    func end() throws {
        let writer = try PhotoWriter()
        for number in 0..<8 {
            writer.write(file("\(number)"), to: .folder(folder), answer: answers.about("\(number)"))
        }
        writer.end()
        writer.write(file("late"), to: .folder(folder), answer: answers.about("late"))
        #expect(writer.wait(until: MonotonicClock.now + Timestamp(seconds: 60)))
        #expect(try answers.failure(of: "late") == EBUSY)
        for number in 0..<8 {
            #expect(try answers.wait(for: "\(number)") == .success(["\(folder)/\(number).jpg"]))
            #expect(try Data(contentsOf: URL(filePath: "\(folder)/\(number).jpg")) == Data(bytes))
        }
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test("files of one photograph come all or not at all, and none replaces another")
    func names() throws {
        try with { writer throws in
            for number in 1...3 {
                writer.write(file(), to: .folder(folder), answer: answers.about("\(number)"))
                let name = number == 1 ? "a.jpg" : "a-\(number).jpg"
                #expect(try answers.wait(for: "\(number)") == .success(["\(folder)/\(name)"]))
            }
            var status = stat()
            #expect(stat("\(folder)/a-3.jpg", &status) == 0 && status.st_mode & 0o777 == 0o600)
            // Two of one moment share the number.
            writer.write(
                file("z") + file("a"),
                to: .folder(folder, mode: 0o640),
                answer: answers.about("both")
            )
            let both = ["\(folder)/z-4.jpg", "\(folder)/a-4.jpg"]
            #expect(try answers.wait(for: "both") == .success(both))
            #expect(stat(both[0], &status) == 0 && status.st_mode & 0o777 == 0o640)
            for path in both { unlink(path) }
            writer.write(
                file("b") + file("none/c"),
                to: .folder(folder),
                answer: answers.about("pair")
            )
            #expect(try answers.failure(of: "pair") == ENOENT)
            #expect(entries(of: folder).sorted() == ["a-2.jpg", "a-3.jpg", "a.jpg"])
        }
    }
}
