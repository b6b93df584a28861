import Frames
import Glibc
package import Platform

/// Repairs recordings in a process of its own: a file that a crash or a stranger made may end or
/// hang its reader.
package final class RepairHelper: Sendable {
    private let arguments: [String]
    /// The bell that `cancel()` rings; it keeps ringing.
    private let cancelled: Bell

    /// The time without progress after which the process is given up. A disk may take half a minute
    /// for one call.
    private static let timeout = Timestamp(seconds: 180)
    /// The limits of the process: bytes of memory, and seconds of processor time for each file. A
    /// copy takes about one for each gigabyte.
    private static let (memory, time): (UInt, UInt) = (1 << 30, 1800)

    /// Creates a helper that runs this program with `arguments`, which call `run()`.
    ///
    /// - Throws: `SystemError` without a free descriptor.
    package init(_ arguments: [String]) throws(SystemError) {
        self.arguments = arguments
        cancelled = try Bell()
    }

    /// Kills the process at work, so that `copy` throws `busy`, now and from now on. From any
    /// thread.
    package func cancel() { cancelled.ring() }

    /// Copies the Matroska file behind `source` to the empty file behind `target`, as
    /// `Remux.copy(_:to:as:)` does, in a process of its own.
    ///
    /// - Throws: As that; `harmful` if the file ends or hangs the process; `busy` after `cancel()`;
    ///   `system` when there is no process to be had.
    package func copy(_ source: CInt, to target: CInt) throws(MediaError) -> Double {
        // Killed when it is released.
        let process: HelperProcess
        do throws(SystemError) {
            process = try HelperProcess(arguments)
            try process.send(Array("repair".utf8), [source, target])
        } catch {
            throw MediaError(error)
        }
        switch try news(of: process, target) {
        case .answered(let answer): return try Self.result(in: answer)
        case .ended(let status):
            // A kill from elsewhere, as for lack of memory, says nothing of the file.
            let code: MediaError.Code = HelperProcess.hasCrashed(status) ? .harmful : .system
            throw MediaError(code, "repair", detail: HelperProcess.describe(status))
        }
    }

    /// Waits for an answer as long as the copy grows.
    private func news(
        of process: HelperProcess,
        _ target: CInt
    ) throws(MediaError) -> HelperProcess.News {
        var size: Int64 = -1
        var deadline = MonotonicClock.now + Self.timeout
        while MonotonicClock.now < deadline {
            var entries = [process.descriptor, cancelled.descriptor].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            _ = poll(&entries, nfds_t(entries.count), 1000)
            if entries[1].revents != 0 { throw Self.ending }
            if entries[0].revents != 0 { return process.receive() }
            var status = stat()
            if fstat(target, &status) == 0, Int64(status.st_size) != size {
                size = Int64(status.st_size)
                deadline = MonotonicClock.now + Self.timeout
            }
        }
        // It holds the file's lock until it has ended.
        process.kill()
        while case .answered = process.receive() {}
        throw MediaError(.harmful, "repair", detail: "its reader hung")
    }

    private static let ending = MediaError(.busy, "repair", detail: "the daemon is ending")

    // MARK: In the process

    /// Serves one request after another, confined to the files that come with each.
    package static func run() -> Never {
        HelperService.run(memory: memory, time: time) {
            try? loadLibraries()
        } answer: { _, files in
            guard files.count == 2 else { return Array("system 0 not understood".utf8) }
            do throws(MediaError) {
                return Array("done \(try Remux.copy(files[0], to: files[1], as: .matroska))".utf8)
            } catch {
                return Self.answer(error)
            }
        }
    }

    /// Returns an answer for `error`: its code, its errno, its operation, and its details.
    static func answer(_ error: MediaError) -> [UInt8] {
        Array("\(error.code.rawValue) \(error.errno) \(error.operation) \(error.detail)".utf8)
    }

    /// Returns the duration in `answer`, which the process may have made up.
    ///
    /// - Throws: The error in it; `system` for what is neither.
    static func result(in answer: [UInt8]) throws(MediaError) -> Double {
        let words = String(decoding: answer, as: UTF8.self)
            .split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        if words.count == 2, words[0] == "done", let seconds = Double(words[1]),
            (0...1e10).contains(seconds)
        {
            return seconds
        }
        guard words.count == 4, let code = MediaError.Code(rawValue: words[0]),
            let errno = CInt(words[1]), (0..<4096).contains(errno)
        else { throw MediaError(.system, "repair", detail: "its reader gave no answer") }
        throw MediaError(code, words[2], errno: errno, detail: words[3])
    }
}
