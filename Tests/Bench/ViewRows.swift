import Control
import DBusKit
import Foundation
import Frames
import Platform
import TestSupport

/// The cost and the response times of the window, `dualcam-view`, on a screen without a GPU.
struct ViewRows {
    let clips: Clips
    let pairs: Int

    private static let stream = Size(width: 1280, height: 720)
    private static let rate = 30.0
    /// The time over which processor time is counted, in seconds.
    private static let span = 4.0

    func rows() throws -> [Row] {
        try [Size(width: 480, height: 270), Self.stream].flatMap(costs) + times()
    }

    // MARK: Processor time

    /// Returns the processor time for each frame of the stream of the window and its peers, all
    /// shown at `size`, and the window's memory.
    private func costs(at size: Size) throws -> [Row] {
        let raw = try rawStream()
        var (window, sink, player): ([Double], [Double], [Double]) = ([], [], [])
        var memory: [Double] = []
        for _ in 0..<pairs {
            try PrivateSession.with { session in
                let screen = try Screen(in: session)
                let daemon = try Daemon(configuration(Self.stream), in: session)
                let view = try start(on: screen, in: session, width: size.width)
                try consumed(by: 1, daemon)
                window.append(cost(view))
                memory.append(Watched(id: view.id).memory.share)
                session.forget(view)
                try consumed(by: 0, daemon)
                let gstreamer = try session.run(
                    "gst-launch-1.0",
                    ["-q", "pipewiresrc", "target-object=dualcam", "!", "videoscale", "!"]
                        + ["videoconvert", "!"]
                        + ["video/x-raw,width=\(size.width),height=\(size.height)", "!"]
                        + ["ximagesink", "sync=false"],
                    adding: ["DISPLAY": screen.display]
                )
                try consumed(by: 1, daemon)
                sink.append(cost(gstreamer))
                session.forget(gstreamer)
                // It knows no PipeWire, and has the same pictures from a file.
                let ffplay = try session.run(
                    "ffplay",
                    ["-v", "error", "-an", "-loop", "0", "-f", "rawvideo"]
                        + ["-pixel_format", "yuyv422", "-video_size", "\(Self.stream)"]
                        + ["-framerate", "\(Int(Self.rate))", "-x", "\(size.width)"]
                        + ["-y", "\(size.height)", raw],
                    adding: ["DISPLAY": screen.display, "SDL_RENDER_DRIVER": "software"]
                )
                try eventually("ffplay's window; \(ffplay.errors)", within: 15) {
                    try !screen.run("xdotool", ["search", "--onlyvisible", "--class", "ffplay"])
                        .isEmpty
                }
                player.append(cost(ffplay))
            }
        }
        let name = "the window at \(size), for each frame"
        let cheaper = zip(sink, player).map { min($0, $1) }
        return [
            Row(name, "ms", window), Row("  gstreamer's ximagesink", "ms", sink),
            Row("  ffplay", "ms", player),
            Row("  the window ÷ the cheaper one", "", target: 1.3, zip(window, cheaper).map(/)),
            Row("  the window's memory (PSS)", "MB", target: 80, memory),
        ]
    }

    /// Returns the processor time of `program` for each frame in milliseconds, once it has shown
    /// the first ones.
    private func cost(_ program: Child) -> Double {
        let process = Watched(id: program.id)
        pause(1.5)
        let (before, begin) = (process.processor, MonotonicClock.now)
        pause(Self.span)
        let frames = (MonotonicClock.now - begin).seconds * Self.rate
        return (process.processor - before) / frames * 1000
    }

    private func rawStream() throws -> String {
        let path = "\(clips.directory)/view.yuyv"
        guard !FileManager.default.fileExists(atPath: path) else { return path }
        _ = try Usage.of(
            "ffmpeg",
            ["-v", "error", "-i", clips.movie(.clean), "-frames:v", "60", "-s", "\(Self.stream)"]
                + ["-pix_fmt", "yuyv422", "-f", "rawvideo", "-y", path]
        )
        return path
    }

    // MARK: Times

