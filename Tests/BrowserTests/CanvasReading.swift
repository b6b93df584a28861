/// The pixels that the page read from its canvas, in the middle of each cell of a grid, and their
/// expected values.
struct CanvasReading {
    /// The largest allowed difference of a value (0…255).
    ///
    /// The stream's luma and chroma are whole numbers of a limited range: half a step of each is up
    /// to 1.6 steps of red, green or blue (0.5 · 255/219 + 0.5 · 2.02). The browser's fixed-point
    /// matrix adds one; 2 was seen. A systematic error is much larger: reading BT.601 as BT.709
    /// turns pure red to (255, 25, 0), limited as full range turns black to 16.
    static let tolerance = 3

    /// A colour: red, green, blue, 0…255.
    typealias Color = SIMD3<Int>
    struct Expectation {
        let column, row: Int
        let color: Color
    }
    /// The largest difference, and its place.
    struct Deviation: CustomStringConvertible {
        let largest: Int
        let description: String
    }

    private let columns, rows: Int
    private let colors: [Int]

    init(_ report: PageServer.Report) throws {
        guard let columns = report.columns, let rows = report.rows, let colors = report.colors,
            colors.count == columns * rows * 3
        else { throw PageServer.Failure(description: "not a picture: \(report)") }
        (self.columns, self.rows, self.colors) = (columns, rows, colors)
    }

    /// The bars as the main picture: a row of bars below the inset, and a row of their ramp.
    var barsAsMain: [Expectation] {
        (0..<columns).map { column in
            Expectation(column: column, row: 7, color: bar(column * 8 / columns))
        }
            + (0..<columns).map { column in
                Expectation(column: column, row: 14, color: grey(at: column))
            }
    }

    /// The ramp as the main picture, mirrored, and the bars in the inset at the top right.
    var rampAsMain: [Expectation] {
        [7, 14].flatMap { row in
            (0..<columns).map { column in
                Expectation(column: column, row: row, color: grey(at: columns - 1 - column))
            }
        }
            + (24...30).map { column in
                // The inset begins 26 of 1280 pixels from the right and is 320 wide.
                let x = (Double(column) + 0.5) / Double(columns) * 1280
                return Expectation(column: column, row: 2, color: bar(Int((x - 934.4) / 40)))
            }
    }

    /// Returns the deviation of this picture from `expectations`.
    func deviation(from expectations: [Expectation]) -> Deviation {
        let worst = expectations.map { expectation in
            let at = (expectation.row * columns + expectation.column) * 3
            let color = Color(colors[at], colors[at + 1], colors[at + 2])
            let difference = color &- expectation.color
            let largest = max(difference.max(), -difference.min())
            return Deviation(
                largest: largest,
                description: "\(largest) (cell \(expectation.column), \(expectation.row): "
                    + "\(color) for \(expectation.color))"
            )
        }.max { $0.largest < $1.largest }
        return worst ?? Deviation(largest: .max, description: "nothing expected")
    }

    private func bar(_ index: Int) -> Color {
        Color(index & 2 == 0 ? 255 : 0, index & 4 == 0 ? 255 : 0, index & 1 == 0 ? 255 : 0)
    }

    /// Returns the ramp's grey in the middle of a column: black at the left edge, white at the
    /// right.
    private func grey(at column: Int) -> Color {
        Color(repeating: Int(((Double(column) + 0.5) / Double(columns) * 255).rounded()))
    }
}
