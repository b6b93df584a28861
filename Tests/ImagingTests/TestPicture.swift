import Frames
import Imaging
import TestJPEGs
import TestSupport

enum TestPicture {
    /// Returns slopes that a JPEG keeps nearly unchanged.
    static func gradient(size: Size, format: PixelFormat) -> Frame {
        frame(size: size, format: format) { plane, x, y in
            plane == 0 ? UInt8(60 + x + y) : UInt8(100 + 20 * plane + x / 4 + y / 4)
        }
    }

    static func noise(size: Size, format: PixelFormat, color: ColorSpace = .jpeg) -> Frame {
        var random = Chance(seed: 1)
        return frame(size: size, format: format, color: color) { _, _, _ in
            UInt8(truncatingIfNeeded: random.next())
        }
    }

}

func greatestDifference(_ a: Plane, _ b: Plane) -> Int {
    var worst = 0
    for y in 0..<a.rows {
        for x in 0..<a.rowBytes { worst = max(worst, abs(Int(a.row(y)[x]) - Int(b.row(y)[x]))) }
    }
    return worst
}

/// Returns the largest difference between a plane and `expected` of each column and row.
func greatestDifference(_ plane: Plane, _ expected: (_ x: Int, _ y: Int) -> Double) -> Double {
    var worst = 0.0
    for y in 0..<plane.rows {
        for x in 0..<plane.rowBytes {
            worst = max(worst, abs(Double(plane.row(y)[x]) - expected(x, y)))
        }
    }
    return worst
}
