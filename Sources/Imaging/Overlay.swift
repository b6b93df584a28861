package import Frames

/// A picture laid over packed rows as often as it is shown: an opacity and a value for each byte.
package struct Overlay: Sendable {
    /// The size in pixels; the width is even.
    package let size: Size
    /// The opacity of each byte of the packed rows, over 255; then, as many again, the values.
    private let bytes: [UInt8]

    package init() {
        size = Size(width: 0, height: 0)
        bytes = []
    }

    /// Creates an overlay from premultiplied `pixels`: height × `stride` bytes of ARGB in native
    /// order, of which the first `size.width` pixels of a row count. The values are in
    /// `ColorSpace.video`.
    init(_ pixels: UnsafeRawPointer, stride: Int, size: Size) {
        precondition(size.width % 2 == 0)
        self.size = size
        var bytes = [UInt8](repeating: 0, count: 4 * size.area)
        for y in 0..<size.height {
            for pair in 0..<size.width / 2 {
                let index = 2 * (y * size.width + 2 * pair)
                var (red, green, blue, covered) = (0, 0, 0, 0)
                for side in 0...1 {
                    // Native byte order: alpha is the highest byte.
                    let pixel = pixels.load(
                        fromByteOffset: y * stride + 4 * (2 * pair + side),
                        as: UInt32.self
                    )
                    let alpha = Int(pixel >> 24)
                    guard alpha > 0 else {
                        bytes[index + 2 * side + 2 * size.area] = 16
                        continue
                    }
                    let (r, g, b) = (
                        Int(pixel >> 16 & 255), Int(pixel >> 8 & 255), Int(pixel & 255)
                    )
                    red += r
                    green += g
                    blue += b
                    covered += alpha
                    bytes[index + 2 * side] = UInt8(alpha)
                    // BT.601: of 255, light is 66, 129 and 25 parts of 256 of red, green and blue.
                    let light = (66 * r + 129 * g + 25 * b + 128) * 255 / (256 * alpha)
                    bytes[index + 2 * side + 2 * size.area] = UInt8(min(235, 16 + light))
                }
                bytes[index + 1] = UInt8((covered + 1) / 2)
                bytes[index + 3] = UInt8((covered + 1) / 2)
                let share = max(1, covered)
                let u = (-38 * red - 74 * green + 112 * blue) * 255 / share / 256
                let v = (112 * red - 94 * green - 18 * blue) * 255 / share / 256
                bytes[index + 1 + 2 * size.area] = UInt8(max(16, min(240, 128 + u)))
                bytes[index + 3 + 2 * size.area] = UInt8(max(16, min(240, 128 + v)))
            }
        }
        self.bytes = bytes
    }

    /// Lays the overlay over packed `rows`, `stride` bytes each, with its top left corner at (`x`,
    /// `y`); x is even. Touches only pixels inside `clip`, whose x and width are even too;
    /// `opacity` is 0 … 1. Towards the left and right ends of `clip` it fades over `fade` pixels.
    /// Does not allocate.
    package func lay(
        over rows: UnsafeMutablePointer<UInt8>,
        stride: Int,
        x: Int,
        y: Int,
        clip: PixelRect,
        opacity: Double,
        fade: Int = 0
    ) {
        let seen = PixelRect(x: x, y: y, width: size.width, height: size.height)
            .intersection(clip)
        let share = UInt16(max(0, min(1, opacity)) * 255 + 0.5)
        guard !seen.isEmpty, share > 0 else { return }
        precondition(x % 2 == 0 && seen.x % 2 == 0 && seen.width % 2 == 0)
        bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            let left = min(seen.width, max(0, clip.x + fade - seen.x))
            let right = max(left, min(seen.width, clip.maxX - fade - seen.x))
            for line in seen.y..<seen.maxY {
                let cover = base + 2 * ((line - y) * size.width + seen.x - x)
                let value = cover + 2 * size.area
                let target = rows + line * stride + 2 * seen.x
                for i in 2 * left..<2 * right {
                    let taken = UInt16(over255(UInt16(cover[i]) &* share))
                    let kept = (255 &- taken) &* UInt16(target[i])
                    target[i] = over255(kept &+ taken &* UInt16(value[i]))
                }
                guard fade > 0 else { continue }
                func blend(_ pixels: Range<Int>) {
                    for pixel in pixels {
                        let depth = min(seen.x + pixel - clip.x, clip.maxX - 1 - seen.x - pixel)
                        let part = share &* UInt16(max(0, depth)) / UInt16(fade)
                        for i in 2 * pixel..<2 * pixel + 2 {
                            let taken = UInt16(over255(UInt16(cover[i]) &* part))
                            let kept = (255 &- taken) &* UInt16(target[i])
                            target[i] = over255(kept &+ taken &* UInt16(value[i]))
                        }
                    }
                }
                blend(0..<left)
                blend(right..<seen.width)
            }
        }
    }
}
