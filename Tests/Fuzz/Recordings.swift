import Glibc
import Media

extension FuzzTarget {
    /// Unfinished recordings: the Matroska files that the repair reads, and rewrites.
    static let recordings = FuzzTarget(
        name: "recordings",
        maximumLength: 4096,
        seeds: recordingSeeds,
        read: repairRecording
    )
}

/// Repairs a recording as the helper process does, from one open file to another.
@Sendable private func repairRecording(_ bytes: [UInt8]) {
    guard let (from, to) = tmpfile().flatMap({ from in tmpfile().map { (from, $0) } }) else {
        fatalError("no files")
    }
    defer { for file in [from, to] { fclose(file) } }
    let (source, target) = (fileno(from), fileno(to))
    guard write(source, bytes, bytes.count) == bytes.count else { fatalError("no room") }
    guard let seconds = try? Remux.copy(source, to: target, as: .matroska), seconds > 0 else {
        return
    }
    // What was repaired once can be repaired again.
    guard ftruncate(source, 0) == 0, lseek(source, 0, SEEK_SET) == 0,
        (try? Remux.copy(target, to: source, as: .matroska)) != nil
    else { fatalError("what was repaired cannot be read") }
}

/// Returns recordings of each codec, as a crash leaves them, with BlockGroups and lacing, and
/// with durations that nobody can calculate with.
@Sendable private func recordingSeeds() -> [[UInt8]] {
    let picture = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xD9] as [UInt8]
    return ["V_MJPEG", "V_MPEG4/ISO/AVC", "A_OPUS", "A_FLAC"].flatMap { codec in
        [40, UInt64(Int64.max), .max].map { duration in
            let blocks = (0..<3).map { time in
                element([0xA3], [0x81, 0, UInt8(time * 40), 0x80] + picture)
                    + element(
                        [0xA0],
                        element([0xA1], [0x81, 0, UInt8(time * 40 + 20), 0] + picture)
                            + number([0x9B], duration)
                    )
            }
            return file(codec, blocks.flatMap(\.self))
        }
    }
}

/// Returns a Matroska file (RFC 9559) with one track of `codec`, and `blocks` in one cluster.
private func file(_ codec: String, _ blocks: [UInt8]) -> [UInt8] {
    let isVideo = codec.hasPrefix("V")
    let media =
        isVideo
        ? element([0xE0], number([0xB0], 32) + number([0xBA], 16))
        : element([0xE1], number([0x9F], 2))
    let track = element(
        [0xAE],
        number([0xD7], 1) + number([0x73, 0xC5], 1) + number([0x83], isVideo ? 1 : 2)
            + element([0x86], Array(codec.utf8)) + media
    )
    let info = element([0x15, 0x49, 0xA9, 0x66], number([0x2A, 0xD7, 0xB1], 1_000_000))
    let content =
        info + element([0x16, 0x54, 0xAE, 0x6B], track)
        + element([0x1F, 0x43, 0xB6, 0x75], number([0xE7], 0) + blocks)
    return element([0x1A, 0x45, 0xDF, 0xA3], element([0x42, 0x82], Array("matroska".utf8)))
        + element([0x18, 0x53, 0x80, 0x67], content)
}

private func element(_ id: [UInt8], _ content: [UInt8]) -> [UInt8] {
    let size = (0..<8).map { UInt8(truncatingIfNeeded: content.count >> (56 - 8 * $0)) }
    return id + [0x01] + size.dropFirst() + content
}

private func number(_ id: [UInt8], _ value: UInt64) -> [UInt8] {
    element(id, (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) })
}
