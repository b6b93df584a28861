import CJPEG
package import Frames

/// The reason why a JPEG is not shown.
package struct JPEGError: Error, Hashable, CustomStringConvertible {
    /// The kind of fault.
    package enum Code: Hashable, Sendable {
        /// Not a JPEG, or one that ends early or is damaged. The next frame may be fine.
        case damaged
        /// A JPEG whose colours or sampling no YUV frame can hold. The next one will be the same.
        case unsupported
        /// A header that claims more pixels than any camera has.
        case tooLarge
        /// The decoder could not be made, for want of memory.
        case noDecoder
    }
    /// The kind of fault.
    package let code: Code
    /// The library's message, or our own.
    package let description: String
}

/// The factor by which a JPEG shrinks while it is decoded.
package enum JPEGScale: Int, CaseIterable, Sendable {
    /// Every pixel.
    case full = 1
    /// Half the width and height.
    case half = 2
    /// A quarter of each.
    case quarter = 4
    /// An eighth of each.
    case eighth = 8

    /// Returns the smallest scale at which a picture of `size` has a pixel for each one drawn of
    /// it, `full` if none has, or `nil` if the picture is hidden.
    package static func smallest(for extent: ShownExtent, of size: Size) -> JPEGScale? {
        guard !extent.isHidden else { return nil }
        let drawn = extent.drawn(size)
        return allCases.last {
            // As in the scaler, which would halve a larger picture.
            $0 == .full
                || Scaler.suffices(Double(size.width) / Double($0.rawValue), for: drawn.width)
                    && Scaler.suffices(Double(size.height) / Double($0.rawValue), for: drawn.height)
        }
    }

    /// Returns `size` at this scale, rounded up as libjpeg does.
    package func apply(to size: Size) -> Size {
        Size(
            width: (size.width + rawValue - 1) / rawValue,
            height: (size.height + rawValue - 1) / rawValue
        )
    }
}

/// Decodes JPEG frames directly to planar YUV, with libjpeg-turbo.
///
/// - Context: bound to one thread at a time.
package final class JPEGDecoder {
    /// The picture's properties by the header of a JPEG.
    package struct Header: Hashable {
        /// The size in pixels.
        package let size: Size
        /// The format of the decoded planes: a planar format, or gray.
        package let format: PixelFormat

        /// Returns the layout of the picture decoded at `scale`. A 4:2:0 picture has chroma for
        /// every pixel once it is smaller: libjpeg uses all that chroma's blocks hold.
        package func layout(at scale: JPEGScale) -> FrameLayout {
            FrameLayout(
                size: scale.apply(to: size),
                format: format == .i420 && scale != .full ? .i444 : format
            )
        }
    }

    /// The most pixels of a picture to decode: 8192x8192.
    package static let maximumArea = 1 << 26

    private let decoder: OpaquePointer
    /// The header that was read last, if its picture is not decoded yet.
    private var read: (bytes: UnsafeRawBufferPointer, header: Header)?

    /// Creates a decoder with tables of its own.
    ///
    /// - Throws: `noDecoder` without memory.
    package init() throws(JPEGError) {
        guard let decoder = cjpeg_create() else {
            throw JPEGError(code: .noDecoder, description: "no memory")
        }
        self.decoder = decoder
    }

    deinit { cjpeg_destroy(decoder) }

    /// Reads the header of `bytes` (jpeg_read_header); touches no memory for pixels.
    ///
    /// - Throws: `damaged`, `unsupported` or `tooLarge`.
    package func header(of bytes: UnsafeRawBufferPointer) throws(JPEGError) -> Header {
        read = nil
        var found = cjpeg_header()
        let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let base, cjpeg_read_header(decoder, base, bytes.count, &found) == 0 else {
            throw failure
        }
        let size = Size(width: Int(found.width), height: Int(found.height))
        guard size.area > 0 else {
            throw JPEGError(code: .damaged, description: "a picture without pixels")
        }
        guard size.area <= Self.maximumArea else {
            throw JPEGError(code: .tooLarge, description: "a picture of \(size)")
        }
        guard let format = found.format else {
            throw JPEGError(code: .unsupported, description: "neither YCbCr nor gray")
        }
        let header = Header(size: size, format: format)
        read = (bytes, header)
        return header
    }

    /// Decodes `bytes`, whose header is `header`, into `buffer` as `layout` says
    /// (jpeg_read_raw_data). The colours are `ColorSpace.jpeg`.
    ///
    /// `layout` must be `header.layout(at: scale)`, and the buffer at least as long. Allocates only
    /// for the first, for one that needs more memory than all before, and for progressive ones.
    ///
    /// Returns `true` if the file has noise that leaves the picture whole: a few stray bytes before
    /// a restart marker, any before the end marker, or no end marker. Some cameras write every
    /// frame like that.
    ///
    /// - Throws: `damaged` for anything less than a whole picture, after which the buffer's content
    ///   is worthless; and the errors of `header(of:)`.
    @discardableResult package func decode(
        _ bytes: UnsafeRawBufferPointer,
        header: Header,
        scale: JPEGScale = .full,
        into buffer: FrameBuffer,
        layout: FrameLayout
    ) throws(JPEGError) -> Bool {
        precondition(layout == header.layout(at: scale))
        // A header that was only just read need not be read again.
        if read?.bytes.baseAddress != bytes.baseAddress || read?.bytes.count != bytes.count {
            _ = try self.header(of: bytes)
        }
        guard read?.header == header else {
            throw JPEGError(code: .damaged, description: "another picture than its header's")
        }
        read = nil
        let count = layout.planeCount
        var planes: [3 of cjpeg_plane] = [
            cjpeg_plane(buffer.plane(0, of: layout)),
            cjpeg_plane(buffer.plane(count == 3 ? 1 : 0, of: layout)),
            cjpeg_plane(buffer.plane(count == 3 ? 2 : 0, of: layout)),
        ]
        var span = planes.mutableSpan
        let result = span.withUnsafeMutableBufferPointer {
            cjpeg_decode(decoder, CInt(scale.rawValue), $0.baseAddress)
        }
        guard result >= 0 else { throw failure }
        return result > 0
    }

    /// The last fault.
    private var failure: JPEGError {
        JPEGError(code: .damaged, description: String(cString: cjpeg_message(decoder)))
    }
}

extension cjpeg_header {
    /// The format of the decoded planes; `nil` if no frame can hold them.
    fileprivate var format: PixelFormat? {
        if is_gray != 0 { return .gray }
        guard is_ycc != 0, across.1 == across.2, down.1 == down.2, across.1 > 0, down.1 > 0,
            across.0 % across.1 == 0, down.0 % down.1 == 0
        else { return nil }
        return switch (across.0 / across.1, down.0 / down.1) {
        case (1, 1): .i444
        case (2, 1): .i422
        case (2, 2): .i420
        case (1, 2): .i440
        case (4, 1): .i411
        default: nil
        }
    }
}

extension cjpeg_plane {
    fileprivate init(_ plane: Plane) {
        self.init(base: plane.base, stride: plane.stride, rows: UInt32(plane.rows))
    }
}
