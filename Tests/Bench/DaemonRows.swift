import Control
import DBusKit
import Foundation
import Frames
import Platform
import TestSupport

/// The cost and the response times of the real daemon, in a session of its own.
struct DaemonRows {
    let clips: Clips
    let pairs: Int

    static func configuration(_ clips: Clips, _ motion: Clips.Motion) -> String {
        let rows = DaemonRows(clips: clips, pairs: 1)
        return rows.configuration(rows.movie(motion))
    }

    func configuration(_ source: String, size: Size = Clips.size, more: String = "") -> String {
        """
        [output]
        width = \(size.width)
        height = \(size.height)
        [cameras.back]
        source = "\(source)"
        [cameras.front]
        source = "\(source)"
        mirror = false
        \(more)
        """
    }

    private func path(_ file: String) -> String {
        URL(fileURLWithPath: file).standardizedFileURL.path
    }

    func movie(_ motion: Clips.Motion) -> String { "file:\(path(clips.movie(motion)))" }

    // MARK: Beside GStreamer

    /// Returns the processor time per frame of the whole daemon, and of GStreamer with
    /// `pipewiresink`.
    func load(_ motion: Clips.Motion) throws -> [Row] {
        var own: [Double] = []
        var peer: [Double?] = []
        for _ in 0..<pairs {
            peer.append(
                withPeer { session in
                    let pipeline = try session.run(
                        "gst-launch-1.0",
                        Peer.gstreamer.live(.motion(motion), clips)
                    )
                    return try cost(
                        Watched(id: pipeline.id),
                        try StreamReader("gstreamer", in: session)
                    )
                }
            )
            own.append(
                try PrivateSession.with { session in
                    let daemon = try Daemon(configuration(movie(motion)), in: session)
                    return try cost(daemon.watched, try StreamReader("dualcam", in: session))
                }
            )
        }
        let name = "daemon, two \(motion.rawValue) MJPEG cameras, one consumer"
        return [
            Row(name, "ms", own),
            Row("  gstreamer at its cheapest, to pipewiresink", "ms", peer.compactMap { $0 }),
            Row("  DualCam ÷ gstreamer", target: 0.45, own, over: peer),
        ]
    }

    /// Runs `body`, which measures a peer; `nil` if that ends before, as Debian 12's `pipewiresink`
    /// does now and then by SIGSEGV.
    func withPeer<Value>(_ body: (PrivateSession) throws -> Value) -> Value? {
        do { return try PrivateSession.with { try body($0) } } catch {
            say("no peer: \(error)")
            return nil
        }
    }

    /// Returns the processor time in milliseconds per frame that `reader` gets, over three seconds.
    private func cost(_ process: Watched, _ reader: StreamReader) throws -> Double {
        defer { reader.close() }
        try settle(reader)
        let (start, first) = (process.processor, reader.count)
        pause(3)
        let frames = reader.count - first
        guard frames > 60 else { throw BenchError("\(frames) frames in 3 s only") }
        return (process.processor - start) * 1000 / Double(frames)
    }

    func settle(_ reader: StreamReader, frames: Int = 45) throws {
        try eventually("frames", within: 20) { reader.count > frames }
    }

    // MARK: Time

    /// Returns the delay from the camera's time stamp to the consumer, and from the reply to a swap
    /// to its first frame.
    func delays() throws -> [Row] {
        var delays: [Double] = []
        var swaps: [Double] = []
        try Daemon.with(configuration(movie(.noisy))) { daemon in
            let reader = try StreamReader("dualcam", in: daemon.session)
            defer { reader.close() }
            try settle(reader)
            reader.flush()
            let all = try reader.frames(300, within: 20).compactMap { frame in
                frame.pts.map { (frame.arrival - $0).seconds * 1000 }
            }
            let decoding = try daemon.statistic("decode", "back", "p50") / 1000
            delays = all.map { $0 - decoding }
        }
        // Pictures without movement, so that only the swap changes them.
        let still = "file:\(path(clips.still))"
        try Daemon.with(configuration(still, more: "[scene]\nswap-duration-ms = 300")) { daemon in
            let reader = try StreamReader("dualcam", in: daemon.session, copies: true)
            defer { reader.close() }
            try settle(reader, frames: 20)
            for index in 0..<60 {
                reader.flush()
                var last = try reader.next().bytes
                // At another moment of the interval each time.
                pause(Double(index) * 0.0331 / 60)
                try daemon.call("Swap", of: .scene)
                let reply = MonotonicClock.now
                while true {
                    let frame = try reader.next()
                    if frame.bytes != last {
                        swaps.append(max(0, (frame.arrival - reply).seconds * 1000))
                        break
                    }
                    last = frame.bytes
                }
                pause(0.35)
            }
        }
        return [
            Row(
                "camera's time stamp to consumer, decoding (its p50) apart: p50",
                "ms",
                target: 2,
                [delays.median]
            ),
            Row("  p99", "ms", target: 8, [delays.quantile(0.99)]),
            Row("reply to Swap to first changed frame: p50", "ms", [swaps.median]),
            Row("  p99", "ms", target: 1000 / 30.0, [swaps.quantile(0.99)]),
        ]
    }

