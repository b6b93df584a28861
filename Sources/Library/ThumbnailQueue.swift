import Glibc
import Platform

/// A queue of thumbnails to make, one at a time, in a process of its own. The process starts with
/// the first job and ends when idle for a while.
///
/// - Context: Bound to the library's thread.
final class ThumbnailQueue {
    /// A thumbnail to make, and the handler of its result.
    struct Job {
        let path: String
        let size: ThumbnailSize
        let done: (ThumbnailError?) -> Void
        /// The state of the file when the process was asked.
        var subject: ThumbnailCache.Subject?
        /// `true` if a process crashed on it before.
        var isSuspect = false
    }

    private let loop: EventLoop
    private let arguments: [String]
    private let cache: ThumbnailCache?
    private var waiting: [Job] = []
    private var current: Job?
    private var process: Process?
    /// The processes given up that have not ended yet.
    private var ending: [Process] = []
    private var timer: EventLoop.Timer?

    /// The longest time for one file, in seconds, or `nil` without a limit: at idle priority a file
    /// may take any time.
    private let timeout: Double?
    /// The time that an idle process stays, in seconds.
    private static let stay = 5.0

    /// Creates a queue that runs this program with `arguments` when it has a job.
    ///
    /// - Throws: `SystemError` when there is no descriptor left.
    init(
        _ loop: EventLoop,
        _ arguments: [String],
        _ cache: ThumbnailCache?,
        timeout: Double?
    ) throws(SystemError) {
        self.timeout = timeout
        self.loop = loop
        self.arguments = arguments
        self.cache = cache
        timer = try loop.timer { [unowned self] in expire() }
    }

    /// `true` while a job is running or waiting.
    var isBusy: Bool { current != nil || !waiting.isEmpty }

    /// Adds a job to the end of the queue. `done` is called with the error, or `nil` on success.
    func make(_ path: String, _ size: ThumbnailSize, done: @escaping (ThumbnailError?) -> Void) {
        waiting.append(Job(path: path, size: size, done: done))
        proceed()
    }

    /// Kills all processes.
    func end() {
        for process in ending + [process].compactMap(\.self) { process.kill() }
    }

    private func proceed() {
        guard current == nil else { return }
        guard !waiting.isEmpty else {
            timer?.arm(after: Self.stay)
            return
        }
        var job = waiting.removeFirst()
        var file = stat()
        job.subject = lstat(job.path, &file) == 0 ? ThumbnailCache.Subject(job.path, file) : nil
        current = job
        do throws(SystemError) {
            do throws(SystemError) {
                try give(job)
            } catch  where process != nil {
                // The process has died while idle, perhaps for lack of memory.
                leave()
                try give(job)
            }
            if let timeout { timer?.arm(after: timeout) } else { timer?.disarm() }
        } catch {
            leave()
            finish(ThumbnailError(error))
        }
    }

    private func give(_ job: Job) throws(SystemError) {
        let maker =
            if let process {
                process
            } else {
                try Process(arguments, loop) { [unowned self] in handle($0, $1) }
            }
        process = maker
        try maker.send(ThumbnailWorker.request(job.path, job.size))
    }

    /// Gives up the process, which ends by itself or was killed.
    private func leave() {
        if let process { ending.append(process) }
        process = nil
    }

    private func finish(_ error: ThumbnailError?) {
        guard let job = current else { return }
        current = nil
        job.done(error)
        proceed()
    }

    private func expire() {
        guard let process else { return }
        if let path = current?.path {
            process.kill()
            leave()
            finish(ThumbnailError(.system, "\(path): it took too long"))
        } else {
            // The process ends when its socket is closed.
            process.hangUp()
            leave()
        }
    }

