import Glibc

/// The length of a movie as its header states it. Reads a few kilobytes at most, decodes nothing
/// and needs no library, so that it can be done for every file of a list.
enum MovieLength {
    /// A reader of a file: returns at most `count` bytes at `offset`; fewer at the end of the file.
    typealias Reader = (_ offset: Int64, _ count: Int) -> [UInt8]

    /// No recording is longer than this, in seconds: a year.
    private static let longest = 31_622_400.0
    /// The start of a Matroska file in which its length is expected, in bytes.
    private static let matroskaHead = 8192
    /// The number of boxes of an MP4 file that are looked at.
    private static let mostBoxes = 64

    /// Returns the length of the movie at `path` in seconds; `nil` if its header has none.
    ///
    /// - Context: May wait for the disk.
    static func seconds(of path: String) -> Double? {
        // Neither a link nor a pipe, which would wait for a writer.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return seconds { offset, count in
            [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
                length = max(0, pread(file, buffer.baseAddress, count, off_t(offset)))
            }
        }
    }

    /// Returns the length of the movie that `read` reads, in seconds; `nil` if its header has none.
    static func seconds(_ read: Reader) -> Double? {
        let start = read(0, 8)
        let length =
            start.starts(with: [0x1a, 0x45, 0xdf, 0xa3])
            ? matroska(read(0, matroskaHead)) : mp4(read)
        return length.flatMap { $0 > 0 && $0 <= longest ? $0 : nil }
    }

    // MARK: Matroska

    /// RFC 9559: EBML, Segment { …, Info { TimestampScale, Duration }, … }.
    private static func matroska(_ bytes: [UInt8]) -> Double? {
        var rest = Elements(bytes[...])
        guard let header = rest.next(), header.id == 0x1a45_dfa3,
            let segment = rest.next(), segment.id == 0x1853_8067
        else { return nil }
        var children = Elements(segment.content)
        while let child = children.next() {
            guard child.id == 0x1549_a966 else { continue }
            var (scale, duration) = (1_000_000.0, Double?.none)
            var facts = Elements(child.content)
            while let fact = facts.next() {
                switch fact.id {
                case 0x2a_d7b1: scale = Double(number(fact.content.prefix(8)))
                case 0x4489 where fact.content.count == 4:
                    duration = Double(
                        Float(bitPattern: UInt32(truncatingIfNeeded: number(fact.content)))
                    )
                case 0x4489 where fact.content.count == 8:
                    duration = Double(bitPattern: number(fact.content))
                default: break
                }
            }
            return duration.map { $0 * scale / 1e9 }
        }
        return nil
    }

    /// The EBML elements in some bytes, of which the last may be cut off.
    private struct Elements {
        private var rest: ArraySlice<UInt8>

        init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

        mutating func next() -> (id: UInt64, content: ArraySlice<UInt8>)? {
            guard let id = variable(keepsMark: true), let size = variable(keepsMark: false) else {
                return nil
            }
            // All ones mean that the size is unknown: up to the end.
            let count = min(UInt64(rest.count), size)
            let content = rest.prefix(Int(count))
            rest = rest.dropFirst(Int(count))
            return (id, content)
        }

        /// Reads a number whose first byte tells its length by its leading zeros.
        private mutating func variable(keepsMark: Bool) -> UInt64? {
            guard let first = rest.first, first != 0 else { return nil }
            let count = first.leadingZeroBitCount + 1
            guard rest.count >= count else { return nil }
            var number = UInt64(first)
            if !keepsMark { number &= 0xff >> UInt64(count) }
            for byte in rest.dropFirst().prefix(count - 1) { number = number << 8 | UInt64(byte) }
            rest = rest.dropFirst(count)
            return number
        }
    }

    // MARK: MP4

    /// ISO 14496-12: boxes, of which moov has mvhd.
    private static func mp4(_ read: Reader) -> Double? {
        var offset: Int64 = 0
        for _ in 0..<mostBoxes {
            guard let box = box(read, at: offset) else { return nil }
            if box.type == "moov" {
                // mvhd comes first in practice.
                guard let inner = self.box(read, at: offset + box.head), inner.type == "mvhd" else {
                    return nil
                }
                return movieHeader(read(offset + box.head + inner.head, 32))
            }
            let (next, overflow) = offset.addingReportingOverflow(box.size)
            guard !overflow, box.size >= box.head else { return nil }
            offset = next
        }
        return nil
    }

    private static func box(
        _ read: Reader,
        at offset: Int64
    ) -> (type: String, head: Int64, size: Int64)? {
        let bytes = read(offset, 16)
        guard bytes.count >= 8 else { return nil }
        let type = String(decoding: bytes[4..<8], as: UTF8.self)
        let size = Int64(number(bytes[0..<4]))
        guard size == 1 else { return (type, 8, size == 0 ? .max : size) }
        guard bytes.count == 16, let large = Int64(exactly: number(bytes[8..<16])) else {
            return nil
        }
        return (type, 16, large)
    }

    private static func movieHeader(_ bytes: [UInt8]) -> Double? {
        guard let version = bytes.first, bytes.count >= 32 else { return nil }
        let (scale, duration) =
            version == 1
            ? (number(bytes[20..<24]), number(bytes[24..<32]))
            : (number(bytes[12..<16]), number(bytes[16..<20]))
        // All ones mean unknown.
        guard scale > 0, duration != (version == 1 ? .max : 0xffff_ffff) else { return nil }
        return Double(duration) / Double(scale)
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
