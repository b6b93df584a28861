package import Frames
import Glibc

/// Blurs small planes by a Gaussian. Bound to one thread, since it holds intermediate rows.
package struct Blur: ~Copyable {
    private var numbers = FloatScratch()

    package init() {}

    /// Returns `plane` blurred by the standard deviations `sigmaX` and `sigmaY`, in pixels. Pixels
    /// outside count as the nearest one at the edge. The result has the plane's size, without gaps
    /// between rows, and is valid until the next call. Allocates only for the largest plane so far.
    package mutating func apply(
        to plane: Plane,
        sigmaX: Double,
        sigmaY: Double
    ) -> UnsafeMutablePointer<Float> {
        let (width, height) = (plane.rowBytes, plane.rows)
        let (reachX, reachY) = (Self.reach(sigmaX), Self.reach(sigmaY))
        let padded = width + 2 * reachX
        numbers.grow(to: 2 * width * height + padded + reachX + reachY + 2)
        let result = numbers.base
        let across = result + width * height
        let row = across + width * height
        let weightsX = row + padded
        let weightsY = weightsX + reachX + 1
        Self.weigh(weightsX, reach: reachX, sigma: sigmaX)
        Self.weigh(weightsY, reach: reachY, sigma: sigmaY)
        for y in 0..<height {
            let source = plane.row(y)
            for x in 0..<padded { row[x] = Float(source[min(max(x - reachX, 0), width - 1)]) }
            let target = across + y * width
            for x in 0..<width { target[x] = row[x + reachX] * weightsX[0] }
            for k in 0..<reachX {
                let (left, right) = (row + reachX - k - 1, row + reachX + k + 1)
                Self.add(left, right, times: weightsX[k + 1], to: target, count: width)
            }
        }
        for y in 0..<height {
            let target = result + y * width
            let center = across + y * width
            for x in 0..<width { target[x] = center[x] * weightsY[0] }
            for k in 0..<reachY {
                let above = across + max(y - k - 1, 0) * width
                let below = across + min(y + k + 1, height - 1) * width
                Self.add(above, below, times: weightsY[k + 1], to: target, count: width)
            }
        }
        return result
    }

    private static func add(
        _ a: UnsafeMutablePointer<Float>,
        _ b: UnsafeMutablePointer<Float>,
        times weight: Float,
        to target: UnsafeMutablePointer<Float>,
        count: Int
    ) {
        for x in 0..<count { target[x] += (a[x] + b[x]) * weight }
    }

    private static func reach(_ sigma: Double) -> Int { Int((3 * sigma).rounded(.up)) }

    /// Computes the weight of the pixel itself, and of each distance, which two pixels have.
    private static func weigh(_ weights: UnsafeMutablePointer<Float>, reach: Int, sigma: Double) {
        var sum = 0.0
        for k in 0...reach {
            let weight = k == 0 ? 1 : exp(-Double(k * k) / (2 * sigma * sigma))
            weights[k] = Float(weight)
            sum += k == 0 ? weight : 2 * weight
        }
        for k in 0...reach { weights[k] /= Float(sum) }
    }
}
