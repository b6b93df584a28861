import Glibc

/// Takes apart a body of JPEGs one after another, as cameras send them over HTTP: mostly as
/// multipart/x-mixed-replace.
///
/// It takes what cameras write, not only what RFC 2046 allows: another boundary than they name, or
/// none, lines that end without CR, parts without a header, without a length or with a wrong one.
package struct MultipartReader {
    /// The reason why a body cannot be read.
    package enum Fault: Error, Hashable {
        case longHeader
        case longPart
        /// No picture among so many bytes, or parts.
        case noParts
    }

    /// The most bytes of a picture, and without one; of one line and of one header; and the most
    /// parts without a picture.
    static let longestPart = 1 << 23
    private static let (longestLine, longestHeader, mostParts) = (1024, 8192, 4096)
    /// The bytes that are searched at once for the end of a part. What comes after it is searched
    /// again, so with more of them many small parts would be much work.
    private static let step = 2048

    private enum Place {
        case gap
        case header
        /// In a part of which so many bytes are missing, as far as its header tells.
        case part(Int?)
    }

    /// The boundary that the Content-Type names, without its dashes.
    private let boundary: [UInt8]
    /// The line that begins a part, after a line break, as the body has it.
    private var delimiter: [UInt8] = []
    private var place = Place.gap
    private var line: [UInt8] = []
    /// The last line of a header, which may go on in the next one.
    private var field: [UInt8] = []
    private var part: [UInt8] = []
    /// The bytes of the part that were searched for its end.
    private var searched = 0
    /// The bytes of this header; those and the parts since the last picture.
    private var (count, idle, parts) = (0, 0, 0)
    private var length: Int?
    private var isPicture = true

    /// Creates a reader for a body of the Content-Type `type`, or of an unknown one; `nil` if that
    /// cannot hold a video of JPEGs.
    package init?(type: String) {
        let words = type.split(separator: ";").map { $0.trimmed }
        let kind = words.first?.lowercased() ?? ""
        let isPossible =
            [
                "", "application/octet-stream", "application/x-mixed-replace",
                "binary/octet-stream", "text/plain",
            ].contains(kind)
        guard isPossible || kind.hasPrefix("multipart/") || kind.hasPrefix("video/") else {
            return nil
        }
        let named = words.first { $0.lowercased().hasPrefix("boundary=") }
        let boundary = named?.dropFirst("boundary=".count).filter { $0 != "\"" } ?? ""
        self.boundary = Array(boundary.utf8.drop { $0 == Self.dash })
    }

    /// Reads the next bytes of the body, and calls `picture` with each JPEG that they complete.
    package mutating func read(
        _ bytes: UnsafeRawBufferPointer,
        _ picture: (UnsafeRawBufferPointer) -> Void
    ) throws(Fault) {
        var rest = bytes[...]
        while let first = rest.first {
            switch place {
            // A picture may come without anything before it.
            case .gap where line.isEmpty && first == Self.marker,
                .header where line.isEmpty && first == Self.marker:
                line.append(first)
                rest = rest.dropFirst()
            case .gap where line == [Self.marker] && first == Self.start,
                .header where line == [Self.marker] && first == Self.start:
                if case .gap = place { try begin() }
                readField()
                beginBody()
            case .gap, .header: try readLine(&rest)
            // Some write a blank line more, which does not count.
            case .part where part.isEmpty && (first == Self.newline || first == Self.carriage):
                rest = rest.dropFirst()
                try pass(1)
            case .part(let left): try readPart(&rest, of: bytes, left, picture)
            }
        }
    }

    private static let (dash, newline, carriage) = (UInt8(ascii: "-"), UInt8(10), UInt8(13))
    /// The first byte of each of a JPEG's marks, and the second of its first and last ones.
    private static let (marker, start, end) = (UInt8(0xFF), UInt8(0xD8), UInt8(0xD9))

    /// Counts bytes that are no picture.
    private mutating func pass(_ count: Int) throws(Fault) {
        idle += count
        guard idle <= Self.longestPart else { throw .noParts }
    }

    /// Takes bytes up to the end of a line, and the line if it has come.
    private mutating func readLine(_ rest: inout Slice<UnsafeRawBufferPointer>) throws(Fault) {
        let taken = rest.prefix { $0 != Self.newline }
        let isWhole = taken.count < rest.count
        rest = rest.dropFirst(taken.count + (isWhole ? 1 : 0))
        count += taken.count + 1
        try pass(taken.count + 1)
        line.append(contentsOf: taken.prefix(max(0, Self.longestLine - line.count)))
        if case .header = place, count > Self.longestHeader { throw .longHeader }
        guard isWhole else { return }
        if line.last == Self.carriage { line.removeLast() }
        if line.starts(with: [Self.dash, Self.dash])
            || !boundary.isEmpty && line.starts(with: boundary)
        {
            let name = line.reversed().drop { $0 == 0x20 || $0 == 9 }.reversed()
            if name.count > 2, name.count < 100 { delimiter = [Self.newline] + name }
            try begin()
        } else if case .header = place {
            readHeader()
        } else if String(decoding: line, as: UTF8.self).lowercased().hasPrefix("content-") {
            try begin()
            readHeader()
        }
        line.removeAll(keepingCapacity: true)
    }

    private mutating func begin() throws(Fault) {
        place = .header
        (count, length, isPicture) = (0, nil, true)
        field.removeAll()
        parts += 1
        guard parts <= Self.mostParts else { throw .noParts }
    }

    private mutating func readHeader() {
        if !field.isEmpty, line.first == 0x20 || line.first == 9 {
            field += line
        } else if !line.isEmpty {
            readField()
            field = line
        } else if !field.isEmpty {
            readField()
            beginBody()
        }
    }

    private mutating func readField() {
        let words = String(decoding: field, as: UTF8.self).split(separator: ":", maxSplits: 1)
        guard words.count == 2 else { return }
        let value = words[1].trimmed
        switch words[0].trimmed.lowercased() {
        case "content-length":
            length = Int(value).flatMap { (1...Self.longestPart).contains($0) ? $0 : nil }
        case "content-type":
            isPicture = ["image/jp", "image/pjp"].contains { value.lowercased().hasPrefix($0) }
        default: break
        }
    }

    /// Begins the part with what has come of this line.
    private mutating func beginBody() {
        part.removeAll(keepingCapacity: true)
        swap(&part, &line)
        searched = 0
        place = .part(length.map { $0 - part.count })
    }

    /// Takes bytes of a part, up to its end.
    private mutating func readPart(
        _ rest: inout Slice<UnsafeRawBufferPointer>,
        of bytes: UnsafeRawBufferPointer,
        _ left: Int?,
        _ picture: (UnsafeRawBufferPointer) -> Void
    ) throws(Fault) {
        let taken = rest.prefix(min(left ?? Self.step, Self.step))
        part.append(contentsOf: taken)
        rest = rest.dropFirst(taken.count)
        guard part.count <= Self.longestPart else { throw .longPart }
        if let (end, next) = findEnd() {
            // What follows is read again. Its first bytes may have come before these `bytes`.
            let inBytes = min(part.count - next, rest.startIndex)
            rest = bytes[(rest.startIndex - inBytes)...]
            let early = Array(part[next..<part.count - inBytes])
            part.removeSubrange(end...)
            try finish(picture)
            line = early
        } else if let left, left == taken.count {
            // A picture without an end is longer than its header says.
            if part.count < 2 || isJPEG && !hasEnd {
                place = .part(nil)
            } else {
                try finish(picture)
            }
        } else {
            place = .part(left.map { $0 - taken.count })
        }
    }

    private var isJPEG: Bool { part.starts(with: [Self.marker, Self.start]) }

    /// `true` if nothing but padding comes after the last mark of a JPEG.
    private var hasEnd: Bool {
        let last = part.lastIndex { $0 != 0 && $0 != Self.newline && $0 != Self.carriage } ?? 0
        return last > 0 && part[last] == Self.end && part[last - 1] == Self.marker
    }

    private mutating func finish(_ picture: (UnsafeRawBufferPointer) -> Void) throws(Fault) {
        place = .gap
        if isJPEG { (idle, parts) = (0, 0) } else { try pass(part.count) }
        if isJPEG || isPicture && !part.isEmpty { part.withUnsafeBytes(picture) }
    }

    /// Returns where the part ends, and where what follows begins: at the delimiter, or where
    /// dashes or another JPEG come after a JPEG's last mark. That is not so within a picture.
    private mutating func findEnd() -> (end: Int, next: Int)? {
        if part.starts(with: [Self.dash, Self.dash]) { return (0, 0) }
        var found: (end: Int, next: Int)?
        // The first that is complete, so that it is the same however the bytes come.
        var complete = Int.max
        if !delimiter.isEmpty, let place = part.firstIndex(of: delimiter, from: searched) {
            let end = place > 0 && part[place - 1] == Self.carriage ? place - 1 : place
            (found, complete) = ((end, place + 1), place + delimiter.count)
        }
        var undecided = part.count - 1
        var from = searched
        while let mark = part.firstIndex(of: [Self.marker, Self.end], from: from) {
            let after = part[(mark + 2)...].prefix(4)
                .prefix { $0 == Self.newline || $0 == Self.carriage }.endIndex
            guard after + 1 < part.count else {
                undecided = mark
                break
            }
            let pair = (part[after], part[after + 1])
            if pair == (Self.dash, Self.dash) || pair == (Self.marker, Self.start) {
                return after + 2 <= complete ? (mark + 2, after) : found
            }
            from = mark + 1
        }
        searched = max(0, min(undecided, part.count - delimiter.count + 1))
        return found
    }
}

extension [UInt8] {
    /// Returns the first place of `pattern` from `start` on.
    fileprivate func firstIndex(of pattern: [UInt8], from start: Int) -> Int? {
        withUnsafeBytes { bytes in
            var from = start
            while let base = bytes.baseAddress, from + pattern.count <= bytes.count {
                let left = bytes.count - pattern.count - from + 1
                guard let found = memchr(base + from, CInt(pattern[0]), left) else { return nil }
                if memcmp(found, pattern, pattern.count) == 0 {
                    return UnsafeRawPointer(found) - base
                }
                from = UnsafeRawPointer(found) - base + 1
            }
            return nil
        }
    }
}

extension StringProtocol {
    /// The text without spaces and tabs at its ends.
    fileprivate var trimmed: String {
        let start = drop { $0 == " " || $0 == "\t" }
        return String(start.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
