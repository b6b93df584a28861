import Control
import DBusKit
import Foundation
import Glibc
import TestSupport
import Testing

extension DaemonTests {
    @Suite("A device that is chosen", .timeLimit(.minutes(2)))
    struct UseTests {
        private static let configuration =
            "# mine\r\n[cameras.back]\r\nmirror = false\r\n  source = \"test:bars\"# keep\r\n"
            + "[cameras.front]\r\nsource = 'test'"

        @discardableResult
        private func use(_ word: String, _ path: ObjectPath, _ daemon: Daemon) throws -> [Value] {
            try daemon.send(
                "Use",
                of: CameraInterface.name,
                at: path,
                [.string(word), .named([:])]
            )
        }

        private func error(_ body: () throws -> Void) -> String {
            do {
                try body()
                return "none"
            } catch {
                let error = error as? DBusKit.DBusError
                return "\(error?.name.split(separator: ".").last ?? "") \(error?.message ?? "")"
            }
        }

        @Test("is written into the configuration, taken at once, and undone byte by byte")
        func chosen() throws {
            try Daemon.with(Self.configuration) { daemon in
                let file = "\(daemon.session.directory)/dualcam.toml"
                let real = "\(daemon.session.directory)/real.toml"
                try FileManager.default.moveItem(atPath: file, toPath: real)
                try FileManager.default.createSymbolicLink(
                    atPath: file,
                    withDestinationPath: "real.toml"
                )
                chmod(real, 0o640)
                func source(_ camera: ObjectPath) throws -> String? {
                    try daemon.get("Source", of: .camera, at: camera).string
                }
                try use("test:ramp", DualCam.backPath, daemon)
                #expect(try source(DualCam.backPath) == "test:ramp")
                #expect(try source(DualCam.frontPath) == "test")
                let text = try String(contentsOfFile: real, encoding: .utf8)
                #expect(text == Self.configuration.replacing("test:bars", with: "test:ramp"))
                var status = stat()
                #expect(stat(real, &status) == 0 && status.st_mode & 0o7777 == 0o640)
                #expect(
                    try FileManager.default.destinationOfSymbolicLink(atPath: file) == "real.toml"
                )

                // What cannot be is refused, and changes nothing.
                #expect(
                    error { try use("nobody's", DualCam.backPath, daemon) }
                        .hasPrefix("NoCamera There is no camera “nobody's”.")
                )
                #expect(error { try use("", DualCam.backPath, daemon) }.hasPrefix("OutOfRange"))
                #expect(
                    error { try use("file:x", DualCam.backPath, daemon) }.hasPrefix("OutOfRange")
                )
                #expect(
                    error { try use("test:nope", DualCam.backPath, daemon) }
                        .hasPrefix("NotSupported There is no test picture nope: there are back,")
                )
                #expect(
                    error { try use("file:/nope.jpg", DualCam.backPath, daemon) }
                        == "NoCamera Cannot open /nope.jpg: there is no such file."
                )
                #expect(try String(contentsOfFile: real, encoding: .utf8) == text)

                func undo() throws {
                    try daemon.send("UndoUse", of: StreamInterface.name, [.named([:])])
                }
                try undo()
                #expect(try source(DualCam.backPath) == "test:bars")
                #expect(try String(contentsOfFile: real, encoding: .utf8) == Self.configuration)
                #expect(error(undo) == "Failed There is nothing to undo.")

                // Nobody else's change is undone.
                try use("test:ramp", DualCam.frontPath, daemon)
                let mine = try String(contentsOfFile: real, encoding: .utf8) + "\n# more"
                try mine.write(toFile: real, atomically: false, encoding: .utf8)
                #expect(error(undo).contains("was changed since then"))
                #expect(try String(contentsOfFile: real, encoding: .utf8) == mine)

                // A file that no line of can be changed alone stays, and so does the camera.
                try "cameras = { back = { source = \"test\" } }"
                    .write(toFile: real, atomically: false, encoding: .utf8)
                let refusal = error { try use("test:ramp", DualCam.backPath, daemon) }
                #expect(refusal.contains("dualcam.toml:1: cameras is in braces"), "\(refusal)")
                #expect(try source(DualCam.backPath) == "test:bars")
            }
        }

        @Test("makes the file where there is none")
        func made() throws {
            try Daemon.with("") { daemon in
                let file = "\(daemon.session.directory)/dualcam.toml"
                try FileManager.default.removeItem(atPath: file)
                let tool = Programs.path(of: "dualcamctl")
                _ = try daemon.session.output(tool, "use", "front", "test:bars")
                #expect(
                    try String(contentsOfFile: file, encoding: .utf8)
                        == "[cameras.front]\nsource = \"test:bars\"\n"
                )
                #expect(
                    try daemon.get("Source", of: .camera, at: DualCam.frontPath)
                        == .string("test:bars")
                )
                _ = try daemon.session.output(tool, "use", "--undo")
                #expect(!FileManager.default.fileExists(atPath: file))
                #expect(
                    try daemon.get("Source", of: .camera, at: DualCam.frontPath) == .string("auto")
                )
            }
        }
    }
}
