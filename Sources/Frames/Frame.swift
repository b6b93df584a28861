import Glibc

/// A point in time on CLOCK_MONOTONIC, or the span between two, in nanoseconds.
package struct Timestamp: Hashable, Comparable, Sendable {
    /// The nanoseconds since the clock's start.
    package var nanoseconds: Int64

    /// Creates the point `nanoseconds` after the clock's start.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package init(seconds: Double) { nanoseconds = Int64((seconds * 1e9).rounded()) }

    /// The clock's start, or an empty span.
    package static let zero = Timestamp(nanoseconds: 0)

    package var seconds: Double { Double(nanoseconds) / 1e9 }

    /// Returns `true` if `a` is earlier than `b`.
    package static func < (a: Timestamp, b: Timestamp) -> Bool { a.nanoseconds < b.nanoseconds }
    /// Returns the sum of a point and a span, or of two spans.
    package static func + (a: Timestamp, b: Timestamp) -> Timestamp {
        Timestamp(nanoseconds: a.nanoseconds + b.nanoseconds)
    }
    /// Returns the span from `b` to `a`.
    package static func - (a: Timestamp, b: Timestamp) -> Timestamp {
        Timestamp(nanoseconds: a.nanoseconds - b.nanoseconds)
    }
}

/// The memory of one frame. Owned by a pool and lent to a `Frame`. The code that drew it from the
/// pool writes it before the frame is passed on; after that it is only read.
package final class FrameBuffer: @unchecked Sendable {
    // Unchecked: `FramePool` lends a buffer to one writer at a time, and the writes are published
    // when the frame is handed over under a lock.

    /// The bytes, aligned to 64.
    package let bytes: UnsafeMutableRawBufferPointer
    /// The owner of `bytes` if they are not ours, such as a device's mapped memory.
    private let owner: AnyObject?

    /// Allocates `byteCount` zero bytes, freed with the buffer. Through mmap(2), they take no
    /// memory until they are written, so a buffer that is never lent costs nothing.
    package init(byteCount: Int) {
        let (protection, flags) = (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS)
        let memory = mmap(nil, max(1, byteCount), protection, flags, -1, 0)
        guard let memory, memory != MAP_FAILED else { preconditionFailure("no memory for a frame") }
        bytes = UnsafeMutableRawBufferPointer(start: memory, count: byteCount)
        owner = nil
    }

    /// Borrows memory that is valid while `owner` lives; the buffer retains `owner`.
    package init(borrowing bytes: UnsafeMutableRawBufferPointer, owner: AnyObject) {
        self.bytes = bytes
        self.owner = owner
    }

    /// `true` if the memory has another owner, such as a device.
    package var isBorrowed: Bool { owner != nil }

    deinit {
        if owner == nil { munmap(bytes.baseAddress, max(1, bytes.count)) }
    }
}

/// One plane of a frame: rows of bytes. A view without ownership, valid while its frame is held.
package struct Plane {
    /// The first byte of the first row.
    package let base: UnsafeMutablePointer<UInt8>
    /// The distance from one row to the next in bytes, at least `rowBytes`.
    package let stride: Int
    /// The bytes of picture in each row.
    package let rowBytes: Int
    package let rows: Int

    /// A plane of `rows` × `stride` bytes at `base`, with `rowBytes` bytes of picture in each.
    package init(base: UnsafeMutablePointer<UInt8>, stride: Int, rowBytes: Int, rows: Int) {
        precondition(stride >= rowBytes)
        self.base = base
        self.stride = stride
        self.rowBytes = rowBytes
        self.rows = rows
    }

    /// Returns the first byte of row `y`, 0 ≤ y < rows.
    package func row(_ y: Int) -> UnsafeMutablePointer<UInt8> { base + y * stride }
}

