import Frames
import TestJPEGs
import Testing

@Suite("Frames and places")
struct FrameTests {
    /// Returns a frame whose samples are `luma` and `chroma` of their column.
    private func striped(
        _ format: PixelFormat,
        luma: (Int) -> UInt8,
        chroma: (Int) -> UInt8
    ) -> Frame {
        frame(size: Size(width: 64, height: 36), format: format) { _, x, _ in
            format == .gray || (x % 2 == 0) == (format == .yuyv) ? luma(x) : chroma(x)
        }
    }

    @Test("are judged by their luma alone", arguments: [PixelFormat.gray, .yuyv, .uyvy])
    func luma(format: PixelFormat) {
        let flat = striped(format) { _ in
            90
        } chroma: {
            UInt8($0 * 7 % 200)
        }
        #expect(flat.sharpness == 0 && flat.brightness == 90)
        let striped = striped(format) {
            $0 / 4 % 2 == 0 ? 40 : 200
        } chroma: { _ in
            128
        }
        #expect(striped.sharpness > 100 && (40...200).contains(striped.brightness))
    }

    @Test("that do not meet have no part in common, in either direction")
    func intersection() {
        let here = PixelRect(x: 0, y: 0, width: 10, height: 10)
        for (x, y) in [(20, 0), (0, 20), (-20, 0), (0, -20), (20, 20)] {
            let there = PixelRect(x: x, y: y, width: 10, height: 10)
            let common = here.intersection(there)
            #expect(common.isEmpty && common.width >= 0 && common.height >= 0, "\(x), \(y)")
        }
        let edge = here.intersection(PixelRect(x: 8, y: -4, width: 10, height: 10))
        #expect(edge == PixelRect(x: 8, y: 0, width: 2, height: 6))
    }

    @Test("that are shown in two ways are as large as the larger, and cropped if one is")
    func union() {
        let cropped = ShownExtent(Size(width: 100, height: 100), isCropped: true)
        let whole = ShownExtent(Size(width: 50, height: 200))
        let both = ShownExtent(Size(width: 100, height: 200), isCropped: true)
        #expect(cropped.union(whole) == both && whole.union(cropped) == both)
        #expect(ShownExtent.hidden.union(whole) == whole && whole.union(.hidden) == whole)
        #expect(whole.union(.whole) == .whole)
    }
}
