import CJPEG
package import Frames
import Glibc

/// The reason why a JPEG is not shown.
package struct JPEGError: Error, Hashable, CustomStringConvertible {
    /// The kind of fault.
    package enum Code: Hashable, Sendable {
        /// Not a JPEG, or one that ends early or is damaged. The next frame may be fine.
        case damaged
        /// A JPEG that libjpeg does not decode, or not in good time. The next one will be the same.
        case unsupported
        /// A header that claims more pixels than any camera has.
        case tooLarge
        case noDecoder
    }
    package let code: Code
    /// The library's message for a damaged one; else words that follow "they", the JPEGs.
    package let description: String

    /// The fault in words for people, if all of a camera's JPEGs have it; else `nil`.
    package var lasting: String? {
        switch code {
        case .unsupported, .tooLarge:
            "its JPEGs are of a kind that DualCam cannot show: \(description)"
        case .damaged, .noDecoder: nil
        }
    }
}

/// The factor by which a JPEG shrinks while it is decoded.
package enum JPEGScale: Int, CaseIterable, Sendable {
    /// Every pixel.
    case full = 1
    case half = 2
    case quarter = 4
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

/// Decodes JPEG frames directly to planar YUV, with libjpeg-turbo. Bound to one thread at a time.
package final class JPEGDecoder {
    /// The picture's properties by the header of a JPEG.
    package struct Header: Hashable {
        package let size: Size
        /// The format of the decoded planes: a planar format, or gray.
        package let format: PixelFormat
        /// `true` if the file's own planes have that format, and most programs can show it;
        /// otherwise its colours or their sampling are unusual, and are converted.
        package let isPlain: Bool
        /// `true` if the file has restart markers.
        package let hasRestarts: Bool

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
    private let proceed: () -> Bool
    /// The header that was read last, if its picture is not decoded yet.
    private var read: (bytes: UnsafeRawBufferPointer, header: Header)?

    /// Creates a decoder with tables of its own. It asks `proceed` many times while it decodes a
    /// picture that takes long, and gives that up, as `damaged`, once the answer is `false`. Throws
    /// `noDecoder` without memory.
    package init(proceed: @escaping () -> Bool = { true }) throws(JPEGError) {
        guard let decoder = cjpeg_create() else {
            throw JPEGError(code: .noDecoder, description: "no memory")
        }
        self.decoder = decoder
        self.proceed = proceed
    }

    deinit { cjpeg_destroy(decoder) }

    /// Reads the header of `bytes` (jpeg_read_header); touches no memory for pixels. Throws
    /// `damaged`, `unsupported` or `tooLarge`.
    package func header(of bytes: UnsafeRawBufferPointer) throws(JPEGError) -> Header {
        read = nil
        var found = cjpeg_header()
        let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let base else { throw JPEGError(code: .damaged, description: "no bytes") }
        let result = cjpeg_read_header(decoder, base, bytes.count, &found)
        guard result == 0 else { throw failure(result) }
        let size = Size(width: Int(found.width), height: Int(found.height))
        guard size.area > 0 else {
            throw JPEGError(code: .damaged, description: "a picture without pixels")
        }
        guard size.area <= Self.maximumArea else {
            throw JPEGError(code: .tooLarge, description: "they have \(size) pixels")
        }
        guard found.is_gray || found.is_color else {
            throw JPEGError(code: .unsupported, description: "their colours are unknown")
        }
        let plain = found.format
        let header = Header(
            size: size,
            format: plain ?? .i444,
            isPlain: plain != nil,
            hasRestarts: found.has_restarts
        )
        read = (bytes, header)
        return header
    }

    /// Decodes `bytes`, whose header is `header`, into `buffer` as `layout` says
    /// (jpeg_read_raw_data, for a plain one). The colours are `ColorSpace.jpeg`.
    ///
    /// `layout` must be `header.layout(at: scale)`, and the buffer at least as long. Allocates only
    /// for the first, for one that needs more memory than all before, and for progressive ones.
    ///
    /// Returns `true` if the file has noise that leaves the picture whole: a few stray bytes before
    /// a restart marker, any before the end marker, or no end marker. Some cameras write every
    /// frame like that. Throws `damaged` for anything less than a whole picture, after which the
    /// buffer's content is worthless; `unsupported` if it takes too long; and the errors of
    /// `header(of:)`.
    @discardableResult package func decode(
        _ bytes: UnsafeRawBufferPointer,
        header: Header,
        scale: JPEGScale = .full,
        into buffer: FrameBuffer,
        layout: FrameLayout
    ) throws(JPEGError) -> Bool {
        precondition(layout == header.layout(at: scale))
        try take(header, of: bytes)
        let count = layout.planeCount
        var planes: [3 of cjpeg_plane] = [
            cjpeg_plane(buffer.plane(0, of: layout)),
            cjpeg_plane(buffer.plane(count == 3 ? 1 : 0, of: layout)),
            cjpeg_plane(buffer.plane(count == 3 ? 2 : 0, of: layout)),
        ]
        var span = planes.mutableSpan
        let result = span.withUnsafeMutableBufferPointer {
            cjpeg_decode(
                decoder,
                CInt(scale.rawValue),
                header.isPlain,
                $0.baseAddress,
                { context in
                    guard let context else { return true }
                    return Unmanaged<JPEGDecoder>.fromOpaque(context).takeUnretainedValue()
                        .proceed()
                },
                Unmanaged.passUnretained(self).toOpaque()
            )
        }
        guard result >= 0 else { throw failure(result) }
        return result > 0
    }

    /// Returns the picture of `bytes`, whose header is `header`, without noise: some players lose
    /// what follows a stray byte. `nil` if it is whole, and has none. No pixel changes, and nothing
    /// else of the file stays (jpeg_read_coefficients, jpeg_write_coefficients). Allocates. Throws
    /// as `decode` does.
    package func withoutNoise(
        _ bytes: UnsafeRawBufferPointer,
        header: Header
    ) throws(JPEGError) -> [UInt8]? {
        try take(header, of: bytes)
        var copy: UnsafeMutablePointer<CChar>?
        defer { free(copy) }
        var count = 0
        let result = cjpeg_rewrite(decoder, &copy, &count)
        guard result >= 0 else { throw failure(result) }
        return copy.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: count)) }
    }

    /// Makes `bytes` what is read next. A header that was only just read is not read again.
    private func take(_ header: Header, of bytes: UnsafeRawBufferPointer) throws(JPEGError) {
        if read?.bytes.baseAddress != bytes.baseAddress || read?.bytes.count != bytes.count {
            _ = try self.header(of: bytes)
        }
        guard read?.header == header else {
            throw JPEGError(code: .damaged, description: "another picture than its header's")
        }
        read = nil
    }

    private func failure(_ result: CInt) -> JPEGError {
        let code: JPEGError.Code =
            switch Int(result) {
            case CJPEG_UNSUPPORTED: .unsupported
            case CJPEG_TOO_LARGE: .tooLarge
            default: .damaged
            }
        return JPEGError(code: code, description: String(cString: cjpeg_message(decoder)))
    }
}

extension cjpeg_header {
    /// The format of the planes in the file; `nil` if no frame can hold them.
    fileprivate var format: PixelFormat? {
        if is_gray { return .gray }
        guard is_ycc, across.1 == across.2, down.1 == down.2, across.1 > 0, down.1 > 0,
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
