import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import TestSupport
import Testing

extension DaemonTests {
    @Suite("Recordings", .timeLimit(.minutes(3)))
    struct RecordingTests {
        /// Returns the directory of recordings in `session`.
        private func folder(_ session: PrivateSession) -> String { "\(session.directory)/videos" }

        /// Returns a configuration of two cameras that send JPEGs: one whose brightness counts up,
        /// one bright.
        private func cameras(_ session: PrivateSession, capture: String = "") throws -> String {
            let (back, front) = ("\(session.directory)/back.avi", "\(session.directory)/front.avi")
            for (path, luma, count) in [(back, "40+4*N", 34), (front, "235", 2)] {
                try ffmpeg([
                    "-f", "lavfi", "-i", "color=s=640x360:r=30,format=yuvj420p,geq=\(luma):128:128",
                    "-frames:v", "\(count)", "-c:v", "mjpeg", "-q:v", "2", path,
                ])
            }
            return """
                [output]
                width = 640
                height = 360
                [cameras.back]
                source = "file:\(back)"
                [cameras.front]
                source = "file:\(front)"
                [scene]
                inset-size = 0.25
                swap-icon = false
                [capture]
                video-directory = "\(folder(session))"
                \(capture)
                """
        }

        private func start(_ daemon: Daemon, _ options: [String: Value] = [:]) throws {
            try daemon.capture.call(\.startRecording, options: options, within: 30)
        }

        private func stop(_ daemon: Daemon) throws -> [[String: Value]] {
            try daemon.capture.call(\.stopRecording, within: 60)
        }

        private func seconds(_ daemon: Daemon) throws -> Int {
            try daemon.get("RecordingSeconds", of: .capture).integer ?? 0
        }

