import CGTK
package import Frames
import Glibc
import Synchronization

/// A picture in memory, four bytes a pixel: blue, green, red, and one unused.
///
/// - Context: any thread; it is written before it is shared.
package final class Pixels: Sendable {
    /// The size of the picture.
    package let size: Size
    /// The memory, `stride` bytes a row.
    nonisolated(unsafe) package let memory: UnsafeMutableRawPointer
    /// The bytes from one row to the next.
    package var stride: Int { size.width * 4 }
    private let pool: PixelPool?

    /// Creates a picture of `size` whose memory comes from `pool`, if there is one, and goes back
    /// to it.
    package init(_ size: Size, from pool: PixelPool? = nil) {
        self.size = size
        self.pool = pool
        let count = max(64, size.area * 4)
        memory = pool?.take(count) ?? .allocate(byteCount: count, alignment: 64)
    }

    deinit {
        guard let pool else { return memory.deallocate() }
        pool.give(back: memory, size.area * 4)
    }
}

/// The memory of a stream's pictures, which is used again.
///
/// - Context: any thread.
package final class PixelPool: Sendable {
    private struct Spare: @unchecked Sendable {
        var memory: UnsafeMutableRawPointer
        var count: Int
    }

    private let spares = Mutex<[Spare]>([])

    /// Creates an empty pool.
    package init() {}

    deinit { spares.withLock { $0.forEach { $0.memory.deallocate() } } }

    fileprivate func take(_ count: Int) -> UnsafeMutableRawPointer? {
        let spare = spares.withLock { spares -> Spare? in
            let index = spares.firstIndex { $0.count == count }
            return index.map { spares.remove(at: $0) }
        }
        return spare?.memory
    }

    fileprivate func give(back memory: UnsafeMutableRawPointer, _ count: Int) {
        let spare = Spare(memory: memory, count: max(64, count))
        let old = spares.withLock { spares -> Spare? in
            spares.append(spare)
            // Pictures of an older size come to the front, and go.
            return spares.count > 3 ? spares.removeFirst() : nil
        }
        old?.memory.deallocate()
    }
}

/// A picture as GTK draws it.
package final class Texture: Object {
    /// Shows `part` of `pixels`, or all of it, and keeps them as long.
    package init(_ pixels: Pixels, part: PixelRect? = nil) {
        let whole = PixelRect(pixels.size)
        let part = (part ?? whole).intersection(whole)
        let start = pixels.memory + part.y * pixels.stride + part.x * 4
        let bytes = g_bytes_new_with_free_func(
            start,
            gsize((part.height - 1) * pixels.stride + part.width * 4),
            { context in
                if let context { Unmanaged<Pixels>.fromOpaque(context).release() }
            },
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

    /// Reads the picture in a file's `bytes`, such as a PNG; `nil` if it is none.
    package init?(file bytes: [UInt8]) {
        let data = g_bytes_new(bytes, gsize(bytes.count))
        defer { g_bytes_unref(data) }
        guard let texture = gdk_texture_new_from_bytes(data, nil) else { return nil }
        super.init(taking: UnsafeMutableRawPointer(texture))
    }

    /// The size in pixels.
    package var size: Size {
        Size(
            width: Int(gdk_texture_get_width(opaque)),
            height: Int(gdk_texture_get_height(opaque))
        )
    }
}
