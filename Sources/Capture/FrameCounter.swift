package import Frames

/// A frame number in the picture, for programs to read.
///
/// It is 16 squares in the top left corner, starting at the left edge, highest bit first; luma 235
/// is 1 and 16 is 0, without colour. A square is `block(in:)` pixels wide and high: square `i`
/// covers x = i × block ..< (i + 1) × block and y = 0 ..< block. Read its middle, with 128 as the
/// threshold. The number wraps from 65535 to 0. Scaling, turning or mirroring a picture moves its
/// squares too.
package enum FrameCounter {
    /// Returns the side of a square in pixels: a 45th of the height, even, at least 8, but never so
    /// large that 16 do not fit.
    package static func block(in size: Size) -> Int {
        min(max(8, (size.height + 45) / 90 * 2), size.width / 32 * 2)
    }

    /// Draws the low 16 bits of `value` into a planar or NV12 picture in `buffer`, laid out as
    /// `layout`.
    static func draw(_ value: UInt64, into buffer: FrameBuffer, _ layout: FrameLayout) {
        let block = block(in: layout.size)
        let luma = buffer.plane(0, of: layout)
        for y in 0..<min(block, luma.rows) {
            let row = luma.row(y)
            for bit in 0..<16 {
                let level: UInt8 = value >> UInt64(15 - bit) & 1 == 1 ? 235 : 16
                (row + bit * block).update(repeating: level, count: block)
            }
        }
    }

    /// Makes the area of the squares grey in a planar 4:2:0 picture in `buffer`, laid out as
    /// `layout`. `draw` then changes the luma alone.
    static func removeColor(in buffer: FrameBuffer, _ layout: FrameLayout) {
        let block = block(in: layout.size)
        for index in 1...2 {
            let plane = buffer.plane(index, of: layout)
            for y in 0..<min(block / 2, plane.rows) {
                plane.row(y).update(repeating: 128, count: min(8 * block, plane.rowBytes))
            }
        }
    }
}
