import CYUV
package import Frames

extension Plane {
    /// Scales the plane to the size of `destination` (libyuv's ScalePlane): averages if it shrinks
    /// to less than half, and interpolates otherwise. Planes of one size are copied directly.
    package func scale(to destination: Plane) {
        guard rowBytes > 0, rows > 0, destination.rowBytes > 0, destination.rows > 0 else {
            return
        }
        ScalePlane(
            base,
            CInt(stride),
            CInt(rowBytes),
            CInt(rows),
            destination.base,
            CInt(destination.stride),
            CInt(destination.rowBytes),
            CInt(destination.rows),
            kFilterBox
        )
    }

    /// The size in bytes.
    fileprivate var size: Size { Size(width: rowBytes, height: rows) }

    /// Turns and mirrors the plane into `destination` by `transform` (libyuv's RotatePlane and
    /// MirrorPlane). `destination` has the transformed size.
    package func orient(_ transform: Transform, into destination: Plane) {
        let turned = transform.apply(to: Size(width: rowBytes, height: rows))
        precondition(turned.width == destination.rowBytes && turned.height == destination.rows)
        // Mirroring left to right and then turning is the same as flipping upside down, which
        // libyuv does for a negative height, and turning half a turn further.
        switch (transform.isMirrored, transform.quarterTurns) {
        case (false, 0): copy(to: destination)
        case (false, 1): rotate(kRotate90, height: rows, into: destination)
        case (false, 2): rotate(kRotate180, height: rows, into: destination)
        case (false, _): rotate(kRotate270, height: rows, into: destination)
        case (true, 0): mirror(into: destination)
        case (true, 1): rotate(kRotate270, height: -rows, into: destination)
        case (true, 2): rotate(kRotate0, height: -rows, into: destination)
        case (true, _): rotate(kRotate90, height: -rows, into: destination)
        }
    }

    private func rotate(_ mode: RotationMode, height: Int, into destination: Plane) {
        RotatePlane(
            base,
            CInt(stride),
            destination.base,
            CInt(destination.stride),
            CInt(rowBytes),
            CInt(height),
            mode
        )
    }

    private func mirror(into destination: Plane) {
        MirrorPlane(
            base,
            CInt(stride),
            destination.base,
            CInt(destination.stride),
            CInt(rowBytes),
            CInt(rows)
        )
    }
}

extension Planes {
    /// Returns the picture at `size`, whose width is even, turned by `transform`, with chroma half
    /// as wide as luma and as high.
    ///
    /// It is scaled first if that leaves fewer pixels to turn. The planes lie in `first` or
    /// `second`, and are valid until these are used again; a picture that is already so is returned
    /// itself.
    package func scaled(
        to size: Size,
        transform: Transform,
        _ first: inout Scratch,
        _ second: inout Scratch
    ) -> Planes {
        precondition(size.width > 0 && size.height > 0 && size.width % 2 == 0)
        let isFinal =
            self.size == size && u.size == Size(width: size.width / 2, height: size.height)
        if isFinal, transform == .identity { return self }
        let final = FrameLayout(size: size, format: .i422)
        if transform == .identity {
            let result = Planes(at: first.reserve(final.byteCount), layout: final)
            scale(to: result)
            return result
        }
        if size.area <= self.size.area {
            let turned = FrameLayout(
                size: transform.inverse.apply(to: size),
                format: transform.swapsAxes ? .i440 : .i422
            )
            let scaled = Planes(at: first.reserve(turned.byteCount), layout: turned)
            scale(to: scaled)
            let result = Planes(at: second.reserve(final.byteCount), layout: final)
            scaled.orient(transform, into: result)
            return result
        }
        let turned = oriented(transform, in: &first)
        let result = Planes(at: second.reserve(final.byteCount), layout: final)
        turned.scale(to: result)
        return result
    }

    /// Returns the picture turned by `transform`, each plane at its own size, in `scratch`.
    package func oriented(_ transform: Transform, in scratch: inout Scratch) -> Planes {
        let result = Planes(
            in: &scratch,
            luma: transform.apply(to: size),
            chroma: transform.apply(to: u.size)
        )
        orient(transform, into: result)
        return result
    }

    init(in scratch: inout Scratch, luma: Size, chroma: Size) {
        let lumaStride = (luma.width + 63) / 64 * 64
        let chromaStride = (chroma.width + 63) / 64 * 64
        let lumaExtent = lumaStride * luma.height
        let chromaExtent = chromaStride * chroma.height
        let base = scratch.reserve(lumaExtent + 2 * chromaExtent)
        func plane(_ offset: Int, _ stride: Int, _ size: Size) -> Plane {
            Plane(base: base + offset, stride: stride, rowBytes: size.width, rows: size.height)
        }
        self.init(
            luma: plane(0, lumaStride, luma),
            u: plane(lumaExtent, chromaStride, chroma),
            v: plane(lumaExtent + chromaExtent, chromaStride, chroma)
        )
    }

    private func scale(to result: Planes) {
        luma.scale(to: result.luma)
        u.scale(to: result.u)
        v.scale(to: result.v)
    }

    private func orient(_ transform: Transform, into result: Planes) {
        luma.orient(transform, into: result.luma)
        u.orient(transform, into: result.u)
        v.orient(transform, into: result.v)
    }
}
