import CKernels
import CYUV

/// `count` bytes of `a` and `b` mixed, `fraction` / 256 of `b`, rounded (libyuv's
/// InterpolatePlane). Bytes of any kind: a plane's or packed ones.
package func mix(
    _ a: UnsafePointer<UInt8>,
    _ b: UnsafePointer<UInt8>,
    fraction: Int,
    count: Int,
    into destination: UnsafeMutablePointer<UInt8>
) {
    precondition(fraction >= 0 && fraction < 256)
    let width = CInt(count)
    InterpolatePlane(a, width, b, width, destination, width, width, 1, CInt(fraction))
}

/// A row of weights, a byte for each byte of a packed row: what remains of what is there, what
/// is taken of what is laid over it, each over 255, and what is added.
package struct WeightRow {
    /// Weight of what is there.
    package let keep: UnsafePointer<UInt8>
    /// Weight of what is laid over it.
    package let take: UnsafePointer<UInt8>
    /// What is added.
    package let add: UnsafePointer<UInt8>

    /// Rows of weights, as long as each other.
    package init(
        keep: UnsafePointer<UInt8>,
        take: UnsafePointer<UInt8>,
        add: UnsafePointer<UInt8>
    ) {
        self.keep = keep
        self.take = take
        self.add = add
    }

    /// The weights from `offset` bytes on.
    package func advanced(by offset: Int) -> WeightRow {
        WeightRow(keep: keep + offset, take: take + offset, add: add + offset)
    }

    /// Lays `count` bytes of `content` over `destination`: keep · destination + take · content +
    /// add. The weights of a byte sum up to at most 255, with what they add.
    package func apply(
        _ content: UnsafePointer<UInt8>,
        to destination: UnsafeMutablePointer<UInt8>,
        count: Int
    ) {
        kernel_blend(destination, content, keep, take, add, CInt(count))
    }
}

/// `value` / 255, rounded, for values to 255 · 255.
@inline(__always)
func over255(_ value: UInt16) -> UInt8 {
    let biased = value &+ 128
    return UInt8(truncatingIfNeeded: (biased &+ biased >> 8) >> 8)
}
