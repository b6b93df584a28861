import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import TestSupport

/// A process under watch: what it takes of the machine, by /proc.
struct Watched {
    let id: pid_t

    /// Seconds of processor time of all its threads so far (the clock of clock_getcpuclockid(3)).
    var processor: Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(id, &clock) == 0, clock_gettime(clock, &time) == 0 else {
            return .nan
        }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// How often its threads have waited and been woken so far.
    var wakeups: Int {
        threads.reduce(0) { $0 + number("voluntary_ctxt_switches", in: "task/\($1)/status") }
    }

    /// Resident memory in megabytes (10^6 bytes): all of it, and the part that is its own, without files
    /// and memory shared with others.
    var memory: (resident: Double, own: Double) {
        let resident = number("VmRSS", in: "status")
        return (Double(resident) * 1024 / 1e6, Double(number("RssAnon", in: "status")) * 1024 / 1e6)
    }

    /// Resident memory in megabytes by the file that is mapped there.
    var files: [String: Double] {
        // A file without a length, and longer than what is read of such at once.
        let handle = FileHandle(forReadingAtPath: "/proc/\(id)/smaps")
        let bytes = (try? handle?.readToEnd()) ?? Data()
        let text = String(decoding: bytes, as: UTF8.self)
        var sizes: [String: Double] = [:]
        var file = ""
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            if words[0] == "Rss:", let size = Double(words[1]) {
                sizes[file, default: 0] += size * 1024 / 1e6
            } else if !words[0].hasSuffix(":") {
                file = words.count > 5 ? String(words[5]) : ""
            }
        }
        return sizes
    }

    /// How many descriptors it has open.
    var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/fd").count) ?? 0
    }

    /// Its threads.
    private var threads: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")) ?? []
    }

    /// The names of its threads, by their numbers.
    var threadNames: [Int: String] {
        var names: [Int: String] = [:]
        for thread in threads {
            let name = try? String(
                contentsOfFile: "/proc/\(id)/task/\(thread)/comm",
                encoding: .utf8
            )
            names[Int(thread) ?? 0] = name.map { String($0.dropLast()) }
        }
        return names
    }

    private func number(_ key: String, in file: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(id)/\(file)", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(key):") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}

extension Daemon {
    /// The daemon's process.
    var watched: Watched { Watched(id: program.id) }

    /// A number of its Statistics, by its way there.
    func statistic(_ path: String...) throws -> Double {
        var value = try call("Statistics", of: .stream).first
        for name in path {
            guard let next = value?.named?[name] else {
                throw BenchError("no \(name) in Statistics")
            }
            value = next
        }
        guard case .uint64(let number)? = value else { throw BenchError("\(path) is no number") }
        return Double(number)
    }
}

/// Waits, while others work.
func pause(_ seconds: Double) { usleep(UInt32(seconds * 1e6)) }
