import CKernels
import CYUV

/// Mixes `count` bytes of `a` with `fraction` / 256 of `b`, rounded (libyuv's InterpolatePlane).
/// The bytes may be of a plane or packed.
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

/// A row of weights, one of each kind for each byte of a packed row, over 255: for the byte that is
/// there and for the byte laid over it; and a value to add.
package struct WeightRow {
    /// The weights of the bytes that are there.
    package let keep: UnsafePointer<UInt8>
    /// The weights of the bytes laid over them.
    package let take: UnsafePointer<UInt8>
    package let add: UnsafePointer<UInt8>

    /// Returns the weights from `offset` bytes on.
    package func advanced(by offset: Int) -> WeightRow {
        WeightRow(keep: keep + offset, take: take + offset, add: add + offset)
    }

    /// Lays `count` bytes of `content` over `destination`: keep · destination + take · content +
    /// add. The two weights of a byte and the value to add must sum to at most 255.
    package func apply(
        _ content: UnsafePointer<UInt8>,
        to destination: UnsafeMutablePointer<UInt8>,
        count: Int
    ) {
        kernel_blend(destination, content, keep, take, add, CInt(count))
    }
}

/// Returns `value` / 255, rounded, for values up to 255 · 255.
@inline(__always)
func over255(_ value: UInt16) -> UInt8 {
    let biased = value &+ 128
    return UInt8(truncatingIfNeeded: (biased &+ biased >> 8) >> 8)
}
