import CKernels
package import Frames

/// A row of a picture: its luma, and its chroma as pairs U V U V.
struct SplitRow {
    let luma: UnsafePointer<UInt8>
    let chroma: UnsafePointer<UInt8>
}

/// Reads a frame of any format row by row, halved in both directions as often as wanted. Computed
/// rows are few, so that they stay in the processor's nearest cache. Bound to one thread; valid
/// while the frame that it was prepared for is held.
struct RowReader: ~Copyable {
    /// The size of the halved picture, in pixels.
    private(set) var size = Size(width: 0, height: 0)
    /// The pairs of chroma in one of its rows.
    private(set) var pairs = 0
    private(set) var halvings = 0

    private var layout = FrameLayout(size: Size(width: 1, height: 1), format: .gray)
    private var planes: [3 of Plane]
    private var memory = Scratch()
    private var base: UnsafeMutablePointer<UInt8>
    private var stride = 0
    /// The rows held: the newest even and the newest odd one.
    private var held: [2 of Int] = [-1, -1]
    private var rows: [2 of SplitRow]

    init() {
        let base = memory.reserve(64)
        self.base = base
        planes = .init(repeating: Plane(base: base, stride: 1, rowBytes: 1, rows: 1))
        rows = .init(repeating: SplitRow(luma: base, chroma: base))
    }

    /// Reads `frame` from now on, halved `halvings` times; an odd last row or column is left out.
    /// Returns `false` if the format is not YUV. Allocates only for the largest picture so far.
    mutating func prepare(_ frame: Frame, halvings: Int) -> Bool {
        layout = frame.layout
        guard
            layout.format.planarSubsampling != nil
                || [.yuyv, .uyvy, .nv12, .gray].contains(layout.format)
        else { return false }
        for index in 0..<3 { planes[index] = frame.plane(min(index, layout.planeCount - 1)) }
        self.halvings = halvings
        let whole = layout.size
        size = Size(
            width: max(1, whole.width >> halvings),
            height: max(1, whole.height >> halvings)
        )
        pairs = max(1, ((whole.width + 1) / 2) >> halvings)
        held = [-1, -1]
        // Luma and chroma of two rows for each halving.
        stride = (whole.width + 127) / 64 * 64
        base = memory.reserve(4 * (halvings + 1) * stride)
        return true
    }

    /// Returns row `index`, 0 ≤ index < the height; valid until the next but one is requested.
    mutating func row(_ index: Int) -> SplitRow {
        let place = index & 1
        if held[place] != index {
            held[place] = index
            rows[place] = read(index, halvings: halvings)
        }
        return rows[place]
    }

    /// Writes the mixture of row `index` and `share` / 256 of the next row to `luma` and `chroma`.
    /// A share other than 0 needs a next row.
    mutating func mix(
        _ index: Int,
        share: Int,
        into luma: UnsafeMutablePointer<UInt8>,
        _ chroma: UnsafeMutablePointer<UInt8>
    ) {
        if share > 0, halvings == 0, layout.format == .yuyv {
            let (upper, lower) = (planes[0].row(index), planes[0].row(index + 1))
            kernel_split_mixed(luma, chroma, upper, lower, CInt(2 * pairs), CInt(share))
            return
        }
        let upper = row(index)
        guard share > 0 else {
            luma.update(from: upper.luma, count: size.width)
            chroma.update(from: upper.chroma, count: 2 * pairs)
            return
        }
        let lower = row(index + 1)
        Imaging.mix(upper.luma, lower.luma, fraction: share, count: size.width, into: luma)
        Imaging.mix(upper.chroma, lower.chroma, fraction: share, count: 2 * pairs, into: chroma)
    }

