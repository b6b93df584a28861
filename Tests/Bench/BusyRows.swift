import Foundation
import Frames
import Glibc
import Platform
import TestSupport

extension DaemonRows {
    /// Returns the delays and gaps of a stream at 30 frames a second while a busy process runs on
    /// each processor: with the priority that the daemon gets, without it, and of GStreamer.
    func busy() throws -> [Row] {
        var rows: [Row] = []
        for size in [Size(width: 1280, height: 720), Clips.size] {
            let configuration = configuration(movie(.clean), size: size)
            let name = "busy processors, \(size.height)p30"
            let with = try PrivateSession.with { session in
                let daemon = try Daemon(configuration, in: session)
                return try timing(of: "dualcam", in: session, of: daemon)
            }
            let without = try PrivateSession.with { session in
                let daemon = try Daemon(configuration, in: session)
                return try timing(of: "dualcam", in: session, of: daemon, isOrdinary: true)
            }
            rows += [
                Row(
                    "\(name): camera to consumer, decoding apart: p99",
                    "ms",
                    target: 8,
                    [with.delays.quantile(0.99)]
                ),
                Row("  longest gap between frames", "ms", target: 2000 / 30.0, [with.gap]),
                Row("  the same at ordinary priority: p99", "ms", [without.delays.quantile(0.99)]),
                Row("  longest gap", "ms", [without.gap]),
            ]
        }
        let peer = withPeer { session in
            let arguments = Peer.gstreamer.live(.motion(.clean), clips)
            _ = try session.run("gst-launch-1.0", arguments)
            // GStreamer's time stamps are of another clock: only its gaps can be compared.
            return try timing(of: "gstreamer", in: session)
        }
        return rows + [
            Row("  gstreamer's pipeline, 1080p30: longest gap", "ms", peer.map { [$0.gap] } ?? [])
        ]
    }

    /// Returns the delays in milliseconds from the camera's time stamp to the consumer, less the
    /// usual time of decoding, and the longest time between two of 200 frames: fewer than a clip
    /// has, which GStreamer plays once.
    private func timing(
        of node: String,
        in session: PrivateSession,
        of daemon: Daemon? = nil,
        isOrdinary: Bool = false
    ) throws -> (delays: [Double], gap: Double) {
        let count = ProcessInfo.processInfo.activeProcessorCount
        let reader = try StreamReader(node, in: session)
        defer { reader.close() }
        try settle(reader)
        if isOrdinary { daemon?.watched.makeOrdinary() }
        // The consumer's own waits for a processor are not the stream's.
        Watched(id: getpid()).makeRealTime()
        defer { Watched(id: getpid()).makeOrdinary() }
        let busy = try (0..<count).map { _ in try session.run("sh", ["-c", "while :; do :; done"]) }
        defer { for process in busy { process.end() } }
        pause(0.5)
        reader.flush()
        let frames = try reader.frames(200, within: 40)
        let usual = try daemon?.statistic("decode", "back", "p50") ?? 0
        let delays = frames.compactMap { frame in
            frame.pts.map { (frame.arrival - $0).seconds * 1000 - usual / 1000 }
        }
        let gaps = zip(frames.dropFirst(), frames).map { ($0.arrival - $1.arrival).seconds * 1000 }
        return (delays, gaps.max() ?? .nan)
    }
}

extension Watched {
    /// Gives all its threads real-time priority, as far as this process may.
    func makeRealTime() {
        for thread in threadNames.keys { try? RealTimeThreads.raise(Int32(thread), to: 10) }
    }

    /// Takes the priority of all its threads away.
    func makeOrdinary() { for thread in threadNames.keys { RealTimeThreads.lower(Int32(thread)) } }
}
