import CV4L2
import Frames

/// Makes whole pictures of interlaced ones: of two fields that a camera took one after the other,
/// each with every second row. Pure.
///
/// Two fields of one buffer are woven and each row is blended with its neighbours, so that nothing
/// that moved looks like a comb. A field alone gets the rows between its own from their neighbours,
/// and its place in the picture, so that fields in turn show every movement.
struct FieldJoin: Hashable {
    enum Order: Hashable {
        /// Those of both fields in turn.
        case woven
        /// All of the upper field first, then all of the lower one; or the other way around.
        case sequential(upperFirst: Bool)
        /// One field alone; which, the buffer says.
        case alternate
    }
    let order: Order
    let source: FrameLayout
    let layout: FrameLayout

    /// The join for buffers laid out as `source` with the fields `field` (V4L2_FIELD_…); `nil` if
    /// their pictures are whole.
    init?(_ field: UInt32, _ source: FrameLayout) {
        switch v4l2_field(rawValue: field) {
        case V4L2_FIELD_INTERLACED, V4L2_FIELD_INTERLACED_TB, V4L2_FIELD_INTERLACED_BT:
            order = .woven
        case V4L2_FIELD_SEQ_TB: order = .sequential(upperFirst: true)
        case V4L2_FIELD_SEQ_BT: order = .sequential(upperFirst: false)
        case V4L2_FIELD_ALTERNATE, V4L2_FIELD_TOP, V4L2_FIELD_BOTTOM: order = .alternate
        default: return nil
        }
        self.source = source
        let size = source.size
        layout = FrameLayout(
            size: order == .alternate ? Size(width: size.width, height: 2 * size.height) : size,
            format: source.format
        )
    }

    /// Joins the fields in `buffer` into `result`, which is laid out as `layout`. `isLower` tells
    /// which field a buffer with one has.
    ///
    /// Does not allocate.
    func join(_ buffer: FrameBuffer, isLower: Bool, into result: FrameBuffer) {
        for index in 0..<layout.planeCount {
            let (from, to) = (buffer.plane(index, of: source), result.plane(index, of: layout))
            switch order {
            case .woven: Self.blend(from, to) { $0 }
            case .sequential(let upperFirst):
                // The upper field has one row more if their number is odd.
                let upperCount = (from.rows + 1) / 2
                let (upper, lower) = upperFirst ? (0, upperCount) : (from.rows / 2, 0)
                Self.blend(from, to) { $0 / 2 + ($0 % 2 == 0 ? upper : lower) }
            case .alternate: Self.fill(from, to, isLower)
            }
        }
    }

    /// Blends each row with its neighbours, one quarter of each. `place` tells where a row is.
    private static func blend(_ from: Plane, _ to: Plane, _ place: (Int) -> Int) {
        for y in 0..<to.rows {
            let above = from.row(place(max(0, y - 1)))
            let (row, below) = (from.row(place(y)), from.row(place(min(to.rows - 1, y + 1))))
            let result = to.row(y)
            for x in 0..<to.rowBytes {
                let sum = UInt16(above[x]) + 2 * UInt16(row[x]) + UInt16(below[x])
                result[x] = UInt8(truncatingIfNeeded: (sum + 2) >> 2)
            }
        }
    }

    /// Puts the rows of one field in their places, and the mean of two between them.
    private static func fill(_ from: Plane, _ to: Plane, _ isLower: Bool) {
        for y in 0..<to.rows {
            let result = to.row(y)
            // The rows of the field before and after this one.
            let first = isLower ? (y - 1) >> 1 : y >> 1
            let isOwn = (y % 2 == 1) == isLower
            let one = from.row(min(max(0, first), from.rows - 1))
            guard !isOwn else {
                result.update(from: one, count: to.rowBytes)
                continue
            }
            let other = from.row(min(max(0, first + 1), from.rows - 1))
            for x in 0..<to.rowBytes {
                let sum = UInt16(one[x]) + UInt16(other[x]) + 1
                result[x] = UInt8(truncatingIfNeeded: sum >> 1)
            }
        }
    }
}
