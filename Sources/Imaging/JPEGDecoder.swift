import CTurboJPEG
package import Frames
import Glibc

/// A JPEG that is not shown, and why.
package struct JPEGError: Error, Hashable, CustomStringConvertible {
    /// What kind of fault it is.
    package enum Code: Hashable, Sendable {
        /// Not a JPEG, or one that ends early or is damaged. The next frame may be fine.
        case damaged
        /// A JPEG whose colours or sampling no YUV frame can hold. The next one will be the same.
        case unsupported
        /// A header that claims more pixels than any camera has.
        case tooLarge
        /// The decoder could not be made: no memory.
        case noDecoder
    }
    /// What kind of fault it is.
    package let code: Code
    /// The library's own words, or ours.
    package let description: String
}

/// By how much a JPEG is made smaller while it is decoded.
package enum JPEGScale: Int, CaseIterable, Sendable {
    /// Every pixel.
    case full = 1
    /// Half the width and height.
    case half = 2
    /// A quarter of each.
    case quarter = 4
    /// An eighth of each.
    case eighth = 8

    /// The smallest at which a picture of `size` has a pixel for each one that is drawn of it; `nil`
    /// where none is.
    package static func smallest(for extent: ShownExtent, of size: Size) -> JPEGScale? {
        guard !extent.isHidden else { return nil }
        let drawn = extent.drawn(size)
        return allCases.last {
            // As the scaler does, which would halve what is larger.
            $0 == .full
                || Scaler.suffices(Double(size.width) / Double($0.rawValue), for: drawn.width)
                    && Scaler.suffices(Double(size.height) / Double($0.rawValue), for: drawn.height)
        }
    }

    /// `size` at this scale, rounded up as libjpeg does.
    package func apply(to size: Size) -> Size {
        Size(
            width: (size.width + rawValue - 1) / rawValue,
            height: (size.height + rawValue - 1) / rawValue
        )
    }
}

