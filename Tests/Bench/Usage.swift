import Foundation
import Glibc
import Platform
import TestSupport

/// What a program took of the processors.
struct Usage {
    /// Seconds of processor time, in user and kernel, of all its threads.
    var processor: Double
    /// What it wrote to its standard output.
    var output: String

    /// Runs `program` to its end, with `environment` beside ours. Throws when it fails, with what it said.
    static func of(
        _ program: String,
        _ arguments: [String],
        adding environment: [String: String] = [:]
    ) throws -> Usage {
        let ours = ProcessInfo.processInfo.environment
        let child = try Child(program, arguments, environment: ours.merging(environment) { $1 })
        let exit = try child.wait(within: 120)
        guard exit == .status(0) else {
            throw BenchError(
                "\(program) \(arguments.joined(separator: " ")): \(exit)\n\(child.errors)"
            )
        }
        return Usage(processor: child.processorTime, output: child.output)
    }
}

/// Seconds of processor time that this process has taken so far.
func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Says to whoever waits what is going on.
func say(_ text: String) { FileHandle.standardError.write(Data("bench: \(text)\n".utf8)) }

/// The words of a command line.
func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
