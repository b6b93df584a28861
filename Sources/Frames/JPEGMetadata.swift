import Glibc

/// The metadata that a camera writes into its JPEGs, such as the place, its owner or its serial
/// number. It is removed from all that is kept. Any thread. Does not allocate, except for
/// `removed(from:)`.
package enum JPEGMetadata {
    /// Removes from the JPEG in `bytes` all that decoding does not need: every application segment
    /// and comment, and what follows the end of the image. Of the headers JFIF and Adobe, which
    /// name the colours, only the fixed fields stay. The colour profile goes too: the stream does
    /// not apply one, and a profile has names and serial numbers of its own.
    ///
    /// Follows ITU-T T.81, annex B. The bytes are untrusted: no length is believed that goes beyond
    /// them. A picture that ends early keeps what there is of it.
    ///
    /// - Returns: the number of bytes that are left, at the start of `bytes`; `nil` if they are
    ///   damaged before the first scan, or no JPEG.
    package static func remove(from bytes: UnsafeMutableRawBufferPointer) -> Int? {
        guard bytes.count >= 4, bytes[0] == 0xFF, bytes[1] == 0xD8 else { return nil }
        var picture = Picture(bytes: bytes)
        while true {
            // Any number of 0xFF bytes may precede a marker.
            while picture.has(2), picture[0] == 0xFF, picture[1] == 0xFF { picture.skip(1) }
            guard picture.has(2), picture[0] == 0xFF else { return picture.partial }
            let marker = picture[1]
            if marker == 0xD9 {
                picture.keep(2)
                return picture.partial
            }
            guard picture.has(4), marker >= 0xC0, !(0xD0...0xD8).contains(marker) else {
                return picture.partial
            }
            let length = 2 + (Int(picture[2]) << 8 | Int(picture[3]))
            guard length >= 4, picture.has(length) else { return picture.partial }
            switch marker {
            case 0xE0: picture.keepHeader("JFIF\0", fields: 12, zeros: 2, of: length)
            case 0xEE: picture.keepHeader("Adobe", fields: 12, zeros: 0, of: length)
            // JPG and JPGn are extensions that no camera writes.
            case 0xC8, 0xE1...0xFE: picture.skip(length)
            default: picture.keep(length)
            }
            if marker == 0xDA {
                picture.hasScan = true
                picture.keepScan()
            }
        }
    }

    /// Returns `bytes` without metadata, as `remove` does; `nil` if damaged early, or no JPEG.
    package static func removed(from bytes: [UInt8]) -> [UInt8]? {
        var result = bytes
        guard let count = result.withUnsafeMutableBytes({ remove(from: $0) }) else { return nil }
        result.removeLast(result.count - count)
        return result
    }

    /// A JPEG that is shortened in place.
    private struct Picture {
        let bytes: UnsafeMutableRawBufferPointer
        /// The offsets of the next byte to read and to write.
        var (source, target) = (2, 2)
        var hasScan = false
        private var (hasJFIF, hasAdobe) = (false, false)

        init(bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

        /// The number of bytes kept so far, if there is some of the picture in them.
        var partial: Int? { hasScan ? target : nil }

        subscript(offset: Int) -> UInt8 { bytes[source + offset] }

        func has(_ count: Int) -> Bool { count <= bytes.count - source }

        mutating func skip(_ count: Int) { source += count }

        mutating func keep(_ count: Int) {
            if source != target, let base = bytes.baseAddress {
                memmove(base + target, base + source, count)
            }
            source += count
            target += count
        }

        /// Keeps the first `fields` bytes of the payload of a segment of `length` bytes, followed
        /// by `zeros` bytes, if it is the first that begins with `name`.
        mutating func keepHeader(_ name: StaticString, fields: Int, zeros: Int, of length: Int) {
            let isJFIF = zeros > 0
            let isFirst = isJFIF ? !hasJFIF : !hasAdobe
            guard isFirst, length >= 4 + fields + zeros, let base = bytes.baseAddress,
                memcmp(base + source + 4, name.utf8Start, name.utf8CodeUnitCount) == 0
            else { return skip(length) }
            if isJFIF { hasJFIF = true } else { hasAdobe = true }
            let next = source + length
            keep(4 + fields)
            for _ in 0..<zeros {
                bytes[target] = 0
                target += 1
            }
            bytes[target - fields - zeros - 2] = 0
            bytes[target - fields - zeros - 1] = UInt8(2 + fields + zeros)
            source = next
        }

        /// Keeps the coded data of a scan, up to the next marker.
        mutating func keepScan() {
            guard let base = bytes.baseAddress else { return }
            var position = source
            scan: while position + 1 < bytes.count {
                let rest = bytes.count - position - 1
                guard let found = memchr(base + position, 0xFF, rest) else { break }
                position = UnsafeRawPointer(found) - UnsafeRawPointer(base)
                switch bytes[position + 1] {
                case 0xFF: position += 1
                case 0xC4, 0xCC, 0xD9, 0xDA...0xDD, 0xE0...0xFE:
                    return keep(position - source)
                // A byte of data, a restart, or an invalid marker that the decoder will report.
                default: position += 2
                }
            }
            keep(bytes.count - source)
        }
    }
}
