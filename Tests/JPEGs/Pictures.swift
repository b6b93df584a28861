import CTurboJPEG
package import Frames

/// Returns a frame whose samples are `sample` of their plane, column and row.
package func frame(
    size: Size,
    format: PixelFormat,
    color: ColorSpace = .jpeg,
    at time: Timestamp = .zero,
    sequence: UInt64 = 0,
    sample: (_ plane: Int, _ x: Int, _ y: Int) -> UInt8
) -> Frame {
    let layout = FrameLayout(size: size, format: format)
    let buffer = FrameBuffer(byteCount: layout.byteCount)
    for index in 0..<layout.planeCount {
        let plane = buffer.plane(index, of: layout)
        for y in 0..<plane.rows {
            for x in 0..<plane.rowBytes { plane.row(y)[x] = sample(index, x, y) }
        }
    }
    return Frame(buffer: buffer, layout: layout, color: color, timestamp: time, sequence: sequence)
}

/// Returns a frame with one value per plane.
package func flatFrame(
    size: Size,
    format: PixelFormat,
    color: ColorSpace = .jpeg,
    at time: Timestamp = .zero,
    sequence: UInt64 = 0,
    _ values: [UInt8]
) -> Frame {
    frame(size: size, format: format, color: color, at: time, sequence: sequence) { plane, _, _ in
        values[plane]
    }
}

/// Returns a frame of pseudo-random numbers.
package func noiseFrame(
    size: Size,
    format: PixelFormat,
    color: ColorSpace = .jpeg,
    sequence: UInt64 = 0
) -> Frame {
    var state = sequence &+ 1
    return frame(size: size, format: format, color: color, sequence: sequence) { _, _, _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 56)
    }
}

extension Frame {
    /// Returns the sample of plane `plane` (0 luma, 1 U, 2 V) in column `x` and row `y` of that
    /// plane, of a frame of any format.
    package func sample(plane index: Int, x: Int, y: Int) -> UInt8 {
        switch (layout.format, index) {
        case (.yuyv, 0): plane(0).row(y)[2 * x]
        case (.yuyv, _): plane(0).row(y)[4 * x + 2 * index - 1]
        case (.uyvy, 0): plane(0).row(y)[2 * x + 1]
        case (.uyvy, _): plane(0).row(y)[4 * x + 2 * index - 2]
        case (.nv12, 0): plane(0).row(y)[x]
        case (.nv12, _): plane(1).row(y)[2 * x + index - 1]
        default: plane(index).row(y)[x]
        }
    }
}

/// Returns a JPEG of one luma, without colour.
package func flatJPEG(_ size: Size, luma: UInt8, format: PixelFormat = .i422) -> [UInt8] {
    jpeg(of: flatFrame(size: size, format: format, [luma, 128, 128]))
}

/// Returns a JPEG of a planar frame, nearly without loss.
package func jpeg(of frame: Frame) -> [UInt8] {
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
    let (width, height) = (CInt(frame.layout.size.width), CInt(frame.layout.size.height))
    let (sampled, flags) = (CInt(sampling.rawValue), CInt(TJFLAG_ACCURATEDCT))
    let result = tjCompressFromYUVPlanes(
        handle,
        &bases,
        width,
        &strides,
        height,
        sampled,
        &output,
        &count,
        100,
        flags
    )
    precondition(result == 0, String(cString: tjGetErrorStr2(handle)))
    return Array(UnsafeBufferPointer(start: output, count: Int(count)))
}

extension JPEGFrame {
    /// Creates a frame of `bytes`, whatever they are.
    package init(_ bytes: [UInt8], at time: Timestamp = .zero, sequence: UInt64 = 0) {
        let buffer = FrameBuffer(byteCount: bytes.count)
        buffer.bytes.copyBytes(from: bytes)
        let count = bytes.count
        self.init(buffer: buffer, byteCount: count, timestamp: time, sequence: sequence)
    }
}

extension UnsafeMutableBufferPointer where Element == UInt8 {
    /// Allocates a copy of `bytes`.
    package static func copy(of bytes: [UInt8]) -> Self {
        let copy = allocate(capacity: bytes.count)
        _ = copy.initialize(from: bytes)
        return copy
    }
}