        @Test("three pictures, without a consumer; a swap is in the stream's alone")
        func threePictures() throws {
            try PrivateSession.with { session in
                let daemon = try Daemon(try cameras(session), in: session)
                #expect(try daemon.state(of: DualCam.backPath) == "closed")
                #expect(refusal { _ = try stop(daemon) } == "NotRecording")
                #expect(refusal { try start(daemon, ["of": .strings(["left"])]) } == "OutOfRange")
                #expect(refusal { try start(daemon, ["of": .strings([])]) } == "OutOfRange")
                #expect(refusal { try start(daemon, ["of": .uint32(1)]) } == "InvalidArgs")
                #expect(refusal { try start(daemon, ["audio": .string("no")]) } == "InvalidArgs")
                #expect(refusal { try start(daemon, ["audio": .string("false")]) } == "InvalidArgs")
                if !FileManager.default.fileExists(atPath: "/dev/dri") {
                    let wish: [String: Value] = ["encoder": .string("vaapi")]
                    do {
                        try start(daemon, wish)
                        Issue.record("It has begun.")
                    } catch let error as DBusError {
                        #expect(error.name.hasSuffix(".Failed"))
                        #expect(error.message.hasSuffix("use the encoder x264 instead."))
                    }
                }
                try start(daemon)
                #expect(try daemon.state(of: DualCam.backPath) == "streaming")
                #expect(refusal { try start(daemon) } == "AlreadyRecording")
                try eventually("the word about the sound") {
                    try daemon.capture.get(\.recordingSilence) == "there is no microphone"
                        && daemon.complains(of: "The recording has no sound")
                }
                try eventually("two seconds", within: 20) { try seconds(daemon) >= 2 }
                try daemon.call("Swap", of: .scene, options: ["instant": .boolean(true)])
                try eventually("four seconds", within: 20) { try seconds(daemon) >= 4 }
                let files = try stop(daemon)
                try eventually("closed cameras") {
                    try daemon.state(of: DualCam.backPath) == "closed"
                }
                #expect(try daemon.get("Recording", of: .capture) == .boolean(false))
                try daemon.settle()
                #expect(daemon.signals(of: .capture).count { $0 == "RecordingSaved" } == 3)

                try #require(
                    files.compactMap { $0["picture"]?.string } == ["back", "front", "stream"]
                )
                let paths = files.compactMap { $0["path"]?.string }
                let probes = try paths.map { try Probe($0) }
                // One stamp, that of the first picture, in all names; the date in all files.
                let stamps = Set(paths.map { $0.split(separator: "/").last?.prefix(25) ?? "" })
                #expect(stamps.count == 1)
                for (file, probe) in zip(files, probes) {
                    #expect(file["sound"] == .boolean(false) && probe.streams.count == 1)
                    #expect(file["silence"]?.string == "there is no microphone")
                    let tags = probe.format.tags ?? [:]
                    #expect(tags["creation_time"] != nil && tags["TIMECODE"] != nil)
                    #expect(tags["title"] == "DualCam, \(file["picture"]?.string ?? "")")
                    var status = stat()
                    #expect(stat(file["path"]?.string ?? "", &status) == 0)
                    #expect(file["size"]?.integer == Int(status.st_size))
                    #expect(status.st_mode & 0o777 == 0o600)
                }
                #expect(probes[0].format.tags?["CAMERA"] == "back")
                let durations = probes.compactMap(\.duration)
                print("recorded: \(durations) s, \(probes.map(\.times.count)) frames")
                try #require(durations.count == 3)
                #expect((durations.max() ?? 0) - (durations.min() ?? 0) < 0.1)
                for (file, probe) in zip(files, probes) {
                    #expect(file["frames"]?.integer == probe.times.count)
                    #expect(zip(probe.times, probe.times.dropFirst()).allSatisfy { $0 < $1 })
                }
                // The camera's own frames, unchanged and in order.
                #expect(files[0]["encoder"]?.string == "camera")
                #expect(probes[0].streams.map(\.codecName) == ["mjpeg"])
                let movie = "\(session.directory)/back.avi"
                let order = try brightness(movie, crop: "600:300:20:20")
                let count = try brightness(paths[0], crop: "600:300:20:20").map {
                    try #require(order.firstIndex(of: $0))
                }
                let gaps = zip(count, count.dropFirst()).count { ($0 + 1) % order.count != $1 }
                let dropped = (files[0]["dropped"]?.integer ?? 0)
                let missed =
                    try daemon.get("FramesDropped", of: .camera, at: DualCam.backPath).integer ?? 0
                #expect(gaps <= dropped + missed)
                #expect(try brightness(paths[1], crop: "600:300:20:20").allSatisfy { $0 > 220 })
                // The stream has the back camera's picture first, then the front one's.
                let stream = try brightness(paths[2], crop: "100:100:20:200")
                let swapped = try #require(stream.firstIndex { $0 > 190 })
                #expect(swapped > 10 && swapped < stream.count - 10)
                #expect(stream[(swapped + 2)...].allSatisfy { $0 > 190 })
                #expect(["x264", "vaapi"].contains(files[2]["encoder"]?.string))
            }
        }

        @Test("a pause is in none of the files, which go on after it")
        func pause() throws {
            try PrivateSession.with { session in
                let daemon = try Daemon(try cameras(session), in: session)
                #expect(refusal { try daemon.capture.call(\.pauseRecording) } == "NotRecording")
                #expect(refusal { try daemon.capture.call(\.resumeRecording) } == "NotRecording")
                try start(daemon, ["audio": .boolean(false)])
                try eventually("two seconds", within: 20) { try seconds(daemon) >= 2 }
                for _ in 1...2 { try daemon.capture.call(\.pauseRecording) }
                let (length, frames) = (try seconds(daemon), try daemon.captured[0])
                // Two seconds, by the camera's own count.
                try eventually("frames", within: 20) { try daemon.captured[0] >= frames + 60 }
                let tool = Programs.path(of: "dualcamctl")
                let status = try session.output(tool, "record", "status")
                #expect(status.contains("● REC 0:0\(length) (paused)"), "\(status)")
                for _ in 1...2 { try daemon.capture.call(\.resumeRecording) }
                #expect(try daemon.capture.get(\.recordingPaused) == false)
                try eventually("two more", within: 20) { try seconds(daemon) >= length + 2 }
                let end = Double(try seconds(daemon))
                // It may be stopped in a pause.
                try daemon.capture.call(\.pauseRecording)
                let files = try stop(daemon)
                #expect(files.compactMap { $0["picture"]?.string } == ["back", "front", "stream"])
                for file in files {
                    let path = try #require(file["path"]?.string)
                    let probe = try Probe(path)
                    // A busy machine may have paused or stopped up to a second later.
                    #expect((end - 0.2...end + 1.5).contains(try #require(probe.duration)))
                    #expect(probe.chapters.count == 2)
                    let mark = try #require(probe.chapters.last?.times.first)
                    #expect((Double(length) - 0.2...Double(length) + 1.2).contains(mark))
                    let before = try #require(probe.times.last { $0 < mark })
                    let after = try #require(probe.times.first { $0 >= mark })
                    #expect(after - before < 0.5)
                    #expect(try decodedCount(path) == probe.times.count)
                }
            }
        }

