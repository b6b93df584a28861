import Glibc

/// A point of CLOCK_MONOTONIC, in nanoseconds; also a span between two.
package struct Timestamp: Hashable, Comparable, Sendable {
    /// Nanoseconds since the clock's start.
    package var nanoseconds: Int64

    /// The point `nanoseconds` after the clock's start.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The span of `seconds`.
    package init(seconds: Double) { nanoseconds = Int64((seconds * 1e9).rounded()) }

    /// The clock's start, or no time at all.
    package static let zero = Timestamp(nanoseconds: 0)

    /// In seconds.
    package var seconds: Double { Double(nanoseconds) / 1e9 }

    /// Earlier before later.
    package static func < (a: Timestamp, b: Timestamp) -> Bool { a.nanoseconds < b.nanoseconds }
    /// A point and a span make a later point.
    package static func + (a: Timestamp, b: Timestamp) -> Timestamp {
        Timestamp(nanoseconds: a.nanoseconds + b.nanoseconds)
    }
    /// The span from `b` to `a`.
    package static func - (a: Timestamp, b: Timestamp) -> Timestamp {
        Timestamp(nanoseconds: a.nanoseconds - b.nanoseconds)
    }
}

/// The memory of one frame.
///
/// Owned by a pool and lent to a `Frame`. It is written by whoever drew it from the pool, before
/// the frame is handed on, and only read after that.
package final class FrameBuffer: @unchecked Sendable {
    // Unchecked: `FramePool` lends a buffer to one writer at a time, and what it writes is
    // published by handing over the frame through a lock.

    /// The bytes, aligned to 64.
    package let bytes: UnsafeMutableRawBufferPointer
    /// What keeps `bytes` alive when they are not ours (a device's mapped memory).
    private let owner: AnyObject?

    /// Memory of `byteCount` zero bytes, freed with the buffer. It takes none of the machine's until
    /// it is written to, by mmap(2): a buffer that is never lent costs nothing.
    package init(byteCount: Int) {
        let (protection, flags) = (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS)
        let memory = mmap(nil, max(1, byteCount), protection, flags, -1, 0)
        guard let memory, memory != MAP_FAILED else { preconditionFailure("no memory for a frame") }
        bytes = UnsafeMutableRawBufferPointer(start: memory, count: byteCount)
        owner = nil
    }

    /// Memory of somebody else: valid as long as `owner` lives, which this buffer sees to.
    package init(borrowing bytes: UnsafeMutableRawBufferPointer, owner: AnyObject) {
        self.bytes = bytes
        self.owner = owner
    }

    deinit {
        if owner == nil { munmap(bytes.baseAddress, max(1, bytes.count)) }
    }
}

/// One plane of a frame: rows of bytes.
///
/// A view without ownership: valid while the frame it came from is held.
package struct Plane {
    /// The first byte of the first row.
    package let base: UnsafeMutablePointer<UInt8>
    /// Bytes from one row to the next, ≥ `rowBytes`.
    package let stride: Int
    /// Bytes of a row that carry picture.
    package let rowBytes: Int
    /// Rows.
    package let rows: Int

    /// A plane of `rows` × `stride` bytes at `base`, of which `rowBytes` in each row are picture.
    package init(base: UnsafeMutablePointer<UInt8>, stride: Int, rowBytes: Int, rows: Int) {
        precondition(stride >= rowBytes)
        self.base = base
        self.stride = stride
        self.rowBytes = rowBytes
        self.rows = rows
    }

    /// The first byte of row `y`, 0 ≤ y < rows.
    package func row(_ y: Int) -> UnsafeMutablePointer<UInt8> { base + y * stride }
}

/// Where the planes of a picture lie in its buffer.
package struct FrameLayout: Hashable, Sendable {
    /// Extent in pixels.
    package let size: Size
    /// How pixels lie.
    package let format: PixelFormat
    /// Bytes from row to row of the first plane. Chroma strides follow from it.
    package let stride: Int

    /// A layout for `format` at `size`: rows of `stride` bytes, or as tight as 64-byte alignment allows.
    ///
    /// The format must be planar YUV, gray, YUYV, UYVY or NV12; that it is, is the caller's to know.
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

    /// How many planes there are: 1, 2 (NV12) or 3.
    package var planeCount: Int {
        if format.planarSubsampling != nil { 3 } else if format == .nv12 { 2 } else { 1 }
    }

    /// Offset, stride, bytes a row and rows of plane `index`, in bytes from the buffer's start.
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

    /// Bytes that the whole picture takes.
    package var byteCount: Int {
        let last = plane(planeCount - 1)
        return last.offset + last.stride * last.rows
    }
}

