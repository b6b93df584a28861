import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of the photographs and movies that were taken, as clients see them on the bus and in
    /// the shell.
    @Suite("Library", .timeLimit(.minutes(3)))
    struct LibraryTests {
        private func with(_ body: (Daemon) throws -> Void) throws {
            try PrivateSession.with { session in
                let daemon = try Daemon(
                    Self.configuration(session, "pictures"),
                    in: session,
                    adding: ["XDG_CACHE_HOME": "\(session.directory)/cache", "TZ": "UTC"]
                )
                try body(daemon)
                #expect(try daemon.end().exit == .status(0))
            }
        }

        private static func configuration(_ session: PrivateSession, _ name: String) -> String {
            """
            [cameras.back]
            source = "test:bars"
            [cameras.front]
            source = "test:bars"
            [capture]
            photo-directory = "\(session.directory)/\(name)"
            video-directory = "\(session.directory)/videos"
            """
        }

        private func folder(_ daemon: Daemon, _ name: String = "pictures") throws -> String {
            let path = "\(daemon.session.directory)/\(name)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            return path
        }

        private func write(_ path: String, _ text: String = "x") throws {
            try Data(text.utf8).write(to: URL(filePath: path))
        }

        private func list(
            _ daemon: Daemon,
            _ offset: UInt32 = 0,
            _ count: UInt32 = 100
        ) throws -> (items: [[String: Value]], total: Int) {
            let (items, total) = try daemon.library.call(\.list, (offset, count))
            return (items, Int(total))
        }

        private func run(_ daemon: Daemon, _ arguments: [String]) throws -> Child {
            let child = try daemon.session.run(
                Programs.path(of: "dualcamctl"),
                ["media"] + arguments,
                adding: ["TZ": "UTC"]
            )
            try child.wait(within: 60)
            return child
        }

        /// Waits for a Changed, and that no second one follows.
        private func change(_ daemon: Daemon) throws {
            try eventually("Changed", within: 20) {
                try daemon.settle()
                return daemon.signals(of: .library).contains("Changed")
            }
            try daemon.forgetSignals()
        }

        @Test func itIsListedAndToldOfAndNothingIsReadUnasked() throws {
            try with { daemon in
                let (pictures, videos) = (try folder(daemon), try folder(daemon, "videos"))
                try write("\(pictures)/DualCam_2026-11-21_143005.123_back.jpg", "photo")
                try daemon.settle()
                #expect(daemon.signals(of: .library) == [])
                let tasks = "/proc/\(daemon.program.id)/task"
                #expect(
                    !entries(of: tasks).contains { content("\(tasks)/\($0)/comm") == "library" }
                )

                let (items, total) = try list(daemon)
                #expect(items.count == 1 && total == 1)
                let path = "\(pictures)/DualCam_2026-11-21_143005.123_back.jpg"
                #expect(
                    items.first == [
                        "path": .string(path), "uri": .string("file://\(path)"),
                        "kind": .string("photo"), "camera": .string("back"), "size": .uint64(5),
                        "time": .int64(1_795_271_405_123_000),
                    ]
                )
                // Newer than any date in a name, since it is written now.
                try write("\(videos)/a b\u{e4}.mkv", "movie")
                try change(daemon)
                try write("\(pictures)/DualCam_2026-11-21_143005.123_back.mkv", "live")
                try change(daemon)
                let (more, all) = try list(daemon)
                #expect(all == 2)
                #expect(more.map { $0["kind"]?.string } == ["movie", "photo"])
                #expect(more[0]["uri"] == .string("file://\(videos)/a%20b%C3%A4.mkv"))
                #expect(more[0]["camera"] == nil)
                #expect(
                    more[1]["movie"]
                        == .string("\(pictures)/DualCam_2026-11-21_143005.123_back.mkv")
                )
                #expect(try list(daemon, 1, 5).items == [more[1]])
                #expect(try list(daemon, 2, 5).items == [])
                #expect(try list(daemon, 0, 0).total == 2)

                unlink("\(videos)/a b\u{e4}.mkv")
                try change(daemon)
                #expect(try list(daemon).total == 1)
                // Another directory is configured.
                try write("\(try folder(daemon, "other"))/x.jpg")
                try write("\(try folder(daemon, "other"))/y.jpg")
                try daemon.reload(Self.configuration(daemon.session, "other"))
                try change(daemon)
                #expect(try list(daemon).total == 2)
            }
        }

        private func size(_ bytes: [UInt8]) -> Size? {
            guard bytes.count > 24, bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) else { return nil }
            func number(_ place: Int) -> Int {
                bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            }
            return Size(width: number(16), height: number(20))
        }

        /// Returns the processes that make thumbnails.
        private func makers(_ daemon: Daemon) -> [pid_t] {
            entries(of: "/proc").compactMap { pid_t($0) }.filter { id in
                guard let status = content("/proc/\(id)/stat") else { return false }
                let parent = status.split(separator: ")").last?.split(separator: " ").dropFirst()
                    .first
                return parent == "\(daemon.program.id)"
            }
        }

        private func expectWhiteAbove(_ path: String, _ size: Size, _ daemon: Daemon) throws {
            let path = path.trimmingCharacters(in: .newlines)
            #expect(self.size(Array(try Data(contentsOf: URL(filePath: path)))) == size)
            let raw = "\(daemon.session.directory)/raw"
            try ffmpeg(["-y", "-i", path, "-f", "rawvideo", "-pix_fmt", "gray", raw])
            let pixels = Array(try Data(contentsOf: URL(filePath: raw)))
            try #require(pixels.count == size.area)
            let halves = [pixels.prefix(size.area / 2), pixels.suffix(size.area / 2)]
            let light = halves.map { $0.reduce(0) { $0 + Int($1) } * 2 / size.area }
            #expect(light[0] > 200 && light[1] < 40, "\(light)")
        }

        @Test func `thumbnails are the desktop's`() throws {
            try with { daemon in
                let pictures = try folder(daemon)
                // Black at first, as with many cameras, then with a white left half; to be turned
                // clockwise, which each kind of file states in its own way.
                let (movie, other) = ("\(pictures)/b.mkv", "\(pictures)/a.mp4")
                let script = """
                    cd '\(pictures)' && ffmpeg -v error -f lavfi -i color=black:s=320x240:r=10:d=1 \
                        -f lavfi -i color=white:s=160x240:r=10:d=1,pad=320:240,setsar=1 \
                        -filter_complex '[0][1]concat' -c:v mpeg4 .flat.mp4 &&
                    cp .flat.mp4 a.mp4 && exiftool -q -overwrite_original -Rotation=90 a.mp4 &&
                    ffmpeg -v error -i .flat.mp4 -c copy -metadata:s:v:0 ROTATE=90 b.mkv
                    """
                let ffmpeg = try daemon.session.run("sh", ["-c", script])
                try #require(ffmpeg.wait(within: 60) == .status(0), "\(ffmpeg.errors)")
                let turned = try run(daemon, ["thumbnail", other, "--size", "128"])
                #expect(turned.exit == .status(0), "\(turned.errors)")
                try expectWhiteAbove(turned.output, Size(width: 96, height: 128), daemon)
                let newest = try list(daemon, 0, 5).items
                #expect(newest.first?["path"] == .string(movie))

                let child = try run(daemon, ["thumbnail", movie])
                #expect(child.exit == .status(0), "\(child.errors)")
                let path = child.output.trimmingCharacters(in: .newlines)
                #expect(path.hasPrefix("\(daemon.session.directory)/cache/thumbnails/large/"))
                let bytes = Array(try Data(contentsOf: URL(filePath: path)))
                try expectWhiteAbove(path, Size(width: 192, height: 256), daemon)
                // GLib finds it where it looks, and accepts it as valid.
                let gio = try daemon.session.run(
                    "gio",
                    ["info", "-a", "thumbnail::*", movie],
                    adding: ["XDG_CACHE_HOME": "\(daemon.session.directory)/cache"]
                )
                try gio.wait(within: 60)
                #expect(gio.output.contains(path), "\(gio.output)\(gio.errors)")
                #expect(gio.output.contains("thumbnail::is-valid: TRUE"), "\(gio.output)")

                var before = stat()
                stat(path, &before)
                let written = try run(daemon, ["thumbnail", movie, "--size", "200", "-o", "-"])
                #expect(written.exit == .status(0))
                let file = "\(daemon.session.directory)/out.png"
                let again = try run(daemon, ["thumbnail", movie, "--json", "-o", file])
                #expect(again.output.contains("\"thumbnail\":\"\(path)\""), "\(again.output)")
                #expect(Array(try Data(contentsOf: URL(filePath: file))) == bytes)
                var after = stat()
                stat(path, &after)
                #expect(before.st_ino == after.st_ino)
                #expect(try run(daemon, ["thumbnail", movie, "--size", "1"]).exit == .status(0))
            }
        }

        @Test func whatIsNoneOfItsFilesOrNoPictureIsRefused() throws {
            try with { daemon in
                let pictures = try folder(daemon)
                let outside = "\(daemon.session.directory)/outside.jpg"
                try writeJPEG(size: Size(width: 64, height: 64), to: outside) { UInt8($0) }
                try writeJPEG(size: Size(width: 64, height: 64), to: "\(pictures)/a.jpg") {
                    UInt8($0)
                }
                try write("\(pictures)/text.jpg")
                func error(_ path: String, _ size: UInt32 = 256) -> String? {
                    refusal { try daemon.library.call(\.thumbnail, (path, size)) }
                }
                for path in [pictures, String(repeating: "/x", count: 20_000)] {
                    #expect(error(path) == "FileNotFound", "\(path.prefix(80))")
                }
                #expect(error("\(pictures)/a.jpg", 0) == "InvalidArgs")
                #expect(error("\(pictures)/a.jpg", 1025) == "InvalidArgs")
                #expect(error("\(pictures)/text.jpg") == "Failed")
                let child = try run(daemon, ["thumbnail", "\(pictures)/text.jpg"])
                #expect(child.exit == .status(1) && child.output == "")
                #expect(child.errors.contains("text.jpg: it is not a JPEG"), "\(child.errors)")
                #expect(try run(daemon, ["thumbnail", outside]).exit == .status(1))
                #expect(try run(daemon, ["thumbnail", outside, "--size", "0"]).exit == .status(2))

                // A picture that kills its reader affects no other process.
                let count = 40
                let first = "\(pictures)/0.jpg"
                try writeJPEG(size: Size(width: 3000, height: 2000), to: first) { UInt8($0 & 255) }
                for number in 1..<count { link(first, "\(pictures)/\(number).jpg") }
                #expect(try list(daemon).total == count + 2)
                var answers: [Result<[Value], DBusError>] = []
                for number in 0..<count {
                    let picture = ("\(pictures)/\(number).jpg", UInt32(1000))
                    try daemon.library.begin(\.thumbnail, picture, within: 120) {
                        answers.append($0)
                    }
                }
                let maker = try eventually("a maker at work", within: 60) {
                    try daemon.settle()
                    return makers(daemon).first { isConfined($0) }
                }
                kill(maker, SIGSTOP)
                // Meanwhile all other calls are answered.
                #expect(try list(daemon).total == count + 2)
                kill(maker, SIGSEGV)
                kill(maker, SIGCONT)
                try eventually("the answers", within: 120) {
                    try daemon.settle()
                    return answers.count == count
                }
                // The next worker makes what that one did not.
                #expect(answers.allSatisfy { (try? $0.get())?.first?.type == .descriptor })
                #expect(try daemon.get("State", of: .stream).string == "idle")
                // They end when there is nothing left to do.
                try eventually("the makers' end", within: 60) { makers(daemon).isEmpty }
            }
        }

        /// Returns `true` if process `id` has no new privileges and a filter of its system calls,
        /// and no file open but its socket, /dev/null, its log and those of a request.
        private func isConfined(_ id: pid_t) -> Bool {
            let status = wholeText(of: "/proc/\(id)/status")
                .split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
            func value(_ key: String) -> String? { status.first { $0.first == "\(key):" }?.last }
            let files = entries(of: "/proc/\(id)/fd").compactMap { Int($0) }
            return value("NoNewPrivs") == "1" && value("Seccomp") == "2"
                && files.allSatisfy { $0 < 6 }
        }

        @Test func aRecordingIsListedWhenItIsDone() throws {
            try with { daemon in
                #expect(try list(daemon).total == 0)
                try daemon.call(
                    "StartRecording",
                    of: .capture,
                    options: [
                        "audio": .boolean(false), "encoder": .string("mjpeg"),
                        "of": .strings(["back"]),
                    ]
                )
                let path = try eventually("a file", within: 30) {
                    let files = try daemon.get("RecordingFiles", of: .capture).array
                    return files?.first?.named?["path"]?.string
                }
                try eventually("frames in the file", within: 30) {
                    var status = stat()
                    return stat(path, &status) == 0 && status.st_size > 0
                }
                // A directory that is read meanwhile, as the other one is.
                _ = try folder(daemon)
                try write("\(try folder(daemon))/a.jpg")
                try eventually("the other file", within: 20) { try list(daemon).total == 1 }
                try daemon.call("StopRecording", of: .capture)
                try eventually("the recording", within: 20) {
                    try list(daemon).items.contains { $0["path"] == .string(path) }
                }
            }
        }
    }
}
