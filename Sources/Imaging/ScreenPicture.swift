import CYUV
package import Frames

/// A picture of the stream in the form of a screen's: four bytes a pixel, blue, green, red and an
/// opaque fourth. Bound to one thread.
package final class ScreenPicture {
    private var planes = Scratch()
    private var scaled = Scratch()

    package init() {}

    /// Writes the YUY2 picture `source` of `size` (BT.601, limited range) to `target`, as large as
    /// `shown`. Scales before it converts, so that a small picture costs little.
    package func convert(
        _ source: UnsafePointer<UInt8>,
        stride: Int,
        _ size: Size,
        to target: UnsafeMutablePointer<UInt8>,
        targetStride: Int,
        _ shown: Size
    ) {
        guard size != shown else {
            YUY2ToARGB(
                source,
                CInt(stride),
                target,
                CInt(targetStride),
                CInt(size.width),
                CInt(size.height)
            )
            return
        }
        let from = Picture(size, in: &planes)
        let to = Picture(shown, in: &scaled)
        YUY2ToI422(
            source,
            CInt(stride),
            from.y.base,
            CInt(from.y.stride),
            from.u.base,
            CInt(from.u.stride),
            from.v.base,
            CInt(from.v.stride),
            CInt(size.width),
            CInt(size.height)
        )
        from.y.scale(to: to.y)
        from.u.scale(to: to.u)
        from.v.scale(to: to.v)
        I422ToARGB(
            to.y.base,
            CInt(to.y.stride),
            to.u.base,
            CInt(to.u.stride),
            to.v.base,
            CInt(to.v.stride),
            target,
            CInt(targetStride),
            CInt(shown.width),
            CInt(shown.height)
        )
    }

    /// Hides the room in `source`, a small picture of a screen of `size` that was taken at `time`,
    /// with `filter`, and writes it to `target`. Both have rows of `stride` bytes. Returns `false`
    /// if it cannot. Allocates.
    package func hideRoom(
        in source: UnsafeMutablePointer<UInt8>,
        stride: Int,
        _ size: Size,
        at time: Timestamp,
        with filter: RoomFilter,
        to target: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        let layout = FrameLayout(size: size, format: .i420)
        let buffer = FrameBuffer(byteCount: layout.byteCount)
        let plane = Plane(base: source, stride: stride, rowBytes: 4 * size.width, rows: size.height)
        guard makePlanar([plane], .bgrx, into: buffer, layout) else { return false }
        let frame = Frame(
            buffer: buffer,
            layout: layout,
            color: .video,
            timestamp: time,
            sequence: 0
        )
        guard let hidden = filter.hide(frame, by: RoomCover()) else { return false }
        let planes = (0..<3).map { hidden.plane($0) }
        I420ToARGB(
            planes[0].base,
            CInt(planes[0].stride),
            planes[1].base,
            CInt(planes[1].stride),
            planes[2].base,
            CInt(planes[2].stride),
            target,
            CInt(stride),
            CInt(size.width),
            CInt(size.height)
        )
        return true
    }

    /// Three planes, chroma half as wide as luma.
    private struct Picture {
        let y, u, v: Plane

        init(_ size: Size, in scratch: inout Scratch) {
            let half = (size.width + 1) / 2
            let base = scratch.reserve((size.width + 2 * half) * size.height)
            y = Plane(base: base, stride: size.width, rowBytes: size.width, rows: size.height)
            let chroma = base + size.width * size.height
            u = Plane(base: chroma, stride: half, rowBytes: half, rows: size.height)
            v = Plane(
                base: chroma + half * size.height,
                stride: half,
                rowBytes: half,
                rows: size.height
            )
        }
    }
}