    private func read(_ index: Int, halvings: Int) -> SplitRow {
        let luma = base + (4 * halvings + 2 * (index & 1)) * stride
        let chroma = luma + stride
        guard halvings > 0 else { return split(index, luma, chroma) }
        // A single row is its own partner.
        let last = max(1, layout.size.height >> (halvings - 1)) - 1
        let (first, second) = (2 * index, min(2 * index + 1, last))
        let width = layout.size.width >> (halvings - 1)
        if halvings == 1, layout.format == .yuyv, width % 4 == 0 {
            let (upper, lower) = (planes[0].row(first), planes[0].row(second))
            kernel_halve_packed(luma, chroma, upper, lower, CInt(width / 2))
            return SplitRow(luma: luma, chroma: chroma)
        }
        let upper = read(first, halvings: halvings - 1)
        let lower = read(second, halvings: halvings - 1)
        let pairs = ((layout.size.width + 1) / 2) >> (halvings - 1)
        // So is a single column.
        if width > 1 {
            kernel_halve(luma, upper.luma, lower.luma, CInt(width / 2))
        } else {
            Imaging.mix(upper.luma, lower.luma, fraction: 128, count: 1, into: luma)
        }
        if pairs > 1 {
            kernel_halve_pairs(chroma, upper.chroma, lower.chroma, CInt(pairs / 2))
        } else {
            Imaging.mix(upper.chroma, lower.chroma, fraction: 128, count: 2, into: chroma)
        }
        return SplitRow(luma: luma, chroma: chroma)
    }

    /// Returns row `y` of the frame, in `luma` and `chroma` unless it already lies split in memory.
    private func split(
        _ y: Int,
        _ luma: UnsafeMutablePointer<UInt8>,
        _ chroma: UnsafeMutablePointer<UInt8>
    ) -> SplitRow {
        let first = planes[0].row(y)
        let pairs = (layout.size.width + 1) / 2
        switch layout.format {
        case .yuyv, .uyvy:
            kernel_split(luma, chroma, first, CInt(2 * pairs), layout.format == .uyvy ? 1 : 0)
            return SplitRow(luma: luma, chroma: chroma)
        case .nv12: return SplitRow(luma: first, chroma: planes[1].row(y / 2))
        case .gray: chroma.update(repeating: 128, count: 2 * pairs)
        default:
            guard let (across, down) = layout.format.planarSubsampling else { break }
            let (u, v) = (planes[1].row(y / down), planes[2].row(y / down))
            switch across {
            case 1: Self.average(u, v, count: layout.size.width, into: chroma)
            case 2: kernel_interleave(chroma, u, v, CInt(pairs))
            default:
                for pair in 0..<pairs {
                    chroma[2 * pair] = u[2 * pair / across]
                    chroma[2 * pair + 1] = v[2 * pair / across]
                }
            }
        }
        return SplitRow(luma: first, chroma: chroma)
    }

    /// Writes pairs of the means of two neighbours.
    private static func average(
        _ u: UnsafePointer<UInt8>,
        _ v: UnsafePointer<UInt8>,
        count: Int,
        into pairs: UnsafeMutablePointer<UInt8>
    ) {
        for pair in 0..<(count + 1) / 2 {
            let (left, right) = (2 * pair, min(2 * pair + 1, count - 1))
            pairs[2 * pair] = UInt8((UInt16(u[left]) + UInt16(u[right]) + 1) / 2)
            pairs[2 * pair + 1] = UInt8((UInt16(v[left]) + UInt16(v[right]) + 1) / 2)
        }
    }
}

/// The halved planes of a frame of any format, kept until the next frame. Bound to one thread.
package struct HalvedCopy: ~Copyable {
    private var reader = RowReader()
    private var memory = Scratch()

    package init() {}

    /// Returns the planes of `frame`, halved `halvings` times in both directions, with chroma half
    /// as wide as luma, or `nil` if the format is not YUV. They are valid until the next call.
    /// Allocates only for the largest picture so far.
    package mutating func update(_ frame: Frame, halvings: Int) -> Planes? {
        guard reader.prepare(frame, halvings: halvings) else { return nil }
        let size = reader.size
        let planes = Planes(
            in: &memory,
            luma: size,
            chroma: Size(width: reader.pairs, height: size.height)
        )
        for y in 0..<size.height {
            let row = reader.row(y)
            planes.luma.row(y).update(from: row.luma, count: size.width)
            kernel_deinterleave(planes.u.row(y), planes.v.row(y), row.chroma, CInt(reader.pairs))
        }
        return planes
    }
}
