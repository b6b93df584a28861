import CKernels
package import Frames

/// The conversion of a camera's colours to the stream's, BT.601 in limited range. BT.709 counts
/// more green and less red and blue as luma than BT.601; its chroma holds what its luma lacks.
package struct ColorMatrix {
    /// The weight of luma, then those of U and V in the new luma, U and V.
    private let y: Float
    private let (yu, yv): (Float, Float)
    private let (uu, uv): (Float, Float)
    private let (vu, vv): (Float, Float)
    private let black: Float

    /// Creates the conversion of `color` to the stream's: the product of its matrix to RGB and
    /// BT.601's from RGB, in steps of the ranges. In limited range chroma has 224, luma 219.
    package init(from color: ColorSpace) {
        let isFull = color.range == .full
        let chroma: Float = isFull ? 224 / 255 : 1
        let cross: Float = isFull ? 219 / 255 : 219 / 224
        y = isFull ? 219 / 255 : 1
        black = isFull ? 0 : 16
        switch color.matrix {
        case .bt601:
            (yu, yv) = (0, 0)
            (uu, uv) = (chroma, 0)
            (vu, vv) = (0, chroma)
        case .bt709:
            (yu, yv) = (0.101579 * cross, 0.196076 * cross)
            (uu, uv) = (0.989854 * chroma, -0.110653 * chroma)
            (vu, vv) = (-0.072453 * chroma, 0.983398 * chroma)
        }
    }

    /// The same in whole numbers, for packed rows.
    var fixed: kernel_matrix {
        // In units of 2^-14. The offsets include what would be subtracted from the samples first.
        func fixed(_ value: Float) -> Int32 { Int32((value * 0x1p14).rounded()) }
        return kernel_matrix(
            y_y: fixed(y),
            y_u: fixed(yu),
            y_v: fixed(yv),
            y_offset: fixed(16 - black * y - 128 * (yu + yv) + 0.5),
            u_u: fixed(uu),
            u_v: fixed(uv),
            u_offset: fixed(128 - 128 * (uu + uv) + 0.5),
            v_u: fixed(vu),
            v_v: fixed(vv),
            v_offset: fixed(128 - 128 * (vu + vv) + 0.5)
        )
    }

    /// Converts `count` pixels in place, with chroma half as wide as luma, and leaves `brightness`
    /// (0 … 1) of their light.
    package func convert(
        _ luma: UnsafeMutablePointer<Float>,
        _ u: UnsafeMutablePointer<Float>,
        _ v: UnsafeMutablePointer<Float>,
        count: Int,
        brightness: Float
    ) {
        for i in 0..<count / 2 {
            let (du, dv) = ((u[i] - 128) * brightness, (v[i] - 128) * brightness)
            let offset = du * yu + dv * yv + 16
            let gain = y * brightness
            luma[2 &* i] = clamped((luma[2 &* i] - black) * gain + offset)
            luma[2 &* i &+ 1] = clamped((luma[2 &* i &+ 1] - black) * gain + offset)
            u[i] = clamped(du * uu + dv * uv + 128)
            v[i] = clamped(du * vu + dv * vv + 128)
        }
    }

    @inline(__always)
    private func clamped(_ value: Float) -> Float { max(0, min(255, value)) }
}
