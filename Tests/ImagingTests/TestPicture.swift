import CTurboJPEG
import Frames
import Imaging

/// Pseudo-random numbers, the same every time (SplitMix64).
struct Random {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

/// Frames made by tests.
enum TestPicture {
    static func frame(
        size: Size,
        format: PixelFormat,
        color: ColorSpace = .jpeg,
        pixel: (_ plane: Int, _ x: Int, _ y: Int) -> UInt8
    ) -> Frame {
        let layout = FrameLayout(size: size, format: format)
        let buffer = FrameBuffer(byteCount: layout.byteCount)
        for index in 0..<layout.planeCount {
            let plane = buffer.plane(index, of: layout)
            for y in 0..<plane.rows {
                for x in 0..<plane.rowBytes { plane.row(y)[x] = pixel(index, x, y) }
            }
        }
        return Frame(buffer: buffer, layout: layout, color: color, timestamp: .zero, sequence: 0)
    }

    /// Returns slopes that a JPEG keeps nearly unchanged.
    static func gradient(size: Size, format: PixelFormat) -> Frame {
        frame(size: size, format: format) { plane, x, y in
            plane == 0 ? UInt8(60 + x + y) : UInt8(100 + 20 * plane + x / 4 + y / 4)
        }
    }

    /// Returns a frame with one value per plane.
    static func flat(size: Size, format: PixelFormat, values: [UInt8]) -> Frame {
        frame(size: size, format: format) { plane, _, _ in values[plane] }
    }

    /// Returns noise.
    static func noise(size: Size, format: PixelFormat, color: ColorSpace = .jpeg) -> Frame {
        var random = Random(state: 1)
        return frame(size: size, format: format, color: color) { _, _, _ in
            UInt8(truncatingIfNeeded: random.next())
        }
    }

    /// Returns a JPEG of a planar frame, nearly without loss.
    static func jpeg(of frame: Frame) -> [UInt8] {
        let sampling: TJSAMP =
            switch frame.layout.format {
            case .i420: TJSAMP_420
            case .i422: TJSAMP_422
            case .i444: TJSAMP_444
            case .i440: TJSAMP_440
            case .i411: TJSAMP_411
            default: TJSAMP_GRAY
            }
        let planes = (0..<frame.layout.planeCount).map { frame.plane($0) }
        // The library reads padding, which a frame does not have.
        let padded = planes.map { plane in
            let stride = plane.rowBytes + 8
            var bytes = [UInt8](repeating: 0, count: stride * (plane.rows + 8))
            for y in 0..<plane.rows + 8 {
                for x in 0..<stride {
                    bytes[y * stride + x] =
                        plane.row(min(y, plane.rows - 1))[min(x, plane.rowBytes - 1)]
                }
            }
            return (bytes, stride)
        }
        let copies = padded.map { UnsafeMutableBufferPointer<UInt8>.copy(of: $0.0) }
        defer { copies.forEach { $0.deallocate() } }
        var bases = copies.map { UnsafePointer($0.baseAddress) }
        var strides = padded.map { CInt($0.1) }
        var output: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        let handle = tjInitCompress()
        defer {
            tjDestroy(handle)
            tjFree(output)
        }
        let result = tjCompressFromYUVPlanes(
            handle,
            &bases,
            CInt(frame.layout.size.width),
            &strides,
            CInt(frame.layout.size.height),
            CInt(sampling.rawValue),
            &output,
            &count,
            100,
            CInt(TJFLAG_ACCURATEDCT)
        )
        precondition(result == 0, String(cString: tjGetErrorStr2(handle)))
        return Array(UnsafeBufferPointer(start: output, count: Int(count)))
    }
}

extension UnsafeMutableBufferPointer where Element == UInt8 {
    static func copy(of bytes: [UInt8]) -> Self {
        let copy = allocate(capacity: bytes.count)
        _ = copy.initialize(from: bytes)
        return copy
    }
}

/// Returns the largest difference between two planes of one extent.
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