    /// Returns the time from exec to READY, and from a consumer's link to its first frame.
    func starts() throws -> [Row] {
        var ready: [Double] = []
        var first: [Double] = []
        try PrivateSession.with { session in
            for _ in 0..<pairs {
                let start = MonotonicClock.now
                let daemon = try Daemon(configuration(movie(.clean)), in: session, node: false)
                ready.append((daemon.notifications.readiness - start).seconds * 1000)
                try daemon.stream.wait(for: \.active, true)
                let reader = try StreamReader("dualcam", in: session)
                let frame = try reader.next()
                let opening = try daemon.statistic("opening", "back", "longest") / 1000
                first.append((frame.arrival - reader.linkTime).seconds * 1000 - opening)
                reader.close()
                _ = try daemon.end()
            }
        }
        return [
            Row("exec to READY", "ms", target: 100, ready),
            Row("link to first frame, the camera's start apart", "ms", target: 60, first),
        ]
    }

    // MARK: Resources

    /// Returns the use of resources at rest and while streaming.
    func rest() throws -> [Row] {
        var rows: [Row] = []
        try Daemon.with(configuration(movie(.clean))) { daemon in
            let process = daemon.watched
            pause(1.5)
            let frames = try captured(daemon)
            // Requests wake the daemon, too, so none is sent from here on.
            pause(0.5)
            let before = process.wakeups
            pause(8)
            let rate = Double(process.wakeups - before) / 8
            let (idle, files) = (process.memory, process.files)
            let states = try [DualCam.backPath, DualCam.frontPath].map { try daemon.state(of: $0) }
            let descriptors = Double(process.descriptors)
            let threads = Double(process.threadNames.count)
            rows += [
                Row("idle: cameras open", "", target: 0, [Double(states.count { $0 != "closed" })]),
                Row("  frames", "", target: 0, [try captured(daemon) - frames]),
                Row("  wake-ups a second", "1/s", target: 0, [rate]),
                Row("  threads", "", target: 10, [threads]),
                Row("  descriptors", "", target: 64, [descriptors]),
                Row("  memory: its share (PSS)", "MB", target: 26, [idle.share]),
                Row("  resident", "MB", [idle.resident]),
                Row("  of that its own", "MB", [idle.own]),
            ]
            let reader = try StreamReader("dualcam", in: daemon.session)
            defer { reader.close() }
            try settle(reader, frames: 90)
            let streaming = process.memory
            // The libraries of FFmpeg are loaded only for files, which stand in for cameras here.
            let brought = process.files.reduce(0) { sum, file in
                let isNew = files[file.key] == nil && file.key.contains(".so")
                return sum + (isNew ? file.value : 0)
            }
            rows += [
                Row(
                    "streaming 1080p: memory, resident, without FFmpeg's libraries",
                    "MB",
                    target: 90,
                    [streaming.resident - brought]
                ),
                Row("  with them", "MB", [streaming.resident]),
                Row("  of that its own", "MB", [streaming.own]),
                Row("  descriptors", "", [Double(process.descriptors)]),
            ]
        }
        return rows
    }

    private func captured(_ daemon: Daemon) throws -> Double {
        try [DualCam.backPath, DualCam.frontPath].reduce(0) {
            $0 + Double(try Int(daemon.camera($1).get(\.framesCaptured)))
        }
    }

