import CTurboJPEG
package import Frames

/// A gray JPEG of flat blocks with a restart marker after each row of blocks, written bit by bit,
/// so that any fault of a camera can be put into it.
package struct ScriptedJPEG {
    /// The size in blocks of 8x8 pixels.
    package static let (columns, rows) = (8, 6)
    package static let size = Size(width: 8 * columns, height: 8 * rows)

    /// The coded data of each row of blocks.
    package var segments: [[UInt8]]
    /// The bytes after the data of each row, before the marker that follows it.
    package var strays = [[UInt8]](repeating: [], count: rows)
    /// The restart marker after each row but the last, 0 … 7; `nil` if it is missing.
    package var restarts: [Int?] = (0..<rows - 1).map { $0 % 8 }
    /// The bytes of the end.
    package var end: [UInt8] = [0xff, 0xd9]

    /// The bit that fills the last byte of each row.
    let padding: UInt8

    /// Creates a whole picture. `padding` is the bit that fills the last byte of each row: 1 by the
    /// standard.
    package init(padding: UInt8 = 1) {
        self.padding = padding
        var random: UInt64 = 3
        segments = (0..<Self.rows).map { _ in
            var bits = Bits()
            var last = 0
            for _ in 0..<Self.columns {
                // Of 127 levels about gray, since a DC coefficient of 8 is a level at a step of 1.
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let level = Int(random >> 33 % 127) - 63
                bits.appendDC(8 * (level - last))
                // The end of the block.
                bits.append(0, count: 1)
                last = level
            }
            return bits.bytes(padding: padding)
        }
    }

    package var bytes: [UInt8] {
        var file: [UInt8] = [0xff, 0xd8]
        func segment(_ marker: UInt8, _ content: [UInt8]) {
            let count = content.count + 2
            file += [0xff, marker, UInt8(count >> 8), UInt8(count & 255)] + content
        }
        segment(0xdb, [0] + [UInt8](repeating: 1, count: 64))
        let (width, height) = (UInt8(Self.size.width), UInt8(Self.size.height))
        segment(0xc0, [8, 0, height, 0, width, 1, 1, 0x11, 0])
        // Twelve DC codes of four bits, one AC code: a bit for the end of the block.
        segment(0xc4, [0x00] + [0, 0, 0, 12] + [UInt8](repeating: 0, count: 12) + (0..<12))
        segment(0xc4, [0x10] + [1] + [UInt8](repeating: 0, count: 15) + [0])
        segment(0xdd, [0, UInt8(Self.columns)])
        segment(0xda, [1, 1, 0, 0, 63, 0])
        for row in 0..<Self.rows {
            file += segments[row] + strays[row]
            if row < restarts.count, let restart = restarts[row] {
                file += [0xff, 0xd0 + UInt8(restart)]
            }
        }
        return file + end
    }

    /// libjpeg's own picture of `bytes`, whatever it warns about.
    package static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        var pixels = [UInt8](repeating: 0, count: size.area)
        guard let decoder = tjInitDecompress() else { return [] }
        defer { tjDestroy(decoder) }
        _ = tjDecompress2(
            decoder,
            bytes,
            UInt(bytes.count),
            &pixels,
            CInt(size.width),
            CInt(size.width),
            CInt(size.height),
            TJPF_GRAY.rawValue,
            0
        )
        return pixels
    }
}

/// Bits in the order of a JPEG's coded data.
struct Bits {
    private var all: [UInt8] = []

    /// Appends the DC coefficient of a block, `difference` more than that of the one before.
    mutating func appendDC(_ difference: Int) {
        let magnitude = abs(difference)
        let category = Int.bitWidth - magnitude.leadingZeroBitCount
        append(category, count: 4)
        append(difference > 0 ? difference : difference + (1 << category) - 1, count: category)
    }

    mutating func append(_ value: Int, count: Int) {
        for bit in (0..<count).reversed() { all.append(UInt8(value >> bit & 1)) }
    }

    /// The bits as bytes, in which 0xff is followed by 0.
    func bytes(padding: UInt8) -> [UInt8] {
        var padded = all
        while padded.count % 8 != 0 { padded.append(padding) }
        return stride(from: 0, to: padded.count, by: 8).flatMap { start -> [UInt8] in
            let byte = padded[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | $1 }
            return byte == 0xff ? [byte, 0] : [byte]
        }
    }
}
