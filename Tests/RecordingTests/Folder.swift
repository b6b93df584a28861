import Foundation
import Frames
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
        let child = try Child(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=\(size):r=1,hue=h=\(number * 30)",
                "-frames:v", "1", "-pix_fmt", "yuvj422p", path,
            ]
        )
        try #require(try child.wait(within: 60) == .status(0), "\(child.errors)")
    }
    return Array(try Data(contentsOf: URL(filePath: path)))
}

/// Returns a raw picture that differs from the one before.
func rawFrame(_ number: Int, _ format: PixelFormat, at time: Timestamp, _ size: Size) -> Frame {
    let layout = FrameLayout(size: size, format: format)
    let buffer = FrameBuffer(byteCount: layout.byteCount)
    for index in 0..<layout.planeCount {
        let plane = buffer.plane(index, of: layout)
        for y in 0..<plane.rows {
            for x in 0..<plane.rowBytes {
                plane.row(y)[x] = UInt8(truncatingIfNeeded: (x ^ y) / 2 + 5 * number + 40 * index)
            }
        }
    }
    return Frame(
        buffer: buffer,
        layout: layout,
        color: .video,
        timestamp: time,
        sequence: UInt64(number)
    )
}
