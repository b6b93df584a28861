import CKernels
package import Frames

/// The soft black shadow of a shape that may change with every frame, from rows of its mask. Bound
/// to one thread.
package struct SoftShadow: ~Copyable {
    /// The number of rows of the mask that are looked at in each row of cells.
    private static let samples = 2
    /// The cells beyond the shape in which its shadow can be seen.
    private static let reach = 3

    private let canvas: Size
    /// The side of a cell, in pixels, which is also the standard deviation of the blur.
    private let step: Int
    /// The distance by which the shadow lies lower than the shape.
    private let drop: Int
    private var cells = Scratch()
    /// The place of the cells.
    private var grid = PixelRect(x: 0, y: 0, width: 0, height: 0)
    /// The share, in 2^-16, that the shape hides; -1 if it does not.
    private var hidden: CInt = -1

    /// Creates a shadow for a canvas of this size, whose width is even.
    package init(canvas: Size) {
        self.canvas = canvas
        step = max(4, 4 * Int((2 * canvas.unit).rounded()))
        drop = Int((6 * canvas.unit).rounded())
    }

    /// The rows of the canvas that it may darken.
    package var rows: Range<Int> {
        let start = grid.y == 0 ? 0 : grid.y * step + drop
        return min(start, canvas.height)..<min(grid.maxY * step + drop, canvas.height)
    }

    private var columns: Range<Int> { grid.x * step..<min(grid.maxX * step, canvas.width) }

    /// Makes the shadow, up to half opaque, of a shape inside `bounds`, beneath which there need be
    /// none if it `hides` that. `mask` is called with a row of the canvas and a range of its
    /// pixels, and returns the row, packed, with the shape as luma: 0 … 255. Allocates only the
    /// first time.
    package mutating func update(
        _ bounds: PixelRect,
        opacity: Double,
        hides: Bool,
        mask: (Int, Range<Int>) -> UnsafePointer<UInt8>
    ) {
        let whole = (width: count(canvas.width), height: count(canvas.height))
        let (x, y) = (max(0, bounds.x / step - Self.reach), max(0, bounds.y / step - Self.reach))
        grid = PixelRect(
            x: x,
            y: y,
            width: min(whole.width, count(bounds.maxX) + Self.reach) - x,
            height: min(whole.height, count(bounds.maxY) + Self.reach) - y
        )
        let full = Float(Self.samples * step * 255)
        let scale = Float(min(opacity, 0.5)) * 65536 / full
        hidden = hides ? CInt(full * scale) : -1
        let cells = reserve(whole.width * whole.height)
        cells.update(repeating: 0, count: grid.width * grid.height)
        for row in 0..<grid.height {
            for sample in 0..<Self.samples {
                let y = (grid.y + row) * step + (2 * sample + 1) * step / (2 * Self.samples)
                guard y >= bounds.y, y < bounds.maxY else { continue }
                kernel_shadow_add(
                    cells + row * grid.width,
                    mask(y, columns) + 2 * columns.lowerBound,
                    CInt(columns.count),
                    CInt(step)
                )
            }
        }
        kernel_shadow_blur(cells, CInt(grid.width), CInt(grid.height), scale)
    }

    /// Lays it over row `y` of the canvas, one of `rows`.
    package mutating func apply(y: Int, to row: UnsafeMutablePointer<UInt8>) {
        // The rows that were looked at lie half a pixel below the middle of their cells.
        let place = Float(y - drop) / Float(step) - 0.5 - Float(grid.y)
        let inside = min(max(place, 0), Float(grid.height - 1))
        let upper = reserve(0) + Int(inside) * grid.width
        kernel_shadow_lay(
            row + 2 * columns.lowerBound,
            upper,
            Int(inside) + 1 < grid.height ? upper + grid.width : upper,
            CInt((inside - inside.rounded(.down)) * 256),
            hidden,
            CInt(columns.count),
            CInt(step)
        )
    }

    private func count(_ pixels: Int) -> Int { (pixels + step - 1) / step }

    private mutating func reserve(_ count: Int) -> UnsafeMutablePointer<UInt16> {
        UnsafeMutableRawPointer(cells.reserve(2 * count)).assumingMemoryBound(to: UInt16.self)
    }
}