    /// Returns the calls of malloc and related functions per frame, on the threads of the pipeline.
    func allocations() throws -> [Row] {
        // Of frames in memory: the additional allocations for sixty more frames.
        let totals = try [60, 120].map { frames in
            let counter = try AllocationCounter(in: clips.directory)
            _ = try Usage.of(
                "/proc/self/exe",
                words("--side dualcam --clip \(clips.jpegs(.clean)) --frames \(frames)"),
                adding: counter.environment
            )
            return counter.total
        }
        let counter = try AllocationCounter(in: clips.directory)
        var rows = [
            Row(
                "frames in memory: allocations a frame, all threads",
                "",
                target: 0,
                [max(0, Double(totals[1] - totals[0])) / 60]
            )
        ]
        try PrivateSession.with { session in
            let daemon = try Daemon(
                configuration(movie(.clean), more: "node = true"),
                in: session,
                adding: counter.environment
            )
            /// Counts on each thread, for a frame that `reader` gets.
            func perFrame(_ reader: StreamReader) throws -> [String: Double] {
                try settle(reader, frames: 90)
                let (before, first) = (counter.counts(daemon.watched), reader.count)
                pause(4)
                let frames = Double(max(1, reader.count - first))
                return counter.counts(daemon.watched).reduce(into: [:]) { counts, thread in
                    counts[thread.key] = Double(thread.value - (before[thread.key] ?? 0)) / frames
                }
            }
            let reader = try StreamReader("dualcam", in: session)
            defer { reader.close() }
            let counts = try perFrame(reader)
            // The threads of cameras read files here, for which libavformat allocates.
            for (name, thread, target) in [
                ("daemon: allocations a frame, compositing", "composite", 0.0),
                ("  capturing from a file (back)", "capture-back", nil),
                ("  capturing from a file (front)", "capture-front", nil),
            ] {
                rows.append(Row(name, "", target: target, [counts[thread] ?? 0]))
            }
            let camera = try StreamReader("dualcam.front", in: session)
            defer { camera.close() }
            rows.append(
                Row(
                    "  with a camera's own node beside the stream",
                    "",
                    target: 0,
                    [try perFrame(camera)["composite"] ?? 0]
                )
            )
            _ = try daemon.end()
        }
        return rows
    }

    /// Returns the growth of the cost with the number of consumers, and with the size of the
    /// picture.
    func growth() throws -> [Row] {
        var growth: [Double] = []
        try Daemon.with(configuration(movie(.clean))) { daemon in
            for _ in 0..<min(3, pairs) {
                let costs = try [1, 8].map { count in
                    let others = try (1..<count).map { _ in
                        try StreamReader("dualcam", in: daemon.session)
                    }
                    defer { for reader in others { reader.close() } }
                    return try cost(daemon.watched, try StreamReader("dualcam", in: daemon.session))
                }
                growth.append((costs[1] / costs[0] - 1) * 100)
            }
        }
        return [Row("1 → 8 consumers: growth of processor time", "%", target: 10, growth)]
    }

    func large() throws -> [Row] {
        var dropped = 0.0
        var replaced = 0.0
        var rate = 0.0
        try Daemon.with(configuration(movie(.noisy), size: Size(width: 3840, height: 2160))) {
            daemon in
            let reader = try StreamReader("dualcam", in: daemon.session)
            defer { reader.close() }
            try settle(reader, frames: 60)
            func losses() throws -> Double {
                try daemon.statistic("frames-repeated") + daemon.statistic("drops", "unbuffered")
                    + daemon.statistic("drops", "back", "damaged")
                    + daemon.statistic("drops", "front", "damaged")
                    + daemon.statistic("drops", "back", "replaced")
            }
            // The two cameras are not in step: now and then two of the inset's frames fall between
            // two of the output's, as far apart as they were captured.
            func insets() throws -> Double { try daemon.statistic("drops", "front", "replaced") }
            let replacedBefore = try insets()
            let (before, first, start) = (try losses(), reader.count, MonotonicClock.now)
            pause(10)
            rate = Double(reader.count - first) / (MonotonicClock.now - start).seconds
            dropped = try losses() - before
            replaced = try insets() - replacedBefore
        }
        return [
            Row("2160p30 of two noisy cameras: frames dropped in 10 s", "", target: 0, [dropped]),
            Row("  frames of the inset replaced by newer ones", "", [replaced]),
            Row("  frames a second", "1/s", [rate]),
        ]
    }
}
