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
        /// Runs `body` with a daemon that has its own directories and cache.
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
            let answer = try daemon.send(
                "List",
                of: Interface.library.name,
                [.uint32(offset), .uint32(count), .named([:])]
            )
            let items = try #require(answer.first?.array)
            return (items.compactMap(\.named), try #require(answer.last?.integer))
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
                let threads = try FileManager.default.contentsOfDirectory(
                    atPath: "/proc/\(daemon.program.id)/task"
                ).map { (content("/proc/\(daemon.program.id)/task/\($0)/comm") ?? "") }
                #expect(!threads.contains("library"))

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
                // The directory goes, and another one takes its place.
                rename(pictures, "\(pictures)-old")
                try change(daemon)
                #expect(try list(daemon).total == 0)
                rename("\(pictures)-old", pictures)
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

        @Test func theToolListsInColumnsAndInJSON() throws {
            try with { daemon in
                let pictures = try folder(daemon)
                #expect(try run(daemon, ["list"]).output == "")
                for number in 1...3 {
                    try write(
                        "\(pictures)/DualCam_2026-11-21_14300\(number).123_back.jpg",
                        String(repeating: "x", count: number * 5)
                    )
                }
                let child = try run(daemon, ["list", "--offset", "1"])
                #expect(child.exit == .status(0) && child.errors == "")
                #expect(
                    child.output == """
                        photo back   10       - 2026-11-21 14:30:02 \(pictures)/DualCam_2026-11-21_143002.123_back.jpg
                        photo back    5       - 2026-11-21 14:30:01 \(pictures)/DualCam_2026-11-21_143001.123_back.jpg

                        """
                )
                let json = try run(daemon, ["list", "--json", "--count", "1"]).output
                let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
                let document = try #require(object as? [String: Any])
                #expect(document["total"] as? Int == 3 && document["version"] as? Int == 1)
                let items = try #require(document["items"] as? [[String: Any]])
                #expect(items.map { $0["size"] as? Int } == [15])
                #expect(items.first?["movie"] is NSNull)
                #expect(try run(daemon, ["list", "--count=-1"]).exit == .status(2))
                #expect(try run(daemon, []).exit == .status(2))
            }
        }

        /// Returns the size of a PNG, from its header.
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

        /// Expects that another PNG reader finds a picture of `size` at `path`, white in its upper
        /// half and black in its lower one.
        private func expectWhiteAbove(_ path: String, _ size: Size, _ daemon: Daemon) throws {
            let path = path.trimmingCharacters(in: .newlines)
            #expect(self.size(Array(try Data(contentsOf: URL(filePath: path)))) == size)
            let raw = "\(daemon.session.directory)/raw"
            let reader = try daemon.session.run(
                "ffmpeg",
                ["-v", "error", "-y", "-i", path, "-f", "rawvideo", "-pix_fmt", "gray", raw]
            )
            try #require(reader.wait(within: 60) == .status(0), "\(reader.errors)")
            let pixels = Array(try Data(contentsOf: URL(filePath: raw)))
            try #require(pixels.count == size.area)
            let halves = [pixels.prefix(size.area / 2), pixels.suffix(size.area / 2)]
            let light = halves.map { $0.reduce(0) { $0 + Int($1) } * 2 / size.area }
            #expect(light[0] > 200 && light[1] < 40, "\(light)")
        }

        @Test func thumbnailsAreTheDesktopsAndTheNextAreMadeAhead() throws {
            try with { daemon in
                let pictures = try folder(daemon)
                for number in 1...6 {
                    try writeJPEG(
                        size: Size(width: 640, height: 480),
                        to: "\(pictures)/DualCam_2026-11-21_14300\(number).123_back.jpg"
                    ) { UInt8($0 * 255 / 639) }
                }
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

                // The next five, although no client asked for them.
                try eventually("thumbnails made ahead", within: 60) {
                    let folder = URL(filePath: path).deletingLastPathComponent().path
                    let made = try FileManager.default.contentsOfDirectory(atPath: folder)
                    return made.count { $0.hasSuffix(".png") } == 6
                }
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
                // The workers end when there is nothing left to do.
                try eventually("the makers' end", within: 60) { makers(daemon).isEmpty }
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
                symlink(outside, "\(pictures)/link.jpg")
                try write("\(pictures)/text.jpg")
                func refusal(_ path: String, _ size: UInt32 = 256) -> String {
                    do {
                        let answer = try daemon.send(
                            "Thumbnail",
                            of: Interface.library.name,
                            [.string(path), .uint32(size), .named([:])]
                        )
                        return "\(answer)"
                    } catch {
                        return (error as? DBusError)?.name.split(separator: ".").last.map(
                            String.init
                        )
                            ?? "\(error)"
                    }
                }
                for path in [
                    outside, "\(pictures)/link.jpg", "\(pictures)/../outside.jpg",
                    "\(pictures)/../pictures/a.jpg", "/etc/passwd", "", "a.jpg", pictures,
                    "\(pictures)/none.jpg", String(repeating: "/x", count: 20_000),
                ] { #expect(refusal(path) == "FileNotFound", "\(path.prefix(80))") }
                #expect(refusal("\(pictures)/a.jpg", 0) == "InvalidArgs")
                #expect(refusal("\(pictures)/a.jpg", 1025) == "InvalidArgs")
                #expect(refusal("\(pictures)/text.jpg") == "Failed")
                let child = try run(daemon, ["thumbnail", "\(pictures)/text.jpg"])
                #expect(child.exit == .status(1) && child.output == "")
                #expect(child.errors.contains("text.jpg: it is not a JPEG"), "\(child.errors)")
                #expect(try run(daemon, ["thumbnail", outside]).exit == .status(1))
                #expect(try run(daemon, ["thumbnail", outside, "--size", "0"]).exit == .status(2))

                // A picture that kills its reader affects no other process.
                #expect(try run(daemon, ["thumbnail", "\(pictures)/a.jpg"]).exit == .status(0))
                let makers = makers(daemon)
                for maker in makers { try expectConfined(maker) }
                for maker in makers { kill(maker, SIGSTOP) }
                var answer: Result<[Value], DBusError>?
                let call = MethodCall(
                    "Thumbnail",
                    of: Interface.library.name,
                    at: DualCam.path,
                    on: DualCam.busName,
                    [.string("\(pictures)/a.jpg"), .uint32(1000), .named([:])],
                    timeout: 60
                )
                try daemon.bus.call(call) { answer = $0 }
                // Meanwhile all other calls are answered, and only after the request reached its
                // worker.
                #expect(try list(daemon).total == 2)
                #expect(answer == nil)
                for maker in makers {
                    kill(maker, SIGSEGV)
                    kill(maker, SIGCONT)
                }
                try eventually("an answer", within: 60) {
                    try daemon.settle()
                    return answer != nil
                }
                // The next worker makes it.
                guard case .success(let values)? = answer else {
                    Issue.record("\(String(describing: answer))")
                    return
                }
                #expect(values.first?.type == .descriptor)
                #expect(try daemon.get("State", of: .stream).string == "idle")
                // A new worker is running.
                try writeJPEG(size: Size(width: 64, height: 64), to: "\(pictures)/b.jpg") {
                    UInt8($0)
                }
                #expect(try run(daemon, ["thumbnail", "\(pictures)/b.jpg"]).exit == .status(0))
            }
        }

        /// Expects that process `id` has no new privileges and a filter of its system calls, and no
        /// file open but its socket, /dev/null and its log.
        private func expectConfined(_ id: pid_t) throws {
            let status = try String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)
                .split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
            func value(_ key: String) -> String? { status.first { $0.first == "\(key):" }?.last }
            #expect(value("NoNewPrivs") == "1")
            #expect(value("Seccomp") == "2")
            #expect(entries(of: "/proc/\(id)/fd").compactMap { Int($0) }.allSatisfy { $0 < 3 })
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

        @Test func tenThousandFilesAreListedAtOnce() throws {
            try with { daemon in
                let pictures = try folder(daemon)
                let names = (0..<10_000).map { "DualCam_2026-11-21_143005.123_back-\($0).jpg" }
                for name in names {
                    let number = open("\(pictures)/\(name)", O_WRONLY | O_CREAT, 0o600)
                    #expect(Glibc.write(number, "x", 1) == 1)
                    close(number)
                }
                func measured(_ work: () throws -> Void) throws -> Double {
                    let start = MonotonicClock.now
                    try work()
                    return (MonotonicClock.now - start).seconds
                }
                let first = try measured {
                    let total = try list(daemon).total
                    #expect(total == names.count)
                }
                // The shortest of several measurements is the cost; the longer ones include other
                // work of the machine.
                let pages = try (0..<20).map { page in
                    try measured {
                        let items = try list(daemon, UInt32(page * 100)).items
                        #expect(items.count == 100)
                    }
                }
                var found: Set<String> = []
                let all = try measured {
                    while found.count < names.count {
                        let items = try list(daemon, UInt32(found.count), 1000).items
                        #expect(items.count == 1000)
                        guard !items.isEmpty else { break }
                        found.formUnion(items.compactMap { $0["path"]?.string })
                    }
                }
                #expect(found.count == names.count)
                let best = pages.min() ?? 0
                // The time of a call with an empty reply on this machine.
                let bare = try (0..<20).map { _ in
                    try measured {
                        let items = try list(daemon, 0, 0).items
                        #expect(items.isEmpty)
                    }
                }
                print(
                    "10 000 files: first \(milliseconds(first)), a page \(milliseconds(best)), all \(milliseconds(all)), none \(milliseconds(bare.min() ?? 0))"
                )
                #expect(best < max(0.05, 100 * (bare.min() ?? 0)))
            }
        }
    }
}
