/// The facts in the name of a file.
///
/// The library holds the formats that DualCam makes, by extension: photographs are `.jpg` and
/// `.jpeg`, movies `.mkv` and `.mp4`, in upper or lower case. Hidden files, such as half-written
/// ones, are left out.
struct MediaName: Hashable {
    /// The time in the names of DualCam's own files, in local time.
    struct Date: Hashable {
        let (year, month, day): (Int, Int, Int)
        let (hour, minute, second, millisecond): (Int, Int, Int, Int)

        static func == (one: Date, other: Date) -> Bool { one.fields == other.fields }
        func hash(into hasher: inout Hasher) { hasher.combine(fields) }
        private var fields: [Int] { [year, month, day, hour, minute, second, millisecond] }
    }

    let kind: MediaItem.Kind
    /// The name without extension.
    let stem: Substring
    /// `true` if the file can be the movie of a live photo.
    let isMatroska: Bool
    /// The time and the picture ("back", "front" or "stream") in a name of DualCam's own.
    let date: Date?
    let camera: String?

    /// Reads `name`. `nil` if the file does not belong to the library.
    init?(_ name: String) {
        let bytes = Array(name.utf8)
        guard bytes.first != UInt8(ascii: "."), let dot = bytes.lastIndex(of: UInt8(ascii: ".")),
            let ending = Ending(bytes[(dot + 1)...])
        else { return nil }
        kind = ending.isPhoto ? .photo : .movie
        isMatroska = ending == .mkv
        stem = name[..<name.utf8.index(name.startIndex, offsetBy: dot)]
        let own = Self.own(bytes[..<dot])
        date = own?.date
        camera = own?.camera
    }

    private enum Ending: String, CaseIterable {
        case jpg
        case jpeg
        case mkv
        case mp4

        var isPhoto: Bool { self == .jpg || self == .jpeg }

        init?(_ bytes: ArraySlice<UInt8>) {
            // This bit makes ASCII letters lower case. It also makes a control character a "4",
            // which no real name has.
            guard
                let found = Self.allCases.first(where: {
                    $0.rawValue.utf8.elementsEqual(bytes.lazy.map { $0 | 0x20 })
                })
            else { return nil }
            self = found
        }
    }

    /// Reads "DualCam_2026-11-21_143005.123_back", or the same with a number, "…_back-2".
    private static func own(_ stem: ArraySlice<UInt8>) -> (date: Date, camera: String)? {
        let form = Array("DualCam_0000-00-00_000000.000_".utf8)
        guard stem.count > form.count else { return nil }
        var digits: [Int] = []
        for (byte, place) in zip(stem, form) {
            if place == UInt8(ascii: "0") {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                digits.append(Int(byte - UInt8(ascii: "0")))
            } else if byte != place {
                return nil
            }
        }
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + $1 } }
        let date = Date(
            year: number(0..<4),
            month: number(4..<6),
            day: number(6..<8),
            hour: number(8..<10),
            minute: number(10..<12),
            second: number(12..<14),
            millisecond: number(14..<17)
        )
        guard (1...12).contains(date.month), (1...31).contains(date.day), date.year >= 1970,
            date.hour < 24, date.minute < 60, date.second <= 60
        else { return nil }
        let rest = stem.dropFirst(form.count)
        for camera in ["back", "front", "stream"] where rest.starts(with: camera.utf8) {
            let tail = rest.dropFirst(camera.utf8.count)
            let isNumbered =
                tail.count > 1 && tail.first == UInt8(ascii: "-")
                && tail.dropFirst().allSatisfy {
                    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                }
            if tail.isEmpty || isNumbered { return (date, camera) }
        }
        return nil
    }
}
