package import Frames
import Glibc
package import Platform
import Synchronization

/// Writes photographs to their destinations, so that no destination holds up another.
///
/// Files are written in turn by the thread `photo-files`. Each descriptor of a caller has a thread
/// of its own, `photo-to`: a pipe is never written to in a way that blocks, but a file may be on a
/// disk that hangs. What is not written by its deadline is answered with ETIMEDOUT, and removed if
/// it is written later. Until then it counts as its owner's.
package final class PhotoWriter: Sendable {
    /// The destination of photographs.
    package enum Destination: Sendable {
        /// Files of their own with these permissions in this directory, or else in DualCam in the
        /// user's pictures. It is looked for when they are written, and made if it is missing.
        case folder(String?, mode: UInt32 = 0o600)
        /// An open file or pipe.
        case descriptor(@Sendable () -> CInt)
    }

    /// A photograph to write.
    package struct File: Sendable {
        /// The name of its file in a directory, without the suffix.
        let name: String
        let bytes: [UInt8]
    }

    /// The result: the path of each file, or `nil` for a caller's descriptor.
    package typealias Answer = @Sendable (Result<[String?], SystemError>) -> Void

    /// Writes files into a directory, all or none, and returns their paths.
    typealias Saving = @Sendable ([File], String?, UInt32) throws(SystemError) -> [String?]

    private final class Job: Sendable {
        let files: [File]
        let destination: Destination
        let owner: String
        let deadline: Timestamp
        private let answer: Answer
        private let isAnswered = Atomic(false)

        init(
            _ files: [File],
            _ destination: Destination,
            _ owner: String,
            _ deadline: Timestamp,
            _ answer: @escaping Answer
        ) {
            self.files = files
            self.destination = destination
            self.owner = owner
            self.deadline = deadline
            self.answer = answer
        }

        /// Answers unless it is answered already. Returns `true` if it was not.
        @discardableResult
        func finish(_ result: Result<[String?], SystemError>) -> Bool {
            guard !isAnswered.exchange(true, ordering: .acquiringAndReleasing) else { return false }
            answer(result)
            return true
        }
    }

    private struct State {
        /// The jobs for directories, the first of which is being written.
        var files: [Job] = []
        var descriptors: [Job] = []
    }

    private let state = Mutex(State())
    private let worker: Worker
    /// Rings when a descriptor's thread has ended.
    private let ended: Bell
    private let timeout: Double
    private let save: Saving

    /// The most photographs of one program, and of all, that wait to be written to directories, or
    /// to descriptors. Each is in memory.
    static let (mostWaiting, most) = (16, 64)

    /// Starts the thread for files. Each photograph may take `timeout` seconds to write. Throws
    /// `SystemError` if the system has no thread or descriptor left.
    package convenience init(timeout: Double = 10) throws(SystemError) {
        try self.init(timeout: timeout, saving: Self.save)
    }

    /// Starts the thread for files, which are written by `save`.
    init(timeout: Double, saving save: @escaping Saving) throws(SystemError) {
        self.timeout = timeout
        self.save = save
        (worker, ended) = (try Worker(name: "photo-files"), try Bell())
        try worker.start { [self] in writeFiles() }
    }

    /// Writes `files` to `destination`, all or none, for the program `owner`, and calls `answer` on
    /// any thread. Fails with EBUSY if too many wait already.
    package func write(
        _ files: [File],
        to destination: Destination,
        for owner: String = "",
        answer: @escaping Answer
    ) {
        let deadline = MonotonicClock.now + Timestamp(seconds: timeout)
        let job = Job(files, destination, owner, deadline, answer)
        let isTaken = state.withLock { state in
            let list: WritableKeyPath<State, [Job]>
            switch destination {
            case .folder: list = \.files
            case .descriptor: list = \.descriptors
            }
            let jobs = state[keyPath: list]
            guard !worker.isEnding, jobs.count < Self.most,
                jobs.count(where: { $0.owner == owner }) < Self.mostWaiting
            else { return false }
            state[keyPath: list].append(job)
            return true
        }
        guard isTaken else {
            job.finish(.failure(SystemError("write", "the photograph", errno: EBUSY)))
            return
        }
        guard case .descriptor(let number) = destination else { return worker.wake() }
        do throws(SystemError) {
            let writer = try Thread(name: "photo-to") { [self] in
                job.finish(
                    Result { () throws(SystemError) -> [String?] in
                        for file in files {
                            try Self.write(file.bytes, to: number(), until: deadline)
                        }
                        return files.map { _ in nil }
                    }
                )
                remove(job)
            }
            writer.detach()
        } catch {
            job.finish(.failure(error))
            remove(job)
        }
    }

    /// Answers what is not written by its deadline; returns the next deadline, `nil` without one.
    package func expire() -> Timestamp? {
        let now = MonotonicClock.now
        let jobs = state.withLock { $0.files + $0.descriptors }
        for job in jobs where job.deadline <= now {
            job.finish(.failure(SystemError("write", "the photograph", errno: ETIMEDOUT)))
        }
        return jobs.map(\.deadline).filter { $0 > now }.min()
    }

    /// Takes no more photographs, and ends once all are written. Does not wait for that.
    package func end() { worker.end() }

    /// Waits until all are written and the threads have ended, at most until `deadline`, and
    /// returns `true` if they have. Call after `end()`.
    package func wait(until deadline: Timestamp) -> Bool {
        while !state.withLock({ $0.descriptors.isEmpty }) {
            guard ended.wait(until: deadline) else { return false }
        }
        return worker.join(until: deadline)
    }

    // MARK: On the threads

    private func remove(_ job: Job) {
        state.withLock { state in
            state.files.removeAll { $0 === job }
            state.descriptors.removeAll { $0 === job }
        }
        ended.ring()
    }

    private func writeFiles() {
        while true {
            // First, so that nothing comes after the last look.
            let isEnding = worker.isEnding
            guard let job = state.withLock({ $0.files.first }) else {
                if isEnding { return }
                worker.bell.wait(until: nil)
                continue
            }
            if case .folder(let folder, let mode) = job.destination,
                job.deadline > MonotonicClock.now
            {
                let result = Result { () throws(SystemError) in
                    try save(job.files, folder, mode)
                }
                // No program looks for them.
                if !job.finish(result), case .success(let paths) = result {
                    for case let path? in paths { unlink(path) }
                }
            }
            job.finish(.failure(SystemError("write", "the photograph", errno: ETIMEDOUT)))
            remove(job)
        }
    }

    /// Writes each into a new file, all or none, and returns their paths.
    @Sendable private static func save(
        _ files: [File],
        in configured: String?,
        _ mode: UInt32
    ) throws(SystemError) -> [String?] {
        guard let folder = UserDirectory.pictures.place(configured: configured) else {
            throw SystemError("home directory", errno: ENOENT)
        }
        try makeDirectory(folder)
        // Two calls in the same millisecond differ by a number, which all files of one share.
        var number = 1
        while true {
            var placed: [String] = []
            do throws(SystemError) {
                for file in files {
                    let path = "\(folder)/\(file.name)\(number == 1 ? "" : "-\(number)").jpg"
                    let new = try NewFile(for: path, mode: mode)
                    try new.write(file.bytes)
                    try new.place()
                    placed.append(path)
                }
                return placed
            } catch {
                for path in placed { unlink(path) }
                guard error.errno == EEXIST else { throw error }
                number += 1
            }
        }
    }

    /// Returns `true` if a descriptor is open for writing.
    package static func isWritable(_ number: CInt) -> Bool {
        let flags = fcntl(number, F_GETFL)
        return flags & __O_PATH == 0 && [O_WRONLY, O_RDWR].contains(flags & O_ACCMODE)
    }

    /// Writes to a descriptor of the caller, with no more rights than that has. Its flags stay as
    /// they are, and its caller may change them, so nothing here relies on them. Throws EBADF if it
    /// is not open for writing; ETIMEDOUT at `deadline`; EINVAL for what is neither a file, pipe,
    /// socket nor device; otherwise the errno of write(2).
    static func write(
        _ bytes: [UInt8],
        to number: CInt,
        until deadline: Timestamp
    ) throws(SystemError) {
        let name = "the caller's file"
        guard isWritable(number) else { throw SystemError("write", name, errno: EBADF) }
        var status = stat()
        guard fstat(number, &status) == 0 else { throw .last("fstat", name) }
        /// Writes what there is room for, without waiting for more.
        let put: (UnsafeRawBufferPointer) -> Int
        var device: CInt = -1
        defer { if device >= 0 { close(device) } }
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFBLK: put = { Glibc.write(number, $0.baseAddress, $0.count) }
        case S_IFSOCK: put = { send(number, $0.baseAddress, $0.count, Self.sendFlags) }
        case S_IFIFO:
            let feed = try PipeFeed()
            put = { feed.write($0, to: number) }
        case S_IFCHR:
            let flags = O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
            device = open("/proc/self/fd/\(number)", flags)
            guard device >= 0 else { throw .last("write", name) }
            put = { [device] in Glibc.write(device, $0.baseAddress, $0.count) }
        default: throw SystemError("write", name, errno: EINVAL)
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let left = (deadline - MonotonicClock.now).nanoseconds
            var entry = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
            let milliseconds = CInt(clamping: max(0, left) / 1_000_000 + 1)
            guard left > 0, retryingInterrupts({ poll(&entry, 1, milliseconds) }) != 0 else {
                throw SystemError("write", name, errno: ETIMEDOUT)
            }
            let count = retryingInterrupts { rest.prefix(1 << 16).withUnsafeBytes(put) }
            if count < 0, errno == EAGAIN { continue }
            guard count > 0 else { throw .last("write", name) }
            rest = rest.dropFirst(count)
        }
    }

    private static let sendFlags = CInt(MSG_DONTWAIT | MSG_NOSIGNAL)
}
