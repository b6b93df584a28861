/// The orientation of pixels: EXIF tag 0x0112. The names say where the first row and column are.
package enum EXIFOrientation: Int, CaseIterable, Sendable {
    /// Upright.
    case topLeft = 1
    /// Mirrored left to right.
    case topRight
    /// Upside down.
    case bottomRight
    /// Mirrored top to bottom.
    case bottomLeft
    /// On its side and mirrored.
    case leftTop
    /// Upright after a quarter turn clockwise.
    case rightTop
    /// On its other side and mirrored.
    case rightBottom
    /// Upright after a quarter turn anticlockwise.
    case leftBottom

    /// The orientation for the value of the tag. Invalid values mean upright.
    package init(tag: Int) { self = EXIFOrientation(rawValue: tag) ?? .topLeft }

    /// The orientation of pixels that `transform` makes upright.
    package init(upright transform: Transform) {
        self = EXIFOrientation.allCases.first { $0.upright == transform } ?? .topLeft
    }

    package var upright: Transform {
        switch self {
        case .topLeft: .identity
        case .topRight: .mirror
        case .bottomRight: .rotate180
        case .bottomLeft: Transform(mirrored: true, quarterTurns: 2)
        case .leftTop: Transform(mirrored: true, quarterTurns: 3)
        case .rightTop: .clockwise90
        case .rightBottom: Transform(mirrored: true, quarterTurns: 1)
        case .leftBottom: .clockwise270
        }
    }
}

extension EXIFOrientation {
    /// The orientation that the EXIF data of a JPEG tell, without any other check of them.
    package init(jpeg: UnsafeRawBufferPointer) {
        self = .topLeft
        var start = 2
        while start + 4 <= jpeg.count, jpeg[start] == 0xFF, jpeg[start + 1] != 0xDA {
            let end = start + 2 + (Int(jpeg[start + 2]) << 8 | Int(jpeg[start + 3]))
            guard start + 4 <= end, end <= jpeg.count else { return }
            let payload = jpeg[start + 4..<end]
            if jpeg[start + 1] == 0xE1, payload.starts(with: "Exif\0\0".utf8) {
                self = Self(tag: Self.tag(in: payload.dropFirst(6)) ?? 1)
                return
            }
            start = end
        }
    }

    /// Returns the tag of the first directory of `tiff`, as TIFF 6.0 has it.
    private static func tag(in tiff: Slice<UnsafeRawBufferPointer>) -> Int? {
        let isLittle = tiff.first == UInt8(ascii: "I")
        func number(_ offset: Int, bytes count: Int) -> Int? {
            let bytes = tiff.dropFirst(offset).prefix(count)
            guard bytes.count == count else { return nil }
            return (isLittle ? bytes.reversed() : Array(bytes)).reduce(0) { $0 << 8 | Int($1) }
        }
        guard let start = number(4, bytes: 4), let count = number(start, bytes: 2) else {
            return nil
        }
        let entries = (0..<count).lazy.map { start + 2 + 12 * $0 }
        return entries.first { number($0, bytes: 2) == 0x0112 }.flatMap { number($0 + 8, bytes: 2) }
    }
}
