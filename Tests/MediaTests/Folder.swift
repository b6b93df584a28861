import Foundation
import Frames
import TestJPEGs
import TestSupport
import Testing

typealias Folder = ScratchDirectory

/// Returns the sound of the file at `path` from its first sample on, as one channel of `rate`
/// samples per second.
func decodedSound(_ path: String, rate: Int) throws -> [Int16] {
    let child = try Child(
        "sh",
        ["-c", "ffmpeg -v error -i \(path) -map 0:a -ac 1 -ar \(rate) -f s16le \(path).pcm"]
    )
    try #require(try child.wait(within: 120) == .status(0), "\(child.errors)")
    let bytes = try Data(contentsOf: URL(filePath: "\(path).pcm"))
    return bytes.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
}

/// Returns a camera's JPEG, with a colour determined by `number`.
func jpeg(_ number: Int, _ folder: Folder, size: String = "320x240") throws -> [UInt8] {
    let path = "\(folder.path)/\(number)-\(size).jpg"
    if !FileManager.default.fileExists(atPath: path) {
        try ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=s=\(size):r=1,hue=h=\(number * 30)",
            "-frames:v", "1", "-pix_fmt", "yuvj422p", path,
        ])
    }
    return Array(try Data(contentsOf: URL(filePath: path)))
}

/// Returns a raw picture that differs from the one before.
func rawFrame(_ number: Int, _ format: PixelFormat, at time: Timestamp, _ size: Size) -> Frame {
    frame(size: size, format: format, color: .video, at: time, sequence: UInt64(number)) {
        UInt8(truncatingIfNeeded: ($1 ^ $2) / 2 + 5 * number + 40 * $0)
    }
}
