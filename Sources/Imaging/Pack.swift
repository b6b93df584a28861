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
            blend(source, lumaAnchors, Self.lumaFraction, count: count, into: luma)
            blend(sourceU, chromaAnchors, Self.chromaFraction, count: count / 2, into: u)
            blend(sourceV, chromaAnchors, Self.chromaFraction, count: count / 2, into: v)
        } else {
            let matrix = color.range == .full ? ColorMatrix.bt709Full : .bt709Limited
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

/// `count` bytes of `a` and `b` mixed, `fraction` / 256 of `b`, rounded (InterpolatePlane).
func blend(
    _ a: UnsafePointer<UInt8>,
    _ b: UnsafePointer<UInt8>,
    _ fraction: Int,
    count: Int,
    into destination: UnsafeMutablePointer<UInt8>
) {
    let width = CInt(count)
    InterpolatePlane(a, width, b, width, destination, width, width, 1, CInt(fraction))
}

/// From BT.709 to BT.601 in limited range, in steps of 1 / 4096.
///
/// A BT.709 luma counts less blue and more green; what it lacks is in its chroma.
struct ColorMatrix {
    let y: Int32
    let yu: Int32
    let yv: Int32
    let uu: Int32
    let uv: Int32
    let vu: Int32
    let vv: Int32
    let black: Int32

    /// The product of BT.709's matrix to RGB and BT.601's from it, where the ranges agree.
    private init(lumaGain: Double, chromaGain: Double, crossGain: Double, black: Int32) {
        func fixed(_ value: Double) -> Int32 { Int32((value * 4096).rounded()) }
        y = fixed(lumaGain)
        yu = fixed(0.101579 * crossGain)
        yv = fixed(0.196076 * crossGain)
        uu = fixed(0.989854 * chromaGain)
        uv = fixed(-0.110653 * chromaGain)
        vu = fixed(-0.072453 * chromaGain)
        vv = fixed(0.983398 * chromaGain)
        self.black = black
    }

    /// 16…235 and 16…240 in and out. Chroma has 224 steps where luma has 219.
    static let bt709Limited = ColorMatrix(
        lumaGain: 1,
        chromaGain: 1,
        crossGain: 219.0 / 224,
        black: 16
    )
    /// 0…255 in, limited out.
    static let bt709Full = ColorMatrix(
        lumaGain: 219.0 / 255,
        chromaGain: 224.0 / 255,
        crossGain: 219.0 / 255,
        black: 0
    )

    /// Converts `count` pixels, an even number, with chroma half as wide as luma.
    func convert(
        _ luma: UnsafePointer<UInt8>,
        _ u: UnsafePointer<UInt8>,
        _ v: UnsafePointer<UInt8>,
        count: Int,
        into outLuma: UnsafeMutablePointer<UInt8>,
        _ outU: UnsafeMutablePointer<UInt8>,
        _ outV: UnsafeMutablePointer<UInt8>
    ) {
        for i in 0..<count / 2 {
            let du = Int32(u[i]) &- 128
            let dv = Int32(v[i]) &- 128
            let cross = du &* yu &+ dv &* yv &+ (16 &* 4096 &+ 2048)
            let y0 = (Int32(luma[2 &* i]) &- black) &* y &+ cross
            let y1 = (Int32(luma[2 &* i &+ 1]) &- black) &* y &+ cross
            outLuma[2 &* i] = Self.byte(y0)
            outLuma[2 &* i &+ 1] = Self.byte(y1)
            let neutral: Int32 = 128 &* 4096 &+ 2048
            outU[i] = Self.byte(du &* uu &+ dv &* uv &+ neutral)
            outV[i] = Self.byte(du &* vu &+ dv &* vv &+ neutral)
        }
    }

    private static func byte(_ value: Int32) -> UInt8 {
        UInt8(truncatingIfNeeded: min(max(value >> 12, 0), 255))
    }
}
