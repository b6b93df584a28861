import Control
import DBusKit
import Foundation
import Frames
import Platform
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of saved scenes and the title, as a consumer and a program on the bus see them.
    @Suite("Scenes", .timeLimit(.minutes(5)))
    struct ScenesTests {
        /// Runs `body` with a daemon in whose stream nothing moves by itself: back is dark, front
        /// is light.
        private func withStill(
            scene: String = "",
            _ body: (Daemon, StreamReader) throws -> Void
        ) throws {
            try PrivateSession.with { session in
                let daemon = try start(session, scene: scene)
                let reader = try daemon.reader()
                defer { reader.close() }
                _ = try reader.picture("both pictures") {
                    $0[640, 400].y == 40 && $0[1100, 160].y == 200
                }
                try body(daemon, reader)
            }
        }

        private func start(_ session: PrivateSession, scene: String = "") throws -> Daemon {
            let (light, dark) = ("\(session.directory)/a.y4m", "\(session.directory)/b.y4m")
            let small = Size(width: 320, height: 180)
            try writeMovie([200], size: small, to: light)
            try writeMovie([40], size: small, to: dark)
            return try Daemon(
                """
                [cameras.back]
                source = "file:\(dark)"
                [cameras.front]
                source = "file:\(light)"
                [scene]
                \(scene)
                """,
                in: session
            )
        }

        /// Calls a method of Scenes with a name, and returns its reply.
        @discardableResult
        private func call(
            _ member: String,
            _ name: String,
            _ daemon: Daemon,
            options: [String: Value] = [:]
        ) throws -> [Value] {
            try daemon.send(member, of: Interface.scenes.name, [.string(name), .named(options)])
        }

        private func current(_ daemon: Daemon) throws -> String {
            try daemon.get("Current", of: .scenes).string ?? ""
        }

        @Test("is saved, shown again, and current until something changes")
        func life() throws {
            try withStill(scene: "swap-duration-ms = 0") { daemon, reader in
                #expect(try current(daemon) == "")
                try daemon.set("InsetCorner", of: .scene, to: .string("bottom-left"))
                try daemon.set("Title", of: .scene, to: .string("Ada Lovelace\nEngines"))
                try daemon.set("TitleCorner", of: .scene, to: .string("top-left"))
                try daemon.forgetSignals()
                try call("Save", "lesson", daemon)
                #expect(try current(daemon) == "lesson")
                try daemon.settle()
                let changed = daemon.changes(of: .scenes)
                #expect(
                    changed.contains {
                        $0["Names"] == .strings(["talk", "desk", "demo", "away", "lesson"])
                    }
                )
                #expect(changed.contains { $0["Current"] == .string("lesson") })
                _ = try reader.picture("the title") { $0[34, 50].y < 31 }
                let saved = try reader.stillPicture()

                #expect(try call("Apply", "talk", daemon) == [.named([:])])
                #expect(try current(daemon) == "talk")
                #expect(try daemon.get("Layout", of: .scene) == .string("single"))
                #expect(try daemon.get("Title", of: .scene) == .string(""))
                let talk = try reader.picture("the light picture alone") {
                    $0[640, 400].y == 200 && $0[34, 50].y == 200
                }
                #expect(talk.differs(from: saved))
                try daemon.call("Swap", of: .scene, options: ["instant": .boolean(true)])
                #expect(try current(daemon) == "")

                try call("Apply", "lesson", daemon)
                let again = try reader.picture("the same picture") { !$0.differs(from: saved) }
                #expect(!again.differs(from: saved))
                // A part of one.
                try call("Apply", "demo", daemon, options: ["only": .strings(["layout"])])
                #expect(try daemon.get("Layout", of: .scene) == .string("side-by-side"))
                #expect(try daemon.get("Title", of: .scene) == .string("Ada Lovelace\nEngines"))
                // The key for the next one goes on after the last one, whole or not.
                let next = try daemon.call("Next", of: .scenes)
                #expect(next.first == .string("away"))
            }
        }

        @Test("are kept over a restart, and a damaged file is set aside")
        func file() throws {
            try PrivateSession.with { session in
                let folder = "\(session.directory)/home/.local/state/dualcam"
                let first = try start(session)
                try call("Save", "a", first)
                // It is on the disk once it is answered.
                let text = try String(contentsOfFile: "\(folder)/scenes.toml", encoding: .utf8)
                #expect(text.contains("name = \"a\""))
                try first.send(
                    "Rename",
                    of: Interface.scenes.name,
                    [.string("a"), .string("b"), .named([:])]
                )
                first.program.signal(SIGKILL)
                _ = try first.program.wait()

                let second = try start(session)
                let names = ["talk", "desk", "demo", "away"]
                try eventually("the scenes") {
                    try second.get("Names", of: .scenes) == .strings(names + ["b"])
                }
                for (member, name) in [
                    ("Apply", "a"), ("Remove", "a"), ("Save", ""), ("Save", "a\u{202E}"),
                    ("Save", String(repeating: "x", count: 41)),
                ] {
                    #expect(throws: DBusError.self, "\(member) \(name)") {
                        try call(member, name, second)
                    }
                }
                for text in ["x\u{1b}", "a\nb\nc", String(repeating: "x", count: 1 << 16)] {
                    #expect(throws: DBusError.self) {
                        try second.set("Title", of: .scene, to: .string(text))
                    }
                }
                try call("Remove", "b", second)
                #expect(try second.end().exit == .status(0))

                try "[[scene".write(
                    toFile: "\(folder)/scenes.toml",
                    atomically: true,
                    encoding: .utf8
                )
                let third = try start(session)
                try eventually("the problem") { try third.complains(of: "scenes.toml.damaged") }
                #expect(try third.get("Names", of: .scenes) == .strings(names))
                try call("Save", "c", third)
                #expect(try third.end().exit == .status(0))
            }
        }

        @Test("begins at once, ends in time, and runs back")
        func movement() throws {
            try withStill { daemon, reader in
                try call("Save", "small", daemon)
                for name in ["talk", "demo", "desk", "small", "demo", "talk"] {
                    let still = try reader.stillPicture()
                    try call("Apply", name, daemon)
                    let reply = MonotonicClock.now
                    var (last, time) = (still, 0.0)
                    // By the stream's own time, which is ahead by an interval at most.
                    while time < 0.6 {
                        let frame = try reader.next()
                        let picture = StreamPicture(frame, size: last.size)
                        let isMoving = picture.differs(from: last)
                        #expect(!isMoving || time < 0.3 + 1.0 / 30, "\(name) moves at \(time) s")
                        time = (try #require(frame.pts) - reply).seconds
                        let isNew = picture.differs(from: still)
                        #expect(isNew || time < 2.0 / 30, "\(name) has not begun at \(time) s")
                        last = picture
                    }
                    #expect(try current(daemon) == name)
                }
            }
        }

        @Test("twenty in random order cost no frame")
        func twenty() throws {
            let configuration = """
                [cameras.back]
                source = "test"
                [cameras.front]
                source = "test"
                """
            try Daemon.with(configuration) { daemon in
                let reader = try StreamReader("dualcam", in: daemon.session)
                defer { reader.close() }
                _ = try reader.frames(10, within: 20)
                reader.flush()
                let before = try daemon.unbuffered
                var random = Chance()
                var order: [String] = []
                var frames: [StreamReader.Frame] = []
                for _ in 0..<20 {
                    let name = ["talk", "desk", "demo", "away"].randomElement(using: &random)
                    order.append(name ?? "talk")
                    let refused = try call("Apply", order[order.count - 1], daemon)
                    #expect(refused == [.named([:])], "seed \(Chance.seed): \(order)")
                    // On the way of some, at the end of others.
                    frames += try reader.frames(Int.random(in: 1...14, using: &random), within: 20)
                }
                frames += try reader.frames(12, within: 20)
                #expect(frames.breaks == [])
                #expect(try daemon.unbuffered == before, "seed \(Chance.seed): \(order)")
                // PipeWire replaces a frame that its reader has not taken in time.
                let sent = frames[frames.count - 1].sequence - frames[0].sequence
                #expect(2 * frames.count > Int(sent))
            }
        }

        @Test("privacy of a scene ends with the next one, and the user's own stays")
        func privacy() throws {
            try withStill { daemon, reader in
                #expect(try call("Apply", "away", daemon) == [.named([:])])
                #expect(try daemon.get("Enabled", of: .privacy) == .boolean(true))
                #expect(try current(daemon) == "away")
                #expect(try call("Apply", "talk", daemon) == [.named([:])])
                #expect(try daemon.get("Enabled", of: .privacy) == .boolean(false))
                _ = try reader.picture("the front camera") { $0[640, 400].y == 200 }

                try daemon.set("Enabled", of: .privacy, to: .boolean(true))
                let refused = try call("Apply", "demo", daemon).first?.named
                #expect(refused?["privacy"]?.string?.contains("privacy off") == true)
                #expect(try daemon.get("Enabled", of: .privacy) == .boolean(true))
                #expect(try daemon.get("Layout", of: .scene) == .string("side-by-side"))
                // Nor does a scene that has it make it its own.
                try call("Apply", "away", daemon)
                try call("Apply", "talk", daemon)
                #expect(try daemon.get("Enabled", of: .privacy) == .boolean(true))
            }
        }

        @Test("a title fades in and out")
        func title() throws {
            try withStill { daemon, reader in
                let before = try reader.stillPicture()
                try daemon.set("Title", of: .scene, to: .string("Ada Lovelace"))
                var levels: [Int] = []
                func watch(until level: @escaping (Int) -> Bool) throws {
                    try eventually("the end of a fade") {
                        let frame = try reader.next()
                        levels.append(StreamPicture(frame, size: before.size)[34, 668].y)
                        return level(levels.last ?? 0)
                    }
                }
                reader.flush()
                try watch { $0 <= 30 }
                let shown = try reader.stillPicture()
                // Black at 45 % over 40, and white letters.
                #expect(abs(shown[34, 668].y - 29) <= 1)
                #expect(shown.luma(row: 668).max() ?? 0 > 200)
                #expect(zip(levels, levels.dropFirst()).allSatisfy { $0 >= $1 }, "\(levels)")
                try daemon.set("Title", of: .scene, to: .string(""))
                try watch { $0 == 40 }
                let after = try reader.stillPicture()
                #expect(!after.differs(from: before))
            }
        }
    }
}
