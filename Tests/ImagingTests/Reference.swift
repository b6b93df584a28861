import Frames
import Glibc
import Imaging
import TestJPEGs

/// The results of the kernels, computed pixel by pixel in the plainest way.
enum Reference {
    static func streamPixel(
        y: Double,
        u: Double,
        v: Double,
        from color: ColorSpace
    ) -> (y: Double, u: Double, v: Double) {
        let isFull = color.range == .full
        let luma = isFull ? y / 255 : (y - 16) / 219
        let blue = (u - 128) / (isFull ? 255 : 224)
        let red = (v - 128) / (isFull ? 255 : 224)
        let (kr, kb) = color.matrix == .bt601 ? (0.299, 0.114) : (0.2126, 0.0722)
        let r = luma + 2 * (1 - kr) * red
        let b = luma + 2 * (1 - kb) * blue
        let g = (luma - kr * r - kb * b) / (1 - kr - kb)
        let out = 0.299 * r + 0.587 * g + 0.114 * b
        return (16 + 219 * out, 128 + 224 * (b - out) / 1.772, 128 + 224 * (r - out) / 1.402)
    }

    /// Returns the sample of plane `plane` in column `x` and row `y` of a frame of any format,
    /// converted to 4:2:2 and halved `halvings` times. An odd last row or column is left out.
    static func halved(
        _ frame: Frame,
        plane: Int,
        x: Int,
        y: Int,
        halvings: Int = 0
    ) -> Double {
        let size = frame.layout.size
        let width = plane == 0 ? size.width : (size.width + 1) / 2
        guard halvings == 0 else {
            func mean(_ count: Int, _ index: Int) -> [Int] {
                count >> (halvings - 1) > 1 ? [2 * index, 2 * index + 1] : [index]
            }
            let columns = mean(width, x)
            // A single row is its own partner.
            let rows = [2 * y, 2 * y + 1].map { min($0, max(1, size.height >> (halvings - 1)) - 1) }
            let sum = rows.flatMap { y in columns.map { (x: $0, y: y) } }.reduce(0.0) {
                $0 + halved(frame, plane: plane, x: $1.x, y: $1.y, halvings: halvings - 1)
            }
            return sum / Double(2 * columns.count)
        }
        guard plane > 0 else { return Double(frame.sample(plane: 0, x: x, y: y)) }
        if frame.layout.format == .gray { return 128 }
        let (across, down) =
            frame.layout.format.planarSubsampling ?? (2, frame.layout.format == .nv12 ? 2 : 1)
        let columns = across == 1 ? [2 * x, min(2 * x + 1, size.width - 1)] : [2 * x / across]
        return columns.reduce(0) { $0 + Double(frame.sample(plane: plane, x: $1, y: y / down)) }
            / Double(columns.count)
    }

    /// Returns the value of plane `plane` that `view` shows in column `x` and row `y` of that
    /// plane, from the frame halved `halvings` times.
    static func seen(
        _ frame: Frame,
        _ view: View,
        plane: Int,
        x: Int,
        y: Int,
        halvings: Int
    ) -> Double {
        let size = frame.layout.size
        let (whole, shown) =
            plane == 0
            ? (size.width, view.size.width) : ((size.width + 1) / 2, view.size.width / 2)
        // The columns of the plane, of which chroma has fewer.
        let columns = max(1, whole >> halvings)
        let rows = max(1, size.height >> halvings)
        func place(
            _ index: Int,
            _ shown: Int,
            _ start: Double,
            _ extent: Double,
            _ scale: Double,
            _ count: Int
        ) -> (first: Int, second: Int, share: Double) {
            let step = extent * scale / Double(shown)
            let exact = start * scale + (Double(index) + 0.5) * step - 0.5
            let place = min(max(exact, 0), Double(count - 1))
            return (Int(place), min(Int(place) + 1, count - 1), place - place.rounded(.down))
        }
        let across = place(
            view.isMirrored ? shown - 1 - x : x,
            shown,
            view.part.x,
            view.part.width,
            Double(columns) / Double(size.width),
            columns
        )
        let down = place(
            view.isFlipped ? view.size.height - 1 - y : y,
            view.size.height,
            view.part.y,
            view.part.height,
            Double(1) / Double(1 << halvings),
            rows
        )
        func row(_ y: Int) -> Double {
            let left = halved(frame, plane: plane, x: across.first, y: y, halvings: halvings)
            let right = halved(frame, plane: plane, x: across.second, y: y, halvings: halvings)
            return left + (right - left) * across.share
        }
        let (upper, lower) = (row(down.first), row(down.second))
        return upper + (lower - upper) * down.share
    }

    /// Returns the mean of the area that a pixel of a plane scaled to `width` × `height` covers.
    static func mean(_ plane: Plane, x: Int, y: Int, width: Int, height: Int) -> Double {
        func shares(_ index: Int, _ count: Int, of total: Int) -> [(Int, Double)] {
            let scale = Double(total) / Double(count)
            let (from, to) = (Double(index) * scale, Double(index + 1) * scale)
            return (Int(from)..<min(Int(to.rounded(.up)), total)).map { i in
                (i, (min(to, Double(i + 1)) - max(from, Double(i))) / scale)
            }
        }
        var sum = 0.0
        for (row, rowShare) in shares(y, height, of: plane.rows) {
            for (column, share) in shares(x, width, of: plane.rowBytes) {
                sum += Double(plane.row(row)[column]) * share * rowShare
            }
        }
        return sum
    }

    static func blurred(
        _ plane: Plane,
        x: Int,
        y: Int,
        sigmaX: Double,
        sigmaY: Double
    ) -> Double {
        var (sum, weights) = (0.0, 0.0)
        let (reachX, reachY) = (Int((3 * sigmaX).rounded(.up)), Int((3 * sigmaY).rounded(.up)))
        for dy in -reachY...reachY {
            for dx in -reachX...reachX {
                let weight = exp(
                    -Double(dx * dx) / (2 * sigmaX * sigmaX)
                        - Double(dy * dy) / (2 * sigmaY * sigmaY)
                )
                let row = plane.row(min(max(y + dy, 0), plane.rows - 1))
                sum += weight * Double(row[min(max(x + dx, 0), plane.rowBytes - 1)])
                weights += weight
            }
        }
        return sum / weights
    }

    /// Returns the share of the pixel at (`x`, `y`) that the shape's picture covers, 0 … 1: the
    /// points inside, of 16 × 16.
    static func coverage(_ shape: Shape, x: Int, y: Int) -> Double {
        let (rect, corners) = (shape.rect, shape.corners)
        var inside = 0
        for point in 0..<256 {
            let px = Double(x) + (Double(point % 16) + 0.5) / 16
            let py = Double(y) + (Double(point / 16) + 0.5) / 16
            guard px > rect.x, px < rect.maxX, py > rect.y, py < rect.maxY else { continue }
            let radius =
                switch (px < rect.midX, py < rect.midY) {
                case (true, true): corners.topLeft
                case (false, true): corners.topRight
                case (true, false): corners.bottomLeft
                case (false, false): corners.bottomRight
                }
            let dx = max(rect.x + radius - px, px - rect.maxX + radius, 0)
            let dy = max(rect.y + radius - py, py - rect.maxY + radius, 0)
            if dx * dx + dy * dy <= radius * radius || dx == 0 || dy == 0 { inside += 1 }
        }
        return Double(inside) / 256
    }
}
