import Frames
import Glibc
import Platform
import Synchronization

/// Makes thumbnails in processes of its own, on threads that end when nothing is left to do.
///
/// - Context: Any thread.
final class ThumbnailQueue: Sendable {
    private struct Job {
        let path: String
        let size: ThumbnailSize
        let owner: String
        let done: @Sendable (Result<CInt, ThumbnailError>) -> Void
    }

    private struct Work {
        var waiting = Turns<Job>()
        var threadCount = 0
        /// The jobs that are being done, each by a thread.
        var begun: [(owner: String, path: String)] = []
        /// The files that have no readable picture, with the reasons.
        var unreadable: [ThumbnailCache.Subject: String] = [:]

        /// Removes and returns the next job that may begin. A file is read once at a time, since it
        /// may bring its reader down.
        mutating func next() -> Job? {
            guard begun.count < most else { return nil }
            let job = waiting.next { job in
                begun.count { $0.owner == job.owner } < mostOfOne
                    && !begun.contains { $0.path == job.path }
            }
            if let job { begun.append((job.owner, job.path)) }
            return job
        }

        /// Takes back that `job` is being done.
        mutating func leave(_ job: Job) {
            begun.removeAll { $0.path == job.path }
        }
    }

    private let program: String
    private let arguments: [String]
    private let cache: ThumbnailCache?
    /// The longest time for one file, in seconds.
    private let timeout: Double
    private let work = Mutex(Work())

    /// The most thumbnails of one program, and of all, that are made at once.
    private static let (mostOfOne, most) = (2, 8)
    /// The most unreadable files that are remembered.
    private static let memory = 10_000

    /// Creates a queue that runs `program`, by default this one, with `arguments` when it has a
    /// job.
    init(
        _ arguments: [String],
        _ cache: ThumbnailCache?,
        timeout: Double = 30,
        program: String = "/proc/self/exe"
    ) {
        (self.arguments, self.cache) = (arguments, cache)
        (self.timeout, self.program) = (timeout, program)
    }

    /// Makes a thumbnail for the program `owner` unless it exists. Calls `done` on another thread
    /// with an error, or with a descriptor for reading, which the caller closes.
    func make(
        _ path: String,
        _ size: ThumbnailSize,
        for owner: String = "",
        done: @escaping @Sendable (Result<CInt, ThumbnailError>) -> Void
    ) {
        let next = work.withLock { work in
            work.waiting.add(Job(path: path, size: size, owner: owner, done: done), of: owner)
            guard let next = work.next() else { return nil as Job? }
            work.threadCount += 1
            return next
        }
        guard let next else { return }
        do throws(SystemError) {
            let thread = try Thread(name: "thumbnails") { [self] in run(next) }
            thread.detach()
        } catch {
            work.withLock { work in
                work.leave(next)
                work.threadCount -= 1
            }
            next.done(.failure(ThumbnailError(error)))
        }
    }

    /// Does `first`, and then one job after another with the same process.
    private func run(_ first: Job) {
        var helper: HelperProcess?
        var next: Job? = first
        while let job = next {
            job.done(Result { () throws(ThumbnailError) in try thumbnail(job, &helper) })
            next = work.withLock { work in
                work.leave(job)
                return work.next()
            }
        }
        helper?.end(within: Timestamp(seconds: 1))
        work.withLock { $0.threadCount -= 1 }
    }

    /// `true` while a thread runs.
    var isBusy: Bool { work.withLock { $0.threadCount > 0 } }

    private func thumbnail(
        _ job: Job,
        _ helper: inout HelperProcess?
    ) throws(ThumbnailError) -> CInt {
        guard let cache else { throw ThumbnailError(.system, "there is no home") }
        let request = try ThumbnailRequest(job.path, job.size, cache)
        let subject = request.subject
        if let reason = work.withLock({ $0.unreadable[subject] }) {
            throw .unreadable(subject, reason)
        }
        let answer = try ask(request, &helper)
        if case .unreadable(let reason) = answer {
            work.withLock { work in
                if work.unreadable.count >= Self.memory { work.unreadable = [:] }
                work.unreadable[subject] = reason
            }
        }
        return try request.finish(answer)
    }

    /// Returns the answer of `helper`, or of a new one. A file `isSuspect` if one ended with it.
    private func ask(
        _ request: ThumbnailRequest,
        _ helper: inout HelperProcess?,
        isSuspect: Bool = false
    ) throws(ThumbnailError) -> ThumbnailAnswer {
        let path = request.subject.path
        let news: HelperProcess.News?
        // It may have ended since its last answer.
        let isFresh = helper == nil
        do throws(SystemError) {
            let process =
                if let helper { helper } else { try HelperProcess(arguments, of: program) }
            // Without an answer it is killed.
            helper = nil
            try process.send(request.message, request.descriptors)
            news = process.receive(within: timeout)
            if case .answered? = news { helper = process }
        } catch {
            if isFresh { throw ThumbnailError(error) }
            return try ask(request, &helper, isSuspect: isSuspect)
        }
        switch news {
        case .answered(let message): return ThumbnailAnswer(message)
        case nil: throw ThumbnailError(.system, "\(path): it took too long")
        case .ended(let status):
            let reason = HelperProcess.describe(status)
            guard HelperProcess.hasCrashed(status) else {
                if !isFresh { return try ask(request, &helper, isSuspect: isSuspect) }
                throw ThumbnailError(.system, "\(path): \(reason)")
            }
            // One crash may be due to a lack of memory, or to a signal from elsewhere.
            if isSuspect || HelperProcess.hasRunOut(status) { return .unreadable(reason) }
            return try ask(request, &helper, isSuspect: true)
        }
    }
}
