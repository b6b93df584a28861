import ArgumentParser
import Foundation
import Frames
import Glibc

/// The benchmark of DualCam and its peers; see docs/speed.md.
struct Bench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures DualCam beside GStreamer and ffmpeg on the same input."
    )

    @Flag(help: "Only what is held to limits by the tests.")
    var quick = false
    @Option(help: "Where inputs and results are kept.")
    var directory = ".build/bench"
    @Option(help: "Runs of each, in alternation.")
    var pairs = 5

    @Flag(help: "Fails when a limit is passed: a target and what machines differ by.")
    var limits = false
    @Flag(help: "Says where the daemon's time goes, by perf(1), instead.")
    var profile = false
    @Option(help: "Compare with this older binary of the benchmark instead, in turn.")
    var base: String?
    @Option(help: "Only this part; may be repeated.")
    var only: [String] = []

    @Option(help: .hidden) var side: String?
    @Option(help: .hidden) var clip = ""
    @Option(help: .hidden) var frames = 300
    @Option(help: .hidden) var picture: String?

    /// The limits of the tests: ratios by the names of their rows, with room for differences of
    /// machines.
    private static let limits = [
        "clean MJPEG: DualCam ÷ gstreamer": 0.6, "clean MJPEG: DualCam ÷ floor": 1.4,
        "raw YUYV: DualCam ÷ gstreamer": 0.45, "raw YUYV: composing ÷ copy": 5,
        "raw YUYV: composing in the middle of a swap ÷ copy": 11,
    ]

    func run() throws {
        if let side {
            guard let side = Side(rawValue: side) else { throw BenchError("no side \(side)") }
            return try side.run(clip, frames: frames, picture: picture)
        }
        let clips = try Clips(in: directory)
        if profile { return try Profile(clips: clips).run() }
        let pairs = quick ? 3 : pairs
        let daemon = DaemonRows(clips: clips, pairs: pairs)
        let offline = OfflineRows(
            clips: clips,
            pairs: pairs,
            frames: Clips.movieFrames / 2,
            isQuick: quick
        )
        let composing = ComposingRows(clips: clips, pairs: pairs)
        var parts: [(String, () throws -> [Row])] = [
            (
                "clean",
                { try offline.rows(.motion(.clean), gstreamer: 0.30, ffmpeg: 0.35, floor: 1.10) }
            ),
            ("raw", { try offline.rows(.raw, gstreamer: 0.20, ffmpeg: 0.08) }),
            ("composing", composing.rows), ("faces", { try faceRows(clips, pairs) }),
            ("perspective-extra", PerspectiveRows(clips: clips, pairs: pairs).extra),
        ]
        if let base {
            guard access(base, X_OK) == 0 else { throw BenchError("no program \(base)") }
            parts = [
                ("clean", { try offline.rows(.motion(.clean), against: base) }),
                ("raw", { try offline.rows(.raw, against: base) }),
            ]
        } else if !quick {
            parts += [
                (
                    "noisy",
                    {
                        try offline.rows(
                            .motion(.noisy),
                            gstreamer: 0.40,
                            ffmpeg: 0.48,
                            floor: 1.10
                        )
                    }
                ),
                ("perspective", PerspectiveRows(clips: clips, pairs: pairs).rows),
                ("sizes", offline.sizes),
                ("load", { try Clips.Motion.allCases.flatMap(daemon.load) }),
                ("delays", daemon.delays), ("busy", daemon.busy), ("starts", daemon.starts),
                ("rest", daemon.rest), ("room", daemon.room),
                ("allocations", daemon.allocations), ("growth", daemon.growth),
                ("large", daemon.large), ("library", LibraryRows(pairs: pairs).rows),
                ("view", ViewRows(clips: clips, pairs: pairs).rows), ("phone", phoneRows),
            ]
        }
        var rows: [Row] = []
        for (name, part) in parts where only.isEmpty || only.contains(name) {
            say("measuring: \(name)")
            rows += try part()
        }
        print("\n\(Row.heading)")
        for row in rows { print(row.line) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let path = directory + (limits ? "-limits.json" : ".json")
        try encoder.encode(rows).write(to: URL(fileURLWithPath: path))
        say("\(path) holds every value")
        guard limits else { return }
        let passed = rows.filter { row in
            Self.limits[row.name].map { !(row.median <= $0) } ?? false
        }
        for row in passed { say("\(row.name): over the limit of \(Self.limits[row.name] ?? 0)") }
        if !passed.isEmpty { throw ExitCode.failure }
    }
}

Bench.main()
