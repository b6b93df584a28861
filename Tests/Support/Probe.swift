import Foundation

/// The description of a file by ffprobe.
package struct Probe: Decodable {
    /// A track.
    package struct Stream: Decodable {
        /// The codec, such as "mjpeg"; `nil` for a timecode.
        package var codecName: String?
        package var width: Int?
        package var height: Int?
        package var colorPrimaries: String?
        package var colorTransfer: String?
        package var colorSpace: String?
        /// The mean rate, as a fraction: "30/1".
        package var avgFrameRate: String?
        package var tags: [String: String]?
        /// The side data of the track, such as its rotation.
        package var sideDataList: [SideData]?
    }
    /// Side data of a track.
    package struct SideData: Decodable {
        /// The anticlockwise rotation in degrees.
        package var rotation: Int?
    }
    struct Packet: Decodable {
        var streamIndex: Int
        var ptsTime: String?
    }
    /// The file as a whole.
    package struct Format: Decodable {
        package var duration: String?
        package var tags: [String: String]?
    }
    /// A chapter.
    package struct Chapter: Decodable {
        var startTime: String
        var endTime: String
        /// The tags of the chapter, such as its title.
        package var tags: [String: String]?
        /// The begin and the end, in seconds.
        package var times: [Double] { [startTime, endTime].compactMap(Double.init) }
    }
    package var chapters: [Chapter]
    package var streams: [Stream]
    package var format: Format
    var packets: [Packet]

    /// Reads the file at `path`.
    ///
    /// - Throws: An error when ffprobe cannot read the file, or prints errors although it is not
    ///   `isTruncated`.
    package init(_ path: String, isTruncated: Bool = false) throws {
        let arguments = [
            "-v", "error", "-show_streams", "-show_packets", "-show_format",
            "-show_chapters", "-of", "json", path,
        ]
        let child = try Child("ffprobe", arguments)
        let exit = try child.wait(within: 60)
        guard exit == .status(0), isTruncated || child.errors.isEmpty else {
            throw ServiceFailed(description: "ffprobe: \(exit): \(child.errors)")
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self = try decoder.decode(Probe.self, from: Data(child.output.utf8))
    }

    /// The length of the file in seconds; `nil` if it does not state one.
    package var duration: Double? { format.duration.flatMap(Double.init) }

    /// The presentation times of its first track, in seconds.
    package var times: [Double] {
        packets.filter { $0.streamIndex == 0 }.compactMap { $0.ptsTime.flatMap(Double.init) }
    }

    /// The times of the packets of its second track, in seconds.
    package var soundTimes: [Double] {
        packets.filter { $0.streamIndex == 1 }.compactMap { $0.ptsTime.flatMap(Double.init) }
    }
}

/// Runs ffmpeg with `arguments` and returns its output.
///
/// - Throws: An error when it fails or prints errors.
@discardableResult
package func ffmpeg(_ arguments: [String], within seconds: Double = 120) throws -> String {
    let child = try Child("ffmpeg", ["-v", "error", "-nostdin"] + arguments)
    let exit = try child.wait(within: seconds)
    guard exit == .status(0), child.errors.isEmpty else {
        throw ServiceFailed(description: "ffmpeg: \(exit): \(child.errors)")
    }
    return child.output
}

/// Returns the number of frames of the movie at `path`.
///
/// - Throws: An error when one of them cannot be decoded.
package func decodedCount(_ path: String) throws -> Int {
    let lines = try ffmpeg([
        "-i", path, "-map", "0:v", "-fps_mode", "passthrough", "-f", "framecrc", "-",
    ])
    return lines.split(separator: "\n").count { !$0.hasPrefix("#") }
}

/// Returns the mean brightness, 0 to 255, of each frame of the movie at `path` within `crop`
/// ("w:h:x:y" as in ffmpeg's filter), in the orientation in which it is stored.
package func brightness(_ path: String, crop: String) throws -> [Int] {
    let raw = path + ".gray"
    defer { try? FileManager.default.removeItem(atPath: raw) }
    try ffmpeg([
        "-y", "-i", path, "-map", "0:v", "-fps_mode", "passthrough", "-vf",
        "extractplanes=y,crop=\(crop),scale=1:1:flags=area,settb=1/10,setpts=N", "-f", "rawvideo",
        "-pix_fmt", "gray",
        raw,
    ])
    return try Data(contentsOf: URL(filePath: raw)).map { Int($0) }
}
