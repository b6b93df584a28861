import Frames
import Glibc
import Imaging
import TestJPEGs
import TestSupport
import Testing

@Suite("The search for a page") struct PageFinderTests {
    /// Returns the largest distance of a corner of `page` from the one on `desk`, in pixels,
    /// whichever is the first.
    private func distance(_ page: FoundPage, _ desk: RenderedDesk) -> Double {
        let (width, height) = (Double(RenderedDesk.size.width), Double(RenderedDesk.size.height))
        return (0..<4).map { turn in
            (0..<4).map { index in
                let (found, there) = (page.corners[index], desk.corners[(index + turn) % 4])
                return hypot(found.x * width - there.x, found.y * height - there.y)
            }.max() ?? .infinity
        }.min() ?? .infinity
    }

    @Test("finds at least 18 of 20 within 2 % of the width, though things lie around and over them")
    func desks() {
        let desks = (1...).lazy.map { RenderedDesk($0) }.filter(\.isWhole).prefix(20)
        var misses: [Double] = []
        for desk in desks {
            let page = PageFinder.find(in: desk.frame())
            let error = page.map { distance($0, desk) } ?? Double.infinity
            if error > 0.02 * Double(RenderedDesk.size.width) {
                misses.append(error)
            } else {
                #expect((page?.certainty ?? 0) >= FoundPage.enough)
            }
        }
        #expect(misses.count <= 2, "\(misses)")
    }

    @Test func `gives the corners clockwise from the top left`() throws {
        let whole = (1...).lazy.map { RenderedDesk($0) }.first { $0.isWhole }
        let desk = try #require(whole)
        let page = try #require(PageFinder.find(in: desk.frame()))
        let corners = page.corners
        let sums = corners.map { $0.x + $0.y }
        #expect(sums.min() == sums[0])
        for index in 0..<4 {
            let (a, b, c) = (corners[index], corners[(index + 1) % 4], corners[(index + 2) % 4])
            #expect((b.x - a.x) * (c.y - b.y) - (b.y - a.y) * (c.x - b.x) > 0, "clockwise")
        }
    }

    @Test func `is not sure where there is none`() {
        // Nothing at all, or noise.
        for number in 4...6 {
            var random = Chance(seed: UInt64(number))
            let desk = frame(size: RenderedDesk.size, format: .gray) { _, _, _ in
                number == 4 ? 90 : UInt8(truncatingIfNeeded: random.next())
            }
            let page = PageFinder.find(in: desk)
            #expect((page?.certainty ?? 0) < FoundPage.enough, "\(number)")
        }
    }

    @Test(
        "takes few desks without a page for one, though a thing on them may be as bright and flat"
    )
    func desksWithoutAPage() {
        let sure = (1...20).filter { number in
            let page = PageFinder.find(in: RenderedDesk(number, hasPage: false).frame())
            return (page?.certainty ?? 0) >= FoundPage.enough
        }
        #expect(sure == [1])
    }
}
