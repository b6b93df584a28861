package import Frames
import Glibc

/// A page found in a picture.
package struct FoundPage: Sendable {
    /// The corners in fractions of the picture, clockwise from the top left one.
    package var corners: [(x: Double, y: Double)]
    /// The certainty that this is a page, 0 … 1.
    package var certainty: Double

    /// The certainty from which a page is worth showing.
    package static let enough = 0.6
}

/// The search for a page on a desk: something flat with four straight sides, brighter than what is
/// around it.
///
/// Edges vote for lines (Duda and Hart, "Use of the Hough Transformation", 1972), each with its
/// brighter side. Of all quadrangles of the strongest lines, all bright inside, the one with the
/// most edge along its sides wins. Its sides are then moved to the steepest change nearby in a
/// larger copy of the picture.
///
/// It allocates, and takes some tens of milliseconds.
package struct PageFinder {
    /// The width of the copy in which lines are looked for, and that of the one in which they are
    /// measured, in pixels; both at most.
    private static let (coarseWidth, fineWidth) = (320, 960)
    /// The least change from one pixel to the next that is an edge.
    private static let leastEdge: Float = 2.5
    /// The directions of lines over a whole turn, and the pixels between two lines.
    private static let (directions, spacing) = (180, 1.5)
    /// The number of lines that are tried as sides.
    private static let lineCount = 30
    /// The share of the picture that a page has at least.
    private static let leastArea = 0.05

    private let coarse: Luma
    private let fine: Luma

    /// Returns the likeliest page in `frame`, however unlikely; `nil` if there are no four sides.
    package static func find(in frame: Frame) -> FoundPage? {
        let finder = PageFinder(frame)
        guard let finder else { return nil }
        return finder.find()
    }

    private init?(_ frame: Frame) {
        guard let coarse = Luma(frame, width: Self.coarseWidth, isSmooth: true),
            let fine = Luma(frame, width: Self.fineWidth, isSmooth: false)
        else { return nil }
        self.coarse = coarse
        self.fine = fine
    }

    // MARK: Pictures

    /// The luma of a picture, made smaller.
    private struct Luma {
        let width: Int
        let height: Int
        var values: [Float]

        init?(_ frame: Frame, width most: Int, isSmooth: Bool) {
            let plane = frame.plane(0)
            let (step, first) =
                switch frame.layout.format {
                case .yuyv: (2, 0)
                case .uyvy: (2, 1)
                default: (1, 0)
                }
            // What is left over of a smaller copy is no picture.
            let whole = (Int(frame.picture.width), Int(frame.picture.height))
            let factor = max(1, (whole.0 + most - 1) / most)
            (width, height) = (whole.0 / factor, whole.1 / factor)
            guard width >= 40, height >= 30 else { return nil }
            values = [Float](repeating: 0, count: width * height)
            for y in 0..<height {
                for inner in 0..<factor {
                    let row = plane.row(y * factor + inner) + first
                    for x in 0..<width {
                        var sum = 0
                        for column in 0..<factor { sum += Int(row[step * (x * factor + column)]) }
                        values[y * width + x] += Float(sum)
                    }
                }
            }
            let scale = 1 / Float(factor * factor)
            for index in values.indices { values[index] *= scale }
            if isSmooth { smooth() }
        }

        private mutating func smooth() {
            var copy = values
            for y in 0..<height {
                for x in 1..<width - 1 {
                    let at = y * width + x
                    copy[at] = (values[at - 1] + 2 * values[at] + values[at + 1]) / 4
                }
            }
            for y in 1..<height - 1 {
                for x in 0..<width {
                    let at = y * width + x
                    values[at] = (copy[at - width] + 2 * copy[at] + copy[at + width]) / 4
                }
            }
        }

        /// Returns the value at a place between pixels; the nearest one outside.
        func value(_ x: Double, _ y: Double) -> Float {
            let x = min(max(x, 0), Double(width - 1) - 1e-6)
            let y = min(max(y, 0), Double(height - 1) - 1e-6)
            let (column, row) = (Int(x), Int(y))
            let (right, below) = (Float(x - Double(column)), Float(y - Double(row)))
            let at = row * width + column
            let upper = values[at] * (1 - right) + values[at + 1] * right
            let lower = values[at + width] * (1 - right) + values[at + width + 1] * right
            return upper * (1 - below) + lower * below
        }

        /// Returns the growth from pixel to pixel across and down, in the middle of 3 × 3.
        func slope(_ x: Int, _ y: Int) -> SIMD2<Float> {
            let at = y * width + x
            func v(_ offset: Int) -> Float { values[at + offset] }
            let across =
                v(1 - width) + 2 * v(1) + v(1 + width) - v(-1 - width) - 2 * v(-1) - v(width - 1)
            let down =
                v(width - 1) + 2 * v(width) + v(width + 1) - v(-width - 1) - 2 * v(-width)
                - v(1 - width)
            return SIMD2(across, down) / 8
        }
    }

    // MARK: Lines

    /// A line: the points whose product with `normal`, which points to the light, is `distance`.
    private struct Line {
        var normal: SIMD2<Double>
        var distance: Double
        /// The direction of the normal, in radians, 0 … 2π.
        var angle: Double {
            let angle = atan2(normal.y, normal.x)
            return angle < 0 ? angle + 2 * .pi : angle
        }

        /// Returns the point on both lines; `nil` if they are nearly parallel.
        func meeting(_ other: Line) -> SIMD2<Double>? {
            let across = normal.x * other.normal.y - normal.y * other.normal.x
            guard abs(across) > 0.2 else { return nil }
            return SIMD2(
                (distance * other.normal.y - other.distance * normal.y) / across,
                (other.distance * normal.x - distance * other.normal.x) / across
            )
        }

        /// The place of `point` along the line.
        func along(_ point: SIMD2<Double>) -> Double { point.y * normal.x - point.x * normal.y }

        /// The place of `point` beside the line, positive on its brighter side.
        func beside(_ point: SIMD2<Double>) -> Double { (point * normal).sum() - distance }

        /// The point at a place along the line.
        func point(_ along: Double) -> SIMD2<Double> {
            normal * distance + SIMD2(-normal.y, normal.x) * along
        }
    }

    /// A line with the edge along it, summed up from one end of the picture.
    private struct Side {
        var line: Line
        /// The place of the first sum, and the sums from pixel to pixel.
        var first: Int
        var sums: [Float]
        /// Those of the change across the line.
        var changes: [Float]

        /// Returns the share of the line between two places that has an edge.
        func edge(from: Double, to: Double) -> Double { mean(sums, from, to) }
        /// Returns the mean change across the line between two places.
        func change(from: Double, to: Double) -> Double { mean(changes, from, to) }

        private func mean(_ sums: [Float], _ from: Double, _ to: Double) -> Double {
            let (low, high) = (Int(min(from, to).rounded()), Int(max(from, to).rounded()))
            let start = min(max(0, low - first), sums.count - 1)
            let end = min(max(0, high - first), sums.count - 1)
            return high > low ? Double(sums[end] - sums[start]) / Double(high - low) : 0
        }
    }

    private var slopes: [SIMD2<Float>] {
        var slopes = [SIMD2<Float>](repeating: .zero, count: coarse.values.count)
        for y in 1..<coarse.height - 1 {
            for x in 1..<coarse.width - 1 { slopes[y * coarse.width + x] = coarse.slope(x, y) }
        }
        return slopes
    }

    /// Returns the lines with the most edge along them.
    private func lines(_ slopes: [SIMD2<Float>]) -> [Line] {
        let (width, height) = (coarse.width, coarse.height)
        let reach = Double(width * width + height * height).squareRoot()
        let rows = Int(2 * reach / Self.spacing) + 1
        var votes = [Float](repeating: 0, count: Self.directions * rows)
        let normals = (0..<Self.directions).map { index in
            let angle = 2 * Double.pi * Double(index) / Double(Self.directions)
            return SIMD2(cos(angle), sin(angle))
        }
        for y in 1..<height - 1 {
            for x in 1..<width - 1 {
                let slope = slopes[y * width + x]
                let size = (slope * slope).sum().squareRoot()
                guard size >= Self.leastEdge else { continue }
                let turn = Double(atan2(slope.y, slope.x)) / (2 * .pi)
                let nearest = Int((turn * Double(Self.directions)).rounded())
                let place = SIMD2(Double(x), Double(y))
                for offset in -3...3 {
                    let direction =
                        (nearest + offset + 2 * Self.directions) % Self.directions
                    let distance = (place * normals[direction]).sum() + reach
                    let row = Int(distance / Self.spacing)
                    votes[direction * rows + row] += min(size, 12) * Float(5 - abs(offset))
                }
            }
        }
        var lines: [Line] = []
        while lines.count < Self.lineCount {
            guard let best = votes.indices.max(by: { votes[$0] < votes[$1] }), votes[best] > 0
            else { break }
            let (direction, row) = (best / rows, best % rows)
            lines.append(
                Line(
                    normal: normals[direction],
                    distance: (Double(row) + 0.5) * Self.spacing - reach
                )
            )
            // What is nearly the same line is no other one.
            for turn in -4...4 {
                let near = (direction + turn + Self.directions) % Self.directions
                for other in max(0, row - 60)...min(rows - 1, row + 60) {
                    let line = Line(
                        normal: normals[near],
                        distance: (Double(other) + 0.5) * Self.spacing - reach
                    )
                    if isLike(line, lines[lines.count - 1]) { votes[near * rows + other] = 0 }
                }
            }
        }
        return lines
    }

    /// Returns `true` if two lines of about one direction are close together within the picture.
    private func isLike(_ line: Line, _ other: Line) -> Bool {
        let middle = SIMD2(Double(coarse.width) / 2, Double(coarse.height) / 2)
        let centre = other.point(other.along(middle))
        return abs(line.beside(centre)) < 6
    }

    /// Returns a line with the edges along it.
    private func side(_ line: Line, _ slopes: [SIMD2<Float>]) -> Side {
        let reach = coarse.width + coarse.height
        var (sums, changes): ([Float], [Float]) = ([0], [0])
        let normal = SIMD2(Float(line.normal.x), Float(line.normal.y))
        for place in -reach..<reach {
            let at = line.point(Double(place))
            var (best, isEdge) = (Float(0), false)
            for offset in -2...2 {
                let point = at + line.normal * Double(offset)
                let (x, y) = (Int(point.x.rounded()), Int(point.y.rounded()))
                guard x > 0, y > 0, x < coarse.width - 1, y < coarse.height - 1 else { continue }
                let slope = slopes[y * coarse.width + x]
                let change = (slope * normal).sum()
                guard change > best else { continue }
                best = change
                let size = (slope * slope).sum().squareRoot()
                isEdge = isEdge || (change >= Self.leastEdge && change > 0.85 * size)
            }
            sums.append((sums.last ?? 0) + (isEdge ? 1 : 0))
            changes.append((changes.last ?? 0) + min(best, 30))
        }
        return Side(line: line, first: -reach, sums: sums, changes: changes)
    }

    // MARK: Quadrangles

    private struct Candidate {
        var lines: [Line]
        var score: Double
        var certainty: Double
    }

    private func find() -> FoundPage? {
        let slopes = slopes
        let sides = lines(slopes).map { side($0, slopes) }
            .sorted { $0.line.angle < $1.line.angle }
        var best: Candidate?
        let count = sides.count
        guard count >= 4 else { return nil }
        for a in 0..<count {
            for b in a + 1..<count where isTurn(sides[a], sides[b]) {
                guard let first = corner(sides[a], sides[b]) else { continue }
                for c in b + 1..<count where isTurn(sides[b], sides[c]) {
                    guard let second = corner(sides[b], sides[c]) else { continue }
                    for d in c + 1..<count where isTurn(sides[c], sides[d]) {
                        guard isTurn(sides[d], sides[a]), let third = corner(sides[c], sides[d]),
                            let last = corner(sides[d], sides[a])
                        else { continue }
                        let quad = [sides[a], sides[b], sides[c], sides[d]]
                        let corners = [last, first, second, third]
                        guard let found = judged(quad, corners) else { continue }
                        if found.score > best?.score ?? 0 { best = found }
                    }
                }
            }
        }
        guard let best else { return nil }
        let lines = best.lines.map(measured(best.lines))
        var corners: [SIMD2<Double>] = []
        for index in 0..<4 {
            guard let corner = lines[(index + 3) % 4].meeting(lines[index]) else { return nil }
            corners.append(corner)
        }
        return page(corners, best.certainty)
    }

    /// Returns `true` if a page may turn from one side to the next by the angle between the two.
    private func isTurn(_ side: Side, _ next: Side) -> Bool {
        var turn = next.line.angle - side.line.angle
        if turn < 0 { turn += 2 * .pi }
        return turn > 0.7 && turn < 2.45
    }

    /// Returns the corner between two sides, if it is within the picture.
    private func corner(_ side: Side, _ next: Side) -> SIMD2<Double>? {
        guard let place = side.line.meeting(next.line), place.x > -2, place.y > -2,
            place.x < Double(coarse.width) + 1, place.y < Double(coarse.height) + 1
        else { return nil }
        return place
    }

    /// Judges a quadrangle. Corner n is that between the side before n and side n.
    private func judged(_ quad: [Side], _ corners: [SIMD2<Double>]) -> Candidate? {
        var (area, least, sum, beyond, change) = (0.0, 1.0, 0.0, 0.0, 30.0)
        for index in 0..<4 {
            let (side, from, to) = (quad[index], corners[index], corners[(index + 1) % 4])
            // The other corners are on the bright side.
            let opposite = corners[(index + 2) % 4]
            guard side.line.beside(opposite) > 8,
                side.line.beside(corners[(index + 3) % 4]) > 8
            else { return nil }
            let (start, end) = (side.line.along(from), side.line.along(to))
            guard abs(end - start) > 24 else { return nil }
            let edge = side.edge(from: start, to: end)
            guard edge > 0.35 else { return nil }
            let way = end > start ? 1.0 : -1.0
            beyond += side.edge(from: start - way * 16, to: start - way * 4)
            beyond += side.edge(from: end + way * 4, to: end + way * 16)
            least = min(least, edge)
            sum += edge
            change = min(change, side.change(from: start, to: end))
            area += (from.x * to.y - to.x * from.y) / 2
        }
        let share = abs(area) / Double(coarse.width * coarse.height)
        guard share > Self.leastArea else { return nil }
        let edge = 0.5 * least + 0.125 * sum
        let score = edge * (0.5 + share.squareRoot()) - 0.03 * beyond
        let contrast = min(1, 0.55 + change / 12)
        return Candidate(lines: quad.map(\.line), score: score, certainty: edge * contrast)
    }

    // MARK: Measures

    /// Returns the function that moves a side of the quadrangle of `lines` to the steepest change
    /// nearby, in pixels of the fine picture.
    private func measured(_ lines: [Line]) -> (Line) -> Line {
        let scale = Double(fine.width) / Double(coarse.width)
        return { line in
            let index = lines.firstIndex {
                $0.normal == line.normal && $0.distance == line.distance
            }
            guard let index, let from = lines[(index + 3) % 4].meeting(line),
                let to = line.meeting(lines[(index + 1) % 4])
            else { return line }
            // Places of pixels are those of their middles.
            func fined(_ point: SIMD2<Double>) -> SIMD2<Double> { (point + 0.5) * scale - 0.5 }
            let (start, end) = (fined(from), fined(to))
            var points: [(place: SIMD2<Double>, weight: Double)] = []
            for step in 0..<120 {
                let share = 0.03 + 0.94 * (Double(step) + 0.5) / 120
                let at = start + (end - start) * share
                var (best, offset) = (Float(Self.leastEdge), Double?.none)
                let reach = 5 * scale
                for place in stride(from: -reach, through: reach, by: 0.5) {
                    let point = at + line.normal * place
                    let inside = point + line.normal * 1.5
                    let outside = point - line.normal * 1.5
                    let change = fine.value(inside.x, inside.y) - fine.value(outside.x, outside.y)
                    if change > best { (best, offset) = (change, place) }
                }
                if let offset { points.append((at + line.normal * offset, 1)) }
            }
            return Self.fitted(line, points, scale: scale)
        }
    }

    /// Returns the line nearest to most of `points`.
    private static func fitted(
        _ line: Line,
        _ points: [(place: SIMD2<Double>, weight: Double)],
        scale: Double
    ) -> Line {
        var line = Line(normal: line.normal, distance: 0)
        guard points.count >= 20 else { return line }
        var points = points
        // Where most of them are, to begin with.
        let distances = points.map { ($0.place * line.normal).sum() }.sorted()
        line.distance = distances[distances.count / 2]
        for limit in [4.0, 3, 2, 1.5, 1, 0.8, 0.8] {
            var (sum, mean) = (0.0, SIMD2<Double>.zero)
            for index in points.indices {
                let distance = line.beside(points[index].place) / (limit * max(1, scale / 2))
                points[index].weight = 1 / (1 + distance * distance * distance * distance)
                sum += points[index].weight
                mean += points[index].place * points[index].weight
            }
            guard sum > 1 else { return line }
            mean /= sum
            let tangent = SIMD2(-line.normal.y, line.normal.x)
            var (across, along) = (0.0, 1e-9)
            for (place, weight) in points {
                let distance = place - mean
                let t = (distance * tangent).sum()
                across += weight * t * (distance * line.normal).sum()
                along += weight * t * t
            }
            let slope = across / along
            var normal = line.normal - tangent * slope
            normal /= (normal * normal).sum().squareRoot()
            line = Line(normal: normal, distance: (mean * normal).sum())
        }
        return line
    }

    /// Returns the page with these corners in the fine picture, in the order of the sides.
    private func page(_ corners: [SIMD2<Double>], _ certainty: Double) -> FoundPage {
        let places = corners.map { corner in
            (
                x: min(max((corner.x + 0.5) / Double(fine.width), 0), 1),
                y: min(max((corner.y + 0.5) / Double(fine.height), 0), 1)
            )
        }
        // Sides follow each other by the directions of their normals, which is clockwise.
        let first = places.indices.min { places[$0].x + places[$0].y < places[$1].x + places[$1].y }
        let start = first ?? 0
        return FoundPage(
            corners: (0..<4).map { places[(start + $0) % 4] },
            certainty: min(max(certainty, 0), 1)
        )
    }
}
