import Foundation
import Glibc
import Platform
import TestSupport

struct Usage {
    /// The processor time in seconds, user and kernel, of all its threads.
    var processor: Double
    var output: String

    /// Runs `program` to its end, with `environment` added to this process's own.
    ///
    /// - Throws: An error with its output when it fails.
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

func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Returns the processor time of this thread that `draw` takes for one of so many frames, in
/// milliseconds.
func threadTime(of frames: Int, _ draw: (Int) -> Void) -> Double {
    func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1e6
    }
    let start = now()
    for index in 0..<frames { draw(index) }
    return (now() - start) / Double(frames)
}

func say(_ text: String) { FileHandle.standardError.write(Data("bench: \(text)\n".utf8)) }

func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
