import CSandbox
import Glibc
import Logging

/// This program, run once more to read what strangers made, so that a file made to crash or hang
/// its reader ends that process alone. Its libraries and memory go with it.
///
/// Each message is answered by one message. The process gets the files it needs as descriptors.
/// It is killed when it is released.
///
/// - Context: Bound to one thread, except for `kill()`. The process ends with the thread that
///   started it.
package final class HelperProcess {
    /// An event of the process.
    package enum News {
        /// It answered the last message.
        case answered([UInt8])
        /// It ended, with a status as of waitpid(2).
        case ended(CInt)
    }

    /// The longest message, in bytes.
    package static let longestMessage = 1 << 14

    private let id: pid_t
    private let socket: Descriptor
    private var hasEnded = false

    /// Starts this program with `arguments`, and with the other end of the socket as its standard
    /// input.
    ///
    /// - Throws: the errno of socketpair(2) or posix_spawn(3).
    package init(_ arguments: [String]) throws(SystemError) {
        var ends: [CInt] = [-1, -1]
        let type = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .last("socketpair") }
        socket = Descriptor(owning: ends[0])
        let other = Descriptor(owning: ends[1])
        id = try Self.spawn(arguments, input: other.number)
    }

    deinit {
        guard !hasEnded else { return }
        kill()
        // It cannot refuse to end, unless the disk does not answer.
        var status: CInt = 0
        waitpid(id, &status, WNOHANG)
    }

    /// Readable when `receive()` does not wait.
    package var descriptor: CInt { socket.number }

    /// Sends `message` with copies of `descriptors`.
    ///
    /// - Throws: the errno of sendmsg(2), such as EPIPE if the process has ended.
    package func send(_ message: [UInt8], _ descriptors: [CInt]) throws(SystemError) {
        precondition(descriptors.count <= Int(csandbox_most_descriptors), "too many descriptors")
        let count = retryingInterrupts {
            csandbox_send(
                socket.number,
                message,
                message.count,
                descriptors,
                CInt(descriptors.count)
            )
        }
        guard count >= 0 else { throw .last("sendmsg", "a helper process") }
    }

    /// Waits for the answer to the last message, or for the end of the process.
    package func receive() -> News {
        var buffer = [UInt8](repeating: 0, count: Self.longestMessage)
        let count = retryingInterrupts { recv(socket.number, &buffer, buffer.count, 0) }
        guard count <= 0 else { return .answered(Array(buffer[..<count])) }
        // The process has closed the socket, which it does only when it ends.
        hasEnded = true
        var status: CInt = 0
        _ = retryingInterrupts { waitpid(id, &status, 0) }
        return .ended(status)
    }

    /// Kills the process. To be called before `receive()` has reported its end.
    package func kill() { Glibc.kill(id, SIGKILL) }

    /// Lets the process end by itself, once it has answered.
    package func hangUp() { shutdown(socket.number, CInt(SHUT_WR)) }

    /// Returns `true` if a process with this status of waitpid(2) was ended by what it read: it
    /// crashed, or used up its limits.
    package static func hasCrashed(_ status: CInt) -> Bool {
        [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGXCPU, SIGXFSZ, SIGSYS]
            .contains(status & 0x7F)
    }

    /// The end of a process in words: "it ended with status 1".
    package static func describe(_ status: CInt) -> String {
        let signal = status & 0x7F
        return signal == 0
            ? "its reader ended with status \(status >> 8 & 0xFF)"
            : "its reader was killed by signal \(signal)"
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
            throw SystemError("posix_spawn", "a helper process", errno: error)
        }
        return id
    }
}

/// The other side of a `HelperProcess`: the process itself.
package enum HelperService {
    /// The descriptor of the socket to the daemon.
    private static let socket: CInt = STDIN_FILENO

    /// Answers messages until the daemon closes the socket. `prepare` loads what needs files; then
    /// the process is confined to the descriptors that come with each message, to `memory` bytes,
    /// and to `time` seconds of the processor for each message.
    package static func run(
        memory: UInt,
        time: UInt,
        prepare: () -> Void,
        answer: (_ message: ArraySlice<UInt8>, _ descriptors: [CInt]) -> [UInt8]
    ) -> Never {
        csandbox_end_with_parent()
        // What the daemon inherited is none of the files that a request brings.
        _ = csandbox_close_others()
        // This process is the first to go when memory is short.
        if let file = fopen("/proc/self/oom_score_adj", "we") {
            fputs("1000", file)
            fclose(file)
        }
        limit(CInt(RLIMIT_AS.rawValue), memory)
        limit(CInt(RLIMIT_CORE.rawValue), 0)
        prepare()
        do throws(SystemError) {
            try Confinement.enter()
        } catch {
            // A kernel without either would read strangers' files with all of the user's rights.
            Log.control.critical("not confined", metadata: ["reason": "\(error)"])
            _exit(EXIT_FAILURE)
        }
        var buffer = [UInt8](repeating: 0, count: HelperProcess.longestMessage)
        var descriptors = [CInt](repeating: -1, count: Int(csandbox_most_descriptors))
        while true {
            var number: CInt = 0
            let count = retryingInterrupts {
                csandbox_receive(socket, &buffer, buffer.count, &descriptors, &number)
            }
            guard count > 0 else { _exit(EXIT_SUCCESS) }
            var usage = rusage()
            getrusage(CInt(RUSAGE_SELF.rawValue), &usage)
            let used = UInt(clamping: usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            limit(CInt(RLIMIT_CPU.rawValue), used + time)
            let files = Array(descriptors[..<Int(number)])
            let reply = answer(buffer[..<count], files).prefix(HelperProcess.longestMessage)
            // The files first: the daemon may look at them as soon as it has the answer.
            for file in files { close(file) }
            let bytes = Array(reply)
            _ = retryingInterrupts { csandbox_send(socket, bytes, bytes.count, nil, 0) }
        }
    }

    private static func limit(_ what: CInt, _ value: UInt) {
        var limits = rlimit()
        getrlimit(what, &limits)
        limits.rlim_cur = min(rlim_t(value), limits.rlim_max)
        setrlimit(what, &limits)
    }
}
