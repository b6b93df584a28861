import CTurboJPEG
import Frames
import Imaging
import TestJPEGs
import TestSupport
import Testing

@Suite("JPEG frames") struct JPEGDecoderTests {
    private let decoder: JPEGDecoder
    private static let size = Size(width: 64, height: 48)

    init() throws { decoder = try JPEGDecoder() }

    /// Each format with sizes that fill the sampling blocks and sizes that do not.
    static let cases = [PixelFormat.i420, .i422, .i444, .i440, .i411, .gray].flatMap { format in
        [
            Size(width: 64, height: 48), Size(width: 33, height: 17), Size(width: 1, height: 1),
            Size(width: 30, height: 9),
        ]
        .map { (format, $0) }
    }

    @Test(arguments: cases)
    func decodesToThePlanesThatWereEncoded(format: PixelFormat, size: Size) throws {
        let source = TestPicture.gradient(size: size, format: format)
        let jpeg = jpeg(of: source)
        try jpeg.withUnsafeBytes { bytes in
            let header = try decoder.header(of: bytes)
            #expect(header.size == size && header.format == format)
            let layout = FrameLayout(size: size, format: format)
            let buffer = FrameBuffer(byteCount: layout.byteCount)
            try decoder.decode(bytes, header: header, into: buffer, layout: layout)
            for index in 0..<layout.planeCount {
                let worst = greatestDifference(source.plane(index), buffer.plane(index, of: layout))
                #expect(worst <= 3, "plane \(index)")
            }
        }
    }

    @Test(arguments: JPEGScale.allCases, [PixelFormat.i420, .i422, .gray])
    func decodesSmaller(scale: JPEGScale, format: PixelFormat) throws {
        let size = Size(width: 70, height: 50)
        let source = flatFrame(size: size, format: format, [90, 60, 200])
        let jpeg = jpeg(of: source)
        try jpeg.withUnsafeBytes { bytes in
            let header = try decoder.header(of: bytes)
            let layout = header.layout(at: scale)
            #expect(layout.size == scale.apply(to: size))
            let buffer = FrameBuffer(byteCount: layout.byteCount)
            try decoder.decode(bytes, header: header, scale: scale, into: buffer, layout: layout)
            for index in 0..<layout.planeCount {
                let plane = buffer.plane(index, of: layout)
                let expected = [UInt8](arrayLiteral: 90, 60, 200)[index]
                for y in 0..<plane.rows {
                    for x in 0..<plane.rowBytes {
                        #expect(abs(Int(plane.row(y)[x]) - Int(expected)) <= 1)
                    }
                }
            }
        }
    }

    @Test(arguments: UnusualJPEG.shown, JPEGScale.allCases)
    func unusualColoursAndSamplingAreShown(jpeg: UnusualJPEG, scale: JPEGScale) throws {
        try jpeg.bytes.withUnsafeBytes { bytes in
            let header = try decoder.header(of: bytes)
            #expect(header.size == jpeg.size && !header.isPlain)
            let layout = header.layout(at: scale)
            let buffer = FrameBuffer(byteCount: layout.byteCount)
            try decoder.decode(bytes, header: header, scale: scale, into: buffer, layout: layout)
            for index in 0..<3 {
                let (plane, level) = (buffer.plane(index, of: layout), Double(jpeg.color[index]))
                #expect(plane.rows == scale.apply(to: jpeg.size).height)
                #expect(greatestDifference(plane) { _, _ in level } <= 2, "plane \(index)")
            }
        }
    }

    @Test(
        "a kind that cannot be shown is told from damage",
        arguments: [
            UnusualJPEG.deep, UnusualJPEG(sampling: (3, 1), (2, 1)),
            UnusualJPEG("two components", [(1, 1, 1, 90), (2, 1, 1, 90)]),
            UnusualJPEG.heightless, UnusualJPEG.costly(scans: 400),
        ]
    )
    func kinds(jpeg: UnusualJPEG) {
        #expect { try decode(jpeg.bytes) } throws: { error in
            let words = (error as? JPEGError)?.lasting
            return words?.hasPrefix("its JPEGs are of a kind that DualCam cannot show: the") == true
        }
    }

    @Test func aPictureThatTakesLongIsGivenUpWhenNobodyWaitsForIt() throws {
        let costly = UnusualJPEG.costly(scans: 30).bytes
        try decode(costly)
        let hasty = try JPEGDecoder { false }
        try decode(jpeg(of: TestPicture.gradient(size: Self.size, format: .i420)), by: hasty)
        #expect { try decode(costly, by: hasty) } throws: {
            ($0 as? JPEGError)?.code == .damaged
        }
    }

    @Test func everyTruncationIsAnError() throws {
        let jpeg = jpeg(of: TestPicture.gradient(size: Size(width: 64, height: 48), format: .i422))
        // The end marker alone may be missing: every pixel is there.
        for count in 0..<jpeg.count - 4 {
            #expect(throws: JPEGError.self, "\(count) of \(jpeg.count) bytes") {
                try decode(Array(jpeg.prefix(count)))
            }
        }
    }

    @Test func damageNeverCrashes() throws {
        let jpeg = jpeg(of: TestPicture.gradient(size: Size(width: 48, height: 32), format: .i420))
        var random = Chance(seed: 7)
        for _ in 0..<4000 {
            var damaged = jpeg
            for _ in 0...random.next() % 4 {
                damaged[Int(random.next() % UInt64(damaged.count))] =
                    UInt8(truncatingIfNeeded: random.next())
            }
            // The result is not specified: it may even be a whole picture.
            _ = try? decode(damaged)
        }
        try decode(jpeg)
    }

    @Test func strayBytesBeforeTheEndAreNoFault() throws {
        var jpeg = jpeg(of: TestPicture.gradient(size: Size(width: 32, height: 32), format: .i422))
        jpeg.insert(contentsOf: [0x12, 0x34], at: jpeg.count - 2)
        try decode(jpeg)
    }

    @Test func hugeHeadersAreRefused() throws {
        var jpeg = jpeg(of: TestPicture.gradient(size: Size(width: 16, height: 16), format: .i420))
        let start = try #require(
            jpeg.indices.dropLast().first { jpeg[$0] == 0xff && jpeg[$0 + 1] == 0xc0 }
        )
        jpeg.replaceSubrange(start + 5..<start + 9, with: [0xff, 0xdc, 0xff, 0xdc])
        #expect { try decode(jpeg) } throws: { ($0 as? JPEGError)?.code == .tooLarge }
    }

    private func decode(_ jpeg: [UInt8], by other: JPEGDecoder? = nil) throws {
        let decoder = other ?? decoder
        try jpeg.withUnsafeBytes { bytes in
            let header = try decoder.header(of: bytes)
            let layout = FrameLayout(size: header.size, format: header.format)
            let buffer = FrameBuffer(byteCount: layout.byteCount)
            try decoder.decode(bytes, header: header, into: buffer, layout: layout)
        }
    }
}
