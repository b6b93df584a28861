package import Frames

/// A blurred and darkened copy of a picture, smooth at any size, in the stream's colours.
///
/// It is kept small in height but as wide as it is shown, so that each of its rows is a mixture of
/// two stored rows and costs hardly more than a copy. Sixteenths of a step are kept to the end and
/// spread by a fixed pattern, since slow slopes in whole steps show as contours. Bound to one
/// thread.
package struct BlurredCopy: ~Copyable {
    /// The parameters of a copy.
    package struct Recipe: Hashable {
        /// The part of the picture that is shown, before the turn, in fractions of its size.
        package var part: Rect
        package var transform: Transform
        /// The size of the copy, in pixels; the width is even. The part is cropped to its shape.
        package var size: Size
        /// The standard deviation of the blur, as a fraction of the height.
        package var sigma: Double
        /// The share of the light that is left, 0 … 1.
        package var brightness: Double

        package init(
            part: Rect = .unit,
            transform: Transform,
            size: Size,
            sigma: Double,
            brightness: Double
        ) {
            self.part = part
            self.transform = transform
            self.size = size
            self.sigma = sigma
            self.brightness = brightness
        }

        /// The size at which the picture is blurred. A source need not be much larger.
        package var smallSize: Size {
            let rows = max(2, Int((BlurredCopy.area / size.aspect).squareRoot()))
            return Size(width: max(4, Int(Double(rows) * size.aspect / 2) * 2), height: rows)
        }
    }

    /// The pixels of the small picture: enough that no step shows after the blur.
    fileprivate static let area = 128.0 * 72
    /// The least blur, in pixels of the small picture: neighbouring rows then differ so little that
    /// the mixture fits in sixteen bits.
    private static let leastSigma = 1.7
    /// The sixteenths added to each pixel before it is rounded down: Bayer's matrix, four by four.
    private static let pattern: [4 of [4 of Int16]] = [
        [0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5],
    ]

    private var scaled = Scratch()
    private var turned = Scratch()
    private var memory = Scratch()
    private var luma = Blur()
    private var u = Blur()
    private var v = Blur()
    /// The rows of the small picture, and the size of the copy; no rows before the first update.
    private var rows = 0
    private var size = Size(width: 0, height: 0)

    package init() {}

    /// Makes the copy from `planes` in `color`. Allocates only for a copy larger than all before.
    package mutating func update(_ planes: Planes, color: ColorSpace, recipe: Recipe) {
        size = recipe.size
        precondition(size.width > 0 && size.height > 0 && size.width % 2 == 0)
        let small = recipe.smallSize
        let width = small.width
        rows = small.height
        let source = planes.cropped(
            to: Rect(planes.size).part(recipe.part)
                .fitting(aspect: recipe.transform.swapsAxes ? 1 / size.aspect : size.aspect)
        )
        let upright = source.scaled(
            to: small,
            transform: recipe.transform,
            &scaled,
            &turned
        )
        let sigma = max(Self.leastSigma, recipe.sigma * Double(rows))
        let y = luma.apply(to: upright.luma, sigmaX: sigma, sigmaY: sigma)
        let u = u.apply(to: upright.u, sigmaX: sigma / 2, sigmaY: sigma)
        let v = v.apply(to: upright.v, sigmaX: sigma / 2, sigmaY: sigma)
        let matrix = ColorMatrix(from: color)
        matrix.convert(y, u, v, count: width * rows, brightness: Float(recipe.brightness))
        let values = reserve()
        for row in 0..<rows {
            let target = values + row * 2 * size.width
            let (start, half) = (row * width, row * width / 2)
            Self.widen(y + start, count: width, into: target, step: 2, to: size.width)
            Self.widen(u + half, count: width / 2, into: target + 1, step: 4, to: size.width / 2)
            Self.widen(v + half, count: width / 2, into: target + 3, step: 4, to: size.width / 2)
        }
        drawPattern(values + rows * 2 * size.width)
    }

    /// Writes the pixels of row `y`, 0 ≤ y < the recipe's height, from `x0` up to `x1` (both even)
    /// to `destination`. Writes nothing before the first update.
    package mutating func write(
        y: Int,
        from x0: Int,
        to x1: Int,
        into destination: UnsafeMutablePointer<UInt8>
    ) {
        guard rows > 0, x1 > x0 else { return }
        let position = (Double(y) + 0.5) * Double(rows) / Double(size.height) - 0.5
        let step = Int(max(0, position) * 32)
        let row = min(step / 32, rows - 1)
        let stride = 2 * size.width
        let values = reserve() + 2 * x0
        let above = values + row * stride
        let below = values + min(row + 1, rows - 1) * stride
        let pattern = values + (rows + y & 3) * stride
        let share = Int16(truncatingIfNeeded: step % 32)
        for i in 0..<2 * (x1 - x0) {
            let value = above[i] &+ ((below[i] &- above[i]) &* share) &>> 5
            destination[i] = UInt8(truncatingIfNeeded: (value &+ pattern[i]) &>> 4)
        }
    }

    /// Returns the rows at full width, in sixteenths, packed as the stream is, followed by the four
    /// rows of the pattern.
    private mutating func reserve() -> UnsafeMutablePointer<Int16> {
        UnsafeMutableRawPointer(memory.reserve(2 * (rows + 4) * 2 * size.width))
            .assumingMemoryBound(to: Int16.self)
    }

    /// Writes the pattern: by the pixel for luma, by the pair for chroma.
    private func drawPattern(_ target: UnsafeMutablePointer<Int16>) {
        for y in 0..<4 {
            let row = target + y * 2 * size.width
            for x in 0..<size.width {
                row[2 * x] = Self.pattern[y][x & 3]
                row[2 * x + 1] = Self.pattern[y][x / 2 & 3]
            }
        }
    }

    /// Interpolates `count` numbers to `total` sixteenths, each `step` values after the last.
    private static func widen(
        _ source: UnsafeMutablePointer<Float>,
        count: Int,
        into target: UnsafeMutablePointer<Int16>,
        step: Int,
        to total: Int
    ) {
        let scale = Float(count) / Float(total)
        var x = 0
        // From the middle of one number to the middle of the next the values form a slope.
        for index in -1..<count {
            let left = source[max(index, 0)] * 16
            let slope = source[min(index + 1, count - 1)] * 16 - left
            let end = index == count - 1 ? total : Int((Float(index) + 1.5) / scale + 0.5)
            let start = (Float(x) + 0.5) * scale - 0.5 - Float(index)
            for i in 0..<max(0, min(end, total) - x) {
                let value = left + slope * (start + Float(i) * scale)
                target[step &* (x &+ i)] = Int16(
                    truncatingIfNeeded: Int32(bitPattern: (value + 8_388_608).bitPattern)
                )
            }
            x = max(x, min(end, total))
        }
    }
}
