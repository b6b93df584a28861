package import Frames

/// The structure of a JPEG file, without its pixels, according to ITU-T T.81, annex B. The file is
/// untrusted: every length is checked against the bytes that exist.
package struct JPEGOutline: Hashable, Sendable {
    /// A marker segment before the first scan.
    package struct Segment: Hashable, Sendable {
        /// The second byte of the marker, such as 0xE1 for APP1.
        package let marker: UInt8
        /// The bytes of the segment, marker included.
        package let range: Range<Int>
        /// The bytes after the marker and the length.
        package var payload: Range<Int> { range.lowerBound + 4..<range.upperBound }
    }

    /// The size of the picture as stored, in pixels.
    package let size: Size
    /// `true` if the picture has several scans, the coarse one first.
    package let isProgressive: Bool
    /// `true` if the file has all its tables. Cameras omit the Huffman tables from Motion JPEG.
    package let hasTables: Bool
    /// The segments before the first scan, in order, without the start of the image.
    package let segments: [Segment]
    /// The offset of the first scan's SOS marker.
    package let scan: Int
    /// The offset after the end of the image; any further bytes are stray or a second picture.
    package let end: Int

    /// The most pixels of a picture to accept: 2^28, more than any camera has.
    package static let maximumArea = 1 << 28
    /// The most bytes of a file to accept.
    package static let maximumLength = 1 << 28

    /// Reads the outline of `bytes`. Throws `notJPEG`, `damaged`, `unsupported` or `tooLarge`.
    package init(of bytes: [UInt8]) throws(PhotoError) {
        guard bytes.count <= Self.maximumLength else {
            throw PhotoError(.tooLarge, "it has more than \(Self.maximumLength >> 20) MiB")
        }
        guard bytes.starts(with: [0xFF, 0xD8]) else {
            throw PhotoError(.notJPEG, "it is not a JPEG")
        }
        var segments: [Segment] = []
        var frame: (size: Size, marker: UInt8)?
        var hasTables = false
        var position = 2
        while true {
            let segment = try Self.segment(of: bytes, at: position)
            position = segment.range.upperBound
            switch segment.marker {
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                guard frame == nil else { throw PhotoError(.damaged, "it has two frames") }
                frame = (try Self.size(bytes[segment.payload]), segment.marker)
            case 0xC4: hasTables = true
            default: break
            }
            guard segment.marker != 0xDA else {
                scan = segment.range.lowerBound
                break
            }
            segments.append(segment)
        }
        guard let frame else { throw PhotoError(.damaged, "a scan comes before its frame") }
        self.segments = segments
        size = frame.size
        // Baseline, extended, progressive, by Huffman; arithmetic coding needs no tables.
        isProgressive = frame.marker == 0xC2 || frame.marker == 0xCA
        self.hasTables = hasTables || frame.marker > 0xC8
        end = try Self.end(of: bytes, from: position)
        // 64 pixels take at least a bit. A file that claims more is to exhaust the memory.
        guard size.area / 512 <= bytes.count else {
            throw PhotoError(.damaged, "it has too few bytes for \(size) pixels")
        }
    }

    /// Returns the segments with the marker `marker` whose payload begins with `name`.
    package func segments(_ marker: UInt8, named name: String, in bytes: [UInt8]) -> [Segment] {
        segments.filter { $0.marker == marker && bytes[$0.payload].starts(with: name.utf8) }
    }

    private static func segment(of bytes: [UInt8], at start: Int) throws(PhotoError) -> Segment {
        var position = start
        // Any number of 0xFF bytes may precede a marker.
        while position + 1 < bytes.count, bytes[position] == 0xFF, bytes[position + 1] == 0xFF {
            position += 1
        }
        guard position + 4 <= bytes.count else { throw PhotoError(.damaged, "it ends early") }
        let marker = bytes[position + 1]
        guard bytes[position] == 0xFF, marker >= 0xC0, !(0xD0...0xD9).contains(marker) else {
            throw PhotoError(.damaged, "there is no marker at byte \(position)")
        }
        let length = Int(bytes[position + 2]) << 8 | Int(bytes[position + 3])
        guard length >= 2 else {
            throw PhotoError(.damaged, "a segment is shorter than its length")
        }
        guard position + 2 + length <= bytes.count else {
            throw PhotoError(.damaged, "it ends early")
        }
        return Segment(marker: marker, range: position..<position + 2 + length)
    }

    private static func size(_ frame: ArraySlice<UInt8>) throws(PhotoError) -> Size {
        guard frame.count >= 6 else { throw PhotoError(.damaged, "its frame header is too short") }
        let first = frame.startIndex
        let size = Size(
            width: Int(frame[first + 3]) << 8 | Int(frame[first + 4]),
            height: Int(frame[first + 1]) << 8 | Int(frame[first + 2])
        )
        // No camera leaves the height to a DNL segment after the scan.
        guard size.area > 0 else { throw PhotoError(.damaged, "it has no pixels") }
        guard size.area <= maximumArea else {
            throw PhotoError(.tooLarge, "it claims \(size) pixels")
        }
        guard frame[first] == 8 else {
            throw PhotoError(.unsupported, "it has \(frame[first]) bits a sample")
        }
        return size
    }

    /// Returns the offset after the end of the image, searching from `start` inside a scan.
    private static func end(of bytes: [UInt8], from start: Int) throws(PhotoError) -> Int {
        var position = start
        while position + 1 < bytes.count {
            guard bytes[position] == 0xFF else {
                position += 1
                continue
            }
            switch bytes[position + 1] {
            case 0xD9: return position + 2
            case 0xFF: position += 1
            case 0x00, 0x01, 0xD0...0xD7: position += 2
            // Tables and further scans.
            case 0xC4, 0xDA...0xDD, 0xE0...0xFE:
                position = try segment(of: bytes, at: position).range.upperBound
            // An invalid marker: the library will report it.
            default: position += 2
            }
        }
        throw PhotoError(.damaged, "it ends early")
    }
}
