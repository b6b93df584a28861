import Foundation
import Frames
import Glibc
import Platform
import TestSupport

extension DaemonRows {
    /// Returns the delays and gaps of a stream at 30 frames a second while a busy process runs on
    /// each processor.
    func busy() throws -> [Row] {
        try [Size(width: 1280, height: 720), Clips.size].flatMap { size in
            let (delays, gap) = try PrivateSession.with { session in
                try timing(Daemon(configuration(movie(.clean), size: size), in: session))
            }
            return [
                Row(
                    "busy processors, \(size.height)p30: camera to consumer, decoding apart: p99",
                    "ms",
                    target: 8,
                    [delays.quantile(0.99)]
                ),
                Row("  longest gap between frames", "ms", target: 2000 / 30.0, [gap]),
            ]
        }
    }

    /// Returns the delays in milliseconds from the camera's time stamp to the consumer, less the
    /// usual time of decoding, and the longest time between two of 200 frames.
    private func timing(_ daemon: Daemon) throws -> (delays: [Double], gap: Double) {
        let count = ProcessInfo.processInfo.activeProcessorCount
        let reader = try StreamReader("dualcam", in: daemon.session)
        defer { reader.close() }
        try settle(reader)
        // The consumer's own waits for a processor are not the stream's.
        for thread in Watched(id: getpid()).threadNames.keys {
            try? RealTimeThreads.raise(Int32(thread), to: 10)
        }
        defer {
            for thread in Watched(id: getpid()).threadNames.keys {
                RealTimeThreads.lower(Int32(thread))
            }
        }
        let busy = try (0..<count).map { _ in
            try daemon.session.run("sh", ["-c", "while :; do :; done"])
        }
        defer { for process in busy { process.end() } }
        pause(0.5)
        reader.flush()
        let frames = try reader.frames(200, within: 40)
        let usual = try daemon.statistic("decode", "back", "p50")
        let delays = frames.compactMap { frame in
            frame.pts.map { (frame.arrival - $0).seconds * 1000 - usual / 1000 }
        }
        let gaps = zip(frames.dropFirst(), frames).map { ($0.arrival - $1.arrival).seconds * 1000 }
        return (delays, gaps.max() ?? .nan)
    }
}
