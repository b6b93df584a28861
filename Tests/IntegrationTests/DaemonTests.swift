import Control
import DBusKit
import Foundation
import Frames
import Platform
import TestJPEGs
import TestSupport
import Testing

/// Tests of the daemon. They run one after the other: they measure time, and each has its own
/// session.
@Suite("Daemon", .serialized)
enum DaemonTests {
    static let size = Size(width: 1280, height: 720)

    /// Returns a configuration with two sources, instant changes of the scene, and `scene` as more
    /// lines of the table [scene].
    static func still(back: String, front: String, scene: String = "") -> String {
        """
        [cameras.back]
        source = "\(back)"
        [cameras.front]
        source = "\(front)"
        [scene]
        swap-duration-ms = 0
        \(scene)
        """
    }

    /// Writes a dark movie and a light one in which nothing moves, and returns a configuration that
    /// has them for the back and the front camera.
    static func darkAndLight(in session: PrivateSession, duration: Int = 0) throws -> String {
        let (light, dark) = ("\(session.directory)/a.y4m", "\(session.directory)/b.y4m")
        let small = Size(width: 320, height: 180)
        try writeMovie([200], size: small, to: light)
        try writeMovie([40], size: small, to: dark)
        return still(back: "file:\(dark)", front: "file:\(light)")
            .replacing("duration-ms = 0", with: "duration-ms = \(duration)")
    }

    /// Runs `body` with a daemon that has these cameras, and a reader of its stream; `duration` is
    /// that of a swap in milliseconds.
    static func withStill(
        duration: Int,
        _ body: (Daemon, StreamReader) throws -> Void
    ) throws {
        try PrivateSession.with { session in
            let daemon = try Daemon(darkAndLight(in: session, duration: duration), in: session)
            let reader = try daemon.reader()
            _ = try reader.picture("both pictures") {
                $0[640, 400].y == 40 && $0[1100, 160].y == 200
            }
            try body(daemon, reader)
        }
    }
}

extension Daemon {
    var captured: [Int] {
        get throws {
            [Int(try back.get(\.framesCaptured)), Int(try front.get(\.framesCaptured))]
        }
    }

    func tool(_ words: String) throws -> Child {
        let child = try session.run(
            Programs.path(of: "dualcamctl"),
            words.split(separator: " ").map(String.init)
        )
        try child.wait(within: 60)
        return child
    }

    var statistics: [String: Value] {
        get throws { try call("Statistics", of: .stream).first?.named ?? [:] }
    }

    /// The number of frames for which consumers left no buffer.
    var unbuffered: Int {
        get throws { try #require(statistics["drops"]?.named?["unbuffered"]?.integer) }
    }
}

/// Writes a movie file (Y4M) to `path`. Each frame has one luma of `levels` throughout, without
/// colour.
func writeMovie(_ levels: [UInt8], rate: Int = 30, size: Size, to path: String) throws {
    var bytes = Data("YUV4MPEG2 W\(size.width) H\(size.height) F\(rate):1 Ip A1:1 C420jpeg\n".utf8)
    for level in levels {
        bytes += Data("FRAME\n".utf8) + Data(repeating: level, count: size.area)
        bytes += Data(repeating: 128, count: size.area / 2)
    }
    try bytes.write(to: URL(fileURLWithPath: path))
}

/// Writes a file of `copies` JPEGs in a row to `path`. `luma` gives the luma of each column; there
/// is no colour.
func writeJPEG(
    size: Size,
    copies: Int = 1,
    to path: String,
    luma: (_ x: Int) -> UInt8
) throws {
    let jpeg = Data(jpeg(of: frame(size: size, format: .gray) { _, x, _ in luma(x) }))
    try (0..<copies).reduce(Data()) { bytes, _ in bytes + jpeg }
        .write(to: URL(fileURLWithPath: path))
}

/// Returns a time in seconds as milliseconds, for people.
func milliseconds(_ time: Double) -> String { "\((time * 10_000).rounded() / 10) ms" }

/// Returns the last part of the name of the error that `body` throws; `nil` if there is none.
func refusal(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch let error as DBusError {
        return error.name.split(separator: ".").last.map(String.init)
    } catch { return "\(error)" }
}
