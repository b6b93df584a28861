import CGTK
package import Frames
import Glibc
import Synchronization

/// A picture in memory, four bytes a pixel: blue, green, red, and one opaque.
///
/// - Context: any thread; it is written before it is shared.
package final class Pixels: Sendable {
    package var size: Size { block.size }
    /// The memory, `stride` bytes a row.
    package var memory: UnsafeMutableRawPointer { block.memory }
    /// The bytes from one row to the next.
    package var stride: Int { size.width * 4 }
    private let block: PixelBlock
    private let pool: PixelPool?

    /// Creates a picture of `size` whose memory comes from `pool`, if there is one, and goes back
    /// to it.
    package init(_ size: Size, from pool: PixelPool? = nil) {
        self.pool = pool
        block = pool?.take(size) ?? PixelBlock(size)
    }

    /// Decodes the picture in a file's `bytes`, a JPEG or a PNG; `nil` if it is none, or too large
    /// for any screen.
    package convenience init?(file bytes: [UInt8]) {
        let data = g_bytes_new(bytes, gsize(bytes.count))
        defer { g_bytes_unref(data) }
        // GDK's textures may be made and read on any thread.
        guard let texture = gdk_texture_new_from_bytes(data, nil) else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        let size = Size(
            width: Int(gdk_texture_get_width(texture)),
            height: Int(gdk_texture_get_height(texture))
        )
        guard size.area <= 1 << 24 else { return nil }
        self.init(size)
        gdk_texture_download(texture, memory.assumingMemoryBound(to: UInt8.self), gsize(stride))
    }

    deinit { pool?.give(back: block) }

    var surface: OpaquePointer? { block.surface }

    /// Returns the picture a whole number of times smaller, but at least `width` pixels wide.
    package func reduced(toWidth width: Int) -> Pixels {
        let factor = max(1, size.width / max(1, width))
        guard factor > 1 else { return self }
        let small = Pixels(Size(width: size.width / factor, height: max(1, size.height / factor)))
        let (from, to) = (
            memory.assumingMemoryBound(to: SIMD4<UInt8>.self),
            small.memory.assumingMemoryBound(to: SIMD4<UInt8>.self)
        )
        let count = UInt32(factor * factor)
        for y in 0..<small.size.height {
            for x in 0..<small.size.width {
                var sum = SIMD4<UInt32>()
                for row in 0..<factor {
                    let start = from + (y * factor + row) * size.width + x * factor
                    for column in 0..<factor {
                        sum &+= SIMD4<UInt32>(truncatingIfNeeded: start[column])
                    }
                }
                let mean = sum / SIMD4(repeating: count)
                to[y * small.size.width + x] = SIMD4(truncatingIfNeeded: mean)
            }
        }
        return small
    }
}

/// The memory of a picture, one after the other.
private final class PixelBlock: Sendable {
    let size: Size
    nonisolated(unsafe) let memory: UnsafeMutableRawPointer
    // Unsafe: used on GTK's thread alone, but for its end, which is the last use.
    nonisolated(unsafe) private var drawn: OpaquePointer?

    init(_ size: Size) {
        self.size = size
        memory = .allocate(byteCount: max(64, size.area * 4), alignment: 64)
    }

    deinit {
        if let drawn { cairo_surface_destroy(drawn) }
        memory.deallocate()
    }

    /// The memory for cairo. It stays from picture to picture: when it ends, cairo copies what was
    /// ever drawn of it.
    var surface: OpaquePointer? {
        if drawn == nil {
            drawn = cairo_image_surface_create_for_data(
                memory.assumingMemoryBound(to: UInt8.self),
                CAIRO_FORMAT_RGB24,
                CInt(size.width),
                CInt(size.height),
                CInt(size.width * 4)
            )
        }
        return drawn
    }
}

/// The memory of a stream's pictures, which is used again.
///
/// - Context: any thread.
package final class PixelPool: Sendable {
    private let spares = Mutex<[PixelBlock]>([])

    package init() {}

    fileprivate func take(_ size: Size) -> PixelBlock? {
        spares.withLock { spares in
            let index = spares.firstIndex { $0.size == size }
            return index.map { spares.remove(at: $0) }
        }
    }

    fileprivate func give(back block: PixelBlock) {
        // What is too much ends after the lock.
        _ = spares.withLock { spares -> PixelBlock? in
            spares.append(block)
            // Pictures of an older size come to the front, and go.
            return spares.count > 3 ? spares.removeFirst() : nil
        }
    }
}

/// An object that a `Picture` shows.
package class Paintable: Object {}

/// A picture as cairo draws it. GTK's own way, a `Texture`, copies it for cairo, and up to GTK 4.8
/// converts each pixel by floating point on the way.
final class Painting: Paintable {
    /// Shows `pixels`, and keeps them as long.
    init(_ pixels: Pixels) {
        let snapshot = gtk_snapshot_new()
        var area = graphene_rect_t()
        area.size = graphene_size_t(
            width: Float(pixels.size.width),
            height: Float(pixels.size.height)
        )
        let cairo = gtk_snapshot_append_cairo(snapshot, &area)
        cairo_set_source_surface(cairo, pixels.surface, 0, 0)
        cairo_paint(cairo)
        cairo_destroy(cairo)
        super.init(
            taking: gtk_snapshot_free_to_paintable(snapshot, nil).map {
                UnsafeMutableRawPointer($0)
            }
        )
        g_object_set_data_full(cast(), "pixels", retained(pixels), release)
    }
}

extension Pixels {
    /// Returns the pixels of `part`, in fractions of the whole picture; `nil` if there are none.
    package func texture(of part: Rect) -> Texture? {
        let area = Rect(size).part(part)
        let pixels = PixelRect(
            x: Int(area.x.rounded()),
            y: Int(area.y.rounded()),
            width: Int(area.width.rounded()),
            height: Int(area.height.rounded())
        ).intersection(PixelRect(size))
        return pixels.isEmpty ? nil : Texture(self, part: pixels)
    }
}

/// A picture as a GPU draws it.
package final class Texture: Paintable {
    /// Shows `part` of `pixels`, or all of it, and keeps them as long.
    init(_ pixels: Pixels, part: PixelRect? = nil) {
        let whole = PixelRect(pixels.size)
        let part = (part ?? whole).intersection(whole)
        let start = pixels.memory + part.y * pixels.stride + part.x * 4
        let bytes = g_bytes_new_with_free_func(
            start,
            gsize((part.height - 1) * pixels.stride + part.width * 4),
            release,
            retained(pixels)
        )
        super.init(
            taking: UnsafeMutableRawPointer(
                gdk_memory_texture_new(
                    CInt(part.width),
                    CInt(part.height),
                    GDK_MEMORY_B8G8R8A8_PREMULTIPLIED,
                    bytes,
                    gsize(pixels.stride)
                )
            )
        )
        g_bytes_unref(bytes)
    }
}
