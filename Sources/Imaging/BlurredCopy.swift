package import Frames

/// A picture's blurred and darkened copy, smooth at any size, in the stream's colours.
///
/// It is kept small in height and as wide as it is shown, so that a row of it is a mixture of two
/// rows and costs hardly more than a copy. Sixteenths of a step are kept to the end and spread by
/// a fixed pattern, since slow slopes in whole steps show as contours.
///
/// - Context: bound to one thread.
package struct BlurredCopy: ~Copyable {
    /// How a copy is made.
    package struct Recipe: Hashable {
        /// How the picture is turned and mirrored.
        package var transform: Transform
        /// Extent at which it is shown; the width is even. The picture is cut to its shape.
        package var size: Size
        /// Standard deviation of the blur, as a fraction of the height.
        package var sigma: Double
        /// What is left of its light, 0 … 1.
        package var brightness: Double

        /// A recipe of these.
        package init(transform: Transform, size: Size, sigma: Double, brightness: Double) {
            self.transform = transform
            self.size = size
            self.sigma = sigma
            self.brightness = brightness
        }
    }

    /// Pixels of the small picture: enough that no step shows once it is blurred.
    private static let area = 128.0 * 72
    /// The least blur, in pixels of the small picture: neighbouring rows then differ by so little
    /// that sixteen bits have room for the mixture.
    private static let leastSigma = 1.7
    /// Which sixteenths round up where, for eight pixels of each of four rows: Bayer's matrix, for
    /// luma by the pixel and for chroma by the pair.
    private static let pattern: [SIMD16<Int16>] = {
        let matrix: [[Int16]] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]]
        return matrix.map { row in
            var lanes = SIMD16<Int16>()
            for i in 0..<16 { lanes[i] = row[i % 2 == 0 ? i / 2 % 4 : i / 4] }
            return lanes
        }
    }()

    private var small = Scratch()
    private var turned = Scratch()
    private var memory = Scratch()
    private var luma = Blur()
    private var u = Blur()
    private var v = Blur()
    /// Rows of the small picture, and the extent at which it is shown; none before the first.
    private var rows = 0
    private var size = Size(width: 0, height: 0)

    /// No copy yet.
    package init() {}

    /// Makes the copy that of `planes`, whose colours are `color`. Allocates only when the recipe
    /// asks for a larger one than ever before.
    package mutating func update(_ planes: Planes, color: ColorSpace, recipe: Recipe) {
        size = recipe.size
        precondition(size.width > 0 && size.height > 0 && size.width % 2 == 0)
        rows = max(2, Int((Self.area / size.aspect).squareRoot()))
        let width = max(4, Int(Double(rows) * size.aspect / 2) * 2)
        let source = planes.cropped(
            toAspect: recipe.transform.swapsAxes ? 1 / size.aspect : size.aspect
        )
        let upright = source.scaled(
            to: Size(width: width, height: rows),
            transform: recipe.transform,
            &small,
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
    }

    /// Writes the pixels from `x0` to before `x1` (both even) of row `y`, 0 ≤ y < the recipe's
    /// height, to `destination`. Nothing where there is no copy yet.
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
        let values = reserve() + 2 * x0
        let above = values + row * 2 * size.width
        let below = values + min(row + 1, rows - 1) * 2 * size.width
        let share = Int16(truncatingIfNeeded: step % 32)
        let pattern = Self.pattern[y & 3]
        let count = 2 * (x1 - x0)
        for x in stride(from: 0, to: count, by: 16) {
            for k in 0..<min(16, count - x) {
                let (a, b) = (above[x &+ k], below[x &+ k])
                let value = a &+ ((b &- a) &* share) >> 5 &+ pattern[k]
                destination[x &+ k] = UInt8(truncatingIfNeeded: value >> 4)
            }
        }
    }

    /// The rows as they are shown, in sixteenths, packed as the stream is.
    private mutating func reserve() -> UnsafeMutablePointer<Int16> {
        UnsafeMutableRawPointer(memory.reserve(2 * rows * 2 * size.width))
            .assumingMemoryBound(to: Int16.self)
    }

    /// Interpolates `count` numbers to `total`, each `step` values after the one before.
    private static func widen(
        _ source: UnsafeMutablePointer<Float>,
        count: Int,
        into target: UnsafeMutablePointer<Int16>,
        step: Int,
        to total: Int
    ) {
        let scale = Float(count) / Float(total)
        for x in 0..<total {
            let position = max(0, (Float(x) + 0.5) * scale - 0.5)
            let left = min(Int(position), count - 1)
            let right = min(left + 1, count - 1)
            let value = source[left] + (source[right] - source[left]) * (position - Float(left))
            target[step &* x] = Int16(value * 16)
        }
    }
}
