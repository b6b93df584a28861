import CTurboJPEG
import Control
import DBusKit
import Foundation
import Frames
import Platform
import TestSupport
import Testing

/// Tests of the daemon. They run one after the other: they measure time, and each has its own
/// session.
@Suite("Daemon", .serialized)
enum DaemonTests {
    /// The usual size of the stream.
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
}

extension Daemon {
    /// Creates a reader of the stream that keeps the bytes of its frames.
    func reader() throws -> StreamReader {
        try StreamReader("dualcam", in: session, copies: true)
    }

    /// The daemon's counters.
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
    let codec = try #require(tjInitCompress())
    defer { tjDestroy(codec) }
    var output: UnsafeMutablePointer<UInt8>?
    var count: UInt = 0
    let result = tjCompress2(
        codec,
        (0..<size.area).map { luma($0 % size.width) },
        CInt(size.width),
        CInt(size.width),
        CInt(size.height),
        CInt(TJPF_GRAY.rawValue),
        &output,
        &count,
        CInt(TJSAMP_GRAY.rawValue),
        95,
        0
    )
    defer { tjFree(output) }
    try #require(result == 0)
    let jpeg = Data(UnsafeBufferPointer(start: output, count: Int(count)))
    try (0..<copies).reduce(Data()) { bytes, _ in bytes + jpeg }
        .write(to: URL(fileURLWithPath: path))
}

/// Returns a time in seconds as milliseconds, for people.
func milliseconds(_ time: Double) -> String { "\((time * 10_000).rounded() / 10) ms" }
