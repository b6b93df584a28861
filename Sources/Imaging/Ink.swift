import CKernels
package import Frames

/// A grade for paper: its light becomes even, paper white and ink dark, while what has a colour,
/// such as a hand, keeps it.
///
/// The light on the paper is taken for a smooth surface. It is found where the picture is brightest
/// and has no colour, so that neither writing nor a hand changes it, and follows the picture within
/// about half a second. Bound to one thread.
package struct Ink: ~Copyable {
    /// The brightest part of a short piece of a row: its place, -1 … 1 in both directions, its
    /// light above black, where that of white paper is 1, and its colour.
    private struct Sample {
        var x: Float
        var y: Float
        var light: Float
        var u: Float
        var v: Float
    }

    /// The gain that makes light even: a quadratic function of the place. So the light is that of a
    /// lamp, which falls off with the square of the distance.
    private typealias Gain = SIMD8<Float>

    /// The number of rows that are looked at, and of pieces of each.
    package static let rows = 24
    private static let columns = 40
    private static let gains: ClosedRange<Float> = 0.85...2.5
    /// The light that can be paper.
    private static let leastLight: Float = 0.2
    /// The sum of the distances of U and V from grey up to which a piece can be paper.
    private static let mostColor: Float = 30
    /// The share of the picture that has to be paper.
    private static let leastShare: Float = 0.1
    /// The seconds in which the light follows the picture.
    private static let time = 0.4

    private var samples: [Sample] = []
    private var gain = Gain(repeating: 0)
    private var tint = SIMD2<Float>(0, 0)
    /// The least and the greatest gain on the paper, which are the limits beside it, too.
    private var bounds = SIMD2<Float>(1, 1)
    /// The share of the grade that the picture gets, 0 … 1: none if there is no paper.
    private var presence: Float = 0
    private var settled: Timestamp?
    private var row = Scratch()

    package init() {}

    /// Forgets the picture seen last: the next one differs from it altogether.
    package mutating func forget() { settled = nil }

    /// Begins to look at a picture. Allocates the first time.
    package mutating func begin() {
        if samples.capacity == 0 { samples.reserveCapacity(Self.rows * Self.columns) }
        samples.removeAll(keepingCapacity: true)
    }

    /// Looks at a packed row of `count` pixels, which is at `y`, 0 … 1, of the picture. At most
    /// `rows` of them count.
    package mutating func look(_ packed: UnsafePointer<UInt8>, count: Int, y: Double) {
        guard samples.count <= (Self.rows - 1) * Self.columns else { return }
        for column in 0..<Self.columns {
            let (start, end) = (
                count * column / Self.columns / 4 * 4, count * (column + 1) / Self.columns / 4 * 4
            )
            guard end > start else { continue }
            // Of the mean of each four pixels the brightest: what is between strokes of ink.
            var (best, place) = (0, start)
            for x in stride(from: start, to: end, by: 4) {
                let at = packed + 2 * x
                let sum = Int(at[0]) + Int(at[2]) + Int(at[4]) + Int(at[6])
                if sum > best { (best, place) = (sum, x) }
            }
            let at = packed + 2 * place
            samples.append(
                Sample(
                    x: 2 * (Float(place) + 2) / Float(count) - 1,
                    y: Float(2 * y - 1),
                    light: (Float(best) / 4 - 16) / Float(KERNEL_INK_WHITE),
                    u: Float(Int(at[1]) + Int(at[5])) / 2 - 128,
                    v: Float(Int(at[3]) + Int(at[7])) / 2 - 128
                )
            )
        }
    }

    /// Takes what was seen in the rows of a picture that was taken at `time`.
    package mutating func settle(at time: Timestamp) {
        let found = fitted()
        let elapsed = settled.map { (time - $0).seconds } ?? .infinity
        settled = time
        // The first picture counts at once, as does one after a pause.
        let share = Float(elapsed < 0 || elapsed > 1 ? 1 : min(1, elapsed / Self.time))
        presence += ((found == nil ? 0 : 1) - presence) * share
        guard let found else { return }
        let step = gain == Gain(repeating: 0) ? 1 : share
        gain += (found.gain - gain) * step
        tint += (found.tint - tint) * step
        bounds += (found.bounds - bounds) * step
    }

    /// Returns the gain that makes paper white, the paper's colour as a share of its light, and the
    /// least and the greatest gain on the paper; `nil` if there is no paper.
    private func fitted() -> (gain: Gain, tint: SIMD2<Float>, bounds: SIMD2<Float>)? {
        var counts = InlineArray<256, Int>(repeating: 0)
        var number = 0
        for sample in samples where Self.canBePaper(sample) {
            counts[max(0, min(255, Int(sample.light * Float(KERNEL_INK_WHITE))))] += 1
            number += 1
        }
        let least = Int(Self.leastShare * Float(Self.rows * Self.columns))
        guard number >= least else { return nil }
        // The brightest tenth, to begin with.
        var (bright, seen) = (255, 0)
        while seen < number / 10, bright > 0 {
            seen += counts[bright]
            bright -= 1
        }
        var gain = Gain(repeating: 0)
        gain[0] = Float(KERNEL_INK_WHITE) / Float(max(bright, 1))
        var paper = 0
        for limit: Float in [0.5, 0.4, 0.3, 0.22, 0.16, 0.12, 0.1, 0.1] {
            (gain, paper) = Self.fit(samples, near: gain, limit: limit)
            guard paper >= least else { return nil }
        }
        var (tint, sum) = (SIMD2<Float>(0, 0), Float(0))
        var bounds = SIMD2<Float>(.infinity, 0)
        for sample in samples where Self.canBePaper(sample) {
            let here = Self.value(gain, sample.x, sample.y)
            guard abs(sample.light * here - 1) < 0.1 else { continue }
            tint += SIMD2(sample.u, sample.v) / (sample.light * Float(KERNEL_INK_WHITE))
            bounds = SIMD2(min(bounds.x, here), max(bounds.y, here))
            sum += 1
        }
        return sum > 0 ? (gain, tint / sum, bounds) : nil
    }

    private static func canBePaper(_ sample: Sample) -> Bool {
        sample.light >= leastLight && abs(sample.u) + abs(sample.v) <= mostColor
    }

    private static func terms(_ x: Float, _ y: Float) -> Gain {
        Gain(1, x, y, x * x, x * y, y * y, 0, 0)
    }

    private static func value(_ gain: Gain, _ x: Float, _ y: Float) -> Float {
        (gain * terms(x, y)).sum()
    }

    /// Returns the gain that makes those samples most even which `gain` leaves darker than paper by
    /// at most the share `limit`, and their number. Brighter ones count more, as paper is.
    private static func fit(
        _ samples: [Sample],
        near gain: Gain,
        limit: Float
    ) -> (gain: Gain, count: Int) {
        var matrix = InlineArray<6, Gain>(repeating: Gain(repeating: 0))
        var number = 0
        for sample in samples where canBePaper(sample) {
            let distance = sample.light * value(gain, sample.x, sample.y) - 1
            guard distance > -limit else { continue }
            number += 1
            let weight: Float = distance > 0 ? 1 : limit > 0.2 ? 0.04 : 0.35
            let terms = terms(sample.x, sample.y) * sample.light
            var row = terms
            row[6] = 1
            for index in 0..<6 { matrix[index] += row * (terms[index] * weight) }
        }
        // A little towards a plane: what is far from all paper does not run away.
        for index in 0..<6 { matrix[index][index] += Float(number) * (index < 3 ? 1e-6 : 1e-3) }
        // Gauss and Jordan's elimination; the matrix is positive definite.
        for pivot in 0..<6 {
            matrix[pivot] /= matrix[pivot][pivot]
            for other in 0..<6 where other != pivot {
                matrix[other] -= matrix[pivot] * matrix[other][pivot]
            }
        }
        var found = Gain(repeating: 0)
        for index in 0..<6 { found[index] = matrix[index][6] }
        return (found, number)
    }

    /// Grades `count` packed pixels in place, by the share `strength`, 0 … 1. They begin at pixel
    /// `from` of a row that is `width` pixels wide, at `y`, 0 … 1, of the picture; both are even.
    package mutating func apply(
        to packed: UnsafeMutablePointer<UInt8>,
        from: Int,
        count: Int,
        width: Int,
        y: Double,
        strength: Double
    ) {
        let share = Int32((Float(strength) * presence * 256).rounded())
        guard share > 0, count > 0 else { return }
        let run = Int(KERNEL_INK_RUN)
        let nodes = (from + count) / run + 2
        let bytes = row.reserve(2 * nodes)
        bytes.withMemoryRebound(to: UInt16.self, capacity: nodes) { gains in
            for node in from / run..<nodes {
                let x = 2 * Float(node * run) / Float(width) - 1
                let gain = Self.value(gain, x, Float(2 * y - 1))
                let within = min(max(gain, bounds.x), bounds.y)
                let limited = min(max(within, Self.gains.lowerBound), Self.gains.upperBound)
                gains[node] = UInt16((limited * 256).rounded())
            }
            let most: Float = 600
            kernel_ink(
                packed,
                CInt(from),
                CInt(count),
                gains,
                kernel_ink(
                    tint_u: Int32(min(max(tint.x * 4096, -most), most)),
                    tint_v: Int32(min(max(tint.y * 4096, -most), most)),
                    strength: share
                )
            )
        }
    }
}
