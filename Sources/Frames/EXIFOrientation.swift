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
    /// The orientation that a JPEG, PNG, WebP or TIFF file tells, without any other check of it.
    package init(file: UnsafeRawBufferPointer) {
        let tiff: Slice<UnsafeRawBufferPointer>? =
            switch file.first {
            case 0xFF: Self.exif(inJPEG: file)
            case 0x89: Self.exif(in: file, from: 8, name: "eXIf", isLittle: false, around: 12)
            case UInt8(ascii: "R"):
                Self.exif(in: file, from: 12, name: "EXIF", isLittle: true, around: 8)
            case UInt8(ascii: "I"), UInt8(ascii: "M"): file[...]
            default: nil
            }
        self = Self(tag: tiff.flatMap(Self.tag) ?? 1)
    }

    private static func exif(
        inJPEG file: UnsafeRawBufferPointer
    ) -> Slice<UnsafeRawBufferPointer>? {
        var start = 2
        while start + 4 <= file.count, file[start] == 0xFF, file[start + 1] != 0xDA {
            guard let length = number(in: file[...], start + 2, bytes: 2, isLittle: false),
                2 <= length, start + 2 + length <= file.count
            else { return nil }
            let payload = file[start + 4..<start + 2 + length]
            if file[start + 1] == 0xE1, payload.starts(with: head) {
                return payload.dropFirst(head.count)
            }
            start += 2 + length
        }
        return nil
    }

    /// Returns the chunk `name` of a PNG (name after length, and a checksum) or of a RIFF file
    /// (length after name, and padding to an even length). `overhead` is what a chunk has besides.
    private static func exif(
        in file: UnsafeRawBufferPointer,
        from first: Int,
        name: String,
        isLittle: Bool,
        around overhead: Int
    ) -> Slice<UnsafeRawBufferPointer>? {
        var start = first
        while let length = number(
            in: file[...],
            start + (isLittle ? 4 : 0),
            bytes: 4,
            isLittle: isLittle
        ), start + 8 + length <= file.count {
            if file[(start + (isLittle ? 0 : 4))...].starts(with: name.utf8) {
                let chunk = file[start + 8..<start + 8 + length]
                // Some writers keep what begins the data in a JPEG.
                return chunk.starts(with: head) ? chunk.dropFirst(head.count) : chunk
            }
            start += overhead + length + (isLittle ? length % 2 : 0)
        }
        return nil
    }

    private static let head = Array("Exif\0\0".utf8)

    /// Returns the tag of the first directory of `tiff`, as TIFF 6.0 has it.
    private static func tag(in tiff: Slice<UnsafeRawBufferPointer>) -> Int? {
        let isLittle = tiff.first == UInt8(ascii: "I")
        func number(_ offset: Int, bytes count: Int) -> Int? {
            Self.number(in: tiff, offset, bytes: count, isLittle: isLittle)
        }
        guard let start = number(4, bytes: 4), let count = number(start, bytes: 2) else {
            return nil
        }
        let entries = (0..<count).lazy.map { start + 2 + 12 * $0 }
        return entries.first { number($0, bytes: 2) == 0x0112 }.flatMap { number($0 + 8, bytes: 2) }
    }

    private static func number(
        in data: Slice<UnsafeRawBufferPointer>,
        _ offset: Int,
        bytes count: Int,
        isLittle: Bool
    ) -> Int? {
        let bytes = data.dropFirst(offset).prefix(count)
        guard bytes.count == count else { return nil }
        return (isLittle ? bytes.reversed() : Array(bytes)).reduce(0) { $0 << 8 | Int($1) }
    }
}
