import CLinux
import Glibc
import Platform

/// A photograph or movie of the library.
package struct MediaItem: Hashable, Sendable {
    /// The kind of a file. The raw values are those of D-Bus.
    package enum Kind: String, Sendable {
        case photo
        /// A movie with or without sound.
        case movie
    }
    package let path: String
    package let kind: Kind
    /// "back", "front" or "stream", if the name has it.
    package let camera: String?
    package let byteCount: Int64
    /// The time in the name, or else of the last modification, in microseconds since 1970.
    package let time: Int64
    /// The path of a live photo's movie; `nil` for all other items.
    package internal(set) var movie: String?
    /// The length of a movie in seconds; `nil` for photographs, and if it is unknown.
    package internal(set) var seconds: Double?

    /// The path without extension, which a live photo shares with its movie.
    fileprivate var stem: Substring { path[..<(path.utf8.lastIndex(of: 0x2E) ?? path.endIndex)] }
}

extension MediaItem {
    /// Returns the items of these files, newest first, then by path. A live photo with its movie,
    /// a Matroska file, is one.
    static func items(of files: [MediaItem]) -> [MediaItem] {
        let movies = files.filter { $0.kind == .movie && $0.path.lowercased().hasSuffix(".mkv") }
        let places = Dictionary(movies.map { ($0.stem, $0.path) }) { $1 }
        var (items, paired) = (files, Set<String>())
        for place in items.indices where items[place].kind == .photo && !places.isEmpty {
            items[place].movie = places[items[place].stem]
            items[place].movie.map { _ = paired.insert($0) }
        }
        if !paired.isEmpty { items.removeAll { paired.contains($0.path) } }
        return items.sorted { $0.time != $1.time ? $0.time > $1.time : $0.path < $1.path }
    }
}

/// The facts in the name of a file.
///
/// The library holds the formats that DualCam makes, by extension: photographs are `.jpg` and
/// `.jpeg`, movies `.mkv` and `.mp4`, in upper or lower case. Hidden files, such as half-written
/// ones, are left out.
struct MediaName {
    let kind: MediaItem.Kind
    /// The time, in microseconds since 1970, and the picture ("back", "front" or "stream") in a
    /// name of DualCam's own.
    private(set) var time: Int64?
    private(set) var camera: String?

    /// Reads `name`. `nil` if the file does not belong to the library.
    init?(_ name: String) {
        guard name.utf8.first != UInt8(ascii: "."), let dot = name.utf8.lastIndex(of: 0x2E) else {
            return nil
        }
        switch name[name.utf8.index(after: dot)...].lowercased() {
        case "jpg", "jpeg": kind = .photo
        case "mkv", "mp4": kind = .movie
        default: return nil
        }
        if name.hasPrefix("DualCam_") { (time, camera) = Self.own(String(name[..<dot])) }
    }

    /// Reads "DualCam_2026-11-21_143005.123_back", or the same with a number, "…_back-2".
    private static func own(_ stem: String) -> (time: Int64?, camera: String?) {
        var parts = tm()
        let rest = stem.withCString { text -> String? in
            guard let end = strptime(text, "DualCam_%Y-%m-%d_%H%M%S.", &parts),
                UnsafePointer(end) - text == 26
            else { return nil }
            return String(cString: end)
        }
        let words = rest?.split(separator: "_", omittingEmptySubsequences: false) ?? []
        guard words.count == 2, words[0].utf8.count == 3, isNumber(words[0]),
            let milliseconds = Int(words[0]), parts.tm_year >= 70
        else { return (nil, nil) }
        let name = words[1].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ["back", "front", "stream"].contains(name[0]), name.dropFirst().allSatisfy(isNumber)
        else { return (nil, nil) }
        parts.tm_isdst = -1
        let time = microseconds(mktime(&parts), nanoseconds: milliseconds * 1_000_000)
        return (time, String(name[0]))
    }

    private static func isNumber(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}

/// Returns `seconds` and `nanoseconds` in microseconds, clamped to the range of the type: a file
/// may claim any time.
func microseconds(_ seconds: Int, nanoseconds: Int) -> Int64 {
    let last = Int.max / 1_000_000 - 1
    return Int64(max(-last, min(last, seconds)) * 1_000_000 + nanoseconds / 1000)
}
