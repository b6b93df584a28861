package import Frames

/// A number in the picture, for machines: which frame is this?
///
/// 16 squares in the top left corner, from the left edge on, the highest bit first; luma 235 is 1
/// and 16 is 0, without colour. A square is `block(in:)` pixels wide and high, so square `i` covers
/// x = i × block ..< (i + 1) × block and y = 0 ..< block; its middle is what one reads, and 128 is
/// the threshold. It wraps from 65535 to 0. A picture that is scaled, turned or mirrored takes its
/// squares along.
package enum FrameCounter {
    /// The side of one square in pixels: a 45th of the height, even, at least 8; 16 of them always fit.
    package static func block(in size: Size) -> Int {
        min(max(8, (size.height + 45) / 90 * 2), size.width / 32 * 2)
    }

    /// Draws the low 16 bits of `value` into a planar or NV12 picture that lies in `buffer` as `layout` says.
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
}
