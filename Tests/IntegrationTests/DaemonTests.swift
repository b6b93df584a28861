import CTurboJPEG
import Foundation
import Frames
import Platform
import TestSupport
import Testing

/// One test after the other: they measure time, and each has a session of its own.
@Suite("Daemon", .serialized)
enum DaemonTests {
    /// The usual size.
    static let size = Size(width: 1280, height: 720)

    /// A configuration of two sources, changes of the scene without movement, and `more` of the
    /// table [scene].
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
    /// A reader of the stream that keeps the pictures.
    func reader() throws -> StreamReader {
        try StreamReader("dualcam", in: session, copies: true)
    }
}

/// A movie file (Y4M) at `path` whose frames are each of one luma, without colour.
func writeMovie(_ levels: [UInt8], rate: Int = 30, size: Size, to path: String) throws {
    var bytes = Data("YUV4MPEG2 W\(size.width) H\(size.height) F\(rate):1 Ip A1:1 C420jpeg\n".utf8)
    for level in levels {
        bytes += Data("FRAME\n".utf8) + Data(repeating: level, count: size.area)
        bytes += Data(repeating: 128, count: size.area / 2)
    }
    try bytes.write(to: URL(fileURLWithPath: path))
}

/// A file at `path` of `copies` JPEGs, one behind the other, whose columns have the luma that `luma` says
/// of them, without colour.
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

/// Milliseconds, for people.
func milliseconds(_ time: Double) -> String { "\((time * 10_000).rounded() / 10) ms" }
