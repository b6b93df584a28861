import Foundation

/// What ffprobe says of a file.
package struct Probe: Decodable {
    /// A track.
    package struct Stream: Decodable {
        /// Such as "mjpeg".
        package var codecName: String
        /// In pixels.
        package var width: Int?
        /// In pixels.
        package var height: Int?
        /// Words about it.
        package var tags: [String: String]?
        /// What else players should know.
        package var sideDataList: [SideData]?
    }
    /// What else players should know.
    package struct SideData: Decodable {
        /// Degrees, anticlockwise.
        package var rotation: Int?
    }
    struct Packet: Decodable {
        var streamIndex: Int
        var ptsTime: String?
    }
    /// The file as a whole.
    package struct Format: Decodable {
        /// In seconds.
        package var duration: String?
        /// Words about it.
        package var tags: [String: String]?
    }
    /// Its tracks.
    package var streams: [Stream]
    /// The file as a whole.
    package var format: Format
    var packets: [Packet]

    /// Throws when ffprobe cannot read the file at `path`, or complains of it, unless it `isTruncated`.
    package init(_ path: String, isTruncated: Bool = false) throws {
        let arguments = [
            "-v", "error", "-show_streams", "-show_packets", "-show_format", "-of", "json", path,
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

    /// The file's length in seconds; `nil` where it does not say.
    package var duration: Double? { format.duration.flatMap(Double.init) }

    /// When the pictures of its first track are shown, in seconds.
    package var times: [Double] {
        packets.filter { $0.streamIndex == 0 }.compactMap { $0.ptsTime.flatMap(Double.init) }
    }

    /// When the packets of its second track are, in seconds.
    package var soundTimes: [Double] {
        packets.filter { $0.streamIndex == 1 }.compactMap { $0.ptsTime.flatMap(Double.init) }
    }
}

/// Runs ffmpeg with `arguments`; throws when it fails or complains. What it wrote.
@discardableResult
package func ffmpeg(_ arguments: [String], within seconds: Double = 120) throws -> String {
    let child = try Child("ffmpeg", ["-v", "error", "-nostdin"] + arguments)
    let exit = try child.wait(within: seconds)
    guard exit == .status(0), child.errors.isEmpty else {
        throw ServiceFailed(description: "ffmpeg: \(exit): \(child.errors)")
    }
    return child.output
}

/// How many pictures of the movie at `path` can be decoded; throws when one cannot.
package func decodedCount(_ path: String) throws -> Int {
    let lines = try ffmpeg([
        "-i", path, "-map", "0:v", "-fps_mode", "passthrough", "-f", "framecrc", "-",
    ])
    return lines.split(separator: "\n").count { !$0.hasPrefix("#") }
}

/// How bright each picture of the movie at `path` is in the part that `crop` has ("w:h:x:y" as ffmpeg's filter),
/// 0 to 255, in the way in which it is stored.
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
