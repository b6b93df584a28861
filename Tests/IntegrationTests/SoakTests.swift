import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

extension DaemonTests {
    /// A test of everything in random order for half a minute, or for DUALCAM_SOAK_MINUTES (`make
    /// soak`). DUALCAM_SOAK_SEED repeats the steps of a run.
    @Suite("The soak", .timeLimit(.minutes((Soak.minutes ?? 1) + 3)))
    struct SoakTests {
        @Test func itNeitherStopsNorGrows() throws {
            let soak = try Soak()
            defer { soak.desktop.session.close() }
            do {
                try soak.run()
            } catch {
                print("seed \(soak.seed), after: \(soak.story.suffix(12).joined(separator: ", "))")
                soak.desktop.session.printLogs()
                throw error
            }
        }
    }
}

/// One run: a daemon in a desktop, a permanent consumer, and random steps.
private final class Soak {
    static let minutes = number("DUALCAM_SOAK_MINUTES").map(Int.init)
    private static let duration = minutes.map { 60 * Double($0) } ?? 30

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    /// By chance where the length is chosen by hand, as `make soak` does.
    let seed =
        Soak.number("DUALCAM_SOAK_SEED")
        ?? (Soak.minutes == nil ? Chance.seed : UInt64.random(in: 0..<1_000_000))
    let desktop: MockedDesktop
    /// The steps so far, in order.
    private(set) var story: [String] = []
    private var random: Chance
    private let daemon: Daemon
    private let movie: String
    private let camera: PictureServer
    private var viewer: StreamReader
    private var others: [StreamReader] = []
    private var gstreamer: Child?
    private var isLocked = false

    /// The longest wait of the viewer for a frame while PipeWire was running, in seconds.
    private var longestWait = 0.0
    /// The longest time from the start of PipeWire to a frame, in seconds.
    private var longestReturn = 0.0
    private var counts: [String: Int] = [:]
    /// The numbers of hostile pods and calls so far.
    private var attacks: [HostileAttack: Int] = [:]
    private var checkedFiles = 0
    /// The kinds of steps that were not taken yet.
    private var undone: Set<String> = []
    /// Where photographs and recordings go.
    private let folder: String
    /// A runtime directory without PipeWire, for daemons on another bus.
    private let elsewhere: String

    init() throws {
        random = Chance(seed: seed)
        desktop = try MockedDesktop()
        movie = "\(desktop.session.directory)/movie.y4m"
        folder = "\(desktop.session.directory)/home/files"
        elsewhere = "\(desktop.session.directory)/elsewhere"
        mkdir(elsewhere, 0o700)
        try desktop.startLogin()
        try desktop.startGnome()
        let levels = (0..<20).map { UInt8(60 + 6 * $0) }
        try writeMovie(levels, size: Size(width: 640, height: 360), to: movie)
        camera = try Self.hostileCamera(seed: seed)
        daemon = try Daemon(
            Self.configuration(movie, folder, front: "test"),
            in: desktop.session,
            // mallinfo2(3) counts what a thread has freed and keeps for itself as used: up to
            // 0.2 MB each, over hours.
            adding: ["GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"]
        )
        viewer = try StreamReader("dualcam", in: desktop.session)
    }

    private static func configuration(
        _ movie: String,
        _ folder: String,
        front: String,
        scene: String = ""
    ) -> String {
        """
        [output]
        width = 640
        height = 360
        [cameras.back]
        source = "file:\(movie)"
        [cameras.front]
        source = "\(front)"
        [scene]
        \(scene)
        [capture]
        photo-directory = "\(folder)"
        video-directory = "\(folder)"
        """
    }

