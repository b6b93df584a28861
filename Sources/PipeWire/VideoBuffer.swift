import CPipeWire
package import Frames
import Glibc

/// A picture in a buffer that another process wrote, and may write again at any time. Each number
/// in it is read once, and checked against the memory that there is.
package struct VideoBuffer {
    /// The node's statements about the picture.
    package struct Header: Hashable, Sendable {
        /// The time of capture. Not on our clock if the node is on another computer or has none.
        package let time: Timestamp
        package let sequence: UInt64
        /// `true` if it does not follow the picture before it.
        package let isDiscontinuous: Bool
        package let isDamaged: Bool
    }

    /// A block of memory with a picture, or one plane of it.
    package struct Block: Hashable, Sendable {
        /// The distance from one row to the next in bytes, as the node says: maybe 0 or negative.
        package let stride: Int
        /// The number of bytes that are there.
        package let count: Int
        package let isDamaged: Bool
        fileprivate let index: Int
        fileprivate let offset: Int
    }

    let id: UnsafeMutablePointer<pw_buffer>
    private let content: UnsafeMutablePointer<spa_buffer>
    private let isFixed: Bool

    init(
        id: UnsafeMutablePointer<pw_buffer>,
        content: UnsafeMutablePointer<spa_buffer>,
        isFixed: Bool
    ) {
        self.id = id
        self.content = content
        self.isFixed = isFixed
    }

    /// The header; `nil` if there is none.
    package var header: Header? {
        let found: UnsafeMutablePointer<spa_meta_header>? = meta(SPA_META_Header, of: content)
        guard let header = found?.pointee else { return nil }
        return Header(
            time: Timestamp(nanoseconds: header.pts),
            sequence: header.seq,
            isDiscontinuous: header.flags & UInt32(SPA_META_HEADER_FLAG_DISCONT) != 0,
            isDamaged: header.flags & UInt32(SPA_META_HEADER_FLAG_CORRUPTED) != 0
        )
    }

    /// The transform that a consumer should apply (0: none); `nil` if there is none.
    package var transform: UInt32? {
        let found: UnsafeMutablePointer<spa_meta_videotransform>? =
            meta(SPA_META_VideoTransform, of: content)
        return found?.pointee.transform
    }

    /// The part of a picture of `size` that the node wants to be shown, with even edges; the whole
    /// one if it names none, or one that is not within the picture.
    package func part(of size: Size) -> PixelRect {
        let whole = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
        let found: UnsafeMutablePointer<spa_meta_region>? = meta(SPA_META_VideoCrop, of: content)
        guard let region = found?.pointee.region else { return whole }
        let (x, y) = (Int(region.position.x), Int(region.position.y))
        let (width, height) = (Int(region.size.width), Int(region.size.height))
        guard x >= 0, y >= 0, width > 0, height > 0, x + width <= size.width,
            y + height <= size.height, (width, height) != (size.width, size.height)
        else { return whole }
        let (left, top) = ((x + 1) / 2 * 2, (y + 1) / 2 * 2)
        let (right, bottom) = ((x + width) / 2 * 2, (y + height) / 2 * 2)
        guard right - left >= 2, bottom - top >= 2 else { return whole }
        return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }

    /// The transform that makes the picture upright. PipeWire names how it was turned and mirrored,
    /// anticlockwise after mirroring.
    package var upright: Transform {
        guard let transform, transform < 8 else { return .identity }
        return Transform(quarterTurns: Int(transform & 3))
            .followed(by: Transform(mirrored: transform & 4 != 0))
    }

    package var blockCount: Int { content.pointee.datas == nil ? 0 : Int(content.pointee.n_datas) }

    /// Returns the block `index`; `nil` if there is none, or no memory that we can read.
    package func block(_ index: Int) -> Block? {
        guard index < blockCount, let data = content.pointee.datas?[index], data.data != nil,
            let chunk = data.chunk?.pointee
        else { return nil }
        let room = Int(data.maxsize)
        let offset = min(Int(chunk.offset), room)
        return Block(
            stride: Int(chunk.stride),
            count: min(Int(chunk.size), room - offset),
            isDamaged: chunk.flags & CInt(SPA_CHUNK_FLAG_CORRUPTED) != 0,
            index: index,
            offset: offset
        )
    }

    /// Copies `rows` rows of `rowBytes` bytes from `block`, the first at `offset` and each `stride`
    /// bytes after the one before, to `target`, where they are `targetStride` bytes apart. Returns
    /// `false` if the block does not hold them all.
    package func copy(
        _ block: Block,
        at offset: Int,
        stride: Int,
        rows: Int,
        rowBytes: Int,
        to target: UnsafeMutableRawPointer,
        targetStride: Int
    ) -> Bool {
        guard offset >= 0, rows > 0, rowBytes > 0, stride >= rowBytes || rows == 1,
            offset <= block.count
        else { return false }
        let (distance, overflow) = stride.multipliedReportingOverflow(by: rows - 1)
        guard !overflow, rowBytes <= block.count - offset,
            rows == 1 || distance <= block.count - offset - rowBytes,
            let data = content.pointee.datas?[block.index]
        else { return false }
        let isDriver = data.type == SPA_DATA_DmaBuf.rawValue
        if isDriver { syncDriver(data.fd, dmaBufStart) }
        defer { if isDriver { syncDriver(data.fd, dmaBufEnd) } }
        let isOnePiece = stride == rowBytes && targetStride == rowBytes
        let (count, rowBytes) = isOnePiece ? (1, rows * rowBytes) : (rows, rowBytes)
        for row in 0..<count {
            let to = target + row * targetStride
            let from = block.offset + offset + row * stride
            if isFixed {
                guard let base = data.data else { return false }
                memcpy(to, base + from, rowBytes)
            } else {
                // The node could take the memory away while we read, and a read of mapped memory
                // that is gone ends the process; pread(2) only reads less.
                let place = off_t(data.mapoffset) + off_t(from)
                guard pread(CInt(truncatingIfNeeded: data.fd), to, rowBytes, place) == rowBytes
                else {
                    return false
                }
            }
        }
        return true
    }

    /// Returns `true` if no process can shrink the memory of `buffer` while it is mapped.
    /// PipeWire's daemon seals the memory that it gives out (pw_mempool_alloc). A node that brings
    /// memory of its own may do so, or not, as GStreamer's since PipeWire 1.6. Memory of a driver
    /// (a DMA-BUF, a device) is no regular file and does not shrink.
    static func isFixed(_ buffer: UnsafeMutablePointer<spa_buffer>) -> Bool {
        guard let datas = buffer.pointee.datas else { return true }
        return (0..<Int(buffer.pointee.n_datas)).allSatisfy { index in
            let data = datas[index]
            guard data.type != SPA_DATA_MemPtr.rawValue else { return true }
            let file = CInt(truncatingIfNeeded: data.fd)
            var status = stat()
            guard fstat(file, &status) == 0 else { return false }
            guard status.st_mode & S_IFMT == S_IFREG else { return true }
            let seals = fcntl(file, getSeals)
            return seals >= 0 && seals & sealShrink != 0
                && Int(status.st_size) >= Int(data.mapoffset) + Int(data.maxsize)
        }
    }
}

// F_GET_SEALS and F_SEAL_SHRINK of fcntl(2), which Glibc's module lacks.
private let getSeals: CInt = 1034
private let sealShrink: CInt = 2

// DMA_BUF_IOCTL_SYNC of the kernel: a driver's memory is read between a start and an end.
private let dmaBufSync: UInt = 0x4008_6200
private let (dmaBufStart, dmaBufEnd): (UInt64, UInt64) = (1, 5)

private func syncDriver(_ file: Int64, _ flags: UInt64) {
    var flags = flags
    _ = ioctl(CInt(truncatingIfNeeded: file), dmaBufSync, &flags)
}
