import CYUV
package import Frames

/// Brings rows of planar YUV to the stream's packed 4:2:2 in BT.601 limited range.
///
/// - Context: bound to one thread; holds rows on their way.
package struct Packer: ~Copyable {
    /// Limited range is full range a little towards grey: luma as (220·y + 16.03·256) / 256,
    /// chroma as (225·c + 31·128) / 256. libyuv's interpolation between a row and a row of one
    /// value computes exactly this, sixteen or thirty-two pixels at a time.
    private static let lumaFraction = 36
    private static let lumaAnchor: UInt8 = 114
    private static let chromaFraction = 31
    private static let chromaAnchor: UInt8 = 128

    private let bt709Full = ColorMatrix(from: ColorSpace(matrix: .bt709, range: .full))
    private let bt709Limited = ColorMatrix(from: ColorSpace(matrix: .bt709, range: .limited))
    /// The widest row, in pixels.
    private let width: Int
    private var rows = Scratch()
    private let luma: UnsafeMutablePointer<UInt8>
    private let u: UnsafeMutablePointer<UInt8>
    private let v: UnsafeMutablePointer<UInt8>
    private let lumaAnchors: UnsafeMutablePointer<UInt8>
    private let chromaAnchors: UnsafeMutablePointer<UInt8>

    /// A packer for rows of at most `width` pixels.
    package init(width: Int) {
        self.width = width
        let stride = (width + 63) / 64 * 64
        luma = rows.reserve(5 * stride)
        u = luma + stride
        v = u + stride
        lumaAnchors = v + stride
        chromaAnchors = lumaAnchors + stride
        lumaAnchors.update(repeating: Self.lumaAnchor, count: stride)
        chromaAnchors.update(repeating: Self.chromaAnchor, count: stride)
    }

    /// Packs `count` pixels, an even number ≤ `width`, of `color` into `destination`, 2 · `count`
    /// bytes of Y U Y V. Chroma is half as wide as luma.
    package func pack(
        luma source: UnsafePointer<UInt8>,
        u sourceU: UnsafePointer<UInt8>,
        v sourceV: UnsafePointer<UInt8>,
        count: Int,
        color: ColorSpace,
        into destination: UnsafeMutablePointer<UInt8>
    ) {
        precondition(count <= width && count % 2 == 0)
        guard color != .video else {
            interleave(source, sourceU, sourceV, count: count, into: destination)
            return
        }
        if color.matrix == .bt601 {
            mix(source, lumaAnchors, fraction: Self.lumaFraction, count: count, into: luma)
            mix(sourceU, chromaAnchors, fraction: Self.chromaFraction, count: count / 2, into: u)
            mix(sourceV, chromaAnchors, fraction: Self.chromaFraction, count: count / 2, into: v)
        } else {
            let matrix = color.range == .full ? bt709Full : bt709Limited
            matrix.convert(source, sourceU, sourceV, count: count, into: luma, u, v)
        }
        interleave(luma, u, v, count: count, into: destination)
    }

    private func interleave(
        _ luma: UnsafePointer<UInt8>,
        _ u: UnsafePointer<UInt8>,
        _ v: UnsafePointer<UInt8>,
        count: Int,
        into destination: UnsafeMutablePointer<UInt8>
    ) {
        let (width, chroma) = (CInt(count), CInt(count / 2))
        I422ToYUY2(luma, width, u, chroma, v, chroma, destination, 2 * width, width, 1)
    }
}
