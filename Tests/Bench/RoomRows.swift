import Foundation
import Frames
import TestSupport

extension DaemonRows {
    /// Returns what hiding the room costs the whole daemon, at 1280x720 and 30 frames a second, in
    /// processor time and delay; beside ffmpeg's cheapest blur of the whole picture.
    func room() throws -> [Row] {
        let single = "[scene]\nlayout = \"single\""
        let inset = "[scene]\ninset-size = 0.5"
        let picture = URL(fileURLWithPath: clips.still).standardizedFileURL.path
        let cases = [
            ("blurred", "test:front", single, ("room = \"blur\"", single)),
            ("a picture instead", "test:front", single, ("room = \"\(picture)\"", single)),
            (
                "a person over the other camera", "test:back", inset,
                ("", "\(inset)\ninset-shape = \"person\"")
            ),
        ]
        var rows: [Row] = []
        for (name, source, plain, (room, scene)) in cases {
            var (costs, delays): ([Double], [Double]) = ([], [])
            for _ in 0..<max(1, pairs / 2) {
                let off = try use(source, "", plain)
                let on = try use(source, room, scene)
                costs.append((on.percent - off.percent))
                delays.append(on.delay - off.delay)
            }
            rows += [
                Row("room at 720p30, \(name)", "% of a core", target: 8, costs),
                Row("  delay from camera to consumer, p99", "ms more", target: 4, delays),
            ]
        }
        let size = "scale=1280:720,format=yuv422p"
        func ffmpeg(_ filter: String) throws -> Double {
            let rate = "-framerate \(Clips.rate) -video_size \(Clips.size) -pixel_format yuyv422"
            let input = words("-nostdin -v error -stream_loop -1 -f rawvideo \(rate) -i")
            return try Usage.of(
                "ffmpeg",
                words("-filter_threads 1") + input + [clips.raw, "-vf", filter]
                    + words("-frames:v 60 -f null -")
            ).processor
        }
        let blurred = try ffmpeg("\(size),boxblur=20:1") - ffmpeg(size)
        return rows + [Row("  ffmpeg's boxblur of all of it", "% of a core", [blurred * 50])]
    }

    /// Returns the processor time of the daemon, in percent of a core, and the 99th percentile of
    /// the delays from the camera's time stamp to a consumer, in milliseconds.
    private func use(
        _ source: String,
        _ room: String,
        _ scene: String
    ) throws -> (percent: Double, delay: Double) {
        let file = """
            [output]
            width = 1280
            height = 720
            [cameras.back]
            source = "\(source)"
            \(room)
            [cameras.front]
            source = "test:front"
            \(scene)
            """
        var use = (percent: 0.0, delay: 0.0)
        try Daemon.with(file) { daemon in
            let reader = try StreamReader("dualcam", in: daemon.session)
            defer { reader.close() }
            try settle(reader)
            reader.flush()
            let start = daemon.watched.processor
            let frames = try reader.frames(300, within: 30)
            let delays = frames.compactMap { frame in
                frame.pts.map { (frame.arrival - $0).seconds * 1000 }
            }
            use = ((daemon.watched.processor - start) * 10, delays.quantile(0.99))
        }
        return use
    }
}
