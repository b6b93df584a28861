package import Frames

/// A picture in memory, for work outside the pipeline.
package struct Raster: Hashable, Sendable {
    package let size: Size
    /// The pixels in rows from the top: red in the lowest byte, green, blue and an unused byte.
    package let pixels: [UInt32]

    /// Creates a picture from `size.area` pixels.
    package init(size: Size, pixels: [UInt32]) {
        precondition(pixels.count == size.area)
        self.size = size
        self.pixels = pixels
    }

    /// Returns the picture turned by `transform`.
    package func turned(by transform: Transform) -> Raster {
        let target = transform.apply(to: size)
        let back = transform.inverse
        // The source index is linear in the target's coordinates.
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
