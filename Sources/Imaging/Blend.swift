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

/// Lays packed bytes of `content` over `destination`, a multiple of four, as far as the luma of
/// `mask` says: 0 … 255. Of the rest, `share` / 255 is gone.
package func cut(
    _ content: UnsafePointer<UInt8>,
    by mask: UnsafePointer<UInt8>,
    share: Int,
    over destination: UnsafeMutablePointer<UInt8>,
    count: Int
) {
    precondition(count % 4 == 0 && share >= 0 && share < 256)
    kernel_cut(destination, content, mask, CInt(count), CInt(share))
}

/// Returns the pixels of `range`, from one pair to another, beyond which packed luma is 0.
package func marked(_ row: UnsafePointer<UInt8>, in range: Range<Int>) -> Range<Int> {
    let luma: UInt32 = 0x00ff_00ff
    let pairs = UnsafeRawPointer(row)
    func isEmpty(_ x: Int) -> Bool {
        pairs.loadUnaligned(fromByteOffset: 2 &* x, as: UInt32.self).littleEndian & luma == 0
    }
    var (first, last) = (range.lowerBound, range.upperBound)
    while first < last, isEmpty(first) { first += 2 }
    while first < last, isEmpty(last - 2) { last -= 2 }
    return first..<last
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
