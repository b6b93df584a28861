import Frames
import Testing

@Suite("Transforms are the dihedral group")
struct TransformTests {
    static let size = Size(width: 3, height: 2)

    @Test(arguments: Transform.all)
    func inverseUndoes(_ transform: Transform) {
        #expect(transform.followed(by: transform.inverse) == .identity)
        #expect(transform.inverse.followed(by: transform) == .identity)
    }

    @Test(arguments: Transform.all, Transform.all)
    func compositionAgreesWithPixels(_ first: Transform, _ second: Transform) {
        let both = first.followed(by: second)
        let middle = first.apply(to: Self.size)
        #expect(both.apply(to: Self.size) == second.apply(to: middle))
        for y in 0..<Self.size.height {
            for x in 0..<Self.size.width {
                let step = first.apply(toX: x, y: y, in: Self.size)
                let expected = second.apply(toX: step.x, y: step.y, in: middle)
                let actual = both.apply(toX: x, y: y, in: Self.size)
                #expect(actual == expected)
            }
        }
    }

    @Test func clockwiseTurnsTheTopLeftToTheTopRight() {
        let corner = Transform.clockwise90.apply(toX: 0, y: 0, in: Self.size)
        #expect(corner == (1, 0))
    }
}

@Suite("Frame memory")
struct FrameMemoryTests {
    @Test func everyBufferIsLentOnce() {
        var pool = FramePool(count: 2, byteCount: 64)
        let (one, two, three) = (pool.draw(), pool.draw(), pool.draw())
        #expect(one != nil && two != nil && one !== two)
        #expect(three == nil)
        withExtendedLifetime((one, two)) {}
    }

    @Test func aHeldBufferIsNotLentAgain() {
        var pool = FramePool(count: 2, byteCount: 64)
        var kept = pool.draw()
        let name = kept.map(ObjectIdentifier.init)
        for _ in 0..<4 {
            let other = pool.draw()
            #expect(other.map(ObjectIdentifier.init) != name)
        }
        kept = nil
        let names = (0..<2).map { _ in pool.draw().map(ObjectIdentifier.init) }
        #expect(names.contains(name))
    }

    @Test func aPoolGrowsForLargerPicturesAndKeepsItsMemoryForSmallerOnes() {
        var pool = GrowingPool(count: 1)
        let (small, none) = (pool.draw(byteCount: 64), pool.draw(byteCount: 32))
        #expect(small?.bytes.count ?? 0 >= 64 && none == nil)
        let (large, rest) = (pool.draw(byteCount: 1 << 16), pool.draw(byteCount: 64))
        #expect(large?.bytes.count ?? 0 >= 1 << 16 && rest == nil)
        withExtendedLifetime((small, large)) {}
    }

    @Test(arguments: [PixelFormat.i420, .i422, .i444, .i440, .i411, .nv12, .yuyv, .gray])
    func planesDoNotOverlapAndFit(_ format: PixelFormat) {
        for size in [Size(width: 7, height: 5), Size(width: 64, height: 48)] {
            let layout = FrameLayout(size: size, format: format)
            var end = 0
            for index in 0..<layout.planeCount {
                let plane = layout.plane(index)
                #expect(plane.offset >= end)
                #expect(plane.stride >= plane.rowBytes)
                end = plane.offset + plane.stride * plane.rows
            }
            #expect(end <= layout.byteCount)
        }
    }

    @Test func formatsReadAsTheirCodes() {
        #expect(PixelFormat.yuyv.description == "YUYV")
        #expect(PixelFormat("Y8").description == "Y8")
        #expect(PixelFormat(rawValue: 0x0102_0304).description == "0x1020304")
    }
}
