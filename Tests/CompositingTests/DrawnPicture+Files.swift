import Foundation
import Frames
import Imaging
import TestJPEGs

extension DrawnPicture {
    /// Writes the picture as `name`.ppm into the folder that DUALCAM_PICTURES names, for visual
    /// checks. Does nothing if it is not set.
    func save(_ name: String) throws {
        guard let folder = ProcessInfo.processInfo.environment["DUALCAM_PICTURES"] else { return }
        var data = Data("P6\n\(size.width) \(size.height)\n255\n".utf8)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let pixel = pixel(x, y)
                let luma = 255.0 / 219 * (Double(pixel.y) - 16)
                let (u, v) = (Double(pixel.u) - 128, Double(pixel.v) - 128)
                let scale = 255.0 / 224
                for value in [
                    luma + 1.402 * scale * v, luma - scale * (0.344136 * u + 0.714136 * v),
                    luma + 1.772 * scale * u,
                ] {
                    data.append(UInt8(min(max(value.rounded(), 0), 255)))
                }
            }
        }
        try data.write(to: URL(fileURLWithPath: folder).appendingPathComponent("\(name).ppm"))
    }
}

/// Returns the photograph `name`.jpg of the folder that DUALCAM_PHOTOGRAPHS names, or a drawn
/// picture of `size` if it is not set.
func photograph(_ name: String, size: Size) throws -> Frame {
    guard let folder = ProcessInfo.processInfo.environment["DUALCAM_PHOTOGRAPHS"] else {
        return drawnFrame(size: size, isWarm: name != "back")
    }
    let url = URL(fileURLWithPath: folder).appendingPathComponent("\(name).jpg")
    let decoder = try JPEGDecoder()
    return try [UInt8](Data(contentsOf: url)).withUnsafeBytes { bytes in
        let header = try decoder.header(of: bytes)
        let layout = FrameLayout(size: header.size, format: header.format)
        let buffer = FrameBuffer(byteCount: layout.byteCount)
        try decoder.decode(bytes, header: header, into: buffer, layout: layout)
        return Frame(buffer: buffer, layout: layout, color: .jpeg, timestamp: .zero, sequence: 1)
    }
}

/// Returns a frame of slopes and circles, in which edges, turns and mirroring are visible.
func drawnFrame(size: Size, isWarm: Bool) -> Frame {
    frame(size: size, format: .i444) { plane, x, y in
        let (dx, dy) = (x - size.width / 3, y - size.height / 3)
        let isRing = (dx * dx + dy * dy) / (size.area / 60 + 1) % 2 == 0
        return switch plane {
        case 0: UInt8(40 + 150 * x / size.width + (isRing ? 40 : 0))
        case 1: isWarm ? 90 : UInt8(128 + 60 * y / size.height)
        default: isWarm ? UInt8(150 + 50 * y / size.height) : 110
        }
    }
}
