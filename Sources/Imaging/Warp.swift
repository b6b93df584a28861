import CKernels
package import Frames

/// A map from the points of one plane to those of another that keeps straight lines straight: the
/// projection of a flat thing into a picture.
package struct Projection: Hashable, Sendable {
    /// Rows of the matrix that takes (x, y, 1) to (x', y', d): the image is (x' / d, y' / d).
    private var rows: InlineArray<9, Double>

    /// Creates the projection that maps the corners of `rect` to `corners`, both clockwise from the
    /// top left. The corners are those of a convex quadrilateral.
    package init(_ rect: Rect, to corners: InlineArray<4, (x: Double, y: Double)>) {
        let (a, b, c, d) = (corners[0], corners[1], corners[2], corners[3])
        // The unit square first (Heckbert, "Fundamentals of Texture Mapping", 1989).
        let sum = (x: a.x - b.x + c.x - d.x, y: a.y - b.y + c.y - d.y)
        let (right, down) = ((x: b.x - c.x, y: b.y - c.y), (x: d.x - c.x, y: d.y - c.y))
        let area = right.x * down.y - down.x * right.y
        let g = (sum.x * down.y - down.x * sum.y) / area
        let h = (right.x * sum.y - sum.x * right.y) / area
        let unit: InlineArray<9, Double> = [
            b.x - a.x + g * b.x, d.x - a.x + h * d.x, a.x,
            b.y - a.y + g * b.y, d.y - a.y + h * d.y, a.y,
            g, h, 1,
        ]
        rows = unit
        for row in 0..<3 {
            let (across, along) = (unit[3 * row] / rect.width, unit[3 * row + 1] / rect.height)
            rows[3 * row] = across
            rows[3 * row + 1] = along
            rows[3 * row + 2] = unit[3 * row + 2] - across * rect.x - along * rect.y
        }
    }

    /// Returns the image of the point (`x`, `y`).
    package func apply(toX x: Double, y: Double) -> (x: Double, y: Double) {
        func value(_ row: Int) -> Double {
            rows[3 * row] * x + rows[3 * row + 1] * y + rows[3 * row + 2]
        }
        return (value(0) / value(2), value(1) / value(2))
    }

    /// Returns the projection of the middles of pixels in row `y`, `across` × `down` pixels each,
    /// to samples of `width` × `height` pixels.
    fileprivate func row(
        _ y: Int,
        pixels: (across: Int, down: Int),
        samples: (width: Double, height: Double)
    ) -> kernel_warp {
        let (middleX, middleY) = (
            Double(pixels.across) / 2, (Double(y) + 0.5) * Double(pixels.down)
        )
        func first(_ row: Int) -> Double {
            rows[3 * row] * middleX + rows[3 * row + 1] * middleY + rows[3 * row + 2]
        }
        let (d, step) = (first(2), rows[6] * Double(pixels.across))
        // Half a sample, since 0 is the middle of the first one.
        func along(_ row: Int, _ size: Double) -> (Float, Float) {
            let (start, each) = (first(row), rows[3 * row] * Double(pixels.across))
            return (Float(start / size - d / 2), Float(each / size - step / 2))
        }
        let (x, xStep) = along(0, samples.width)
        let (y, yStep) = along(1, samples.height)
        return kernel_warp(
            x: x,
            x_step: xStep,
            y: y,
            y_step: yStep,
            d: Float(d),
            d_step: Float(step)
        )
    }

    /// Returns `true` if both map each point alike.
    static package func == (a: Projection, b: Projection) -> Bool {
        a.rows.indices.allSatisfy { a.rows[$0] == b.rows[$0] }
    }

    /// Feeds the map to `hasher`.
    package func hash(into hasher: inout Hasher) {
        for index in rows.indices { hasher.combine(rows[index]) }
    }
}

extension Planes {
    /// Returns a picture of `size` whose points `projection` maps to those of this picture, which
    /// stands for `whole` pixels in the projection's terms; chroma is half as wide.
    ///
    /// Each pixel is mixed from four of this picture, so it must not be more than twice as large
    /// as it is shown. Rows share their chroma in pairs. In `memory`, which grows to the largest
    /// picture so far and is valid until the next call with it.
    package func warped(
        by projection: Projection,
        of whole: Rect,
        to size: Size,
        _ memory: inout Scratch
    ) -> Planes {
        precondition(size.width % 2 == 0 && size.width > 0 && size.height > 0)
        let stride = (size.width + 63) / 64 * 64
        let chromaStride = (size.width / 2 + 63) / 64 * 64
        let base = memory.reserve((stride + 2 * chromaStride) * size.height)
        let luma = Plane(base: base, stride: stride, rowBytes: size.width, rows: size.height)
        let u = Plane(
            base: base + stride * size.height,
            stride: chromaStride,
            rowBytes: size.width / 2,
            rows: size.height
        )
        let v = Plane(base: u.base + chromaStride * size.height, stride: chromaStride, of: u)
        self.luma.warp(into: luma, by: projection, of: whole, pixels: (1, 1))
        if self.u.hasShape(of: self.v) {
            self.u.warp(
                into: u,
                with: (self.v, v),
                by: projection,
                of: whole,
                pixels: (2, 2)
            )
        } else {
            self.u.warp(into: u, by: projection, of: whole, pixels: (2, 2))
            self.v.warp(into: v, by: projection, of: whole, pixels: (2, 2))
        }
        return Planes(luma: luma, u: u, v: v)
    }
}

extension Plane {
    private func repeatRow(before y: Int) {
        row(y).update(from: row(y - 1), count: rowBytes)
    }

    fileprivate func hasShape(of other: Plane) -> Bool {
        stride == other.stride && rowBytes == other.rowBytes && rows == other.rows
    }

    /// Writes samples that stand for `pixels` each; rows that share their pixels are copies. A
    /// second pair of planes, of the same shapes, is written along with them.
    fileprivate func warp(
        into target: Plane,
        with second: (source: Plane, target: Plane)? = nil,
        by projection: Projection,
        of whole: Rect,
        pixels: (across: Int, down: Int)
    ) {
        // Grey's one neutral sample stands for all.
        guard rowBytes > 1, rows > 1 else {
            target.fill(base[0])
            if let (source, target) = second { target.fill(source.base[0]) }
            return
        }
        let samples = (whole.width / Double(rowBytes), whole.height / Double(rows))
        for y in 0..<target.rows {
            guard y % pixels.down == 0 else {
                target.repeatRow(before: y)
                second?.target.repeatRow(before: y)
                continue
            }
            let places = projection.row(y / pixels.down, pixels: pixels, samples: samples)
            let (width, height) = (CInt(rowBytes), CInt(rows))
            let count = CInt(target.rowBytes)
            if let (other, to) = second {
                kernel_warp_pair(
                    target.row(y),
                    to.row(y),
                    base,
                    other.base,
                    CInt(stride),
                    width,
                    height,
                    places,
                    count
                )
            } else {
                kernel_warp(target.row(y), base, CInt(stride), width, height, places, count)
            }
        }
    }
}
