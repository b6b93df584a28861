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
