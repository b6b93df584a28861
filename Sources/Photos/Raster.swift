package import Frames

/// A picture in memory, for what is not on a frame's way.
package struct Raster: Hashable, Sendable {
    /// Its extent in pixels.
    package let size: Size
    /// Rows from the top, without gaps; red in the lowest byte, then green, blue, and one that means nothing.
    package let pixels: [UInt32]

    /// A picture of `size`; `pixels` are as many.
    package init(size: Size, pixels: [UInt32]) {
        precondition(pixels.count == size.area)
        self.size = size
        self.pixels = pixels
    }

    /// The same, turned.
    package func turned(by transform: Transform) -> Raster {
        let target = transform.apply(to: size)
        let back = transform.inverse
        // Where a pixel comes from is linear in where it lies.
        func source(_ x: Int, _ y: Int) -> Int {
            let place = back.apply(toX: x, y: y, in: target)
            return place.y * size.width + place.x
        }
        let origin = source(0, 0)
        let right = target.width > 1 ? source(1, 0) - origin : 0
        let down = target.height > 1 ? source(0, 1) - origin : 0
        return Raster(
            size: target,
            pixels: [UInt32](unsafeUninitializedCapacity: target.area) { result, count in
                for y in 0..<target.height {
                    for x in 0..<target.width {
                        result[y * target.width + x] = pixels[origin + x * right + y * down]
                    }
                }
                count = target.area
            }
        )
    }
}
