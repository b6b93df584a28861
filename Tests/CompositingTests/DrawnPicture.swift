import Compositing
import DualCamCore
import Frames

/// One pixel of a composed picture, with the chroma of its pair.
struct Pixel: Equatable, CustomStringConvertible {
    var y: UInt8
    var u: UInt8
    var v: UInt8

    var description: String { "(\(y), \(u), \(v))" }
}

/// A picture drawn by a compositor.
struct DrawnPicture {
    let size: Size
    var bytes: [UInt8]

    init(
        _ scene: Scene,
        canvas: Size,
        back: Frame? = nil,
        front: Frame? = nil,
        second: PerRole<Frame?> = PerRole(back: nil, front: nil),
        labels: PerRole<NoticeLabels?> = PerRole(back: nil, front: nil),
        compositor: Compositor? = nil,
        over: UInt8 = 0xaa
    ) {
        size = canvas
        bytes = [UInt8](repeating: over, count: canvas.area * 2)
        let compositor = compositor ?? Compositor(canvas: canvas)
        bytes.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            compositor.composite(
                scene,
                back: back,
                front: front,
                second: second,
                labels: labels,
                into: base,
                stride: 2 * canvas.width
            )
        }
    }

    func pixel(_ x: Int, _ y: Int) -> Pixel {
        let pair = (y * size.width + x / 2 * 2) * 2
        return Pixel(y: bytes[pair + x % 2 * 2], u: bytes[pair + 1], v: bytes[pair + 3])
    }
}

/// Returns a frame whose samples are `sample` of their plane, column and row.
func frame(
    size: Size,
    format: PixelFormat,
    color: ColorSpace = .jpeg,
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
    return Frame(
        buffer: buffer,
        layout: layout,
        color: color,
        timestamp: .zero,
        sequence: sequence
    )
}

/// Returns a frame with one value per plane.
func flatFrame(
    size: Size,
    format: PixelFormat,
    color: ColorSpace = .jpeg,
    _ values: [UInt8]
) -> Frame {
    frame(size: size, format: format, color: color) { plane, _, _ in values[plane] }
}

/// Returns a frame of pseudo-random numbers.
func noiseFrame(
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
