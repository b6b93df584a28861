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
            try daemon.scenes.get(\.current)
        }

        @Test("is saved, shown again, and current until something changes")
        func life() throws {
            try DaemonTests.withStill(duration: 0) { daemon, reader in
                #expect(try current(daemon) == "")
                try daemon.scene.set(\.insetCorner, "bottom-left")
                try daemon.scene.set(\.title, "Ada Lovelace\nEngines")
                try daemon.scene.set(\.titleCorner, "top-left")
                try daemon.forgetSignals()
                try call("Save", "lesson", daemon)
                #expect(try current(daemon) == "lesson")
                try daemon.settle()
                let changed = daemon.changes(of: .scenes)
                #expect(
                    changed.contains {
                        $0["Names"]
                            == .strings(["talk", "desk", "presenter", "demo", "away", "lesson"])
                    }
                )
                #expect(changed.contains { $0["Current"] == .string("lesson") })
                _ = try reader.picture("the title") { $0[34, 50].y < 31 }
                let saved = try reader.stillPicture()

                #expect(try call("Apply", "talk", daemon) == [.named([:])])
                #expect(try current(daemon) == "talk")
                #expect(try daemon.scene.get(\.layout) == "single")
                #expect(try daemon.scene.get(\.title) == "Ada Lovelace\nEngines", "it stays")
                let talk = try reader.picture("the light picture alone, with the title") {
                    $0[640, 400].y == 200 && $0[34, 50].y < 190
                }
                #expect(talk.differs(from: saved))
                try daemon.call("Swap", of: .scene, options: ["instant": .boolean(true)])
                #expect(try current(daemon) == "")

                try call("Apply", "lesson", daemon)
                let again = try reader.picture("the same picture") { !$0.differs(from: saved) }
                #expect(!again.differs(from: saved))
                // A part of one.
                try call("Apply", "demo", daemon, options: ["only": .strings(["layout"])])
                #expect(try daemon.scene.get(\.layout) == "side-by-side")
                #expect(try daemon.scene.get(\.title) == "Ada Lovelace\nEngines")
                // The key for the next one goes on after the last one, whole or not, and leaves out
                // `away`, which closes the cameras.
                let next = try daemon.call("Next", of: .scenes)
                #expect(next.first == .string("lesson"))
            }
        }

        @Test("are kept over a restart, and a damaged file is set aside")
        func file() throws {
            try PrivateSession.with { session in
                let folder = "\(session.directory)/home/.local/state/dualcam"
                let first = try Daemon(DaemonTests.darkAndLight(in: session), in: session)
                try call("Save", "a", first)
                // It is on the disk once it is answered.
                let text = try String(contentsOfFile: "\(folder)/scenes.toml", encoding: .utf8)
                #expect(text.contains("name = \"a\""))
                try first.scenes.call(\.rename, ("a", "b"))
                first.program.signal(SIGKILL)
                _ = try first.program.wait()

                let second = try Daemon(DaemonTests.darkAndLight(in: session), in: session)
                let names = ["talk", "desk", "presenter", "demo", "away"]
                try second.scenes.wait(for: \.names, names + ["b"])
                #expect(throws: DBusError.self) { try call("Apply", "a", second) }
                #expect(throws: DBusError.self) { try call("Save", "a\u{202E}", second) }
                #expect(throws: DBusError.self) { try second.scene.set(\.title, "a\nb\nc") }
                try call("Remove", "b", second)
                #expect(try second.end().exit == .status(0))

                try put("[[scene", at: "\(folder)/scenes.toml")
                let third = try Daemon(DaemonTests.darkAndLight(in: session), in: session)
                try eventually("the problem") { try third.complains(of: "scenes.toml.damaged") }
                #expect(try third.scenes.get(\.names) == names)
                try call("Save", "c", third)
                #expect(try third.end().exit == .status(0))
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
                let reader = try daemon.reader(copies: false)
                _ = try reader.frames(10, within: 20)
                reader.flush()
                let before = try daemon.unbuffered
                var random = Chance()
                var order: [String] = []
                var frames: [StreamReader.Frame] = []
                for _ in 0..<20 {
                    let name = ["talk", "desk", "presenter", "demo", "away"].randomElement(
                        using: &random
                    )
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
    }
}
