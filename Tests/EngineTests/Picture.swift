import DualCamCore
import Engine
import Frames

/// One pixel of a composed picture, with the chroma of its pair.
struct Pixel: Equatable, CustomStringConvertible {
    var y: UInt8
    var u: UInt8
    var v: UInt8

    var description: String { "(\(y), \(u), \(v))" }
}

/// What a compositor drew.
struct Picture {
    let size: Size
    var bytes: [UInt8]

    init(
        _ scene: Scene,
        canvas: Size,
        back: Frame? = nil,
        front: Frame? = nil,
        compositor: Compositor? = nil
    ) {
        size = canvas
        bytes = [UInt8](repeating: 0xaa, count: canvas.area * 2)
        let compositor = compositor ?? Compositor(canvas: canvas)
        bytes.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            compositor.composite(
                scene,
                back: back,
                front: front,
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

/// A frame of one value a plane.
func flatFrame(
    size: Size,
    format: PixelFormat,
    color: ColorSpace = .jpeg,
    _ values: [UInt8]
) -> Frame {
    let layout = FrameLayout(size: size, format: format)
    let buffer = FrameBuffer(byteCount: layout.byteCount)
    for index in 0..<layout.planeCount {
        let plane = buffer.plane(index, of: layout)
        for y in 0..<plane.rows {
            plane.row(y).update(repeating: values[index], count: plane.rowBytes)
        }
    }
    return Frame(buffer: buffer, layout: layout, color: color, timestamp: .zero, sequence: 0)
}
