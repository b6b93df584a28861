/// Takes apart a body of the type multipart/x-mixed-replace: JPEGs one after another, as cameras
/// send them over HTTP.
///
/// It takes what cameras write, not only what RFC 2046 allows: a boundary with dashes too many or
/// too few, lines that end without CR, parts without a length.
package struct MultipartReader {
    /// The reason why a body cannot be read.
    package enum Fault: Error, Hashable {
        /// A header without an end.
        case longHeader
        /// A picture larger than any camera's.
        case longPart
        /// No picture among so many bytes.
        case noParts
    }

    /// The most bytes of a picture, of one line, of one header, and between two parts.
    static let longestPart = 1 << 23
    private static let (longestLine, longestHeader, longestGap) = (1024, 8192, 1 << 16)

    private enum Place {
        /// Before the delimiter of the next part.
        case gap
        /// In the header of a part.
        case header
        /// In a part of which so many bytes are missing.
        case counted(Int)
        /// In a part that ends at the next delimiter.
        case open
    }

    /// The boundary without its dashes; empty if it is unknown.
    private let boundary: [UInt8]
    private var place = Place.gap
    private var line: [UInt8] = []
    private var part: [UInt8] = []
    /// The number of bytes in this gap or header.
    private var count = 0
    private var length: Int?
    private var isPicture = true

    /// Creates a reader for a body of the Content-Type `type`; `nil` if that is another one.
    package init?(type: String) {
        let words = type.split(separator: ";").map { $0.trimmed }
        guard words.first?.lowercased() == "multipart/x-mixed-replace" else { return nil }
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
        while !rest.isEmpty {
            switch place {
            case .gap, .header:
                guard try readLine(&rest) else { return }
            case .counted(let left):
                let taken = rest.prefix(left)
                if isPicture { part.append(contentsOf: taken) }
                rest = rest.dropFirst(taken.count)
                place = .counted(left - taken.count)
                if taken.count == left { end(picture) }
            case .open:
                try readOpen(&rest, picture)
            }
        }
    }

    private static let (dash, newline, carriage) = (UInt8(ascii: "-"), UInt8(10), UInt8(13))

    /// Takes bytes up to the end of a line. Returns `false` if it has not come yet.
    private mutating func readLine(
        _ rest: inout Slice<UnsafeRawBufferPointer>
    ) throws(Fault) -> Bool {
        let taken = rest.prefix { $0 != Self.newline }
        let isWhole = taken.count < rest.count
        rest = rest.dropFirst(taken.count + (isWhole ? 1 : 0))
        count += taken.count + 1
        line.append(contentsOf: taken.prefix(max(0, Self.longestLine - line.count)))
        if case .header = place, count > Self.longestHeader { throw .longHeader }
        if case .gap = place, count > Self.longestGap { throw .noParts }
        guard isWhole else { return false }
        if line.last == Self.carriage { line.removeLast() }
        if case .header = place { readHeader() } else if isDelimiter(line) { begin() }
        line.removeAll(keepingCapacity: true)
        return true
    }

    private func isDelimiter(_ line: [UInt8]) -> Bool {
        guard !boundary.isEmpty else { return line.starts(with: [Self.dash, Self.dash]) }
        return line.drop { $0 == Self.dash }.starts(with: boundary)
    }

    private mutating func begin() {
        place = .header
        count = 0
        length = nil
        isPicture = true
        part.removeAll(keepingCapacity: true)
    }

    private mutating func readHeader() {
        guard !line.isEmpty else {
            if let length {
                place = .counted(length)
            } else {
                place = .open
            }
            // A part without anything, or one that claims too much, is passed over.
            if let length, !(1...Self.longestPart).contains(length) { skip() }
            return
        }
        let words = String(decoding: line, as: UTF8.self).split(separator: ":", maxSplits: 1)
        guard words.count == 2 else { return }
        let value = words[1].trimmed
        switch words[0].trimmed.lowercased() {
        case "content-length": length = Int(value) ?? 0
        case "content-type": isPicture = value.lowercased().hasPrefix("image/jp")
        default: break
        }
    }

    private mutating func skip() {
        place = .gap
        count = 0
        part.removeAll(keepingCapacity: true)
    }

    private mutating func end(_ picture: (UnsafeRawBufferPointer) -> Void) {
        if isPicture, !part.isEmpty { part.withUnsafeBytes(picture) }
        skip()
    }

    /// Takes bytes of a part without a length, up to the delimiter after it.
    private mutating func readOpen(
        _ rest: inout Slice<UnsafeRawBufferPointer>,
        _ picture: (UnsafeRawBufferPointer) -> Void
    ) throws(Fault) {
        let known = part.count
        part.append(contentsOf: rest)
        let delimiter = [Self.newline, Self.dash, Self.dash] + boundary
        // What came before may hold all of a delimiter but its last byte.
        let from = max(0, known - delimiter.count + 1)
        guard let start = part.firstIndex(of: delimiter, from: from) else {
            rest = rest.dropFirst(rest.count)
            guard part.count <= Self.longestPart else { throw .longPart }
            return
        }
        // The delimiter begins a line of its own. Its first bytes may have come before `rest`.
        let inRest = start + 1 - known
        if inRest < 0 { line.append(contentsOf: part[(start + 1)..<known]) }
        rest = rest.dropFirst(max(0, inRest))
        part.removeSubrange(start...)
        if part.last == Self.carriage { part.removeLast() }
        let begun = line
        end(picture)
        line = begun
    }
}

extension [UInt8] {
    /// Returns the first place of `pattern`, which is not empty, from `start` on.
    fileprivate func firstIndex(of pattern: [UInt8], from start: Int) -> Int? {
        var index = start
        while index + pattern.count <= count {
            guard let next = self[index...(count - pattern.count)].firstIndex(of: pattern[0]) else {
                return nil
            }
            if self[next..<next + pattern.count].elementsEqual(pattern) { return next }
            index = next + 1
        }
        return nil
    }
}

extension StringProtocol {
    /// The text without spaces and tabs at its ends.
    fileprivate var trimmed: String {
        let start = drop { $0 == " " || $0 == "\t" }
        return String(start.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