/// One picture of a camera, with what is known of it. Immutable once made; copied freely.
package struct Frame: Sendable {
    /// The memory. Goes back to its pool when the last copy of the frame is gone.
    package let buffer: FrameBuffer
    /// Where the planes lie in it.
    package let layout: FrameLayout
    /// What its numbers mean.
    package let color: ColorSpace
    /// When the camera took it, on CLOCK_MONOTONIC.
    package let timestamp: Timestamp
    /// The camera's own count of frames, so that losses show.
    package let sequence: UInt64
    /// Extent of the camera's picture in pixels, of which this may be a smaller copy.
    package let pictureSize: Size
    /// How many of the picture's pixels one of the frame's stands for in each direction; 1 where it
    /// has them all. The last row and column may stand for fewer.
    package let reduction: Int

    /// A frame that lies in `buffer` as `layout` says; the buffer is at least as long. It is a copy of
    /// a picture of `pictureSize`, made smaller by `reduction`, or the picture itself.
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

    /// What of the frame's own pixels is picture: all, but for a part of the last ones of a smaller copy.
    package var picture: Rect {
        Rect(
            x: 0,
            y: 0,
            width: Double(pictureSize.width) / Double(reduction),
            height: Double(pictureSize.height) / Double(reduction)
        )
    }

    /// Plane `index` of the picture; valid while this frame is held.
    package func plane(_ index: Int) -> Plane {
        buffer.plane(index, of: layout)
    }
}

extension Frame {
    /// The mean of its luma as it is coded, 0 … 255, of some hundred pixels all over the picture.
    package var brightness: Double {
        let plane = plane(0)
        let (step, first) =
            switch layout.format {
            case .yuyv: (2, 0)
            case .uyvy: (2, 1)
            default: (1, 0)
            }
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

/// One picture of a camera as a JPEG, as it came. Immutable once made; copied freely.
package struct JPEGFrame: Sendable {
    /// The memory, its first `byteCount` bytes. Where it is a device's, holding many keeps that from
    /// going on; it goes back when the last copy of this is gone.
    package let buffer: FrameBuffer
    /// Length in bytes.
    package let byteCount: Int
    /// When the camera took it, on CLOCK_MONOTONIC.
    package let timestamp: Timestamp
    /// The camera's own count of frames, so that losses show.
    package let sequence: UInt64

    /// The JPEG in the first `byteCount` bytes of `buffer`; nobody has looked at it yet.
    package init(buffer: FrameBuffer, byteCount: Int, timestamp: Timestamp, sequence: UInt64) {
        precondition(buffer.bytes.count >= byteCount, "a JPEG longer than its buffer")
        self.buffer = buffer
        self.byteCount = byteCount
        self.timestamp = timestamp
        self.sequence = sequence
    }

    /// The JPEG; valid while this is held.
    package var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: buffer.bytes[..<byteCount])
    }
}

extension FrameBuffer {
    /// Plane `index` of a picture that lies here as `layout` says; valid while the buffer is held.
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

/// A fixed set of buffers, lent one by one, so that no frame costs an allocation.
///
/// - Context: bound to the thread that draws from it. Buffers come back from any thread, by
///   being released.
package struct FramePool: ~Copyable {
    private var buffers: [FrameBuffer]

    /// `count` buffers of `byteCount` bytes each.
    package init(count: Int, byteCount: Int) {
        buffers = (0..<count).map { _ in FrameBuffer(byteCount: byteCount) }
    }

    /// The given buffers, held by nobody else.
    package init(_ buffers: [FrameBuffer]) {
        self.buffers = buffers
    }

    /// A buffer that nobody holds, or `nil` when all are lent: the first of them, so that those which
    /// are seldom needed do not take memory, and the others stay in the processor's cache.
    package mutating func draw() -> FrameBuffer? {
        for index in buffers.indices where isKnownUniquelyReferenced(&buffers[index]) {
            return buffers[index]
        }
        return nil
    }
}
