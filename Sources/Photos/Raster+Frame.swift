package import Frames

extension Raster {
    /// Converts `frame`, a YUV picture from a camera or the stream, to pixels.
    package init(_ frame: Frame) {
        let layout = frame.layout
        let size = layout.size
        let luma = frame.plane(0)
        let isPacked = layout.format == .yuyv || layout.format == .uyvy
        let lumaStep = isPacked ? 2 : 1
        let lumaOffset = layout.format == .uyvy ? 1 : 0
        // The places of the chroma: two planes, one interleaved with luma or with itself, or none.
        let (u, v, chromaStep, horizontal, vertical): (Plane, Plane, Int, Int, Int)
        var (uOffset, vOffset) = (0, 0)
        switch layout.format {
        case .yuyv, .uyvy:
            (u, v, chromaStep, horizontal, vertical) = (luma, luma, 4, 2, 1)
            (uOffset, vOffset) = layout.format == .yuyv ? (1, 3) : (0, 2)
        case .nv12:
            (u, v, chromaStep, horizontal, vertical) = (frame.plane(1), frame.plane(1), 2, 2, 2)
            vOffset = 1
        case .gray:
            (u, v, chromaStep, horizontal, vertical) = (luma, luma, 0, 1, 1)
        default:
            let shape = layout.format.planarSubsampling ?? (1, 1)
            (u, v, chromaStep) = (frame.plane(1), frame.plane(2), 1)
            (horizontal, vertical) = (shape.horizontal, shape.vertical)
        }
        let isGray = layout.format == .gray
        let weights = Weights(frame.color)
        let pixels = [UInt32](unsafeUninitializedCapacity: size.area) { result, count in
            for y in 0..<size.height {
                let row = luma.row(y)
                let (uRow, vRow) = (u.row(y / vertical), v.row(y / vertical))
                for x in 0..<size.width {
                    let place = x / horizontal * chromaStep
                    result[y * size.width + x] = weights.pixel(
                        Int(row[x * lumaStep + lumaOffset]),
                        isGray ? 128 : Int(uRow[place + uOffset]),
                        isGray ? 128 : Int(vRow[place + vOffset])
                    )
                }
            }
            count = size.area
        }
        self.init(size: size, pixels: pixels)
    }

    /// The weights from YUV to RGB, in units of 2^-16 (ITU-R BT.601 and BT.709).
    private struct Weights {
        let (luma, black): (Int, Int)
        let (redV, greenU, greenV, blueU): (Int, Int, Int, Int)

        init(_ color: ColorSpace) {
            let isFull = color.range == .full
            let (red, blue) = color.matrix == .bt601 ? (0.299, 0.114) : (0.2126, 0.0722)
            let green = 1 - red - blue
            let chroma = isFull ? 1.0 : 255.0 / 224
            func fixed(_ value: Double) -> Int { Int((value * 65536).rounded()) }
            luma = fixed(isFull ? 1 : 255.0 / 219)
            black = isFull ? 0 : 16
            redV = fixed(2 * (1 - red) * chroma)
            blueU = fixed(2 * (1 - blue) * chroma)
            greenU = fixed(2 * (1 - blue) * blue / green * chroma)
            greenV = fixed(2 * (1 - red) * red / green * chroma)
        }

        @inline(__always)
        func pixel(_ y: Int, _ u: Int, _ v: Int) -> UInt32 {
            let (light, u, v) = ((y - black) * luma + 32768, u - 128, v - 128)
            func sample(_ value: Int) -> UInt32 { UInt32(max(0, min(255, value >> 16))) }
            return sample(light + redV * v) | sample(light - greenU * u - greenV * v) << 8
                | sample(light + blueU * u) << 16
        }
    }

    /// Returns the picture scaled down to fit `bounds`; a pixel is the mean of those it replaces.
    package func reduced(into bounds: Size) -> Raster {
        let factor = max(
            1,
            Double(size.width) / Double(bounds.width),
            Double(size.height) / Double(bounds.height)
        )
        guard factor > 1 else { return self }
        let small = Size(
            width: max(1, Int(Double(size.width) / factor)),
            height: max(1, Int(Double(size.height) / factor))
        )
        func span(_ index: Int, _ count: Int, _ whole: Int) -> Range<Int> {
            let start = index * whole / count
            return start..<max(start + 1, (index + 1) * whole / count)
        }
        var result: [UInt32] = []
        result.reserveCapacity(small.area)
        for y in 0..<small.height {
            let rows = span(y, small.height, size.height)
            for x in 0..<small.width {
                let columns = span(x, small.width, size.width)
                var (red, green, blue) = (0, 0, 0)
                for row in rows {
                    for column in columns {
                        let pixel = pixels[row * size.width + column]
                        red += Int(pixel & 255)
                        green += Int(pixel >> 8 & 255)
                        blue += Int(pixel >> 16 & 255)
                    }
                }
                let count = rows.count * columns.count
                result.append(
                    UInt32(red / count) | UInt32(green / count) << 8 | UInt32(blue / count) << 16
                )
            }
        }
        return Raster(size: small, pixels: result)
    }
}
