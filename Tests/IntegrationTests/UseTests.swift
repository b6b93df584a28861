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
            "\u{FEFF}# mine\r\n[cameras.back]\r\nmirror = false\r\n  source = \"test:bars\"# keep\r\n"
            + "[cameras.front]\r\nsource = 'test'"

        private func use(_ word: String, _ path: ObjectPath, _ daemon: Daemon) throws {
            try daemon.camera(path).call(\.use, word)
        }

        /// Returns the text of the file `path`, with a mark that it may begin with.
        private func text(_ path: String) throws -> String {
            String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        }

        @Test("may be one of many keys, which are written together, or none of them")
        func keys() throws {
            try Daemon.with(Self.configuration) { daemon in
                func set(_ values: [String: Value]) throws {
                    try daemon.configuration.call(\.set, values)
                }
                let file = "\(daemon.session.directory)/dualcam.toml"
                try set(["output.width": .uint32(640), "output.height": .int32(360)])
                #expect(try daemon.stream.get(\.width) == 640)
                let written = try text(file)
                #expect(
                    written == Self.configuration
                        + "\r\n\r\n[output]\r\nwidth = 640\r\nheight = 360\r\n"
                )
                for values: [String: Value] in [
                    ["output.width": .uint32(320), "output.frame-rate": .string("fast")],
                    ["output.widht": .uint32(320)],
                ] {
                    #expect(refusal { try set(values) } == "OutOfRange")
                }
                let source: [String: Value] = ["cameras.back.source": .string("test")]
                #expect(refusal { try set(source) } == "NotSupported")
                #expect(try text(file) == written)
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
                let written = try text(real)
                #expect(written == Self.configuration.replacing("test:bars", with: "test:ramp"))
                var status = stat()
                #expect(stat(real, &status) == 0 && status.st_mode & 0o7777 == 0o640)
                #expect(
                    try FileManager.default.destinationOfSymbolicLink(atPath: file) == "real.toml"
                )

                // What cannot be is refused, and changes nothing; SourceEditorTests have the words.
                for (word, name) in [
                    ("nobody's", "NoCamera"), ("", "OutOfRange"), ("file:x", "OutOfRange"),
                    ("test:nope", "NotSupported"), ("file:/nope.jpg", "NoCamera"),
                ] {
                    #expect(refusal { try use(word, DualCam.backPath, daemon) } == name)
                }
                #expect(try text(real) == written)

                try daemon.stream.call(\.undoUse)
                #expect(try source(DualCam.backPath) == "test:bars")
                #expect(try text(real) == Self.configuration)
                #expect(refusal { try daemon.stream.call(\.undoUse) } == "Failed")
            }
        }
    }
}
