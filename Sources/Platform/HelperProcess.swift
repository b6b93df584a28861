import CLinux
import CSandbox
package import Frames
import Glibc
import Logging

/// This program, run once more to read what strangers made, so that a file made to crash or hang
/// its reader ends that process alone. Its libraries and memory go with it.
///
/// Each message is answered by one message. The process gets the files it needs as descriptors. It
/// is killed when it is released. Bound to one thread, except for `kill()`. The process ends with
/// the thread that started it.
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

    /// Starts `program`, by default this one as it was started, even if it was replaced since, with
    /// `arguments`, and with the other end of the socket as its standard input. Throws the errno of
    /// socketpair(2) or posix_spawn(3).
    package init(
        _ arguments: [String],
        of program: String = "/proc/self/exe"
    ) throws(SystemError) {
        var ends: [CInt] = [-1, -1]
        let type = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .last("socketpair") }
        socket = Descriptor(owning: ends[0])
        let other = Descriptor(owning: ends[1])
        id = try spawn(
            program,
            ["dualcamd"] + arguments,
            // Swift's backtrace of a crash takes longer than the caller may wait, and is useless.
            environment: inheritedEnvironment + ["SWIFT_BACKTRACE=enable=no"],
            input: .descriptor(other.number),
            output: .nothing,
            errors: .inherited
        )
    }

    deinit {
        guard !hasEnded else { return }
        kill()
        // It takes a moment to end, and longer where the disk does not answer. Nobody waits for
        // that but a thread of its own, so that the system forgets the process.
        var status: CInt = 0
        guard waitpid(id, &status, WNOHANG) == 0 else { return }
        let thread = try? Thread(name: "reap") { [id] in
            var status: CInt = 0
            _ = retryingInterrupts { waitpid(id, &status, 0) }
        }
        thread?.detach()
    }

    /// Readable when `receive()` does not wait.
    package var descriptor: CInt { socket.number }

    /// Sends `message` with copies of `descriptors`. Throws sendmsg(2)'s errno: EPIPE at its end.
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
        return .ended(reap())
    }

    /// Waits for the answer to the last message, or for the end of the process, at most for
    /// `seconds`. `nil` if nothing happens.
    package func receive(within seconds: Double) -> News? {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let count = retryingInterrupts { poll(&entry, 1, CInt(seconds * 1000)) }
        return count > 0 ? receive() : nil
    }

    /// Takes the status of the process, which closes the socket only when it ends; if it does not
    /// then, it is killed.
    private func reap() -> CInt {
        hasEnded = true
        // Changes no status of a process that is ending.
        kill()
        var status: CInt = 0
        _ = retryingInterrupts { waitpid(id, &status, 0) }
        return status
    }

    /// A message that `receive(into:)` has taken, or none.
    package enum Received: Hashable {
        /// A message of so many bytes.
        case message(Int)
        /// None is there.
        case nothing
        /// The process ended, with a status as of waitpid(2).
        case ended(CInt)
    }

    /// Takes the oldest message of a process that sends by itself. Neither waits nor allocates.
    package func receive(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        guard !hasEnded else { return .ended(0) }
        let count = retryingInterrupts {
            recv(socket.number, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
        }
        if count > 0 { return .message(count) }
        if count < 0, errno == EAGAIN { return .nothing }
        return .ended(reap())
    }

    /// Sends a byte, or drops it if the process does not take it. Neither waits nor allocates.
    package func send(byte: UInt8) { _ = withUnsafeBytes(of: byte) { offer($0) } }

    /// Sends `message`, or drops it and returns `false` if the process does not take it. Neither
    /// waits nor allocates.
    package func offer(_ message: UnsafeRawBufferPointer) -> Bool {
        let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
        return Glibc.send(socket.number, message.baseAddress, message.count, flags) >= 0
    }

    /// Lets the process end by itself within `patience`, or kills it, and waits for its end.
    package func end(within patience: Timestamp) {
        hangUp()
        let deadline = MonotonicClock.now + patience
        while !hasEnded {
            let left = max(0, (deadline - MonotonicClock.now).nanoseconds / 1_000_000)
            var entry = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, CInt(left))
            // It may go on sending for ever.
            if left == 0 { kill() }
            withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) { _ = receive(into: $0) }
        }
    }

    /// Kills the process. To be called before `receive()` has reported its end.
    package func kill() { Glibc.kill(id, SIGKILL) }

    /// Lets the process end by itself, once it has answered.
    package func hangUp() { shutdown(socket.number, CInt(SHUT_WR)) }

    /// Returns `true` if this status of waitpid(2) is of a crash, or of limits used up.
    package static func hasCrashed(_ status: CInt) -> Bool {
        [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGXCPU, SIGXFSZ, SIGSYS]
            .contains(status & 0x7F)
    }

    /// Returns `true` if a process with this status of waitpid(2) used up its processor time.
    package static func hasRunOut(_ status: CInt) -> Bool { status & 0x7F == SIGXCPU }

    /// The end of a process in words: "it ended with status 1".
    package static func describe(_ status: CInt) -> String {
        let signal = status & 0x7F
        if hasRunOut(status) { return "it takes too long to read" }
        return signal == 0
            ? "its reader ended with status \(status >> 8 & 0xFF)"
            : "its reader was killed by signal \(signal)"
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
        begin(memory: memory)
        prepare()
        confine { () throws(SystemError) in try Confinement.enter() }
        serve(socket) {
            limit(CInt(RLIMIT_CPU.rawValue), processorLimit(usage, time))
        } answer: { message, descriptors in
            answer(message, descriptors)
        }
        _exit(EXIT_SUCCESS)
    }

    private static var usage: rusage {
        var usage = rusage()
        getrusage(CInt(RUSAGE_SELF.rawValue), &usage)
        return usage
    }

    /// The time for which this process has used the processor, in seconds.
    package static var processorTime: UInt { processorLimit(usage, 0) }

    /// Returns the limit of processor time, in seconds since the process began, of one that has
    /// used `usage` and may use `time` more.
    static func processorLimit(_ usage: rusage, _ time: UInt) -> UInt {
        UInt(clamping: usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + time
    }

    /// Answers messages on `socket` until its other end is closed. `begin` is called before each.
    static func serve(
        _ socket: CInt,
        begin: () -> Void,
        answer: (_ message: ArraySlice<UInt8>, _ descriptors: [CInt]) -> [UInt8]
    ) {
        var buffer = [UInt8](repeating: 0, count: HelperProcess.longestMessage)
        var descriptors = [CInt](repeating: -1, count: Int(csandbox_most_descriptors))
        while true {
            var number: CInt = 0
            let count = retryingInterrupts {
                csandbox_receive(socket, &buffer, buffer.count, &descriptors, &number)
            }
            guard count > 0 else { return }
            begin()
            let files = Array(descriptors[..<Int(number)])
            let reply = answer(buffer[..<count], files).prefix(HelperProcess.longestMessage)
            // The files first: the daemon may look at them as soon as it has the answer.
            for file in files { close(file) }
            let bytes = Array(reply)
            _ = retryingInterrupts { csandbox_send(socket, bytes, bytes.count, nil, 0) }
        }
    }

    /// Takes one message with `count` descriptors, limits the process to `memory` bytes, confines
    /// it in the way that `prepare` returns, and runs `body` until it returns. `prepare` reads what
    /// needs files; it returns `nil` if there is nothing to do. `body` sends with `send(_:)`, and
    /// sees with `take(into:)` what the daemon sends.
    package static func stream(
        memory: UInt,
        descriptors count: Int = 1,
        prepare: (
            _ message: ArraySlice<UInt8>, _ descriptors: [CInt]
        ) -> (() throws(SystemError) -> Void)?,
        _ body: (_ descriptors: [CInt]) -> Void
    ) -> Never {
        begin(memory: memory)
        var buffer = [UInt8](repeating: 0, count: HelperProcess.longestMessage)
        var descriptors = [CInt](repeating: -1, count: Int(csandbox_most_descriptors))
        var number: CInt = 0
        let length = retryingInterrupts {
            csandbox_receive(socket, &buffer, buffer.count, &descriptors, &number)
        }
        guard length > 0, number == count else { _exit(EXIT_FAILURE) }
        let files = Array(descriptors[..<count])
        guard let enter = prepare(buffer[..<length], files) else { _exit(EXIT_SUCCESS) }
        confine(enter)
        body(files)
        _exit(EXIT_SUCCESS)
    }

    /// Readable when `take(into:)` has something.
    package static var descriptor: CInt { socket }

    /// Sends `message` to the daemon. Waits while it takes none.
    package static func send(_ message: UnsafeRawBufferPointer) {
        _ = retryingInterrupts {
            csandbox_send(socket, message.baseAddress, message.count, nil, 0)
        }
    }

    /// Takes the next message from the daemon; `ended` if it has no use for this process any more.
    /// Never waits.
    package static func take(into buffer: UnsafeMutableRawBufferPointer) -> HelperProcess.Received {
        let count = retryingInterrupts {
            recv(socket, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
        }
        if count > 0 { return .message(count) }
        return count < 0 && errno == EAGAIN ? .nothing : .ended(0)
    }

    private static func begin(memory: UInt) {
        csandbox_end_with_parent()
        // What the daemon inherited is none of the files that a request brings.
        _ = csandbox_close_others()
        // This process is the first to go when memory is short.
        if let file = fopen("/proc/self/oom_score_adj", "we") {
            fputs("1000", file)
            fclose(file)
        }
        limit(CInt(RLIMIT_AS.rawValue), memory, isFinal: true)
        limit(CInt(RLIMIT_CORE.rawValue), 0, isFinal: true)
        limit(CInt(RLIMIT_NOFILE.rawValue), Self.mostFiles, isFinal: true)
    }

    /// The most descriptors of a process.
    private static let mostFiles: UInt = 128

    private static func confine(_ enter: () throws(SystemError) -> Void) {
        do throws(SystemError) {
            try enter()
        } catch {
            // A kernel without either would read strangers' files with all of the user's rights.
            Log.control.critical("not confined", metadata: ["reason": "\(error)"])
            _exit(EXIT_FAILURE)
        }
    }

    /// With `isFinal` the process cannot raise the limit again.
    private static func limit(_ what: CInt, _ value: UInt, isFinal: Bool = false) {
        var limits = rlimit()
        getrlimit(what, &limits)
        limits.rlim_cur = min(rlim_t(value), limits.rlim_max)
        if isFinal { limits.rlim_max = limits.rlim_cur }
        setrlimit(what, &limits)
    }
}
