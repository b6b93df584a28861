import Frames
import Imaging
import TestJPEGs
import Testing

@Suite("Frames of JPEGs") struct FrameDecoderTests {
    static let size = Size(width: 64, height: 32)

    private func jpeg(
        _ size: Size = Self.size,
        luma: UInt8 = 90,
        sequence: UInt64 = 0,
        change: (inout [UInt8]) -> Void = { _ in }
    ) -> JPEGFrame {
        var bytes = flatJPEG(size, luma: luma)
        change(&bytes)
        return JPEGFrame(bytes, at: Timestamp(seconds: 7), sequence: sequence)
    }

    struct Shown: Sendable {
        let picture: Size
        let extent: ShownExtent
        let scale: JPEGScale?

        init(
            _ picture: (Int, Int),
            _ shown: (Int, Int)?,
            isCropped: Bool = false,
            _ scale: JPEGScale?
        ) {
            self.picture = Size(width: picture.0, height: picture.1)
            self.scale = scale
            let size = shown.map { Size(width: $0.0, height: $0.1) }
            extent = ShownExtent(size, isCropped: isCropped)
        }
    }

    @Test(arguments: [
        // Full screen, an inset, smaller ones, side by side.
        Shown((1920, 1080), (1920, 1080), .full), Shown((1920, 1080), (480, 270), .quarter),
        Shown((1920, 1080), (482, 271), .quarter), Shown((1920, 1080), (500, 281), .half),
        Shown((1920, 1080), (320, 180), .quarter), Shown((1920, 1080), (240, 135), .eighth),
        Shown((1920, 1080), (933, 525), .half), Shown((1280, 720), (1920, 1080), .full),
        Shown((1920, 1080), nil, .full), Shown((1920, 1080), (0, 0), nil),
        // Another shape: fitted into the picture's, or cropped to it.
        Shown((1920, 1080), (270, 480), .quarter),
        Shown((1920, 1080), (270, 480), isCropped: true, .half),
        Shown((1080, 1920), (480, 270), .quarter),
        Shown((1080, 1920), (480, 270), isCropped: true, .half),
        // Sizes that no scale divides, and a tiny picture.
        Shown((1366, 768), (341, 192), .quarter), Shown((3, 3), (1, 1), .full),
    ])
    func aPictureIsDecodedNoSmallerThanItIsDrawn(_ row: Shown) {
        #expect(JPEGScale.smallest(for: row.extent, of: row.picture) == row.scale)
    }

    @Test func damagedOnesAreToldAndTheNextIsFine() throws {
        let decoder = try FrameDecoder(expecting: Self.size)
        func isGood(_ jpeg: JPEGFrame) -> Bool {
            guard case .frame(let frame) = decoder.decode(jpeg, for: .whole) else { return false }
            return frame.layout.size == Self.size && abs(Int(frame.plane(0).row(16)[40]) - 90) <= 1
        }
        #expect(isGood(jpeg()))
        #expect(!isGood(jpeg { $0.removeLast($0.count / 2) }))
        #expect(!isGood(jpeg { $0 = [0xff, 0xd8, 0xff, 0xd9] }))
        #expect(!isGood(jpeg { $0 = [1, 2, 3] }))
        #expect(!isGood(jpeg(Size(width: 32, height: 32))))
        #expect(isGood(jpeg()))
    }

    @Test func noDamagedHeaderBeforeTheFirstWholePictureDecidesOnTheSize() throws {
        let decoder = try FrameDecoder(expecting: Self.size)
        let other = jpeg(Size(width: 64, height: 64)) { $0.removeLast($0.count / 2) }
        let rows = [
            (other, false), (jpeg(Size(width: 2048, height: 2048)), false), (jpeg(), true),
            (jpeg(Size(width: 64, height: 64)), false),
        ]
        for (jpeg, isGood) in rows {
            if case .frame = decoder.decode(jpeg, for: .whole) {
                #expect(isGood)
            } else {
                #expect(!isGood)
            }
        }
    }

    @Test func whatNobodySeesIsNotDecodedButForTheFirst() throws {
        let decoder = try FrameDecoder(expecting: Self.size)
        guard case .frame(let first) = decoder.decode(jpeg(), for: .hidden) else {
            Issue.record("the first is looked at, to know that the camera gives pictures")
            return
        }
        #expect(first.reduction == 8 && first.pictureSize == Self.size)
        guard case .unseen = decoder.decode(jpeg(luma: 200, sequence: 1), for: .hidden) else {
            Issue.record("decoded for nobody")
            return
        }
        // The newest frame is sharpened, though it was hidden when it came.
        let frame = try #require(decoder.sharpen(for: ShownExtent(Size(width: 32, height: 16))))
        #expect(frame.reduction == 2 && frame.layout.size == Size(width: 32, height: 16))
        #expect(frame.sequence == 1 && frame.timestamp == Timestamp(seconds: 7))
        #expect(abs(Int(frame.plane(0).row(8)[20]) - 200) <= 1)
        guard case .damaged = decoder.decode(jpeg { $0 = [1, 2, 3] }, for: .hidden) else {
            Issue.record("a damaged header shows at once")
            return
        }
        #expect(decoder.sharpen(for: .whole) == nil)
    }

    @Test func aPictureIsHadLargerOnceAndNeverSmaller() throws {
        let decoder = try FrameDecoder(expecting: Self.size)
        let small = ShownExtent(Size(width: 16, height: 8))
        guard case .frame(let frame) = decoder.decode(jpeg(), for: small) else {
            Issue.record("no frame")
            return
        }
        #expect(frame.reduction == 4)
        #expect(decoder.sharpen(for: small) == nil)
        #expect(decoder.sharpen(for: .hidden) == nil)
        #expect(decoder.sharpen(for: .whole)?.reduction == 1)
        #expect(decoder.sharpen(for: .whole) == nil)
        #expect(decoder.sharpen(for: small) == nil)
    }

    @Test func aPictureIsShownUpToTheDecodersLimit() throws {
        let decoder = try FrameDecoder(expecting: Size(width: 4096, height: 4096))
        var large = UnusualJPEG("large", [(1, 1, 1, 90)])
        large.size = Size(width: 8192, height: 4320)
        let shown = ShownExtent(Size(width: 1280, height: 720))
        guard case .frame(let frame) = decoder.decode(JPEGFrame(large.bytes), for: shown) else {
            Issue.record("\(decoder.fault?.description ?? "no fault")")
            return
        }
        #expect(frame.pictureSize == large.size && frame.reduction == 4)
        large.size = Size(width: 8200, height: 8192)
        _ = decoder.decode(JPEGFrame(large.bytes), for: shown)
        #expect(decoder.fault?.lasting?.contains("8200x8192") == true)
    }

    /// A phone that was turned sends another size from then on.
    @Test func anotherSizeIsTheCamerasOnceThreePicturesHaveIt() throws {
        let decoder = try FrameDecoder(expecting: Self.size)
        let (upright, larger) = (Self.size.transposed, Size(width: 2048, height: 1088))
        func isShown(_ size: Size) -> Bool {
            if case .frame(let frame) = decoder.decode(jpeg(size), for: .whole) {
                frame.layout.size == size
            } else {
                false
            }
        }
        #expect(isShown(Self.size))
        #expect([upright, upright, Self.size].map(isShown) == [false, false, true])
        #expect([upright, larger, upright, upright].map(isShown) == [false, false, false, false])
        #expect([upright, upright, Self.size].map(isShown) == [true, true, false])
        // More memory than the camera's mode could need is nobody's own.
        #expect((0..<5).map { _ in isShown(larger) } == [false, false, false, false, false])
    }
}
