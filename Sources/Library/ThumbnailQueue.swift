import Glibc
import Platform

/// Has thumbnails made by a process, one after the other, which is started when there is something to do and ends when there
/// was nothing for a while.
///
/// - Context: bound to the library's thread.
final class ThumbnailQueue {
    /// What is to be made, and who wants to know.
    struct Job {
        let path: String
        let size: ThumbnailSize
        let done: (ThumbnailError?) -> Void
        /// What it was when it was given to a process.
        var subject: ThumbnailCache.Subject?
        /// A process has died of it.
        var isSuspect = false
    }

    private let loop: EventLoop
    private let arguments: [String]
    private let cache: ThumbnailCache?
    private var waiting: [Job] = []
    private var current: Job?
    private var process: Process?
    /// Those that were left and have not ended yet.
    private var ending: [Process] = []
    private var timer: EventLoop.Timer?

    /// How long a file may take, in seconds, where somebody waits for it: who has no time but what others leave may take
    /// any.
    private let timeout: Double?
    /// How long the process stays for more, in seconds.
    private static let stay = 5.0

    /// Starts `arguments` of this program where there is something to do. Throws when the process is out of descriptors.
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

    /// Whether there is something to do.
    var isBusy: Bool { current != nil || !waiting.isEmpty }

    /// Makes a thumbnail after those that wait; `done` is called with what was amiss.
    func make(_ path: String, _ size: ThumbnailSize, done: @escaping (ThumbnailError?) -> Void) {
        waiting.append(Job(path: path, size: size, done: done))
        proceed()
    }

    /// Ends the processes.
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
                // It has died since, for want of memory maybe.
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

    /// Has no more to do with the process, which ends by itself or is killed.
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
            // It ends when nobody is there any more.
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
            // Who dies of it once may have had no memory, or was killed by somebody.
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

/// A process that answers, and its end. Killed when its owner goes.
private final class Process {
    enum News {
        case answered([UInt8])
        /// As waitpid(2) has it.
        case ended(CInt)
    }

    private let id: pid_t
    private let socket: Descriptor
    private var watch: EventLoop.Watch?
    private let onNews: (Process, News) -> Void
    private var hasEnded = false

    /// Starts this program with `arguments`, the other end of a socket as its standard input.
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

    /// Lets it end by itself.
    func hangUp() { shutdown(socket.number, CInt(SHUT_WR)) }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: ThumbnailWorker.longest)
        let count = retryingInterrupts { recv(socket.number, &buffer, buffer.count, 0) }
        guard count <= 0 else { return onNews(self, .answered(Array(buffer[..<count]))) }
        watch?.cancel()
        hasEnded = true
        var status: CInt = 0
        // It has let go of the socket, which it does at its end alone.
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
        // The daemon waits for its signals in its own way.
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
        // Swift's account of a crash takes longer than whoever waits has patience, and is of no use.
        environment += [strdup("SWIFT_BACKTRACE=enable=no"), nil]
        var words = (["dualcamd"] + arguments).map { strdup($0) } + [nil]
        defer { for text in words + environment { free(text) } }
        var id = pid_t()
        // The program as it was started, even where it has been replaced since.
        let error = posix_spawn(&id, "/proc/self/exe", &actions, &attributes, &words, &environment)
        guard error == 0 else {
            throw SystemError("posix_spawn", "the maker of thumbnails", errno: error)
        }
        return id
    }
}
