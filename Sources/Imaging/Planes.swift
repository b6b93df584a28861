package import Frames

/// Memory that grows to what was asked of it and stays, for rows and pictures on their way.
package struct Scratch: ~Copyable {
    private var bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// No memory yet.
    package init() {}

    deinit { bytes.deallocate() }

    /// At least `count` bytes, aligned to 64; what they held before may be gone.
    ///
    /// Allocates only when `count` is larger than ever before. Valid until then.
    package mutating func reserve(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        if count > bytes.count || bytes.baseAddress == nil {
            bytes.deallocate()
            bytes = .allocate(byteCount: max(count, 64), alignment: 64)
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
        }
        guard let base = bytes.baseAddress else { preconditionFailure("memory without address") }
        return base.assumingMemoryBound(to: UInt8.self)
    }

    /// A plane of `width` × `height` bytes in rows aligned to 64, as `reserve` gives it.
    package mutating func plane(width: Int, height: Int) -> Plane {
        let stride = (width + 63) / 64 * 64
        return Plane(
            base: reserve(stride * height),
            stride: stride,
            rowBytes: width,
            rows: height
        )
    }
}

extension Plane {
    /// A plane of the shape of `other` at `base`, in rows of `stride` bytes.
    init(base: UnsafeMutablePointer<UInt8>, stride: Int, of other: Plane) {
        self.init(base: base, stride: stride, rowBytes: other.rowBytes, rows: other.rows)
    }

    /// The part of the plane from (`x`, `y`), `width` × `height` bytes, all of it inside.
    package func cropped(x: Int, y: Int, width: Int, height: Int) -> Plane {
        precondition(x >= 0 && y >= 0 && width >= 0 && height >= 0)
        precondition(x + width <= rowBytes && y + height <= rows, "a crop outside its plane")
        return Plane(base: row(y) + x, stride: stride, rowBytes: width, rows: height)
    }

    /// Copies the picture into `destination`, which has the same extent.
    package func copy(to destination: Plane) {
        precondition(rowBytes == destination.rowBytes && rows == destination.rows)
        for y in 0..<rows {
            destination.row(y).update(from: row(y), count: rowBytes)
        }
    }

    /// Sets every byte of the picture.
    package func fill(_ value: UInt8) {
        for y in 0..<rows {
            row(y).update(repeating: value, count: rowBytes)
        }
    }
}

/// The three planes of a picture, chroma subsampled in any way.
///
/// A view without ownership, as `Plane` is.
package struct Planes {
    /// Luma.
    package var luma: Plane
    /// Blue difference.
    package var u: Plane
    /// Red difference, of the same shape.
    package var v: Plane

    /// The planes, chroma both of one shape.
    package init(luma: Plane, u: Plane, v: Plane) {
        precondition(u.rowBytes == v.rowBytes && u.rows == v.rows)
        self.luma = luma
        self.u = u
        self.v = v
    }

    /// The planes of a picture that lies at `base` as `layout`, of a planar format, says.
    package init(at base: UnsafeMutablePointer<UInt8>, layout: FrameLayout) {
        func plane(_ index: Int) -> Plane {
            let (offset, stride, rowBytes, rows) = layout.plane(index)
            return Plane(base: base + offset, stride: stride, rowBytes: rowBytes, rows: rows)
        }
        self.init(luma: plane(0), u: plane(1), v: plane(2))
    }

    /// Extent in pixels.
    package var size: Size { Size(width: luma.rowBytes, height: luma.rows) }
}