/// The positions of a picture's planes in its buffer.
package struct FrameLayout: Hashable, Sendable {
    package let size: Size
    package let format: PixelFormat
    /// The stride of the first plane, in bytes. Chroma strides follow from it.
    package let stride: Int

    /// Creates a layout of `format` at `size` with rows of `stride` bytes, or as short as 64-byte
    /// alignment allows. The format must be planar YUV, gray, YUYV, UYVY or NV12; the caller has to
    /// check.
    package init(size: Size, format: PixelFormat, stride: Int? = nil) {
        self.size = size
        self.format = format
        let even = (size.width + 1) / 2 * 2
        let tight =
            switch format {
            case .yuyv, .uyvy: 2 * even
            case .nv12: even
            default: size.width
            }
        self.stride = stride ?? (tight + 63) / 64 * 64
        precondition(self.stride >= tight, "a stride shorter than its row")
    }

    /// The number of planes: 1, 2 (NV12) or 3.
    package var planeCount: Int {
        if format.planarSubsampling != nil { 3 } else if format == .nv12 { 2 } else { 1 }
    }

    /// Returns the offset from the buffer's start, the stride and the row length of plane `index`,
    /// in bytes, and its number of rows.
    package func plane(_ index: Int) -> (offset: Int, stride: Int, rowBytes: Int, rows: Int) {
        precondition(index >= 0 && index < planeCount)
        let luma = stride * size.height
        if let (h, v) = format.planarSubsampling {
            if index == 0 { return (0, stride, size.width, size.height) }
            let chromaStride = (stride + h - 1) / h
            let rows = (size.height + v - 1) / v
            let offset = luma + (index == 2 ? chromaStride * rows : 0)
            return (offset, chromaStride, (size.width + h - 1) / h, rows)
        }
        if format == .nv12 {
            return index == 0
                ? (0, stride, size.width, size.height)
                : (luma, stride, (size.width + 1) / 2 * 2, (size.height + 1) / 2)
        }
        let packed = format == .yuyv || format == .uyvy
        return (0, stride, packed ? (size.width + 1) / 2 * 4 : size.width, size.height)
    }

    /// The size of the whole picture, in bytes.
    package var byteCount: Int {
        let last = plane(planeCount - 1)
        return last.offset + last.stride * last.rows
    }
}

/// One picture of a camera with its properties. Immutable; copies are cheap.
package struct Frame: Sendable {
    /// The memory. Returns to its pool with the last copy of the frame.
    package let buffer: FrameBuffer
    package let layout: FrameLayout
    package let color: ColorSpace
    /// The time of capture, on CLOCK_MONOTONIC.
    package var timestamp: Timestamp
    /// The camera's own frame number; gaps show losses.
    package let sequence: UInt64
    /// The size of the camera's picture in pixels. This frame may be a smaller copy of it.
    package let pictureSize: Size
    /// The number of the picture's pixels per pixel of this frame, in each direction; 1 if it has
    /// them all. The last row and column may stand for fewer.
    package let reduction: Int
    /// `true` if the room behind a person is not seen in it.
    package var isRoomHidden = false
    /// The memory of `cutout`; `nil` if no persons were looked for to be shown without their room.
    package var mask: FrameBuffer?

    /// Creates a frame in `buffer`, laid out as `layout`; the buffer is at least that long. The
    /// frame is the picture itself, or a copy of one of `pictureSize`, smaller by `reduction`.
    package init(
        buffer: FrameBuffer,
        layout: FrameLayout,
        color: ColorSpace,
        timestamp: Timestamp,
        sequence: UInt64,
        pictureSize: Size? = nil,
        reduction: Int = 1
    ) {
        precondition(buffer.bytes.count >= layout.byteCount, "a frame larger than its buffer")
        self.buffer = buffer
        self.layout = layout
        self.color = color
        self.timestamp = timestamp
        self.sequence = sequence
        self.pictureSize = pictureSize ?? layout.size
        self.reduction = reduction
    }

    /// The part of the frame's own pixels that is picture: all, except a part of the last row and
    /// column of a smaller copy.
    package var picture: Rect {
        Rect(
            x: 0,
            y: 0,
            width: Double(pictureSize.width) / Double(reduction),
            height: Double(pictureSize.height) / Double(reduction)
        )
    }

    /// The mask: a gray picture like this one, of the share of persons in each pixel, 0 … 255.
    package var cutout: Frame? {
        mask.map { mask in
            Frame(
                buffer: mask,
                layout: FrameLayout(size: layout.size, format: .gray),
                color: .video,
                timestamp: timestamp,
                sequence: sequence,
                pictureSize: pictureSize,
                reduction: reduction
            )
        }
    }

    /// Returns plane `index` of the picture, valid while this frame is held.
    package func plane(_ index: Int) -> Plane {
        buffer.plane(index, of: layout)
    }
}

extension Frame {
    /// The distance of the luma bytes of a row of plane 0, and the place of the first.
    private var lumaBytes: (step: Int, first: Int) {
        switch layout.format {
        case .yuyv: (2, 0)
        case .uyvy: (2, 1)
        default: (1, 0)
        }
    }

    /// The mean of the coded luma, 0 … 255, of 576 pixels spread over the picture.
    package var brightness: Double {
        let plane = plane(0)
        let (step, first) = lumaBytes
        let (columns, rows) = (32, 18)
        var sum = 0
        for row in 0..<rows {
            let bytes = plane.row((2 * row + 1) * layout.size.height / (2 * rows))
            for column in 0..<columns {
                let x = (2 * column + 1) * layout.size.width / (2 * columns)
                sum += Int(bytes[first + step * x])
            }
        }
        return Double(sum) / Double(columns * rows)
    }
}

