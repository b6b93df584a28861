import Foundation
import Frames
import Glibc
import Platform
import TestSupport

/// The daemon's processor time by stage, from samples of perf(1).
struct Profile {
    let clips: Clips

    /// The stages of a frame's way with their functions. The first match counts; other samples
    /// belong to their thread.
    private static let stages: [(name: String, functions: [String])] = [
        ("decode", ["jpeg", "huff", "idct", "tjDecompress", "sep_upsample", "fullsize"]),
        ("orient", ["Mirror", "Rotate", "Transpose", "turn"]),
        ("scale", ["Scale", "Interpolate", "scale", "halve", "Halved"]),
        ("publish", ["pw_", "spa_", "impl_", "pipewire"]),
    ]

    /// Prints the shares for two noisy MJPEG cameras and one consumer.
    func run() throws {
        let file = "\(clips.directory)/perf.data"
        try PrivateSession.with { session in
            let daemon = try Daemon(DaemonRows.configuration(clips, .noisy), in: session)
            let reader = try StreamReader("dualcam", in: session)
            defer { reader.close() }
            try eventually("frames", within: 20) { reader.count > 45 }
            say("sampling for 8 s")
            let first = (daemon.watched.processor, reader.count)
            _ = try Usage.of(
                "perf",
                words(
                    "record -q -e cpu-clock -F 1999 -o \(file) -p \(daemon.program.id) -- sleep 8"
                )
            )
            let time = daemon.watched.processor - first.0
            let frames = Double(max(1, reader.count - first.1))
            try report(of: file, milliseconds: time * 1000 / frames)
        }
    }

    private func report(of file: String, milliseconds: Double) throws {
        let samples = try Usage.of(
            "perf",
            words("script -i \(file) -F comm,ip,sym,dso")
        ).output.split(separator: "\n")
        var stages: [String: Int] = [:]
        var functions: [String: [String: Int]] = [:]
        for sample in samples {
            let words = sample.split(separator: " ", omittingEmptySubsequences: true)
            guard words.count >= 4 else { continue }
            let thread = String(words[0])
            let function = String(words[2])
            let stage = stage(of: sample, on: thread)
            stages[stage, default: 0] += 1
            let library = words[words.count - 1].split(separator: "/").last ?? ""
            functions[stage, default: [:]]["\(function) (\(library)", default: 0] += 1
        }
        let total = Double(max(1, stages.values.reduce(0, +)))
        print(String(format: "%.2f ms of processor time a frame", milliseconds))
        for (stage, count) in stages.sorted(by: { $0.value > $1.value }) {
            let share = Double(count) / total
            print(String(format: "%5.1f %%  %6.2f ms  ", share * 100, share * milliseconds) + stage)
            for (function, count) in functions[stage, default: [:]]
                .sorted(by: { $0.value > $1.value }).prefix(4)
            {
                print(
                    String(format: "            %5.1f %%  ", Double(count) / total * 100) + function
                )
            }
        }
    }

    private func stage(of sample: Substring, on thread: String) -> String {
        if let stage = Self.stages.first(where: { $0.functions.contains { sample.contains($0) } }) {
            return stage.name
        }
        return switch thread {
        case "composite": "composite"
        case _ where thread.hasPrefix("capture"): "capture"
        default: "control"
        }
    }
}
