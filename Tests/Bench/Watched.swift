import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import TestSupport

/// A process whose use of resources is measured, from /proc.
struct Watched {
    let id: pid_t

    /// The processor time of all its threads so far, in seconds (the clock of
    /// clock_getcpuclockid(3)).
    var processor: Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(id, &clock) == 0, clock_gettime(clock, &time) == 0 else {
            return .nan
        }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The number of times that its threads have waited and been woken so far.
    var wakeups: Int {
        threads.reduce(0) { $0 + number("voluntary_ctxt_switches", in: "task/\($1)/status") }
    }

    /// The memory in megabytes (10^6 bytes): what is resident; its share of that (PSS), where each
    /// page counts in parts for the programs that have it; and the part that is its own, without
    /// files and shared memory.
    var memory: (resident: Double, share: Double, own: Double) {
        func megabytes(_ key: String, _ file: String) -> Double {
            Double(number(key, in: file)) * 1024 / 1e6
        }
        return (
            megabytes("VmRSS", "status"), megabytes("Pss", "smaps_rollup"),
            megabytes("RssAnon", "status")
        )
    }

    /// The resident memory in megabytes by mapped file.
    var files: [String: Double] {
        // The file has no length, and is longer than a single read of such a file returns.
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

    var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/fd").count) ?? 0
    }

    private var threads: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")) ?? []
    }

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
    var watched: Watched { Watched(id: program.id) }

    /// Returns a number from its Statistics, at the path of keys.
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

func pause(_ seconds: Double) { usleep(UInt32(seconds * 1e6)) }