/// Decodes JPEG frames straight to planar YUV, with libjpeg-turbo's TurboJPEG API.
///
/// - Context: bound to one thread at a time.
package final class JPEGDecoder {
    /// What a JPEG's header says of its picture.
    package struct Header: Hashable {
        /// Extent in pixels.
        package let size: Size
        /// How its planes come out: a planar format, or gray.
        package let format: PixelFormat
    }

    /// The most pixels of a picture that is looked at: 8192x8192.
    package static let maximumArea = 1 << 26

    private var handle: tjhandle
    /// Room for the planes of a picture whose last rows or columns do not fill a sampling block:
    /// the library then writes the padding too, and there is none in a frame.
    private var padded = Scratch()

    /// A decoder with its own tables. Throws `noDecoder` when there is no memory.
    package init() throws(JPEGError) {
        guard let handle = tjInitDecompress() else {
            throw JPEGError(code: .noDecoder, description: String(cString: tjGetErrorStr2(nil)))
        }
        self.handle = handle
    }

    deinit { tjDestroy(handle) }

    /// Reads the header of `bytes` (tjDecompressHeader3); touches no memory for pixels.
    ///
    /// Throws `damaged`, `unsupported` or `tooLarge`.
    package func header(of bytes: UnsafeRawBufferPointer) throws(JPEGError) -> Header {
        var (width, height, sampling, colors): (CInt, CInt, CInt, CInt) = (0, 0, -1, -1)
        let result = tjDecompressHeader3(
            handle,
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            UInt(bytes.count),
            &width,
            &height,
            &sampling,
            &colors
        )
        guard result == 0 else { throw failure(.damaged) }
        guard width > 0, height > 0 else {
            throw JPEGError(code: .damaged, description: "a picture without pixels")
        }
        let size = Size(width: Int(width), height: Int(height))
        guard size.area <= Self.maximumArea else {
            throw JPEGError(code: .tooLarge, description: "a picture of \(size)")
        }
        let format: PixelFormat? =
            switch (
                TJCS(rawValue: UInt32(bitPattern: colors)),
                TJSAMP(rawValue: UInt32(bitPattern: sampling))
            ) {
            case (TJCS_YCbCr, TJSAMP_444): .i444
            case (TJCS_YCbCr, TJSAMP_422): .i422
            case (TJCS_YCbCr, TJSAMP_420): .i420
            case (TJCS_YCbCr, TJSAMP_440): .i440
            case (TJCS_YCbCr, TJSAMP_411): .i411
            case (TJCS_GRAY, _): .gray
            default: nil
            }
        guard let format else {
            throw JPEGError(code: .unsupported, description: "neither YCbCr nor gray")
        }
        return Header(size: size, format: format)
    }

    /// Decodes `bytes`, whose header is `header`, into `buffer` as `layout` says
    /// (tjDecompressToYUVPlanes). The colours are `ColorSpace.jpeg`.
    ///
    /// `layout` is that of `header.format` at `scale.apply(to: header.size)`; the buffer is at
    /// least as long. Throws `damaged` for anything short of a whole picture; the buffer's
    /// content is then worthless. Allocates only for sizes that do not fill the sampling blocks,
    /// and only once.
    package func decode(
        _ bytes: UnsafeRawBufferPointer,
        header: Header,
        scale: JPEGScale = .full,
        into buffer: FrameBuffer,
        layout: FrameLayout
    ) throws(JPEGError) {
        precondition(
            layout.format == header.format && layout.size == scale.apply(to: header.size)
        )
        let count = layout.planeCount
        let size = layout.size
        // 4:2:2 may be stored as 2x2 with 1x2, so even rows are asked of every format.
        let block = layout.format == .i411 ? 4 : 2
        let fills =
            count == 1
            || (size.width % block == 0 && size.height % block == 0 && layout.stride % block == 0)
        var planes: (Plane, Plane, Plane) = (
            buffer.plane(0, of: layout),
            buffer.plane(count == 3 ? 1 : 0, of: layout),
            buffer.plane(count == 3 ? 2 : 0, of: layout)
        )
        if !fills {
            let stride = layout.stride + 64
            let extent = stride * (size.height + 4)
            let base = padded.reserve(3 * extent)
            planes.0 = Plane(base: base, stride: stride, of: planes.0)
            planes.1 = Plane(base: base + extent, stride: stride, of: planes.1)
            planes.2 = Plane(base: base + 2 * extent, stride: stride, of: planes.2)
        }
        try decode(bytes, size: size, into: planes)
        if !fills {
            planes.0.copy(to: buffer.plane(0, of: layout))
            planes.1.copy(to: buffer.plane(1, of: layout))
            planes.2.copy(to: buffer.plane(2, of: layout))
        }
    }

    private func decode(
        _ bytes: UnsafeRawBufferPointer,
        size: Size,
        into planes: (Plane, Plane, Plane)
    ) throws(JPEGError) {
        var bases: [3 of UnsafeMutablePointer<UInt8>?] = [
            planes.0.base, planes.1.base, planes.2.base,
        ]
        var strides: [3 of CInt] = [
            CInt(planes.0.stride), CInt(planes.1.stride), CInt(planes.2.stride),
        ]
        var baseSpan = bases.mutableSpan
        var strideSpan = strides.mutableSpan
        let result = baseSpan.withUnsafeMutableBufferPointer { bases in
            strideSpan.withUnsafeMutableBufferPointer { strides in
                tjDecompressToYUVPlanes(
                    handle,
                    bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    UInt(bytes.count),
                    bases.baseAddress,
                    CInt(size.width),
                    strides.baseAddress,
                    CInt(size.height),
                    CInt(TJFLAG_LIMITSCANS)
                )
            }
        }
        guard result == 0 || isHarmless else { throw failure(.damaged) }
    }

    /// Whether the last fault left the picture whole: stray bytes before the end marker, which
    /// some webcams leave in every frame. The library keeps the words of its first warning, so
    /// one at the very end says that there was none before.
    private var isHarmless: Bool {
        tjGetErrorCode(handle) == CInt(TJERR_WARNING.rawValue)
            && strstr(tjGetErrorStr2(handle), "extraneous bytes before marker 0xd9") != nil
    }

    /// The last fault as an error. A damaged frame's tables stay in the library and spoil the
    /// frames after it (seen with 2.1.5), so it is followed by a new decoder.
    private func failure(_ code: JPEGError.Code) -> JPEGError {
        let words = String(cString: tjGetErrorStr2(handle))
        if let fresh = tjInitDecompress() {
            tjDestroy(handle)
            handle = fresh
        }
        return JPEGError(code: code, description: words)
    }
}
