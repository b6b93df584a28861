import Frames
import Imaging
import TestJPEGs
import Testing

@Suite("Planar copies") struct PlanarCopyTests {
    @Test(
        "red is red in each order of colours",
        arguments: [
            (PixelFormat.bgrx, [0, 0, 255, 9]), (.bgra, [0, 0, 255, 9]), (.rgbx, [255, 0, 0, 9]),
            (.rgba, [255, 0, 0, 9]), (.xrgb, [9, 255, 0, 0]), (.argb, [9, 255, 0, 0]),
            (.xbgr, [9, 0, 0, 255]), (.abgr, [9, 0, 0, 255]), (.rgb, [255, 0, 0]),
            (.bgr, [0, 0, 255]),
        ] as [(PixelFormat, [UInt8])]
    )
    func red(format: PixelFormat, pixel: [UInt8]) throws {
        let layout = FrameLayout(size: Size(width: 34, height: 6), format: .i420)
        let source = FrameBuffer(byteCount: 6 * 34 * pixel.count)
        for index in 0..<6 * 34 * pixel.count { source.bytes[index] = pixel[index % pixel.count] }
        let base = try #require(source.bytes.baseAddress).assumingMemoryBound(to: UInt8.self)
        let stride = 34 * pixel.count
        let plane = Plane(base: base, stride: stride, rowBytes: stride, rows: 6)
        let target = FrameBuffer(byteCount: layout.byteCount)
        #expect(format.rgbBytes == pixel.count)
        #expect(makePlanar([plane], format, into: target, layout))
        for (index, expected) in [81, 90, 240].enumerated() {
            let plane = target.plane(index, of: layout)
            for y in 0..<plane.rows {
                for x in 0..<plane.rowBytes {
                    #expect(abs(Int(plane.row(y)[x]) - expected) <= 2, "plane \(index), \(x), \(y)")
                }
            }
        }
        #expect(!makePlanar([plane], .gray, into: target, layout))
    }

    @Test("each pixel goes where the transform says", arguments: Transform.all, [10, 9])
    func turned(transform: Transform, width: Int) throws {
        let whole = FrameLayout(size: Size(width: 16, height: 12), format: .i422)
        let frame = frame(size: whole.size, format: .i422) { _, x, y in UInt8(16 * y + x) }
        let part = PixelRect(x: 4, y: 2, width: width, height: 8)
        let layout = try #require(turnedLayout(whole, part: part, transform))
        #expect(layout.format == (transform.swapsAxes ? .i440 : .i422))
        let target = FrameBuffer(byteCount: layout.byteCount)
        turn(frame, part: part, transform, into: target, layout)
        for index in 0..<3 {
            let across = index == 0 ? 1 : 2
            let size = Size(width: (part.width + across - 1) / across, height: part.height)
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let place = transform.apply(toX: x, y: y, in: size)
                    let found = target.plane(index, of: layout).row(place.y)[place.x]
                    #expect(found == UInt8(16 * (y + part.y) + x + part.x / across))
                }
            }
        }
        let thin = FrameLayout(size: Size(width: 16, height: 12), format: .i411)
        #expect(turnedLayout(thin, part: part, transform) == nil)
    }
}
