import CLinux
import Glibc
import Platform

/// The process that makes thumbnails. It reads untrusted files of the library, so that one made to
/// crash its reader ends this process, not the stream. Its libraries and memory are released with
/// it.
package enum ThumbnailWorker {
    /// The descriptor of the socket to the daemon. Each message is a request, answered by one
    /// message.
    private static let socket: CInt = STDIN_FILENO
    /// The limits: seconds of processor time per file, and bytes of memory.
    private static let (time, memory): (rlim_t, rlim_t) = (20, 1 << 30)
    /// The longest message, in bytes.
    static let longest = 1 << 14

    /// Serves requests from standard input until the other end closes it.
    ///
    /// With `isIdle`, runs only when the machine is otherwise idle. `program` is "dualcam-VERSION".
    package static func run(isIdle: Bool, program: String) -> Never {
        if isIdle { clinux_be_idle() }
        // This process is the first to go when memory is short.
        if let file = fopen("/proc/self/oom_score_adj", "we") {
            fputs("1000", file)
            fclose(file)
        }
        limit(CInt(RLIMIT_AS.rawValue), memory)
        limit(CInt(RLIMIT_CORE.rawValue), 0)
        guard let cache = ThumbnailCache(program: program) else { exit(EXIT_FAILURE) }
        cache.sweep()
        let maker = ThumbnailMaker(cache: cache)
        var buffer = [UInt8](repeating: 0, count: longest)
        while true {
            let count = retryingInterrupts { recv(socket, &buffer, buffer.count, 0) }
            guard count > 0 else { exit(EXIT_SUCCESS) }
            var usage = rusage()
            getrusage(CInt(RUSAGE_SELF.rawValue), &usage)
            limit(
                CInt(RLIMIT_CPU.rawValue),
                rlim_t(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + time
            )
            let answer = Array(Self.answer(to: buffer[..<count], maker).utf8.prefix(longest))
            _ = retryingInterrupts {
                send(socket, answer, answer.count, CInt(MSG_NOSIGNAL))
            }
        }
    }

    /// Returns a request: a size and a path. An answer is "done", or an error's code and message. A
    /// space separates the parts.
    static func request(_ path: String, _ size: ThumbnailSize) -> [UInt8] {
        Array("\(size.rawValue) \(path)".utf8)
    }

    private static func answer(to request: ArraySlice<UInt8>, _ maker: ThumbnailMaker) -> String {
        let words = request.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard words.count == 2, let number = Int(String(decoding: words[0], as: UTF8.self)),
            let size = ThumbnailSize(rawValue: number)
        else { return "system not understood" }
        do throws(ThumbnailError) {
            try maker.make(String(decoding: words[1], as: UTF8.self), size)
            return "done"
        } catch {
            return "\(error.code.rawValue) \(error.description)"
        }
    }

    /// Returns the error in an answer, or `nil` for "done".
    static func error(in answer: some Collection<UInt8>) -> ThumbnailError? {
        let text = String(decoding: answer, as: UTF8.self)
        guard text != "done" else { return nil }
        let words = text.split(separator: " ", maxSplits: 1).map(String.init)
        let code = words.first.flatMap { ThumbnailError.Code(rawValue: $0) }
        return ThumbnailError(code ?? .system, words.dropFirst().first ?? "no reason")
    }

    private static func limit(_ what: CInt, _ value: rlim_t) {
        var limits = rlimit()
        getrlimit(what, &limits)
        limits.rlim_cur = min(value, limits.rlim_max)
        setrlimit(what, &limits)
    }
}
