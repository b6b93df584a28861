import Foundation
package import Frames
import Glibc
import Platform
import Synchronization

/// The times for which threads of this test, and of the programs of its session, were ready to run
/// but had no processor: schedstat of proc(5), and what the host of a virtual machine took from its
/// processors: steal in /proc/stat.
///
/// A time that a test measures contains them. A limit holds for the rest, on a busy machine as on
/// an idle one: what a program spends computing, sleeping or waiting for another is never excused.
/// A kernel without schedstat excuses nothing.
package final class Lateness: Sendable {
    /// One thread's wait, which was over by `time` and not yet by `since`. A processor of which the
    /// host took a part counts as a thread of a process of its own.
    private struct Wait {
        var since: Timestamp
        var time: Timestamp
        var process: pid_t
        var thread: pid_t
        var seconds: Double
    }

    private struct State {
        var waits: [Wait] = []
        /// The kernel's counter of each thread, in nanoseconds, when it was read last.
        var counters: [pid_t: Int] = [:]
        /// The beginning of the last complete reading.
        var read: Timestamp?
        var hasEnded = false
    }

    private let state = Mutex(State())

    /// The time between two readings, in seconds.
    private static let period = 0.02
    /// Shorter waits are part of any machine's work.
    private static let shortest = 0.001

    /// Begins to watch this process, and the programs that run in `session` at any time from now.
    package init(_ session: PrivateSession? = nil) {
        read(session)
        Thread.detachNewThread { [weak self, weak session] in
            while let self, self.read(session) {
                let pause = Self.period
                _ = consume self
                usleep(UInt32(pause * 1_000_000))
            }
        }
    }

    deinit { state.withLock { $0.hasEnded = true } }

    /// Returns the seconds for which the chain of programs may have stood still between two times:
    /// those of the most delayed thread of each program, added up.
    package func seconds(from start: Timestamp, to end: Timestamp = MonotonicClock.now) -> Double {
        let waits = waits(from: start, to: end)
        return Dictionary(grouping: waits, by: \.process).values.reduce(0) { sum, waits in
            let threads = Dictionary(grouping: waits, by: \.thread).values
            return sum + (threads.map { $0.reduce(0) { $0 + $1.seconds } }.max() ?? 0)
        }
    }

    /// Returns the longest single wait of a thread between two times, in seconds.
    package func longest(from start: Timestamp, to end: Timestamp = MonotonicClock.now) -> Double {
        waits(from: start, to: end).map(\.seconds).max() ?? 0
    }

    /// Returns `true` if the last `seconds`, less the waits in them, are within `limit`.
    package func allows(_ seconds: Double, of limit: Double) -> Bool {
        if seconds <= limit { return true }
        let late = self.seconds(from: MonotonicClock.now - Timestamp(seconds: seconds))
        print("took \(seconds) s of \(limit) s, \(late) s of them waiting for a processor")
        return seconds - late <= limit
    }

    /// Returns the waits that a time span may contain. A wait is counted when it is over, and read
    /// a little later: much later, where the reader has to wait for a processor, too.
    private func waits(from start: Timestamp, to end: Timestamp) -> [Wait] {
        let last = end + Timestamp(seconds: Self.period / 2)
        while state.withLock({ $0.read ?? start }) < last { usleep(2_000) }
        return state.withLock { state in
            let first = state.waits.partitioningIndex { $0.time > start }
            return state.waits[first...].filter { $0.since < last }
        }
    }

    /// Reads all counters. Returns `false` once nobody needs them any more.
    @discardableResult
    private func read(_ session: PrivateSession?) -> Bool {
        let begin = MonotonicClock.now
        var seen: [(process: pid_t, thread: pid_t, nanoseconds: Int)] = []
        for process in [getpid()] + (session?.processes ?? []) {
            for thread in threads(of: process) {
                let path = "/proc/\(process)/task/\(thread)/schedstat"
                if let waited = waited(path) { seen.append((process, thread, waited)) }
            }
        }
        for (processor, nanoseconds) in stolen().enumerated() {
            // No thread has a number below 1.
            seen.append((0, -1 - pid_t(processor), nanoseconds))
        }
        let end = MonotonicClock.now
        return state.withLock { state in
            let since = state.read ?? begin
            state.read = begin
            for (process, thread, nanoseconds) in seen {
                let before = state.counters.updateValue(nanoseconds, forKey: thread)
                let seconds = Double(nanoseconds - (before ?? nanoseconds)) / 1e9
                guard seconds >= Self.shortest else { continue }
                state.waits.append(
                    Wait(
                        since: since,
                        time: end,
                        process: process,
                        thread: thread,
                        seconds: seconds
                    )
                )
            }
            return !state.hasEnded
        }
    }

    private func threads(of process: pid_t) -> [pid_t] {
        guard let directory = opendir("/proc/\(process)/task") else { return [] }
        defer { closedir(directory) }
        var threads: [pid_t] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { atoi($0) }
            }
            if name > 0 { threads.append(name) }
        }
        return threads
    }

    /// Returns what the host took of each processor, in nanoseconds: the eighth of its numbers in
    /// /proc/stat, in hundredths of a second.
    private func stolen() -> [Int] {
        guard let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8) else {
            return []
        }
        return text.split(separator: "\n").filter { $0.hasPrefix("cpu") }.dropFirst().map { line in
            let numbers = line.split(separator: " ").dropFirst().map { Int($0) ?? 0 }
            return numbers.count > 7 ? numbers[7] * 10_000_000 : 0
        }
    }

    /// Returns the second of the three numbers of a schedstat: the nanoseconds in the run queue.
    private func waited(_ path: String) -> Int? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 100) { text in
            let count = Glibc.read(file, text.baseAddress, 99)
            guard count > 0, let base = text.baseAddress else { return nil }
            text[count] = 0
            var rest: UnsafeMutablePointer<CChar>?
            strtoull(base, &rest, 10)
            return rest.map { Int(clamping: strtoull($0, nil, 10)) }
        }
    }
}

extension Array {
    /// Returns the index of the first element for which `condition` holds; it holds for all that
    /// follow.
    fileprivate func partitioningIndex(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension StreamReader {
    /// Returns the frames not taken yet, without waiting for more.
    package func drain() -> [Frame] {
        var frames: [Frame] = []
        while let frame = try? next(within: 0) { frames.append(frame) }
        return frames
    }
}
