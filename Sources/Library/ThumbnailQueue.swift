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
        /// The files of the process.
        var request: ThumbnailRequest?
        /// `true` if a process crashed on it before.
        var isSuspect = false
    }

    private let loop: EventLoop
    private let program: String
    private let arguments: [String]
    private let cache: ThumbnailCache?
    private var waiting: [Job] = []
    private var current: Job?
    private var process: Running?
    /// The processes given up that have not ended yet.
    private var ending: [Running] = []
    private var timer: EventLoop.Timer?

    /// The longest time for one file, in seconds, or `nil` without a limit: at idle priority a file
    /// may take any time.
    private let timeout: Double?
    /// The time that an idle process stays, in seconds.
    private static let stay = 5.0

    /// Creates a queue that runs `program`, by default this one, with `arguments` when it has a
    /// job.
    ///
    /// - Throws: `SystemError` when there is no descriptor left.
    init(
        _ loop: EventLoop,
        _ arguments: [String],
        _ cache: ThumbnailCache?,
        timeout: Double?,
        program: String = "/proc/self/exe"
    ) throws(SystemError) {
        self.timeout = timeout
        self.program = program
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
        for running in ending + [process].compactMap(\.self) { running.process.kill() }
    }

    private func proceed() {
        guard current == nil else { return }
        guard !waiting.isEmpty else {
            timer?.arm(after: Self.stay)
            return
        }
        var job = waiting.removeFirst()
        do throws(ThumbnailError) {
            guard let cache else { throw ThumbnailError(.system, "there is no home") }
            job.request = try ThumbnailRequest(job.path, job.size, cache)
            current = job
        } catch {
            current = job
            return finish(error)
        }
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
        guard let request = job.request else { return }
        let running =
            if let process {
                process
            } else {
                try Running(program, arguments, loop) { [unowned self] in handle($0) }
            }
        process = running
        try running.process.send(request.message, request.descriptors)
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
            process.process.kill()
            leave()
            finish(ThumbnailError(.system, "\(path): it took too long"))
        } else {
            // The process ends when its socket is closed.
            process.process.hangUp()
            leave()
        }
    }

    private func handle(_ running: Running) {
        let news = running.process.receive()
        if case .ended = news { running.stopWatching() }
        guard running === process else {
            if case .ended = news { ending.removeAll { $0 === running } }
            return
        }
        switch news {
        case .answered(let answer): settle(ThumbnailAnswer(answer))
        case .ended(let status):
            process = nil
            guard let job = current else { return }
            let isFilesFault = HelperProcess.hasCrashed(status)
            // One crash may be due to a lack of memory, or to a signal from elsewhere.
            if isFilesFault, !job.isSuspect {
                var again = job
                again.isSuspect = true
                current = nil
                waiting.insert(again, at: 0)
                return proceed()
            }
            let reason = HelperProcess.describe(status)
            if isFilesFault { job.request?.fail(reason) }
            finish(ThumbnailError(isFilesFault ? .unreadable : .system, "\(job.path): \(reason)"))
        }
    }

    private func settle(_ answer: ThumbnailAnswer) {
        do throws(ThumbnailError) {
            try current?.request?.finish(answer)
            finish(nil)
        } catch {
            finish(error)
        }
    }
}

/// A process that the queue's loop watches.
private final class Running {
    let process: HelperProcess
    private var watch: EventLoop.Watch?

    /// Starts `program` with `arguments`. `onNews` is called when `receive()` does not wait.
    init(
        _ program: String,
        _ arguments: [String],
        _ loop: EventLoop,
        _ onNews: @escaping (Running) -> Void
    ) throws(SystemError) {
        process = try HelperProcess(arguments, of: program)
        watch = try loop.watch(process.descriptor, for: .readable) { [unowned self] _ in
            onNews(self)
        }
    }

    deinit { watch?.cancel() }

    func stopWatching() {
        watch?.cancel()
        watch = nil
    }
}
