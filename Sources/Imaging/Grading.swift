/// Gains of red, blue and light, applied to packed rows: to chroma for each pair of pixels, and to
/// light as it is coded. The gains of colours leave light as it is: green makes up for red and
/// blue.
package struct Grading: Hashable, Sendable {
    /// The growth of V by red and of U by blue, of 256.
    private let (growRed, growBlue): (Int32, Int32)
    /// The gain of light, of 256.
    private let light: Int32

    /// Creates gains of the coded values of red and blue, and of light; 1 changes nothing.
    package init(red: Double, blue: Double, light: Double) {
        // In BT.601, limited range: R = 1.164 Y + 1.596 Cr, B = 1.164 Y + 2.017 Cb.
        growRed = Int32(((red - 1) / 1.596 * 256).rounded())
        growBlue = Int32(((blue - 1) / 2.017 * 256).rounded())
        self.light = Int32((light * 256).rounded())
    }

    /// Grades `count` pixels, an even number, of packed BT.601 limited range, in place.
    package func apply(to row: UnsafeMutablePointer<UInt8>, count: Int) {
        for pair in 0..<count / 2 {
            let at = row + 4 * pair
            let (first, second) = (Int32(at[0]) &- 16, Int32(at[2]) &- 16)
            let (u, v) = (Int32(at[1]) &- 128, Int32(at[3]) &- 128)
            // In 256ths. A colour below zero cannot be scaled.
            let grey = 149 &* (first &+ second)
            let red = max(0, grey &+ 409 &* v) &>> 8
            let blue = max(0, grey &+ 516 &* u) &>> 8
            let newU = ((u &<< 8 &+ growBlue &* blue) &* light &+ 32768) &>> 16
            let newV = ((v &<< 8 &+ growRed &* red) &* light &+ 32768) &>> 16
            let newFirst = 16 &+ (first &* light &+ 128) &>> 8
            let newSecond = 16 &+ (second &* light &+ 128) &>> 8
            at[0] = UInt8(truncatingIfNeeded: max(16, min(235, newFirst)))
            at[1] = UInt8(truncatingIfNeeded: max(16, min(240, 128 &+ newU)))
            at[2] = UInt8(truncatingIfNeeded: max(16, min(235, newSecond)))
            at[3] = UInt8(truncatingIfNeeded: max(16, min(240, 128 &+ newV)))
        }
    }
}
