import Frames
import Imaging
import Testing

@Suite("The edges of a picture") struct DecorationTests {
    static let canvas = Size(width: 96, height: 64)

    /// The weights of a pixel: for luma, and for the chroma of its pair.
    struct Weights: Equatable {
        var keep: UInt8
        var take: UInt8
        var add: UInt8
    }

    static func weights(_ decoration: inout Decoration, y: Int) -> [Weights] {
        var row = [Weights](repeating: Weights(keep: 255, take: 0, add: 0), count: 2 * canvas.width)
        let bounds = decoration.bounds
        guard y >= bounds.y, y < bounds.maxY else { return row }
        let part = decoration.row(y)
        for x in 2 * bounds.x..<2 * bounds.maxX {
            if part.opaque.contains(x / 2) {
                row[x] = Weights(keep: 0, take: 255, add: 0)
                continue
            }
            let isLeft = x / 2 < part.opaque.lowerBound
            let weights = isLeft ? part.left : part.right
            let i = x - 2 * (isLeft ? bounds.x : part.opaque.upperBound)
            row[x] = Weights(keep: weights.keep[i], take: weights.take[i], add: weights.add[i])
        }
        return row
    }

    static let shapes: [Shape] = {
        let rects = [
            Rect(x: 20, y: 12, width: 40, height: 30),
            Rect(x: 20.3, y: 12.7, width: 41.5, height: 29.1),
            Rect(x: 3, y: 2, width: 90, height: 60),
            Rect(x: -8.5, y: -4.2, width: 50, height: 40),
            Rect(x: 70, y: 50, width: 60, height: 40),
            Rect(x: 40.4, y: 30.2, width: 5.3, height: 3.1),
            Rect(x: 0, y: 0, width: 96, height: 64),
        ]
        return rects.flatMap { rect in
            [(0.0, 0.0, 0.0), (6, 2, 0), (4, 1.5, 0.35), (2.4, 0, 0.5), (-8, 0, 0)].map {
                var shape = Shape(rect: rect)
                shape.corners = CornerRadii(min(abs($0.0), rect.height / 2))
                // Each corner for itself.
                if $0.0 < 0 { (shape.corners.topLeft, shape.corners.bottomRight) = (0, 3) }
                shape.borderWidth = $0.1
                shape.borderOpacity = 0.85
                shape.shadowOpacity = $0.2
                shape.shadowBlur = 3
                shape.shadowDrop = 2
                return shape
            }
        }
    }()

    @Test(arguments: shapes)
    func coverThePixelsThatTheShapeCovers(_ shape: Shape) {
        var shape = shape
        shape.shadowOpacity = 0
        shape.borderWidth = 0
        var decoration = Decoration(canvas: Self.canvas)
        decoration.update(shape)
        var (worst, place) = (0.0, (0, 0))
        // An edge that is off by a tenth of a pixel is off by 25 along its whole length.
        var (sum, edges) = (0.0, 0.0)
        for y in 0..<Self.canvas.height {
            let row = Self.weights(&decoration, y: y)
            for x in 0..<Self.canvas.width {
                let covered = Reference.coverage(shape, x: x, y: y)
                let difference = abs(Double(row[2 * x].take) - 255 * covered)
                if covered > 0, covered < 1 {
                    sum += Double(row[2 * x].take) - 255 * covered
                    edges += 1
                }
                if difference > worst { (worst, place) = (difference, (x, y)) }
                let sum = Int(row[2 * x].keep) + Int(row[2 * x].take)
                if sum != 255, sum != 254 { worst = 255 }
            }
        }
        // By distance, not by area: exact on straight edges, close on round ones, less so at sharp
        // corners.
        let isSharp = shape.corners.topLeft < 2
        #expect(worst <= (isSharp ? 64 : 30), "at \(place)")
        #expect(abs(sum) <= 6 * max(edges, 1), "\(sum / max(edges, 1)) on average")
    }

    @Test(arguments: shapes, [1.0, 0.4])
    func keepSumsAndGreyInPlace(_ shape: Shape, opacity: Double) {
        var shape = shape
        shape.opacity = opacity
        var decoration = Decoration(canvas: Self.canvas)
        decoration.update(shape)
        var wrong = 0
        for y in 0..<Self.canvas.height {
            let row = Self.weights(&decoration, y: y)
            for x in 0..<Self.canvas.width {
                let (luma, chroma) = (row[2 * x], row[2 * x + 1])
                let gray = (Double(chroma.keep) + Double(chroma.take)) * 128 / 255
                // The rest, neither kept nor taken, is what was added: white or black.
                let rest = 255 - Double(luma.keep) - Double(luma.take)
                let isRight =
                    rest >= 0 && Int(gray.rounded()) + Int(chroma.add) == 128
                    && Double(luma.add) <= rest * 235 / 255 + 2
                    && Double(luma.add) >= rest * 16 / 255 - 2
                    // One chroma per pair.
                    && chroma == row[2 * (x ^ 1) + 1]
                if !isRight { wrong += 1 }
            }
        }
        #expect(wrong == 0)
    }

    @Test(arguments: shapes)
    func hideWhatTheInteriorSays(_ shape: Shape) {
        var decoration = Decoration(canvas: Self.canvas)
        decoration.update(shape)
        let interior = decoration.interior
        guard !interior.isEmpty else { return }
        for y in interior.y..<interior.maxY {
            let row = Self.weights(&decoration, y: y)
            let inside = row[2 * interior.x..<2 * interior.maxX]
            #expect(inside.allSatisfy { $0 == Weights(keep: 0, take: 255, add: 0) })
        }
    }

    @Test func aSlowMoveShimmersNowhere() {
        var decoration = Decoration(canvas: Self.canvas)
        var last: [Double] = []
        for step in 0..<80 {
            var shape = Shape(rect: Rect(x: 20 + Double(step) / 20, y: 12.3, width: 40, height: 30))
            shape.corners = CornerRadii(6)
            decoration.update(shape)
            let sums = (0..<Self.canvas.height).map { y in
                Self.weights(&decoration, y: y).enumerated()
                    .reduce(0.0) { $0 + ($1.offset % 2 == 0 ? Double($1.element.take) : 0) }
            }
            // The same light in every row, wherever the shape lies between two pixels.
            if !last.isEmpty { for (a, b) in zip(sums, last) { #expect(abs(a - b) <= 40) } }
            last = sums
        }
    }

    @Test func aShadowFallsBelowAndFades() {
        var shape = Shape(rect: Rect(x: 30, y: 20, width: 30, height: 20))
        shape.shadowOpacity = 0.35
        shape.shadowBlur = 3
        shape.shadowDrop = 4
        var decoration = Decoration(canvas: Self.canvas)
        decoration.update(shape)
        let column = (40..<60).map { Self.weights(&decoration, y: $0)[2 * 45].keep }
        #expect(column.first.map { $0 < 185 } ?? false)
        for (a, b) in zip(column, column.dropFirst()) { #expect(a <= b) }
        #expect(column.last == 255)
        let above = Self.weights(&decoration, y: 19)[2 * 45].keep
        #expect(above > column[0])
    }
}
