import CKernels
import Frames
import Glibc
import Imaging
import TestSupport
import Testing

@Suite("Paper") struct InkTests {
    private static let size = Size(width: 640, height: 360)

    /// A page under a lamp, with writing and a hand, on a desk: packed pixels.
    private struct Page {
        /// The light at a place, 0 … 1 in both directions; 1 at most.
        var light: (Double, Double) -> Double
        /// `true` if the page is the whole picture.
        var isWhole = true
        var hasPaper = true

        func isPaper(_ x: Int, _ y: Int) -> Bool {
            hasPaper && (isWhole || (x > 130 && x < 520 && y > 30 && y < 330))
        }
        func isHand(_ x: Int, _ y: Int) -> Bool {
            let (across, down) = (Double(x - 430) / 80, Double(y - 280) / 110)
            return across * across + down * down < 1
        }
        func isWriting(_ x: Int, _ y: Int) -> Bool {
            isPaper(x, y) && y % 28 > 14 && x / 3 % 3 == 0 && x % 90 < 70
        }

        func pixels() -> [UInt8] {
            var random = Chance(seed: 7)
            var bytes = [UInt8](repeating: 128, count: 2 * InkTests.size.area)
            for y in 0..<InkTests.size.height {
                for x in 0..<InkTests.size.width {
                    // The lamp is warm.
                    var color = (light: 200.0, u: 122.0, v: 133.0)
                    if !isPaper(x, y) { color = (80, 112, 146) }
                    if isWriting(x, y) { color = (50, 126, 130) }
                    if isHand(x, y) { color = (130, 108, 152) }
                    let light = light(
                        Double(x) / Double(InkTests.size.width),
                        Double(y) / Double(InkTests.size.height)
                    )
                    let noise = Double(random.next() % 5) - 2
                    let index = 2 * (y * InkTests.size.width + x)
                    bytes[index] = UInt8(16 + max(0, color.light * light + noise))
                    let chroma = x % 2 == 0 ? color.u : color.v
                    bytes[index + 1] = UInt8(128 + (chroma - 128) * light)
                }
            }
            return bytes
        }
    }

    /// Lights that fall off by half: evenly, and from lamps at a corner and in the middle.
    static let falls: [@Sendable (Double, Double) -> Double] = [
        { x, _ in 1 - 0.5 * x },
        { x, y in 1 - 0.25 * x - 0.25 * y },
        { x, y in 1 / (1 + (x * x + y * y) / 2) },
        { x, y in 1 / (1 + 2 * ((x - 0.5) * (x - 0.5) + (y - 0.5) * (y - 0.5))) },
    ]

    private func graded(_ pixels: [UInt8], strength: Double = 1) -> [UInt8] {
        var ink = Ink()
        var pixels = pixels
        let (width, height) = (Self.size.width, Self.size.height)
        pixels.withUnsafeMutableBufferPointer { pixels in
            guard let base = pixels.baseAddress else { return }
            ink.begin()
            for row in 0..<Ink.rows {
                let y = (2 * row + 1) * height / (2 * Ink.rows)
                ink.look(base + 2 * y * width, count: width, y: (Double(y) + 0.5) / Double(height))
            }
            ink.settle(at: Timestamp(seconds: 1))
            for y in 0..<height {
                // In two parts, as around an inset.
                for (from, count) in [(0, 214), (214, width - 214)] {
                    ink.apply(
                        to: base + 2 * (y * width + from),
                        from: from,
                        count: count,
                        width: width,
                        y: (Double(y) + 0.5) / Double(height),
                        strength: strength
                    )
                }
            }
        }
        return pixels
    }

    @Test(arguments: falls.indices, [true, false])
    func `is even within 5 % under light that falls off by half`(fall: Int, isWhole: Bool) {
        let page = Page(light: Self.falls[fall], isWhole: isWhole)
        let before = page.pixels()
        let after = graded(before)
        func spread(_ bytes: [UInt8]) -> Double {
            var means: [Double] = []
            for top in stride(from: 40, to: 320, by: 20) {
                for left in stride(from: 0, to: 640, by: 20) {
                    var (sum, count) = (0.0, 0.0)
                    for y in top..<top + 20 {
                        for x in left..<left + 20 where page.isPaper(x, y) {
                            guard !page.isWriting(x, y), !page.isHand(x, y) else { continue }
                            sum += Double(bytes[2 * (y * 640 + x)]) - 16
                            count += 1
                        }
                    }
                    if count > 40 { means.append(sum / count) }
                }
            }
            let (least, most) = (means.min() ?? 0, means.max() ?? 0)
            return (most - least) / most
        }
        #expect(spread(before) > 0.2)
        #expect(spread(after) < 0.05, "\(spread(after))")
        // White paper without a tint, and dark ink.
        let (paper, writing) = (2 * (42 * 640 + 244), 2 * (46 * 640 + 280))
        #expect(page.isPaper(244, 42) && page.isWriting(280, 46))
        #expect(after[paper] > 215 && abs(Int(after[paper + 1]) - 128) < 4)
        #expect(after[writing] < 70)
    }

    @Test("leaves a hand its colour", arguments: falls.indices)
    func hand(fall: Int) {
        let after = graded(Page(light: Self.falls[fall]).pixels())
        // As in even light: 130 above black, less blue and more red.
        let index = 2 * (280 * 640 + 430)
        #expect((120...165).contains(Int(after[index])))
        #expect((104...114).contains(Int(after[index + 1])))
        #expect((144...154).contains(Int(after[index + 3])))
    }

    @Test func `is nothing that a picture without paper has`() {
        let desk = Page(light: { _, _ in 1 }, hasPaper: false).pixels()
        #expect(graded(desk) == desk)
        let dark = [UInt8](repeating: 20, count: 2 * Self.size.area)
        #expect(graded(dark) == dark)
        let page = Page(light: { _, _ in 0.8 }).pixels()
        #expect(graded(page, strength: 0) == page)
    }

    @Test("takes any picture, and leaves the stream's range")
    func noise() {
        var random = Chance(seed: 3)
        for _ in 0..<20 {
            // Nearly grey, as paper is: much of what has a colour stays as it is.
            let noise = (0..<2 * Self.size.area).map { index in
                UInt8(index % 2 == 0 ? 16 + random.next() % 220 : 124 + random.next() % 9)
            }
            let after = graded(noise)
            #expect(after != noise)
            #expect(stride(from: 0, to: after.count, by: 2).allSatisfy { (16...235) ~= after[$0] })
        }
    }

    @Test("costs one pass, whose runs meet")
    func runs() {
        // The same row in one call and in pairs.
        var random = Chance(seed: 11)
        let row = (0..<2 * 400).map { _ in UInt8(16 + random.next() % 220) }
        let gains = (0..<20).map { UInt16(200 + 30 * $0) }
        let ink = kernel_ink(tint_u: 90, tint_v: -70, strength: 200)
        var whole = row + [0xaa]
        kernel_ink(&whole, 0, 400, gains, ink)
        #expect(whole[800] == 0xaa, "nothing beyond the row")
        var parts = row
        parts.withUnsafeMutableBufferPointer { parts in
            guard let base = parts.baseAddress else { return }
            for x in stride(from: 0, to: 400, by: 2) {
                kernel_ink(base + 2 * x, CInt(x), 2, gains, ink)
            }
        }
        #expect(parts == Array(whole.dropLast()))
    }
}