    /// A camera on the network that treats each connection in another hostile way.
    private static func hostileCamera(seed: UInt64) throws -> PictureServer {
        let random = Mutex(Chance(seed: seed))
        return try PictureServer { connection in
            func chance(_ limit: Int) -> Int { random.withLock { $0.number(below: limit) } }
            func noise(_ count: Int) -> [UInt8] {
                random.withLock { random in
                    (0..<count).map { _ in UInt8(random.number(below: 256)) }
                }
            }
            let challenge =
                "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"a\", nonce=\"\(chance(1000))\", "
                + "stale=true\r\nContent-Length: 0\r\n\r\n"
            switch chance(8) {
            case 0: while connection.send(challenge) { usleep(1000) }
            case 1:
                _ = connection.send("HTTP/1.1 200 OK\r\n")
                while connection.send("X-More: \(chance(1000))\r\n") {}
            case 2:
                _ = connection.send(PictureServer.Connection.header)
                while connection.send("--foo\r\nContent-Length: -1\r\n\r\n") {}
            case 3:
                _ = connection.send(PictureServer.Connection.header)
                while connection.send(part: [0xff, 0xd8] + noise(chance(5000))) { usleep(10_000) }
            case 4: _ = connection.send("HTTP/1.1 302 Away\r\nLocation: /\(chance(1000))\r\n\r\n")
            case 5: while connection.send(noise(4096)) {}
            case 6:
                _ = connection.send(PictureServer.Connection.header + "--foo\r\n")
                // Nothing more, for as long as it is patient.
                while connection.send([]), chance(100) > 0 { usleep(100_000) }
            default: break
            }
        }
    }

    // MARK: The run

