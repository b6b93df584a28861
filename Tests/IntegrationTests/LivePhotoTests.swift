import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Photos
import Platform
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of live photos, and of photographs in the largest mode.
    @Suite("Live photos", .timeLimit(.minutes(3)))
    struct LivePhotoTests {
        private static let tool = Programs.path(of: "dualcamctl")

        private func folder(_ session: PrivateSession) -> String {
            "\(session.directory)/photographs"
        }

        private func names(_ session: PrivateSession) -> [String] {
            entries(of: folder(session)).sorted()
        }

        private func stills(_ session: PrivateSession) -> [String] {
            names(session).filter { $0.hasSuffix(".jpg") }
        }

        /// Returns a configuration of two cameras: one sends JPEGs whose brightness counts up, one
        /// raw pictures.
        private func configuration(_ session: PrivateSession, live: Bool) throws -> String {
            let path = "\(session.directory)/back.avi"
            if !FileManager.default.fileExists(atPath: path) {
                try ffmpeg([
                    "-f", "lavfi", "-i",
                    "color=s=320x176:r=30,format=yuvj420p,geq=16+2*N:128:128",
                    "-frames:v", "110", "-c:v", "mjpeg", "-q:v", "2", path,
                ])
            }
            return """
                [output]
                width = 320
                height = 180
                frame-rate = 15
                [cameras.back]
                source = "file:\(path)"
                [cameras.front]
                source = "test:bars"
                capture = "320x180@15"
                [scene]
                swap-duration-ms = 0
                [capture]
                photo-directory = "\(folder(session))"
                video-directory = "\(session.directory)/videos"
                live-photo = \(live)
                """
        }

        /// Returns the report of `dualcamctl photo` on the photographs that it took.
        private func photograph(_ daemon: Daemon, _ arguments: [String]) throws -> [[String: Any]] {
            let child = try daemon.session.run(Self.tool, ["photo", "--json"] + arguments)
            try #require(try child.wait(within: 60) == .status(0), "\(child.errors)")
            return try described(child)
        }

        private func described(_ child: Child) throws -> [[String: Any]] {
            try #require(jsonObject(child.output)["photos"] as? [[String: Any]])
        }

        private func threads(_ daemon: Daemon) -> Set<String> {
            let tasks = "/proc/\(daemon.program.id)/task"
            return Set(entries(of: tasks).compactMap { content("\(tasks)/\($0)/comm") })
        }

        /// Returns the time of the photograph in its movie, in seconds.
        private func moment(_ probe: Probe) throws -> Double {
            let text = try #require(probe.format.tags?["DUALCAM_MOMENT"])
            return try #require(Double(text.split(separator: " ")[0])) / 1000
        }

        private func luma(of path: String) throws -> Int {
            let bytes = Array(try Data(contentsOf: URL(filePath: path)))
            let picture = try JPEGCodec.decode(bytes).picture
            return Int(picture.pixels[picture.pixels.count / 2] & 255)
        }

        @Test("a movie of what was before and after, with sound, beside each photograph")
        func movies() throws {
            try PrivateSession.with([.bus, .pipewire, .wireplumber]) { session in
                // A microphone with silence and a clock of its own.
                let microphone = try session.run(
                    "pw-cli",
                    [
                        "create-node", "adapter",
                        "{ factory.name=support.null-audio-sink node.name=microphone object.linger=1 "
                            + "media.class=Audio/Source/Virtual audio.position=[FL FR] }",
                    ]
                )
                try #require(try microphone.wait(within: 20) == .status(0))
                let daemon = try Daemon(try configuration(session, live: true), in: session)
                #expect(try daemon.get("LivePhoto", of: .capture) == .boolean(true))
                #expect(threads(daemon).isDisjoint(with: ["live-back", "sound"]))
                let reader = try daemon.reader()
                let kept: Set = ["live-back", "live-front", "live-stream", "sound"]
                try eventually("what is kept", within: 20) {
                    threads(daemon).isSuperset(of: kept)
                }
                let start = try daemon.captured[0]
                try eventually("two seconds", within: 60) {
                    try daemon.captured[0] > start + 60
                }
                let photos = try photograph(daemon, ["--of", "all"])
                try #require(photos.count == 3)
                for photo in photos {
                    let path = try #require(photo["path"] as? String)
                    let movie = try #require(photo["movie"] as? String, "\(photo)")
                    #expect(movie == path.dropLast(4) + ".mkv")
                    let probe = try Probe(movie)
                    let (duration, moment) = (try #require(probe.duration), try moment(probe))
                    print("live photo: \(duration) s, taken at \(moment) s, \(probe.times.count)")
                    #expect(duration < 3.3 && moment <= 1.5 && moment < duration)
                    // By the frames' own times; those at its ends may be missing.
                    #expect(duration > 2 && moment > 0.7)
                    #expect(probe.streams.count == 2 && probe.streams[0].codecName == "mjpeg")
                    #expect(probe.streams[0].width == 320)
                    #expect(!probe.soundTimes.isEmpty)
                    #expect(try decodedCount(movie) == probe.times.count)
                    var status = stat()
                    #expect(stat(movie, &status) == 0 && status.st_mode & 0o777 == 0o600)
                    guard photo["camera"] as? String == "back" else { continue }
                    // The photograph is one of the movie's frames, unless that frame was dropped.
                    let found = probe.times.firstIndex { abs($0 - moment) < 0.003 }
                    guard let index = found else {
                        continue
                    }
                    let lumas = try brightness(movie, crop: "200:100:60:30")
                    let still = try luma(of: path)
                    #expect(abs(lumas[index] - still) < 3)
                    #expect(zip(lumas, lumas.dropFirst()).count { $0 != $1 } > lumas.count / 2)
                }
                #expect(names(session).count == 6)
                // Nothing is kept of pictures without a consumer.
                reader.close()
                try eventually("nothing kept", within: 30) {
                    threads(daemon).isDisjoint(with: kept)
                }
                #expect(try daemon.end().exit == .status(0))
            }
        }

        @Test("privacy and the daemon's end end a movie, which is whole, and the photograph stays")
        func discontinue() throws {
            try PrivateSession.with { session in
                let daemon = try Daemon(try configuration(session, live: false), in: session)
                _ = try daemon.reader()
                let start = try daemon.captured[0]
                try eventually("pictures", within: 60) {
                    try daemon.captured[0] > start + 20
                }
                // Live photos are off: a movie begins only when it is asked for.
                #expect(try photograph(daemon, ["--of", "back"])[0]["movie"] == nil)
                let once = try photograph(daemon, ["--of", "back", "--live"])[0]
                let probe = try Probe(try #require(once["movie"] as? String))
                #expect(try moment(probe) < 1.2)
                #expect(try #require(probe.duration) < 3)
                #expect(threads(daemon).isDisjoint(with: ["live-front", "live-stream"]))

                try daemon.set("LivePhoto", of: .capture, to: .boolean(true))
                for isEnd in [false, true] {
                    let before = stills(session).count
                    let child = try session.run(Self.tool, ["photo", "--of", "back", "--json"])
                    try eventually("the photograph", within: 60) { stills(session).count > before }
                    if isEnd {
                        #expect(try daemon.end().exit == .status(0))
                    } else {
                        try daemon.set("Enabled", of: .privacy, to: .boolean(true))
                    }
                    let asked = Date().timeIntervalSince1970
                    let exit = try child.wait(within: 60)
                    let movies = names(session).filter { $0.hasSuffix(".mkv") }
                    let movie = try #require(movies.last)
                    // The most that may be there of the time after the photograph.
                    var most = 1.6
                    if !isEnd {
                        #expect(exit == .status(0), "\(child.errors)")
                        let photo = try described(child)[0]
                        #expect((photo["movie"] as? String)?.hasSuffix(movie) ?? false)
                        let taken = try #require(photo["time"] as? Double) / 1e6
                        most = min(most, asked - taken + 0.3)
                        try daemon.set("Enabled", of: .privacy, to: .boolean(false))
                        try daemon.back.wait(for: \.state, "streaming", within: 30)
                    }
                    let cut = try Probe("\(folder(session))/\(movie)")
                    #expect(try decodedCount("\(folder(session))/\(movie)") == cut.times.count)
                    let duration = try #require(cut.duration)
                    let after = duration - (try moment(cut))
                    #expect(after > 0 && after < most, "\(after) s after it, at most \(most)")
                }
                #expect(!names(session).contains { $0.hasPrefix(".") })
            }
        }

        @Test("a movie that has no room is told by name, leaves nothing, and the photograph stays")
        func full() throws {
            try PrivateSession.with { session in
                let disk = folder(session)
                let small = try SmallDisk(at: disk, size: "20k")
                defer { withExtendedLifetime(small) {} }
                let daemon = try Daemon(try configuration(session, live: true), in: session)
                let child = try session.run(Self.tool, ["photo", "--of", "back"])
                #expect(try child.wait(within: 60) == .status(1))
                #expect(
                    child.errors.contains("No movie of the back camera: there is too little room"),
                    "\(child.errors)"
                )
                #expect(names(session).count == 1 && names(session)[0].hasSuffix(".jpg"))
                #expect(child.output.contains(names(session)[0]))
                #expect(try daemon.end().exit == .status(0))
            }
        }

        @Test("the largest mode for a photograph, and back")
        func largest() throws {
            try PrivateSession.with { session in
                let daemon = try Daemon(try configuration(session, live: true), in: session)
                let reader = try daemon.reader()
                func width() throws -> Int? {
                    try daemon.get("Width", of: .camera, at: DualCam.frontPath).integer
                }
                try eventually("the camera", within: 30) { try width() == 320 }
                let node = try daemon.get("NodeId", of: .stream)
                try daemon.forgetSignals()
                let frames = reader.count
                let photo = try photograph(daemon, ["--of", "front", "--full"])[0]
                #expect(photo["width"] as? Int == 1920 && photo["height"] as? Int == 1080)
                #expect(photo["movie"] == nil)
                try eventually("the former mode", within: 30) {
                    try daemon.state(of: DualCam.frontPath) == "streaming" && width() == 320
                }
                #expect(reader.count > frames)
                #expect(try daemon.get("NodeId", of: .stream) == node)
                try daemon.settle()
                let changes = daemon.changes(of: .camera, at: DualCam.frontPath)
                let widths = changes.compactMap { $0["Width"]?.integer }.filter { $0 > 0 }
                // A camera that stalls on a busy machine may switch again.
                #expect(widths.first == 1920 && widths.last == 320 && Set(widths).count == 2)
            }
        }
    }
}
