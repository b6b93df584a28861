package import Frames

/// A JPEG of one colour, written bit by bit: of any sampling, any colours, and any number of scans.
package struct UnusualJPEG: Sendable, CustomStringConvertible {
    /// A component: its number, its samples in each direction, and its level.
    package typealias Component = (id: UInt8, across: Int, down: Int, level: Int)

    package var description: String
    package var size = Size(width: 50, height: 38)
    package var components: [Component]
    /// The colours, as Adobe's marker names them: 0 for red, green, blue or ink, 1 and 2 for YCbCr.
    package var adobe: UInt8?
    /// The bits of a sample.
    package var precision: UInt8 = 8
    /// The marker of the frame: 0xC0 for baseline, 0xC2 for progressive.
    package var frame: UInt8 = 0xC0
    /// The number of empty scans of a progressive picture after the first, at most 441 for each
    /// component.
    package var scanCount = 0

    /// Creates a picture of these components.
    package init(_ description: String, _ components: [Component], adobe: UInt8? = nil) {
        self.description = description
        self.components = components
        self.adobe = adobe
    }

    /// Creates a picture of the colour 90, 60, 200 in YCbCr, with these samples in each direction.
    package init(sampling: (Int, Int), _ u: (Int, Int) = (1, 1), _ v: (Int, Int) = (1, 1)) {
        let all = [sampling, u, v]
        self.init(
            all.map { "\($0.0)x\($0.1)" }.joined(separator: ","),
            zip(1..., zip(all, [90, 60, 200])).map { ($0, $1.0.0, $1.0.1, $1.1) }
        )
    }

    /// A gray picture of 2048x1024 pixels in many scans, which takes few bytes and much time.
    package static func costly(scans: Int) -> UnusualJPEG {
        var jpeg = UnusualJPEG("\(scans) scans", [(1, 1, 1, 90)])
        jpeg.size = Size(width: 2048, height: 1024)
        jpeg.frame = 0xC2
        jpeg.scanCount = scans - 1
        return jpeg
    }

    /// A picture with 12 bits a sample, which libjpeg does not decode.
    package static var deep: UnusualJPEG {
        var jpeg = UnusualJPEG(sampling: (2, 2))
        jpeg.precision = 12
        jpeg.frame = 0xC1
        return jpeg
    }

    /// A picture whose height comes after its data, which libjpeg does not decode.
    package static var heightless: UnusualJPEG {
        var jpeg = UnusualJPEG(sampling: (1, 1))
        jpeg.size = Size(width: 50, height: 0)
        return jpeg
    }

    /// Pictures that libjpeg decodes, but whose planes no frame has.
    package static let shown =
        [
            UnusualJPEG(sampling: (4, 2)), UnusualJPEG(sampling: (1, 4)),
            UnusualJPEG(sampling: (3, 1)), UnusualJPEG(sampling: (3, 2)),
            UnusualJPEG(sampling: (1, 1), (2, 2), (2, 2)),
            UnusualJPEG(sampling: (2, 1), (1, 1), (1, 2)),
            UnusualJPEG(sampling: (2, 2), (1, 2), (2, 1)),
            UnusualJPEG(
                "RGB by its components",
                [(82, 1, 1, 200), (71, 1, 1, 40), (66, 1, 1, 30)]
            ),
            UnusualJPEG(
                "RGB by Adobe's marker",
                [(1, 1, 1, 200), (2, 1, 1, 40), (3, 1, 1, 30)],
                adobe: 0
            ),
            UnusualJPEG(
                "CMYK",
                [(1, 1, 1, 250), (2, 1, 1, 50), (3, 1, 1, 38), (4, 1, 1, 204)],
                adobe: 0
            ),
        ]

    /// The picture's colour in YCbCr: all of `shown` have one of these.
    package var color: [Int] {
        components.count == 3 && components[0].level == 90 ? [90, 60, 200] : [87, 96, 209]
    }

    package var bytes: [UInt8] {
        var file: [UInt8] = [0xff, 0xd8]
        func segment(_ marker: UInt8, _ content: [UInt8]) {
            let count = content.count + 2
            file += [0xff, marker, UInt8(count >> 8), UInt8(count & 255)] + content
        }
        func pair(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 255)] }
        if let adobe { segment(0xee, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, adobe]) }
        segment(0xdb, [0] + [UInt8](repeating: 1, count: 64))
        segment(
            frame,
            [precision] + pair(size.height) + pair(size.width) + [UInt8(components.count)]
                + components.flatMap { [$0.id, UInt8($0.across << 4 | $0.down), 0] }
        )
        // Twelve DC codes of four bits; AC codes of one bit for the end of a block, and of two for
        // that of as many blocks as a code can hold.
        segment(0xc4, [0x00] + [0, 0, 0, 12] + [UInt8](repeating: 0, count: 12) + (0..<12))
        segment(0xc4, [0x10] + [1, 1] + [UInt8](repeating: 0, count: 14) + [0, 0xe0])
        let isProgressive = frame == 0xC2
        segment(
            0xda,
            [UInt8(components.count)] + components.flatMap { [$0.id, 0] }
                + (isProgressive ? [0, 0, 0] : [0, 63, 0])
        )
        file += pixels(withEnds: !isProgressive)
        let blocks = (size.width + 7) / 8 * ((size.height + 7) / 8)
        // Each coefficient, from the seventh bit on.
        let bits = (0..<7).reversed().map { UInt8($0) }
        let all = components.flatMap { component in
            (1...63).flatMap { place in bits.map { (component.id, UInt8(place), $0) } }
        }
        for (id, place, bit) in all.prefix(scanCount) {
            segment(0xda, [1, id, 0, place, place, (bit == 6 ? 0 : (bit + 1) << 4) | bit])
            var ends = Bits()
            for start in stride(from: 0, to: blocks, by: 32767) {
                ends.append(0b10, count: 2)
                ends.append(min(32767, blocks - start) - 16384, count: 14)
            }
            file += ends.bytes(padding: 1)
        }
        return file + [0xff, 0xd9]
    }

    /// The coefficients of the mean of each block.
    private func pixels(withEnds: Bool) -> [UInt8] {
        let isOne = components.count == 1
        let across = isOne ? 1 : components.map(\.across).max() ?? 1
        let down = isOne ? 1 : components.map(\.down).max() ?? 1
        let width = (size.width + 8 * across - 1) / (8 * across)
        let height = (size.height + 8 * down - 1) / (8 * down)
        var bits = Bits()
        for unit in 0..<width * height {
            for component in components {
                for block in 0..<(isOne ? 1 : component.across * component.down) {
                    let isFirst = unit == 0 && block == 0
                    bits.appendDC(isFirst ? 8 * (component.level - 128) : 0)
                    if withEnds { bits.append(0, count: 1) }
                }
            }
        }
        return bits.bytes(padding: 1)
    }
}
