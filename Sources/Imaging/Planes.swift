package import Frames

/// Memory that grows to the size requested and is kept, for intermediate rows and pictures.
package struct Scratch: ~Copyable {
    private var bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    package init() {}

    deinit { bytes.deallocate() }

    /// Returns at least `count` bytes, aligned to 64; their earlier content may be lost. Allocates
    /// only if `count` is larger than all before. Valid until then.
    package mutating func reserve(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        if count > bytes.count || bytes.baseAddress == nil {
            bytes.deallocate()
            bytes = .allocate(byteCount: max(count, 64), alignment: 64)
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
        }
        guard let base = bytes.baseAddress else { preconditionFailure("memory without address") }
        return base.assumingMemoryBound(to: UInt8.self)
    }
}

/// A `Scratch` for numbers.
struct FloatScratch: ~Copyable {
    private var scratch = Scratch()
    private(set) var base: UnsafeMutablePointer<Float>

    init() {
        base = UnsafeMutableRawPointer(scratch.reserve(64)).assumingMemoryBound(to: Float.self)
    }

    /// Makes `base` at least `count` numbers long.
    mutating func grow(to count: Int) {
        base = UnsafeMutableRawPointer(scratch.reserve(4 * count))
            .assumingMemoryBound(to: Float.self)
    }
}

extension Plane {
    /// Creates a plane of the shape of `other` at `base`, in rows of `stride` bytes.
    init(base: UnsafeMutablePointer<UInt8>, stride: Int, of other: Plane) {
        self.init(base: base, stride: stride, rowBytes: other.rowBytes, rows: other.rows)
    }

    /// Returns the part of the plane from (`x`, `y`), `width` × `height` bytes, all of it inside.
    package func cropped(x: Int, y: Int, width: Int, height: Int) -> Plane {
        precondition(x >= 0 && y >= 0 && width >= 0 && height >= 0)
        precondition(x + width <= rowBytes && y + height <= rows, "a crop outside its plane")
        return Plane(base: row(y) + x, stride: stride, rowBytes: width, rows: height)
    }

    /// Copies the picture into `destination`, which has the same size.
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

extension Rect {
    /// The smallest rectangle of whole pixel pairs around this one.
    package var outwards: PixelRect {
        let left = Int((x / 2).rounded(.down)) * 2
        let top = Int(y.rounded(.down))
        return PixelRect(
            x: left,
            y: top,
            width: Int((maxX / 2).rounded(.up)) * 2 - left,
            height: Int(maxY.rounded(.up)) - top
        )
    }

    /// The largest rectangle of whole pixel pairs inside this one; empty if there is none.
    package var inwards: PixelRect {
        let left = Int((x / 2).rounded(.up)) * 2
        let top = Int(y.rounded(.up))
        return PixelRect(
            x: left,
            y: top,
            width: max(0, Int((maxX / 2).rounded(.down)) * 2 - left),
            height: max(0, Int(maxY.rounded(.down)) - top)
        )
    }

    /// The rectangle with its edges at the nearest whole pixel pairs, at least one pair in size.
    package var nearest: PixelRect {
        let left = Int((x / 2).rounded()) * 2
        let top = Int(y.rounded())
        return PixelRect(
            x: left,
            y: top,
            width: max(2, Int((maxX / 2).rounded()) * 2 - left),
            height: max(1, Int(maxY.rounded()) - top)
        )
    }
}

/// The three planes of a picture, with any subsampling of chroma. A view without ownership, as
/// `Plane` is.
package struct Planes {
    package var luma: Plane
    /// The blue difference.
    package var u: Plane
    package var v: Plane

    /// Creates planes, with both of chroma in one shape.
    package init(luma: Plane, u: Plane, v: Plane) {
        precondition(u.rowBytes == v.rowBytes && u.rows == v.rows)
        self.luma = luma
        self.u = u
        self.v = v
    }

    package init(at base: UnsafeMutablePointer<UInt8>, layout: FrameLayout) {
        func plane(_ index: Int) -> Plane {
            let (offset, stride, rowBytes, rows) = layout.plane(index)
            return Plane(base: base + offset, stride: stride, rowBytes: rowBytes, rows: rows)
        }
        self.init(luma: plane(0), u: plane(1), v: plane(2))
    }

    /// Returns the part `part` of the picture, in pixels, all of it inside, to within the few
    /// pixels that share their chroma.
    package func cropped(to part: Rect) -> Planes {
        let width = max(4, Int((part.width / 4).rounded()) * 4)
        let height = max(4, Int((part.height / 4).rounded()) * 4)
        // Centred on its middle, but not beyond the edges.
        func start(_ middle: Double, _ extent: Int, _ whole: Int) -> Int {
            let at = Int(((middle - Double(extent) / 2) / 4).rounded(.down)) * 4
            return max(0, min(at, (whole - extent) / 4 * 4))
        }
        let x = start(part.midX, width, size.width)
        let y = start(part.midY, height, size.height)
        let rect = PixelRect(x: x, y: y, width: width, height: height)
            .intersection(PixelRect(size))
        func crop(_ plane: Plane) -> Plane {
            // The pixels that a byte stands for; gray's single neutral byte stands for all.
            guard plane.rowBytes > 1 || plane.rows > 1 else { return plane }
            let across = max(1, (luma.rowBytes + plane.rowBytes / 2) / plane.rowBytes)
            let down = max(1, (luma.rows + plane.rows / 2) / plane.rows)
            return plane.cropped(
                x: rect.x / across,
                y: rect.y / down,
                width: min((rect.width + across - 1) / across, plane.rowBytes - rect.x / across),
                height: min((rect.height + down - 1) / down, plane.rows - rect.y / down)
            )
        }
        return Planes(luma: crop(luma), u: crop(u), v: crop(v))
    }

    package var size: Size { Size(width: luma.rowBytes, height: luma.rows) }
}