        @Test("has its files when StartRecording returns")
        func beginsWithFiles() throws {
            try PrivateSession.with { session in
                let daemon = try Daemon(try cameras(session), in: session)
                for _ in 0..<3 {
                    try start(daemon, ["of": .strings(["back"]), "audio": .boolean(false)])
                    #expect(try daemon.get("RecordingFiles", of: .capture).array?.count == 1)
                    #expect(try stop(daemon).count == 1)
                }
            }
        }

        @Test("a killed daemon loses a second at most, and the next one repairs what there is")
        func killed() throws {
            try PrivateSession.with { session in
                let configuration = try cameras(session)
                var paths: [String] = []
                var least = 0.0
                do {
                    let daemon = try Daemon(configuration, in: session)
                    try start(daemon, ["audio": .boolean(false)])
                    let first = try daemon.captured[0]
                    // By the camera's own count, for four seconds at its rate of 30.
                    try eventually("frames", within: 60) { try daemon.captured[0] >= first + 120 }
                    least = Double(try daemon.captured[0] - first) / 30 - 1
                    daemon.program.signal(SIGKILL)
                    try daemon.program.wait()
                    paths = entries(of: folder(session))
                        .filter { $0.hasSuffix(".mkv") }.map { "\(folder(session))/\($0)" }.sorted()
                    try #require(paths.count == 3)
                    for path in paths {
                        let probe = try Probe(path, isTruncated: true)
                        #expect(try #require(probe.times.last) >= least)
                        #expect(probe.duration == nil)
                    }
                }
                let daemon = try Daemon(configuration, in: session)
                try eventually("the repair", within: 60) {
                    try daemon.problems.count { $0.contains("was repaired") } == 3
                }
                for path in paths {
                    let probe = try Probe(path)
                    #expect(try #require(probe.duration) >= least)
                    #expect(try decodedCount(path) == probe.times.count)
                }
                #expect(try daemon.end().exit == .status(0))
            }
        }