    func run() throws {
        let duration = Self.duration
        print("soak: \(duration) s, seed \(seed)")
        _ = try viewer.next(within: 10)
        // From the first request on, it has threads that read directories, write configurations and
        // look for pages; there is none in the pictures.
        #expect(throws: DBusKit.DBusError.self) {
            try daemon.call("FindPerspective", of: .camera, at: DualCam.backPath)
        }
        try daemon.send("List", of: Interface.library.name, [.uint32(0), .uint32(1), .named([:])])
        try daemon.send(
            "Use",
            of: Interface.camera.name,
            at: DualCam.frontPath,
            [.string("auto"), .named([:])]
        )
        // Without a private network there is no phone, and no thread for one.
        _ = try? daemon.call("Pair", of: .phone)
        _ = try? daemon.call("Cancel", of: .phone)
        try daemon.reload(Self.configuration(movie, folder, front: "test"))
        let start = MonotonicClock.now
        var rests: [Rest] = []
        // The first is when all has been used, and after ten minutes, if there are more.
        var next = duration >= 1200 ? 600 : max(duration / 6, 15)
        while true {
            let time = (MonotonicClock.now - start).seconds
            if time >= next, undone.isEmpty {
                rests.append(try rest(at: time))
                guard time < duration else { break }
                next += max(duration / 12, 5)
            }
            try step()
        }
        let done = counts.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
        print("soak: did \(done.joined(separator: ", "))")
        print(
            "soak: \(attacks[.calls, default: 0]) hostile calls, \(attacks[.pods, default: 0]) pods,",
            "\(checkedFiles) recorded files whole"
        )
        print(
            "soak: longest wait for a frame \(milliseconds(longestWait)), longest from",
            "PipeWire's start to a frame \(milliseconds(longestReturn))"
        )
        print("soak: \(camera.count) connections of the hostile camera")
        // In the steps it may be that its pictures were never wanted. After a rest they are.
        let count = camera.count
        try lookAtHostileCamera()
        try eventually("the hostile camera to be reached", within: 30) { camera.count > count }
        try judge(rests)
        #expect(try daemon.end().exit == .status(0))
    }

    /// The daemon's resources at a moment of rest.
    private struct Rest {
        let time: Double
        let holdings: Holdings
        /// The memory in kilobytes that the daemon has allocated and not freed.
        let used: Int
    }

    private func judge(_ rests: [Rest]) throws {
        let first = try #require(rests.first)
        let last = try #require(rests.last)
        // What is lost would be missing at all later moments of rest.
        let later = rests.suffix(rests.count / 2)
        func own(_ rest: Rest) -> Int { rest.holdings.descriptors - rest.holdings.sharedMemory }
        let held = later.map(own)
        let excess = last.holdings.excess(over: first.holdings)
        #expect((held.min() ?? .max) <= own(first), "\(held): \(excess)")
        // PipeWire 1.4 has one or two more at some moments than at others. One for each consumer
        // that came and went would be dozens.
        let shared = later.map(\.holdings.sharedMemory)
        #expect((shared.min() ?? .max) <= first.holdings.sharedMemory + 2, "\(shared): \(excess)")
        let threads = later.map(\.holdings.threads)
        #expect((threads.min() ?? .max) <= first.holdings.threads, "\(threads): \(excess)")
        // Of what a frame or a call loses, all later moments have more.
        let used = later.map { $0.used - first.used }
        let resident = later.map { $0.holdings.memory - first.holdings.memory }
        let (lost, grown) = (used.min() ?? 0, resident.min() ?? 0)
        print("soak: \(lost) kB more are used, \(grown) kB more are resident")
        // In the first minutes libraries, caches and the memory of threads come up. One frame lost
        // per step would be 0.3 MB. After ten minutes, all that there is has been used. What is
        // free between pieces in use is resident, too, and is some MB more or less each time.
        let isWarm = first.time >= 600
        #expect(lost <= (isWarm ? first.holdings.memory / 100 : 12_000), "\(used)")
        #expect(grown <= 12_000, "\(resident)")
    }

    /// Undoes the remaining effects of the steps, and returns the daemon's resources then.
    private func rest(at time: Double) throws -> Rest {
        try endRecording()
        for other in others { other.close() }
        others = []
        endGStreamer()
        try setLocked(false)
        try daemon.privacy.set(\.enabled, false)
        try setMovie(present: true)
        try daemon.reload(Self.configuration(movie, folder, front: "test"))
        try undoCalls()
        // With its last viewer go the copies of pictures, which else keep their largest size.
        try stopAndStart()
        try eventually("all to be live again", within: 10) {
            try daemon.state(of: DualCam.backPath) == "streaming"
                && daemon.state(of: DualCam.frontPath) == "streaming"
                && daemon.stream.get(\.consumers) == 1
        }
        let problems = try daemon.problems
        guard problems == [] else { throw ServiceFailed(description: "problems: \(problems)") }
        try expectFrames()
        try eventually("the photographs that nobody reads to be dropped", within: 40) {
            Holdings(of: daemon).names.keys.allSatisfy { !$0.contains("/pipe") }
        }
        try daemon.forgetSignals()
        var holdings = Holdings(of: daemon)
        // What was just closed may take a moment to go, and a client may just be answered.
        for _ in 0..<50 where holdings.descriptors > 0 {
            usleep(10_000)
            let now = Holdings(of: daemon)
            if now.descriptors < holdings.descriptors { holdings = now }
        }
        let used = try #require(daemon.statistics["memory"]?.integer) / 1024
        print("soak: at \(Int(time)) s \(holdings), \(used) kB used, after \(story.count) steps")
        return Rest(time: time, holdings: holdings, used: used)
    }

    /// Undoes what hostile calls may have set.
    private func undoCalls() throws {
        try daemon.call("Reset", of: .scene)
        try daemon.scene.set(\.hud, "pro")
        try daemon.capture.set(\.livePhoto, false)
        try daemon.pro.set(\.enabled, false)
        try daemon.orientation.set(\.mode, "auto")
        try daemon.scene.set(\.away, "")
        for camera in [DualCam.backPath, DualCam.frontPath] {
            try daemon.camera(camera).set(\.rotation, 0)
            try daemon.camera(camera).set(\.room, "as-is")
            try daemon.camera(camera).set(\.framing, "off")
            try daemon.camera(camera).set(\.metering, "frame")
            try daemon.send(
                "SetZoom",
                of: Interface.camera.name,
                at: camera,
                [.double(1), .named([:])]
            )
        }
    }

    /// Expects that the viewer still has frames of one stream, without a break since it came.
    private func expectFrames() throws {
        let frames = viewer.drain() + [try viewer.next()]
        longestWait = max(longestWait, viewer.longestWait())
        #expect(frames.breaks == [])
        #expect(viewer.failure == nil)
    }

    // MARK: Steps

    private func step() throws {
        let steps: [(weight: Int, name: String, work: () throws -> Void)] = [
            (6, "swap", swap), (4, "layout", changeLayout), (4, "inset", changeInset),
            (2, "held keys", holdKeys),
            (2, "mounting", changeMounting), (3, "privacy", changePrivacy), (3, "lock", lock),
            (3, "consumer", comeOrGo), (2, "GStreamer", comeOrGoWithGStreamer),
            (3, "reload", reload), (3, "movie", takeOrGiveMovie), (1, "WirePlumber", renewLinker),
            (1, "PipeWire", renewPipeWire), (1, "stop and start", stopAndStart),
            (3, "hostile calls", { [self] in try attack(.calls) }),
            (3, "hostile pods", { [self] in try attack(.pods) }),
            (2, "attacked recording", attackRecording), (4, "recording", recordOrEnd),
            (3, "second daemon", startSecond), (3, "hostile camera", lookAtHostileCamera),
            (2, "damaged state", startDamaged), (2, "slow reader", photographSlowly),
        ]
        if story.isEmpty { undone = Set(steps.map(\.name)) }
        // Each kind once at first.
        let possible = undone.isEmpty ? steps : steps.filter { undone.contains($0.name) }
        var pick = random.number(below: possible.reduce(0) { $0 + $1.weight })
        for (weight, name, work) in possible {
            pick -= weight
            guard pick < 0 else { continue }
            undone.remove(name)
            story.append(name)
            counts[name, default: 0] += 1
            try work()
            break
        }
        usleep(UInt32(random.number(below: 120)) * 1000)
        if let exit = daemon.program.exit {
            throw ServiceFailed(description: "dualcamd ended: \(exit)")
        }
        try expectFrames()
    }

    private func swap() throws {
        do {
            try daemon.call("Swap", of: .scene, options: ["instant": .boolean(random.isHeads())])
        } catch let error as DBusKit.DBusError where error.name.hasSuffix(".NoCamera") {
            // A source that is no camera leaves nothing to swap with.
        }
    }

    private func changeLayout() throws {
        let layout = random.element(["pip", "side-by-side", "stacked", "single"])
        try daemon.scene.set(\.layout, layout)
    }

    private func changeInset() throws {
        let corner = random.element(["top-left", "top-right", "bottom-left", "bottom-right"])
        let size = 0.1 + Double(random.number(below: 40)) / 100
        try daemon.scene.set(\.insetCorner, corner)
        try daemon.scene.set(\.insetSize, size)
        try daemon.scene.set(\.insetVisible, random.isHeads())
    }

    /// Takes 61 steps as fast as held keys repeat, without waiting for answers. None may be lost.
    private func holdKeys() throws {
        try daemon.scene.set(\.insetSize, 0.2)
        try daemon.scene.set(\.insetVisible, true)
        let (scene, steps) = (Interface.scene.name, Remote<StepsInterface>(daemon.bus))
        for _ in 0..<61 {
            for (property, change) in [
                ("InsetSize", Value.double(0.002)), ("InsetVisible", .string("toggle")),
            ] {
                try steps.begin(\.step, (scene, property, Variant(change)))
            }
            daemon.bus.flush()
            usleep(33_000)
        }
        try eventually("all steps to be taken") {
            try daemon.scene.get(\.insetSize) == 0.322 && !daemon.scene.get(\.insetVisible)
        }
    }

    private func changeMounting() throws {
        let camera = random.element([DualCam.backPath, DualCam.frontPath])
        let angle = UInt32(90 * random.number(below: 4))
        try daemon.camera(camera).set(\.rotation, angle)
        try daemon.camera(camera).set(\.mirror, random.isHeads())
    }

    private func changePrivacy() throws {
        try daemon.privacy.set(\.enabled, random.isHeads())
    }

    private func lock() throws { try setLocked(!isLocked) }

    private func setLocked(_ isOn: Bool) throws {
        guard isOn != isLocked else { return }
        isLocked = isOn
        switch random.number(below: 3) {
        case 0 where isOn: try desktop.setLocked(true)
        case 1 where isOn: try desktop.setGnome(true)
        case _ where isOn: try desktop.sleep(true)
        default:
            try desktop.setLocked(false)
            try desktop.setGnome(false)
            try desktop.sleep(false)
        }
    }

    private func comeOrGo() throws {
        if others.count < 2, random.isHeads() {
            let slow = StreamReader.Manner.slow(seconds: 0.05)
            let reader = try StreamReader(
                "dualcam",
                in: desktop.session,
                manner: random.isHeads() ? slow : .prompt
            )
            others.append(reader)
        } else if !others.isEmpty {
            others.remove(at: random.number(below: others.count)).close()
        }
    }

    private func comeOrGoWithGStreamer() throws {
        if let running = gstreamer {
            // Either like a program that crashes, or like one that is asked to end.
            if random.isHeads() { running.signal(SIGINT) }
            endGStreamer()
        } else {
            gstreamer = try desktop.session.gstreamer(
                "pipewiresrc target-object=dualcam ! video/x-raw ! fakesink"
            )
        }
    }

    private func endGStreamer() {
        gstreamer?.end()
        if let gstreamer { desktop.session.forget(gstreamer) }
        gstreamer = nil
    }

    private func reload() throws {
        let front = random.element(["test", "test:bars", "test:ramp", "file:\(movie)", "test:moon"])
        let scene = random.element([
            "", "layout = \"stacked\"", "inset-size = 0.3\nswap-icon = false",
            "background = \"crop\"", "layout = 5", "colour = \"red\"",
        ])
        try daemon.reload(Self.configuration(movie, folder, front: front, scene: scene))
    }

    // MARK: Hostile steps

    /// Has a program write to the node or call the daemon, faster than ten thousand times a minute.
    private func attack(_ attack: HostileAttack) throws {
        let program = try attack.start(on: daemon, seconds: 1.5, seed: random.next() >> 40)
        try eventually("the end of the attack", within: 30) { program.exit != nil }
        attacks[attack, default: 0] += try HostileAttack.count(program)
        desktop.session.forget(program)
    }

    /// Attacks in all ways at once while a recording is made, whose files are whole nonetheless. A
    /// call of the attack may end it.
    private func attackRecording() throws {
        if try daemon.capture.get(\.recording) == false { try recordOrEnd() }
        let programs = try HostileAttack.allCases.map {
            try $0.start(on: daemon, seconds: 1.5, seed: random.next() >> 40)
        }
        try eventually("the end of the attacks", within: 30) {
            programs.allSatisfy { $0.exit != nil }
        }
        for (attack, program) in zip(HostileAttack.allCases, programs) {
            attacks[attack, default: 0] += try HostileAttack.count(program)
            desktop.session.forget(program)
        }
        try endRecording()
    }

    /// Has a hostile camera on the network as the front one, until the next reload.
    private func lookAtHostileCamera() throws {
        let front = "url:http://127.0.0.1:\(camera.port)/a"
        try daemon.reload(Self.configuration(movie, folder, front: front))
    }

    /// Starts a recording, or ends it and checks its files.
    private func recordOrEnd() throws {
        guard try daemon.capture.get(\.recording) == false else {
            return try endRecording()
        }
        let pictures = random.element([["back"], ["front"], ["back", "front"], ["stream"]])
        do {
            try daemon.call(
                "StartRecording",
                of: .capture,
                options: ["of": .strings(pictures), "audio": .boolean(false)]
            )
        } catch let error as DBusKit.DBusError
            where [".AlreadyRecording", ".NoCamera"].contains(where: error.name.hasSuffix)
        {
            // A hostile call's may be ending; a source may be no camera.
        }
    }

    /// Ends the recording, if there is one, and expects that all its frames are in its files.
    /// Removes them, and the photographs.
    private func endRecording() throws {
        do {
            for file in try daemon.capture.call(\.stopRecording, within: 60) {
                guard let path = file["path"]?.string, path.hasSuffix(".mkv") else { continue }
                let probe = try Probe(path)
                #expect(probe.times.count == file["frames"]?.integer && probe.duration != nil)
                checkedFiles += 1
            }
        } catch let error as DBusKit.DBusError where error.name.hasSuffix(".NotRecording") {}
        for name in entries(of: folder) { unlink("\(folder)/\(name)") }
    }

    /// Starts another daemon of the same user, on another bus or on the same, with a state of its
    /// own if `state` is given.
    private func second(_ bus: String, state: String? = nil) throws -> Child {
        var variables = [
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(desktop.session.directory)/\(bus)",
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(elsewhere)/none",
            "XDG_RUNTIME_DIR": elsewhere,
        ]
        variables["XDG_STATE_HOME"] = state
        let configuration = "\(desktop.session.directory)/second.toml"
        try put("[state]\nremember = true\n", at: configuration)
        return try desktop.session.run(
            Programs.path(of: "dualcamd"),
            ["--config", configuration],
            adding: variables
        )
    }

    /// Starts a second daemon beside whatever is being recorded, and ends it at some moment.
    private func startSecond() throws {
        let isSameBus = random.number(below: 3) == 0
        let program = try second(isSameBus ? "bus" : "system-bus")
        defer { desktop.session.forget(program) }
        guard !isSameBus else {
            // The name is taken.
            #expect(try program.wait() == .status(75), "\(program.errors)")
            return
        }
        usleep(UInt32(random.number(below: 400)) * 1000)
        program.signal(random.isHeads() ? SIGKILL : SIGTERM)
        let exit = try program.wait()
        #expect([.status(0), .signal(SIGTERM), .signal(SIGKILL)].contains(exit), "\(exit)")
    }

    /// Starts a second daemon with a state that something has damaged.
    private func startDamaged() throws {
        let state = "\(elsewhere)/state"
        let texts = ["a = [ }", "zoom = ", "\0\0\0", String(repeating: "a.", count: 3000)]
        try put(random.element(texts), at: "\(state)/dualcam/state.toml")
        let program = try second("system-bus", state: state)
        defer { desktop.session.forget(program) }
        try eventually("word of the damage") {
            guard program.exit == nil else {
                throw ServiceFailed(description: "dualcamd: \(program.errors)")
            }
            return program.errors.contains("What was remembered cannot be read")
        }
        program.signal(SIGTERM)
        #expect(try program.wait() == .status(0), "\(program.errors)")
        try FileManager.default.removeItem(atPath: state)
    }

    /// Asks for photographs into a pipe that nobody reads, and leaves.
    private func photographSlowly() throws {
        let ends = try unsharedPipe()
        let reader = Descriptor(owning: ends.reader)
        let writer = SharedDescriptor(owning: ends.writer)
        let client = try BusConnection(
            to: .address(desktop.session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""),
            loop: try EventLoop()
        )
        let picture = random.element(["back", "front", "stream"])
        for _ in 0..<random.number(below: 12) {
            try Remote<CaptureInterface>(client).begin(\.takePhotoTo, (writer, picture))
        }
        client.flush()
        usleep(UInt32(random.number(below: 300)) * 1000)
        withExtendedLifetime(reader) {}
    }

    /// Removes the movie's file, like a camera that is unplugged, or restores it. The daemon looks
    /// for it when it reopens the camera.
    private func takeOrGiveMovie() throws {
        let isThere = FileManager.default.fileExists(atPath: movie)
        try setMovie(present: !isThere)
        // Reopened in either case.
        try daemon.privacy.set(\.enabled, true)
        try daemon.privacy.set(\.enabled, false)
    }

    private func setMovie(present: Bool) throws {
        let away = movie + ".away"
        guard FileManager.default.fileExists(atPath: movie) != present else { return }
        rename(present ? away : movie, present ? movie : away)
    }

    private func renewLinker() throws {
        longestWait = max(longestWait, viewer.longestWait())
        desktop.session.kill(.wireplumber)
        viewer.close()
        try desktop.session.start(.wireplumber)
        try look(since: MonotonicClock.now)
    }

    private func renewPipeWire() throws {
        let session = desktop.session
        longestWait = max(longestWait, viewer.longestWait())
        for other in others { other.close() }
        others = []
        endGStreamer()
        session.kill(.pipewire)
        session.kill(.wireplumber)
        viewer.close()
        try session.start(.pipewire)
        let start = MonotonicClock.now
        try session.start(.wireplumber)
        try look(since: start)
    }

    /// Stops and starts the stream. Its consumers lose it, and may choose it again.
    private func stopAndStart() throws {
        longestWait = max(longestWait, viewer.longestWait())
        viewer.close()
        try daemon.call("Stop", of: .stream)
        try daemon.call("Start", of: .stream)
        try look(since: MonotonicClock.now)
    }

    private func look(since start: Timestamp) throws {
        try eventually("a frame") {
            // A client that is there before the node gets an error and looks again, as applications
            // do.
            viewer.close()
            viewer = try StreamReader("dualcam", in: desktop.session)
            try eventually("a frame or a failure") { viewer.count > 0 || viewer.failure != nil }
            return viewer.failure == nil
        }
        longestReturn = max(longestReturn, (MonotonicClock.now - start).seconds)
        // Its first may be the stream's.
        _ = try viewer.next()
    }
}

extension Chance {
    fileprivate mutating func number(below limit: Int) -> Int {
        Int.random(in: 0..<limit, using: &self)
    }
    fileprivate mutating func isHeads() -> Bool { Bool.random(using: &self) }
    fileprivate mutating func element<Element>(_ elements: [Element]) -> Element {
        elements[number(below: elements.count)]
    }
}
