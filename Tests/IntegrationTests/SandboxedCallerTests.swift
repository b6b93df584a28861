import Control
import DBusKit
import Foundation
import Platform
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of a program in a sandbox of its own, as Flatpak makes them: a mount namespace whose
    /// root has a `.flatpak-info`.
    @Suite("Sandboxed callers", .timeLimit(.minutes(2)))
    struct SandboxedCallerTests {
        /// Puts a root together from the directories of the real one, and runs the rest of the
        /// words in it.
        private static let sandbox = """
            root=$1
            shift
            mount -t tmpfs none "$root" || exit 99
            for entry in /*; do
                if [ -L "$entry" ]; then
                    cp -P "$entry" "$root/"
                elif [ -d "$entry" ]; then
                    mkdir "$root$entry" && mount --rbind "$entry" "$root$entry" || exit 99
                fi
            done
            printf '[Application]\\nname=org.example.App\\n' >"$root/.flatpak-info"
            exec chroot "$root" "$@"
            """

        private func run(
            _ words: [String],
            of program: String = Programs.path(of: "dualcamctl"),
            in session: PrivateSession
        ) throws -> Child {
            let root = "\(session.directory)/root"
            mkdir(root, 0o700)
            // A user may mount in a namespace of one's own.
            let own = getuid() == 0 ? [] : ["--user", "--map-current-user", "--keep-caps"]
            let command = ["sh", "-c", Self.sandbox, "sandbox", root]
            let child = try session.run("unshare", own + ["--mount"] + command + [program] + words)
            try child.wait()
            try #require(child.exit != .status(99), "no sandbox: \(child.errors)")
            return child
        }

        private static let refused = [
            ["privacy", "off"], ["photo"], ["photo", "--of", "back", "-o", "-"],
            ["record", "start"], ["record", "stop"], ["media", "list"], ["stop"], ["zoom", "2x"],
            ["torch", "on"], ["title", "x"], ["scene", "save", "x"], ["scene", "delete", "talk"],
            ["scene", "export"],
        ]

        private func configuration(_ session: PrivateSession, access: String = "") -> String {
            """
            [cameras.back]
            source = "test"
            [cameras.front]
            source = "test"
            [capture]
            photo-directory = "\(session.directory)/photos"
            \(access)
            """
        }

        @Test("a sandboxed app may look, swap and turn privacy on, and nothing else")
        func confined() throws {
            try PrivateSession.with { session in
                let daemon = try Daemon(configuration(session), in: session)
                func may(_ words: [String]) throws {
                    let child = try run(words, in: session)
                    #expect(child.exit == .status(0), "\(words): \(child.errors)")
                }
                try may(["status"])
                try may(["scene", "list"])
                try may(["scene", "apply", "demo"])
                try may(["scene", "next"])
                let before = try daemon.scene.get(\.swapped)
                try may(["swap"])
                #expect(try daemon.scene.get(\.swapped) != before)
                try may(["layout", "single"])
                try may(["privacy", "on"])
                for words in Self.refused {
                    let child = try run(words, in: session)
                    #expect(child.exit == .status(1), "\(words): \(child.output)")
                    #expect(child.errors.contains("Sandboxed apps may not do this"), "\(words)")
                }
                let address = session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
                let preview = try run(
                    [
                        "--address=\(address)", "call", DualCam.busName, DualCam.path.text,
                        StreamInterface.name, "OpenPreview", "sa{sv}", "pipewire:x", "0",
                    ],
                    of: "busctl",
                    in: session
                )
                #expect(preview.errors.contains("Sandboxed apps may not do this"))
                #expect(try daemon.privacy.get(\.enabled) == true)
                // The user's own programs may.
                try daemon.privacy.set(\.enabled, false)
                #expect(entries(of: "\(session.directory)/photos").isEmpty)
            }
        }

        @Test("a sandboxed app may apply a scene, but end privacy with none")
        func scenes() throws {
            try PrivateSession.with { session in
                let daemon = try Daemon(configuration(session), in: session)
                for words in [["scene", "apply", "away"], ["scene", "apply", "talk"]] {
                    let child = try run(words, in: session)
                    #expect(child.exit == .status(0), "\(words): \(child.errors)")
                    let isRefused = child.errors.contains("privacy: Sandboxed apps may not")
                    #expect(isRefused == (words[2] == "talk"), "\(words): \(child.errors)")
                    #expect(try daemon.privacy.get(\.enabled) == true)
                }
                #expect(try daemon.scene.get(\.layout) == "single")
                let tool = Programs.path(of: "dualcamctl")
                _ = try session.output(tool, "scene", "apply", "desk")
                #expect(try daemon.privacy.get(\.enabled) == false)
            }
        }
    }
}