    /// Returns the times from the start to the first picture and from a click to the first changed
    /// pixel, and what the window takes of the stream while it is minimised.
    private func times() throws -> [Row] {
        var (first, click, hidden): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<pairs {
            try PrivateSession.with { session in
                let screen = try Screen(in: session)
                let daemon = try Daemon(stills(session), in: session)
                // A warm library of GTK, as on a desktop that is in use.
                let warm = try start(on: screen, in: session, width: 480)
                try consumed(by: 1, daemon)
                session.forget(warm)
                try consumed(by: 0, daemon)
                // The window comes to the bottom right corner. Left of its inset it is white; a
                // swap moves the inset's left edge first.
                let watch = try ScreenWatch(screen, in: session, at: (1120, 560))
                let edge = try ScreenWatch(screen, in: session, at: (1132, 560))
                let before = Date().timeIntervalSince1970
                _ = try start(on: screen, in: session, width: 480)
                first.append((try watch.time(of: { $0 > 200 }) - before) * 1000)
                // An app that was told of a first frame has opened its cameras.
                try screen.hand("mousemove 1189 559")
                pause(0.7)
                let rest = edge.last ?? 0
                let pressed = Date().timeIntervalSince1970
                try screen.hand("click 1")
                let changed = try edge.time(of: { abs($0 - rest) > 1 }, after: pressed)
                click.append((changed - pressed) * 1000)
                try screen.hand("search --onlyvisible --name ^DualCam$ windowminimize")
                try daemon.back.wait(for: \.state, "closed", within: 15)
                let count = try captured(daemon)
                pause(2)
                hidden.append(Double(try captured(daemon) - count))
            }
        }
        return [
            Row("the window: start to first picture", "ms", target: 400, first),
            Row("  a click on the inset to the first changed pixel", "ms", target: 100, click),
            Row("  frames captured in two minimised seconds", "", target: 0, hidden),
        ]
    }

    private func captured(_ daemon: Daemon) throws -> Int {
        try Int(daemon.back.get(\.framesCaptured))
    }

    private func consumed(by count: UInt32, _ daemon: Daemon) throws {
        try eventually("\(count) consumers", within: 15) {
            try daemon.stream.get(\.consumers) == count
        }
    }

    // MARK: The programs

    private func start(on screen: Screen, in session: PrivateSession, width: Int) throws -> Child {
        let folder = "\(session.directory)/home/.local/state/dualcam"
        try makeDirectory(folder)
        try "set-up = true\n".write(toFile: "\(folder)/window", atomically: true, encoding: .utf8)
        try "\(width)\n".write(toFile: "\(folder)/view", atomically: true, encoding: .utf8)
        return try session.run(
            Programs.path(of: "dualcam-view"),
            [],
            adding: [
                "DISPLAY": screen.display, "GSK_RENDERER": "cairo", "GDK_BACKEND": "x11",
                "GTK_A11Y": "none",
            ]
        )
    }

    private func configuration(_ size: Size) -> String {
        DaemonRows(clips: clips, pairs: 1).configuration("test", size: size)
    }

    /// Returns a configuration with a white and a black camera.
    private func stills(_ session: PrivateSession) throws -> String {
        let paths = try ["white", "black"].map { color in
            let path = "\(session.directory)/\(color).y4m"
            _ = try Usage.of(
                "ffmpeg",
                ["-v", "error", "-f", "lavfi", "-i", "color=\(color):s=640x360:r=30:d=1", path]
            )
            return path
        }
        return """
            [cameras.back]
            source = "file:\(paths[0])"
            [cameras.front]
            source = "file:\(paths[1])"
            """
    }
}

/// The luma of a few pixels of a screen, a hundred times a second.
///
/// - Context: bound to the bench's thread.
private final class ScreenWatch {
    private let program: Child

    /// Watches the 4x4 pixels whose top left one is at a point.
    init(_ screen: Screen, in session: PrivateSession, at point: (x: Int, y: Int)) throws {
        let filter =
            "signalstats,metadata=print:key=lavfi.signalstats.YAVG:direct=1:file=/dev/stdout"
        let program = try session.run(
            "ffmpeg",
            ["-v", "error", "-f", "x11grab", "-draw_mouse", "0", "-framerate", "100"]
                + ["-video_size", "4x4", "-i", "\(screen.display)+\(point.x),\(point.y)"]
                + ["-copyts", "-vf", filter, "-f", "null", "-"],
            adding: ["DISPLAY": screen.display]
        )
        self.program = program
        try eventually("a first look; \(program.errors)", within: 10) {
            program.output.contains("YAVG")
        }
    }

    /// The lumas so far, each with the time at which it was seen, in seconds since 1970.
    private var lumas: [(time: Double, luma: Double)] {
        let output = program.output
        // The last line may not be whole yet.
        let end = output.lastIndex(of: "\n") ?? output.startIndex
        var time = 0.0
        return output[..<end].split(whereSeparator: \.isWhitespace).compactMap { word in
            if word.hasPrefix("pts:") {
                // x11grab stamps its pictures in microseconds since 1970.
                time = (Double(word.dropFirst("pts:".count)) ?? 0) / 1e6
            }
            guard word.hasPrefix("lavfi.signalstats.YAVG=") else { return nil }
            return Double(word.dropFirst("lavfi.signalstats.YAVG=".count)).map { (time, $0) }
        }
    }

    var last: Double? { lumas.last?.luma }

    /// Waits for a luma that `isRight` holds of, `after` a time, and returns the time at which it
    /// was seen; both are in seconds since 1970.
    func time(of isRight: (Double) -> Bool, after: Double = 0) throws -> Double {
        try eventually("another luma; \(program.errors)", within: 10) {
            lumas.first { $0.time > after && isRight($0.luma) }?.time
        }
    }
}
