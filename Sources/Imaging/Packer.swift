import CKernels
package import Frames

/// Converts rows of a camera's colours to the stream's packed 4:2:2 in BT.601 limited range.
package struct Packer: Sendable {
    let gain: kernel_gain
    private let matrix: kernel_matrix?

    package init(_ color: ColorSpace) {
        let isPlain = color.matrix == .bt601
        // From full range: luma is (220 · y + 16.5 · 256) / 256 and chroma (225 · c + 16 · 256) /
        // 256, exact to within 0.15 of a step, and neutral stays neutral.
        gain =
            isPlain && color.range == .full
            ? kernel_gain(
                luma_scale: 220,
                luma_offset: 4232,
                chroma_scale: 225,
                chroma_offset: 4096
            )
            : kernel_gain(luma_scale: 256, luma_offset: 0, chroma_scale: 256, chroma_offset: 0)
        matrix = isPlain ? nil : ColorMatrix(from: color).fixed
    }

    /// Packs `count` pixels, an even number, into `destination`: 2 · `count` bytes of Y U Y V.
    /// `chroma` holds a pair U V for each pair of pixels.
    package func pack(
        luma: UnsafePointer<UInt8>,
        chroma: UnsafePointer<UInt8>,
        count: Int,
        into destination: UnsafeMutablePointer<UInt8>
    ) {
        precondition(count % 2 == 0)
        kernel_pack(destination, luma, chroma, CInt(count), gain)
        finish(destination, count: count)
    }

    /// Packs pixels whose U and V are in separate rows.
    package func pack(
        luma: UnsafePointer<UInt8>,
        u: UnsafePointer<UInt8>,
        v: UnsafePointer<UInt8>,
        count: Int,
        into destination: UnsafeMutablePointer<UInt8>
    ) {
        var block = Self.block
        var span = block.mutableSpan
        span.withUnsafeMutableBufferPointer { block in
            guard let chroma = block.baseAddress else { return }
            for start in stride(from: 0, to: count, by: block.count) {
                let width = min(block.count, count - start)
                kernel_interleave(chroma, u + start / 2, v + start / 2, CInt(width / 2))
                pack(
                    luma: luma + start,
                    chroma: chroma,
                    count: width,
                    into: destination + 2 * start
                )
            }
        }
    }

    private static var block: [512 of UInt8] { .init(repeating: 0) }

    /// Finishes pixels that were packed with their gain.
    func finish(_ packed: UnsafeMutablePointer<UInt8>, count: Int) {
        if let matrix { kernel_convert(packed, CInt(count), matrix) }
    }
}
