import Control
import DBusKit
import Foundation
import Frames
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of what is in the files of a recording, as other programs read them.
    @Suite("Recorded files", .timeLimit(.minutes(3)))
    struct RecordedFileTests {
        /// Runs `body` with a daemon whose cameras are one still picture, and with a consumer, for
        /// which both cameras are open.
        private func with(
            _ scene: String = "",
            _ body: (Daemon, StreamReader) throws -> Void
        ) throws {
            try PrivateSession.with { session in
                let movie = "\(session.directory)/still.avi"
                try ffmpeg([
                    "-f", "lavfi", "-i", "color=s=640x360:r=30,format=yuvj420p,geq=130:128:128",
                    "-frames:v", "2", "-c:v", "mjpeg", "-q:v", "2", movie,
                ])
                let configuration = """
                    [output]
                    width = 640
                    height = 360
                    [cameras.back]
                    source = "file:\(movie)"
                    [cameras.front]
                    source = "file:\(movie)"
                    [capture]
                    video-directory = "\(session.directory)/videos"
                    [scene]
                    swap-icon = false
                    \(scene)
                    """
                let daemon = try Daemon(configuration, in: session)
                let reader = try daemon.reader()
                try eventually("both cameras", within: 20) {
                    try [DualCam.backPath, DualCam.frontPath].allSatisfy {
                        try daemon.state(of: $0) == "streaming"
                    }
                }
                try body(daemon, reader)
            }
        }

        /// Records until `isEnough`, and returns the files, in the order of their pictures.
        private func record(
            _ daemon: Daemon,
            _ options: [String: Value],
            until isEnough: () throws -> Bool
        ) throws -> [[String: Value]] {
            try daemon.capture.call(\.startRecording, options: options, within: 60)
            try eventually("enough of it", within: 30, isEnough)
            return try daemon.capture.call(\.stopRecording, within: 60)
        }

        /// Returns the seconds of the day that "14:30:05.123" or "14:30:05:03" stands for; what
        /// comes after the seconds counts if it is a fraction.
        private func seconds(_ time: some StringProtocol) throws -> Double {
            let parts = time.split(separator: ":").compactMap { Double($0) }
            try #require(parts.count >= 3, "\(time)")
            return parts[0] * 3600 + parts[1] * 60 + parts[2]
        }

        @Test(
            "tell when, with which camera and in what colours they were taken",
            arguments: ["mkv", "mp4"]
        )
        func tags(form: String) throws {
            try with { daemon, _ in
                let files = try record(daemon, ["mp4": .boolean(form == "mp4")]) {
                    try (daemon.get("RecordingSeconds", of: .capture).integer ?? 0) >= 1
                }
                try #require(files.map { $0["picture"]?.string } == ["back", "front", "stream"])
                let probes = try files.map { try Probe(try #require($0["path"]?.string)) }
                // The name has the moment of the first picture, and the file begins with the
                // recording: nothing was waited for between them but that picture.
                let first = try #require(probes.compactMap(\.times.first).min())
                for (file, probe) in zip(files, probes) {
                    let (path, picture) = (file["path"]?.string ?? "", file["picture"]?.string)
                    let name = try #require(
                        path.firstMatch(
                            of: /DualCam_([-0-9]{10})_(\d\d)(\d\d)([.0-9]{6})_(\w+)\.(\w+)$/
                        )
                    )
                    #expect(String(name.5) == picture && String(name.6) == form)
                    let begin = try seconds("\(name.2):\(name.3):\(name.4)") - first
                    let tags = try #require(probe.format.tags)
                    let code = try #require(
                        tags["TIMECODE"] ?? probe.streams.compactMap { $0.tags?["timecode"] }.first
                    )
                    // Timecodes count frames; names and times are rounded to milliseconds.
                    let late = begin - (try seconds(code))
                    #expect(late > -0.003 && late < 1.003, "\(code), begun at \(begin)")
                    let created = try #require(tags["creation_time"])
                    let minutes = created.dropFirst(14).prefix(5)
                    #expect(code.dropFirst(3).prefix(5) == minutes, "\(created), \(code)")
                    #expect(tags["title"] == "DualCam, \(picture ?? "")")
                    let model = tags["MODEL"] ?? tags["com.apple.quicktime.model"]
                    #expect(model == (picture == "stream" ? nil : "still.avi"), "\(tags)")
                    #expect(
                        (tags["CAMERA"] ?? tags["camera"]) == (picture == "stream" ? nil : picture)
                    )
                    let video = probe.streams[0]
                    #expect(video.colorPrimaries == "bt709", "\(picture ?? "")")
                    // A camera's JPEGs are sRGB, and the stream is video.
                    let transfer = picture == "stream" ? "bt709" : "iec61966-2-1"
                    #expect(video.colorTransfer == transfer, "\(picture ?? "")")
                    #expect(["smpte170m", "bt470bg"].contains(video.colorSpace))
                }
            }
        }

        @Test("are without the mark that the stream has", arguments: [true, false])
        func mark(isOn: Bool) throws {
            try with("record-mark = \(isOn)") { daemon, reader in
                // The upper left corner, where the inset is not.
                let corner = PixelRect(x: 0, y: 0, width: 200, height: 60)
                func hasDot(_ picture: StreamPicture) -> Bool {
                    (corner.y..<corner.maxY).contains { y in
                        (corner.x..<corner.maxX).contains { picture[$0, y].v > 170 }
                    }
                }
                let plain = try reader.stillPicture()
                #expect(!hasDot(plain))
                var isMarked = false
                let files = try record(
                    daemon,
                    ["of": .strings(["stream"]), "audio": .boolean(false)]
                ) {
                    let picture = try reader.picture()
                    isMarked = isMarked || hasDot(picture)
                    return try (daemon.get("RecordingSeconds", of: .capture).integer ?? 0) >= 2
                        && isMarked == isOn
                }
                #expect(isMarked == isOn)
                let path = try #require(files.first?["path"]?.string)
                let lights = try brightness(path, crop: "200:60:0:0")
                // The picture is the same throughout; here nothing is ever drawn.
                let plainLights = try brightness(path, crop: "200:60:0:200")
                #expect(lights.count > 30)
                #expect(
                    zip(lights, plainLights).allSatisfy { abs($0 - $1) <= 1 },
                    "\(Set(lights)), \(Set(plainLights))"
                )
            }
        }
    }
}
