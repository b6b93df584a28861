import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of what is kept over a restart, and a crash.
    @Suite("Privacy and what is stored", .timeLimit(.minutes(5)))
    struct KeptPrivacyTests {
        private static let configuration = DaemonTests.still(
            back: "test:bars",
            front: "test:ramp",
            scene: "layout = \"single\""
        )

        private func state(_ session: PrivateSession) -> String {
            "\(session.directory)/home/.local/state/dualcam"
        }

        @Test(
            "privacy outlives a crash, and is answered when the cameras are closed and it is stored"
        )
        func crash() throws {
            try PrivateSession.with { session in
                let first = try Daemon(Self.configuration, in: session)
                _ = try first.reader()
                try first.front.wait(for: \.state, "streaming")
                try first.privacy.set(\.enabled, true)
                // All of this is so at once, not in the end.
                #expect(try first.privacy.get(\.enabled) == true)
                #expect(FileManager.default.fileExists(atPath: "\(state(session))/privacy"))
                let frames = try first.captured
                try first.settle()
                #expect(try first.captured == frames)
                first.program.signal(SIGKILL)
                _ = try first.program.wait()

                let second = try Daemon(Self.configuration, in: session)
                #expect(try second.privacy.get(\.enabled) == true)
                let viewer = try second.reader()
                _ = try viewer.next()
                try second.back.wait(for: \.interruption, "privacy")
                #expect(try second.captured == [0, 0])
                try second.privacy.set(\.enabled, false)
                #expect(!FileManager.default.fileExists(atPath: "\(state(session))/privacy"))
                try second.back.wait(for: \.state, "streaming")
                #expect(try second.end().exit == .status(0))
            }
        }

        @Test(
            "a scene ends the privacy that a scene began before a restart, and not the user's own",
            arguments: [false, true]
        )
        func begunByAScene(isUsersOwn: Bool) throws {
            try PrivateSession.with { session in
                let (files, folder) = (FileManager.default, state(session))
                try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
                for (name, text) in [("state.toml", "[scene]\nprivacy = true\n"), ("privacy", "")] {
                    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
                }
                // The user's own is stored after what is remembered of the scene.
                try files.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -60)],
                    ofItemAtPath: "\(folder)/\(isUsersOwn ? "state.toml" : "privacy")"
                )
                let configuration = Self.configuration + "\n[state]\nremember = true\n"
                let daemon = try Daemon(configuration, in: session)
                #expect(try daemon.privacy.get(\.enabled) == true)
                _ = try daemon.scenes.call(\.apply, "talk")
                #expect(try daemon.privacy.get(\.enabled) == isUsersOwn)
            }
        }

        /// What is in place of the state file.
        enum Damage: CaseIterable {
            case array, deepKey, deepArray, binary, directory, tooLong

            /// The text of the file, or `nil` for a directory.
            var text: String? {
                switch self {
                case .array: "a = [ }"
                case .deepKey: String(repeating: "a.", count: 200_000) + "a = 1"
                case .deepArray: String(repeating: "[", count: 100_000)
                case .binary: "a = \0\u{1}"
                case .directory: nil
                case .tooLong: String(repeating: "# much\n", count: 200_000)
                }
            }
        }

        @Test(
            "a damaged state is set aside and told of, and the daemon starts",
            arguments: Damage.allCases
        )
        func damaged(damage: Damage) throws {
            let text = damage.text
            try PrivateSession.with { session in
                let file = "\(state(session))/state.toml"
                try FileManager.default.createDirectory(
                    atPath: text == nil ? file : state(session),
                    withIntermediateDirectories: true
                )
                try text.map { try Data($0.utf8).write(to: URL(fileURLWithPath: file)) }
                let configuration = Self.configuration + "\n[state]\nremember = true\n"
                let daemon = try Daemon(configuration, in: session)
                #expect(try daemon.complains(of: "is now in \(file).damaged: "))
                #expect(FileManager.default.fileExists(atPath: "\(file).damaged"))
                try daemon.scene.set(\.layout, "stacked")
                #expect(try daemon.end().exit == .status(0))
                let stored = try String(contentsOfFile: file, encoding: .utf8)
                #expect(stored.contains("stacked"))
            }
        }
    }
}