        @Test("a second daemon, on another bus or on the same, leaves a running recording alone")
        func secondDaemon() throws {
            // DUALCAM_STARTS=100 tries more.
            let starts = ProcessInfo.processInfo.environment["DUALCAM_STARTS"].flatMap { Int($0) }
            try PrivateSession.with { session in
                let daemon = try Daemon(try cameras(session), in: session)
                try start(daemon, ["of": .strings(["back"]), "audio": .boolean(false)])
                try eventually("a second", within: 20) { try seconds(daemon) >= 1 }
                let path = try #require(
                    daemon.get("RecordingFiles", of: .capture).array?.first?.named?["path"]?.string
                )
                var before = stat()
                try #require(stat(path, &before) == 0)
                try session.start(.systemBus)
                let other = "\(session.directory)/other"
                mkdir(other, 0o700)
                let elsewhere = [
                    "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(session.directory)/system-bus",
                    "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(other)/none",
                    "XDG_RUNTIME_DIR": other,
                ]
                for number in 0..<(starts ?? 15) {
                    let second = try session.run(
                        Programs.path(of: "dualcamd"),
                        ["--config", "\(session.directory)/dualcam.toml"],
                        adding: number % 3 == 2 ? ["XDG_RUNTIME_DIR": other] : elsewhere
                    )
                    switch number % 3 {
                    case 0:
                        // It looked at the recording, and left it.
                        try eventually("a look at the recording", within: 30) {
                            guard second.exit == nil else {
                                throw ServiceFailed(description: "\(second.errors)")
                            }
                            return second.errors.contains("not repaired, since it is in use")
                        }
                        second.signal(SIGKILL)
                        try second.wait()
                    case 1:
                        // At any moment of its start.
                        usleep(UInt32(number) * 7000)
                        second.signal(SIGTERM)
                        let exit = try second.wait()
                        #expect([.status(0), .signal(SIGTERM)].contains(exit), "\(second.errors)")
                    default:
                        // The name is taken.
                        #expect(try second.wait() == .status(75), "\(second.errors)")
                        let why = "DualCam runs already, as process \(daemon.program.id)"
                        #expect(second.errors.contains(why), "\(second.errors)")
                    }
                }
                let length = try seconds(daemon)
                let file = try #require(try stop(daemon).first)
                var after = stat()
                #expect(stat(path, &after) == 0 && after.st_ino == before.st_ino)
                let probe = try Probe(path)
                #expect(probe.times.count == file["frames"]?.integer)
                #expect(try #require(probe.duration) >= Double(length))
                #expect(
                    entries(of: folder(session)).count == 1
                )
            }
        }

        @Test(
            "a disk that takes 25 s for each call holds up no answer, no frame and no sign of life"
        )
        func hangingDisk() throws {
            try PrivateSession.with { session in
                // What is remembered, the user's directories and the photographs; and recordings.
                let home = "\(session.directory)/home"
                let disk = try SlowDisk(home, folder(session), in: session)
                try put("XDG_PICTURES_DIR=\"$HOME/Photos\"\n", at: "\(home)/.config/user-dirs.dirs")
                let daemon = try Daemon(
                    try cameras(session),
                    in: session,
                    adding: disk.environment.merging(["WATCHDOG_USEC": "1500000"]) { $1 }
                )
                let reader = try daemon.reader(copies: false)
                // Until the cameras count as settled: then a photograph is of the next frame.
                try eventually("frames", within: 20) { reader.count > 75 }
                let (frames, fed) = (reader.count, signsOfLife(daemon))

                try disk.wait(25_000)
                var answers: [String: Result<[Value], DBusError>] = [:]
                func ask(_ member: String, _ interface: String, _ arguments: [Value]) throws {
                    let call = MethodCall(
                        member,
                        of: interface,
                        at: DualCam.path,
                        on: DualCam.busName,
                        arguments,
                        timeout: 60
                    )
                    try daemon.bus.call(call) { answers[member] = $0 }
                }
                let capture = Interface.capture.name
                try ask("TakePhoto", capture, [.named(["of": .strings(["back"])])])
                try ask("StartRecording", capture, [.named(["audio": .boolean(false)])])
                // The photograph is taken, and waits for the disk.
                let taken = reader.count + 15
                try eventually("frames") { reader.count > taken }
                try eventually("a refusal of the recording", within: 60) {
                    try daemon.settle()
                    return answers["StartRecording"] != nil
                }
                guard case .failure(let refused)? = answers["StartRecording"] else {
                    Issue.record("\(answers)")
                    return
                }
                #expect(refused.message.contains("did not answer within 10 s"), "\(refused)")
                try ask(
                    "Set",
                    "org.freedesktop.DBus.Properties",
                    [.string(Interface.privacy.name), .string("Enabled"), .variant(.boolean(true))]
                )
                // Cameras close at once; after 5 s it says that the disk is missing.
                var asked = 0
                try eventually("word of the disk", within: 60) {
                    _ = try daemon.get("Recording", of: .capture)
                    asked += 1
                    try daemon.settle()
                    return answers["Set"] != nil
                }
                guard case .failure(let error)? = answers["Set"] else {
                    Issue.record("\(answers)")
                    return
                }
                #expect(error.name.hasSuffix(".Failed"))
                let done = answers.values.filter { (try? $0.get()) != nil }
                #expect(done.isEmpty, "\(answers)")
                #expect(try daemon.get("Enabled", of: .privacy) == .boolean(true))
                #expect(try daemon.state(of: DualCam.backPath) != "streaming")
                // Had the disk held up the main loop or the stream, there would be one or two.
                #expect(asked > 50)
                #expect(reader.count - frames >= 50)
                #expect(signsOfLife(daemon) - fed >= 4)

                try disk.wait(0)
                try eventually("all other answers", within: 60) {
                    try daemon.settle()
                    return answers.count == 3
                }
                // A recording for which each call takes its time is whole.
                try daemon.privacy.set(\.enabled, false)
                try eventually("a recording", within: 60) {
                    refusal { try start(daemon, ["audio": .boolean(false)]) } == nil
                }
                try disk.wait(300)
                try eventually("three seconds", within: 60) { try seconds(daemon) >= 3 }
                try disk.wait(0)
                let files = try stop(daemon)
                #expect(files.count == 3)
                for file in files {
                    let probe = try Probe(file["path"]?.string ?? "")
                    #expect(probe.times.count == file["frames"]?.integer)
                    #expect(try #require(probe.duration) > 2.5)
                }
                // What was refused did not begin meanwhile.
                #expect(entries(of: folder(session)).count == 3)
                #expect(try daemon.end().exit == .status(0))
            }
        }

        /// Returns the number of signs of life for the service manager so far.
        private func signsOfLife(_ daemon: Daemon) -> Int {
            daemon.notifications.lines.count { $0 == "WATCHDOG=1" }
        }

        @Test(
            "the end of the daemon, or of its bus, ends its files well",
            arguments: [false, true]
        )
        func ended(losesBus: Bool) throws {
            try PrivateSession.with { session in
                let daemon = try Daemon(try cameras(session), in: session)
                try start(daemon, ["of": .strings(["stream"]), "audio": .boolean(false)])
                try eventually("two seconds", within: 20) { try seconds(daemon) >= 2 }
                if losesBus {
                    session.kill(.bus)
                    #expect(try daemon.program.wait() == .status(1))
                } else {
                    #expect(try daemon.end().exit == .status(0))
                }
                let files = entries(of: folder(session))
                try #require(files.count == 1)
                let path = "\(folder(session))/\(files[0])"
                let probe = try Probe(path)
                #expect(try #require(probe.duration) >= 1.9)
                #expect(try decodedCount(path) == probe.times.count)
            }
        }

        @Test("a full disk ends the recording, and all that was recorded is played")
        func fullDisk() throws {
            try PrivateSession.with { session in
                let disk = folder(session)
                let small = try SmallDisk(at: disk, size: "64m")
                defer { withExtendedLifetime(small) {} }
                try Data(count: 52 << 20).write(to: URL(filePath: "\(disk)/other"))
                let daemon = try Daemon(try cameras(session), in: session)
                try start(daemon, ["encoder": .string("mjpeg"), "audio": .boolean(false)])
                // Another program fills the disk, too.
                let filler = open("\(disk)/filler", O_WRONLY | O_CREAT, 0o600)
                defer { close(filler) }
                let block = [UInt8](repeating: 0, count: 256 << 10)
                try eventually("the end", within: 60) {
                    _ = block.withUnsafeBytes { write(filler, $0.baseAddress, $0.count) }
                    usleep(100_000)
                    try daemon.settle()
                    return daemon.signals(of: .capture).contains("RecordingFailed")
                }
                let reason = daemon.signals.first { $0.member == "RecordingFailed" }?.arguments
                #expect(reason == [.string("NoSpace")])
                try eventually("the files", within: 30) {
                    try daemon.settle()
                    return try daemon.get("Recording", of: .capture) == .boolean(false)
                        && daemon.signals(of: .capture).count { $0 == "RecordingSaved" } == 3
                }
                let files = entries(of: disk)
                    .filter { $0.hasSuffix(".mkv") }
                #expect(files.count == 3)
                for file in files {
                    let probe = try Probe("\(disk)/\(file)")
                    #expect(try #require(probe.duration) > 0.5)
                    #expect(try decodedCount("\(disk)/\(file)") == probe.times.count)
                }
                let status = try daemon.session.output(Programs.path(of: "dualcamctl"), "status")
                let why = "MB are left, and DualCam keeps 8 MB free"
                #expect(status.contains("Recording stopped: the disk is nearly full"), "\(status)")
                #expect(status.contains(why), "\(status)")
                // Who stops it now still gets the files, and the reason.
                let tool = try daemon.session.run(
                    Programs.path(of: "dualcamctl"),
                    ["record", "stop"]
                )
                #expect(try tool.wait(within: 30) == .status(1))
                #expect(tool.errors.contains(why), "\(tool.errors)")
                #expect(tool.output.split(separator: "\n").count == 3, "\(tool.output)")
                #expect(refusal { _ = try stop(daemon) } == "NotRecording")
                #expect(refusal { try start(daemon) } == "NoSpace")
                #expect(try daemon.complains(of: "the disk is nearly full"))
                #expect(try daemon.get("Active", of: .stream) == .boolean(true))
                try FileManager.default.removeItem(atPath: "\(disk)/other")
                try eventually("no word of it once there is room", within: 60) {
                    try !daemon.complains(of: "Recording stopped")
                }
            }
        }

        @Test("a file that may not grow is followed by another one, and no picture is lost")
        func limitedFile() throws {
            try PrivateSession.with { session in
                let daemon = try Daemon(try cameras(session), in: session)
                let limit = 400_000
                let arguments = ["--fsize=\(limit):unlimited", "--pid", "\(daemon.program.id)"]
                let prlimit = try session.run("/usr/bin/prlimit", arguments)
                try #require(try prlimit.wait(within: 10) == .status(0), "\(prlimit.errors)")
                try start(daemon, ["encoder": .string("mjpeg"), "audio": .boolean(false)])
                try eventually("a third file of a camera", within: 60) {
                    try daemon.get("RecordingFiles", of: .capture).array?.contains {
                        $0.named?["path"]?.string?.hasSuffix("_back-3.mkv") ?? false
                    } ?? false
                }
                let files = try stop(daemon)
                try daemon.settle()
                #expect(!daemon.signals(of: .capture).contains("RecordingFailed"))
                let backs = files.filter { $0["picture"] == .string("back") }
                #expect(backs.count >= 3)
                var end: Double?
                for file in backs {
                    let path = try #require(file["path"]?.string)
                    let probe = try Probe(path)
                    #expect(file["dropped"] == .uint32(0) && file["error"] == nil)
                    #expect(try decodedCount(path) == probe.times.count)
                    #expect(try Data(contentsOf: URL(filePath: path)).count <= limit)
                    // Each begins when the one before it ends.
                    let offset = probe.format.tags?["DUALCAM_OFFSET"]?.dropLast(3) ?? ""
                    let start = try #require(Double(offset)) / 1000
                    if let end { #expect(abs(start - end) < 0.005, "\(path)") }
                    end = start + (try #require(probe.duration))
                }
            }
        }

        @Test("a file that is removed is told, and the recording, which goes on, has not failed")
        func removedFile() throws {
            try PrivateSession.with { session in
                let daemon = try Daemon(try cameras(session), in: session)
                try start(daemon, ["audio": .boolean(false), "of": .strings(["back"])])
                func path() throws -> String? {
                    let files = try daemon.get("RecordingFiles", of: .capture).array
                    return files?.first?.named?["path"]?.string
                }
                let first = try eventually("a file", within: 60) { try path() }
                try FileManager.default.removeItem(atPath: first)
                let second = try eventually("another file", within: 60) {
                    try path().flatMap { $0 == first ? nil : $0 }
                }
                #expect(second.hasSuffix("_back-2.mkv"))
                #expect(try daemon.complains(of: "was removed while it was recorded: \(first)"))
                #expect(try daemon.get("Recording", of: .capture) == .boolean(true))
                let files = try stop(daemon)
                #expect(files.map { $0["lost"] } == [.boolean(true), nil])
                #expect(files.map { $0["path"] } == [.string(first), .string(second)])
                try daemon.settle()
                #expect(!daemon.signals(of: .capture).contains("RecordingFailed"))
            }
        }

        @Test("what a full disk breaks off is played, and repaired when there is room")
        func brokenOff() throws {
            try PrivateSession.with { session in
                let disk = folder(session)
                let small = try SmallDisk(at: disk, size: "64m")
                defer { withExtendedLifetime(small) {} }
                let daemon = try Daemon(try cameras(session), in: session)
                try start(daemon, ["audio": .boolean(false), "of": .strings(["back"])])
                try eventually("a second of it", within: 60) {
                    try daemon.settle()
                    return try seconds(daemon) > 2
                }
                // At once, so that no check sees it coming. More may be written meanwhile, so it is
                // tried again.
                try eventually("a full disk", within: 60) {
                    var status = statvfs()
                    try #require(statvfs(disk, &status) == 0)
                    return small.resize(to: (status.f_blocks - status.f_bfree) * status.f_frsize)
                }
                try eventually("the end", within: 60) {
                    try daemon.settle()
                    return try daemon.signals(of: .capture).contains("RecordingFailed")
                        && daemon.get("Recording", of: .capture) == .boolean(false)
                }
                func movies() throws -> [String] {
                    entries(of: disk)
                        .filter { $0.hasSuffix(".mkv") }.map { "\(disk)/\($0)" }
                }
                let file = try #require(try movies().first)
                let count = try decodedCount(file)
                #expect(count > 30)
                #expect(!daemon.signals(of: .capture).contains("RecordingSaved"))
                try #require(small.resize(to: 64 << 20))
                try eventually("the repair", within: 60) {
                    try daemon.settle()
                    return daemon.signals(of: .capture).contains("RecordingSaved")
                }
                let saved = daemon.signals.first { $0.member == "RecordingSaved" }?.arguments
                #expect(saved?.first?.named?["repaired"] == .boolean(true))
                #expect(try movies() == [file])
                #expect(try decodedCount(file) == count)
                #expect(try #require(try Probe(file).duration) > 1)
                try eventually("no word of it", within: 60) {
                    try !daemon.complains(of: "Recording stopped")
                }
                #expect(try !daemon.complains(of: "cut off"))
            }
        }

        @Test("three pictures at 1280x720 and 30 a second, and what that costs beside ffmpeg")
        func cost() throws {
            try PrivateSession.with { session in
                let movies = try ["back", "front"].map { name in
                    let path = "\(session.directory)/\(name).avi"
                    try ffmpeg([
                        "-f", "lavfi", "-i", "testsrc2=s=1280x720:r=30", "-frames:v", "60",
                        "-pix_fmt", "yuvj422p", "-c:v", "mjpeg", "-q:v", "5", path,
                    ])
                    return path
                }
                let configuration = """
                    [cameras.back]
                    source = "file:\(movies[0])"
                    [cameras.front]
                    source = "file:\(movies[1])"
                    [capture]
                    video-directory = "\(folder(session))"
                    """
                let daemon = try Daemon(configuration, in: session)
                func processorTime() throws -> Double {
                    let stat = wholeText(of: "/proc/\(daemon.program.id)/stat")
                    let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
                    let ticks = [11, 12].compactMap { Double(fields[$0]) }.reduce(0, +)
                    return ticks / Double(sysconf(CInt(_SC_CLK_TCK)))
                }
                try start(daemon, ["audio": .boolean(false)])
                let before = try processorTime()
                try eventually("five seconds", within: 60) { try seconds(daemon) >= 5 }
                let ours = try processorTime() - before
                let files = try stop(daemon)
                func sum(_ key: String) -> Int {
                    files.reduce(0) { $0 + ($1[key]?.integer ?? 0) }
                }
                let inputs = movies.flatMap { ["-stream_loop", "-1", "-re", "-t", "5", "-i", $0] }
                let picture = "[1]scale=320:180[i];[0][i]overlay=W-w-26:26,format=yuv420p[o]"
                let theirs = try Child(
                    "ffmpeg",
                    ["-v", "error", "-nostdin", "-y"] + inputs + ["-filter_complex", picture]
                        + ["-map", "[o]", "-c:v", "libx264", "-preset", "superfast", "-crf", "22"]
                        + ["-g", "30", "-bf", "0", "\(session.directory)/stream.mkv"]
                        + ["-map", "0:v", "-c", "copy", "\(session.directory)/b.mkv"]
                        + ["-map", "1:v", "-c", "copy", "\(session.directory)/f.mkv"]
                )
                try #require(try theirs.wait(within: 120) == .status(0), "\(theirs.errors)")
                let percent = { (time: Double) in "\(Int((time / 5 * 100).rounded())) %" }
                print(
                    "recording three pictures: \(sum("frames")) frames, \(sum("dropped")) dropped, "
                        + "\(percent(ours)) of a core; ffmpeg \(percent(theirs.processorTime))"
                )
                // Processor time: on idle cores no frame is dropped.
                #expect(ours < 2 * theirs.processorTime)
            }
        }
    }
}