extension Frame {
    /// The sharpness of the picture, to compare it with others of the same camera: the mean square
    /// of the differences between neighbours in every fourth row of luma.
    package var sharpness: Double {
        let plane = plane(0)
        let (step, first) = lumaBytes
        let (count, rows) = (layout.size.width, layout.size.height)
        guard count > 1, rows > 1 else { return 0 }
        var sum = 0
        for y in stride(from: 0, to: rows - 1, by: 4) {
            let (row, below) = (plane.row(y) + first, plane.row(y + 1) + first)
            for x in 0..<count - 1 {
                let (across, down) = (
                    Int(row[step * (x + 1)]) - Int(row[step * x]),
                    Int(below[step * x]) - Int(row[step * x])
                )
                sum += across * across + down * down
            }
        }
        return Double(sum) / Double((count - 1) * ((rows + 2) / 4))
    }

    /// Returns a copy in memory of its own, which neither a pool nor a device waits for.
    package func copy() -> Frame {
        let copy = FrameBuffer(byteCount: layout.byteCount)
        copy.bytes.copyMemory(
            from: UnsafeRawBufferPointer(rebasing: buffer.bytes[..<layout.byteCount])
        )
        var frame = Frame(
            buffer: copy,
            layout: layout,
            color: color,
            timestamp: timestamp,
            sequence: sequence,
            pictureSize: pictureSize,
            reduction: reduction
        )
        frame.isRoomHidden = isRoomHidden
        frame.mask = cutout?.copy().buffer
        return frame
    }
}

/// One picture of a camera as a JPEG, as received. Immutable; copies are cheap.
package struct JPEGFrame: Sendable {
    /// The memory, of which the first `byteCount` bytes are the JPEG. Returns to its owner with the
    /// last copy. If it belongs to a device, holding many frames stops the device.
    package let buffer: FrameBuffer
    package let byteCount: Int
    /// The time of capture, on CLOCK_MONOTONIC.
    package let timestamp: Timestamp
    /// The camera's own frame number; gaps show losses.
    package let sequence: UInt64

    /// A frame of the JPEG in the first `byteCount` bytes of `buffer`, which is not checked.
    package init(buffer: FrameBuffer, byteCount: Int, timestamp: Timestamp, sequence: UInt64) {
        precondition(buffer.bytes.count >= byteCount, "a JPEG longer than its buffer")
        self.buffer = buffer
        self.byteCount = byteCount
        self.timestamp = timestamp
        self.sequence = sequence
    }

    /// The JPEG, valid while this frame is held.
    package var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: buffer.bytes[..<byteCount])
    }
}

extension FrameBuffer {
    /// Returns plane `index` of a picture laid out as `layout`; valid while the buffer is held.
    package func plane(_ index: Int, of layout: FrameLayout) -> Plane {
        let (offset, stride, rowBytes, rows) = layout.plane(index)
        guard let base = bytes.baseAddress, bytes.count >= offset + stride * rows else {
            preconditionFailure("a plane outside its buffer")
        }
        return Plane(
            base: (base + offset).assumingMemoryBound(to: UInt8.self),
            stride: stride,
            rowBytes: rowBytes,
            rows: rows
        )
    }
}

/// A fixed set of buffers, lent one by one, so that frames cost no allocation. Bound to the thread
/// that draws from it. Any thread may return a buffer by releasing it.
package struct FramePool: ~Copyable {
    private var buffers: [FrameBuffer]

    package init(count: Int, byteCount: Int) {
        buffers = (0..<count).map { _ in FrameBuffer(byteCount: byteCount) }
    }

    /// Creates a pool of `buffers`, which have no other owner.
    package init(_ buffers: [FrameBuffer]) {
        self.buffers = buffers
    }

    /// Returns a free buffer, or `nil` if all are lent. It is always the first free one, so that
    /// rarely needed buffers take no memory and the others stay in the processor's cache.
    package mutating func draw() -> FrameBuffer? {
        for index in buffers.indices where isKnownUniquelyReferenced(&buffers[index]) {
            return buffers[index]
        }
        return nil
    }
}

/// A pool whose buffers are made anew when a larger one is wanted. As `FramePool`.
package struct GrowingPool: ~Copyable {
    private var pool = FramePool([])
    private let count: Int
    private var byteCount = 0

    /// Creates a pool of `count` buffers, none of which is made yet.
    package init(count: Int) { self.count = count }

    /// Returns a free buffer of at least `byteCount` bytes, or `nil` if all are lent. Allocates for
    /// the first one, and for one larger than all before.
    package mutating func draw(byteCount: Int) -> FrameBuffer? {
        if self.byteCount < byteCount {
            self.byteCount = byteCount
            pool = FramePool(count: count, byteCount: byteCount)
        }
        return pool.draw()
    }
}