    private func handle(_ process: Process, _ news: Process.News) {
        guard process === self.process else {
            if case .ended = news { ending.removeAll { $0 === process } }
            return
        }
        switch news {
        case .answered(let answer): finish(ThumbnailWorker.error(in: answer))
        case .ended(let status):
            self.process = nil
            guard let job = current else { return }
            let signal = status & 0x7F
            let isFilesFault = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGXCPU]
                .contains(signal)
            // One crash may be due to a lack of memory, or to a signal from elsewhere.
            if isFilesFault, !job.isSuspect {
                var again = job
                again.isSuspect = true
                current = nil
                waiting.insert(again, at: 0)
                return proceed()
            }
            let reason =
                signal == 0
                ? "its reader ended with status \(status >> 8 & 0xFF)"
                : "its reader was killed by signal \(signal)"
            if isFilesFault, let subject = job.subject {
                try? cache?.store(failure: reason, of: subject)
            }
            finish(ThumbnailError(isFilesFault ? .unreadable : .system, "\(job.path): \(reason)"))
        }
    }
}

/// A child process with a socket, killed when released.
private final class Process {
    enum News {
        case answered([UInt8])
        /// The process ended, with a status as of waitpid(2).
        case ended(CInt)
    }

    private let id: pid_t
    private let socket: Descriptor
    private var watch: EventLoop.Watch?
    private let onNews: (Process, News) -> Void
    private var hasEnded = false

    /// Starts this program with `arguments`, and with the other end of the socket as its standard
    /// input.
    init(
        _ arguments: [String],
        _ loop: EventLoop,
        _ onNews: @escaping (Process, News) -> Void
    ) throws(SystemError) {
        self.onNews = onNews
        var ends: [CInt] = [-1, -1]
        let type = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .last("socketpair") }
        socket = Descriptor(owning: ends[0])
        let other = Descriptor(owning: ends[1])
        id = try Self.spawn(arguments, input: other.number)
        do throws(SystemError) {
            watch = try loop.watch(socket.number, for: .readable) { [unowned self] _ in read() }
        } catch {
            Glibc.kill(id, SIGKILL)
            var status: CInt = 0
            _ = retryingInterrupts { waitpid(id, &status, 0) }
            hasEnded = true
            throw error
        }
    }

    deinit {
        watch?.cancel()
        guard !hasEnded else { return }
        Glibc.kill(id, SIGKILL)
        var status: CInt = 0
        waitpid(id, &status, WNOHANG)
    }

    func send(_ message: [UInt8]) throws(SystemError) {
        let flags = CInt(MSG_NOSIGNAL)
        let count = retryingInterrupts { Glibc.send(socket.number, message, message.count, flags) }
        guard count >= 0 else { throw .last("send", "the maker of thumbnails") }
    }

    func kill() { Glibc.kill(id, SIGKILL) }

    /// Lets the process end by itself.
    func hangUp() { shutdown(socket.number, CInt(SHUT_WR)) }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: ThumbnailWorker.longest)
        let count = retryingInterrupts { recv(socket.number, &buffer, buffer.count, 0) }
        guard count <= 0 else { return onNews(self, .answered(Array(buffer[..<count]))) }
        watch?.cancel()
        hasEnded = true
        var status: CInt = 0
        // The process has closed the socket, which it does only when it ends.
        _ = retryingInterrupts { waitpid(id, &status, 0) }
        onNews(self, .ended(status))
    }

    private static func spawn(_ arguments: [String], input: CInt) throws(SystemError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The daemon blocks signals, which the child must not inherit.
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var environment: [UnsafeMutablePointer<CChar>?] = []
        var next = environ
        while let entry = next.pointee {
            environment.append(strdup(entry))
            next += 1
        }
        // Swift's backtrace of a crash takes longer than the caller may wait, and is of no use
        // here.
        environment += [strdup("SWIFT_BACKTRACE=enable=no"), nil]
        var words = (["dualcamd"] + arguments).map { strdup($0) } + [nil]
        defer { for text in words + environment { free(text) } }
        var id = pid_t()
        // The program as it was started, even if it was replaced since.
        let error = posix_spawn(&id, "/proc/self/exe", &actions, &attributes, &words, &environment)
        guard error == 0 else {
            throw SystemError("posix_spawn", "the maker of thumbnails", errno: error)
        }
        return id
    }
}
