import CTurboJPEG
package import Frames

/// Turns, decodes and encodes JPEGs with TurboJPEG. Any thread: the calls share no state.
package enum JPEGCodec {
    /// The result of turning a picture.
    package enum Turned: Hashable, Sendable {
        case done([UInt8])
        /// It cannot be turned without loss, for a reason in words after a file name and a colon.
        case impossible(String)
    }

    /// Turns `bytes` losslessly, in coefficients (tjTransform, TJXOPT_PERFECT). Keeps all segments,
    /// but no data after the picture. Throws `damaged` for an incomplete picture, `noMemory`.
    package static func turn(
        _ bytes: [UInt8],
        by transform: Transform,
        progressive: Bool
    ) throws(PhotoError) -> Turned {
        guard let handle = tjInitTransform() else { throw PhotoError(.noMemory, "no memory") }
        defer { tjDestroy(handle) }
        var order = tjtransform()
        order.op = CInt(bitPattern: transform.operation.rawValue)
        order.options = TJXOPT_PERFECT | (progressive ? TJXOPT_PROGRESSIVE : 0)
        var result: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        defer { tjFree(result) }
        let status = tjTransform(
            handle,
            bytes,
            UInt(bytes.count),
            1,
            &result,
            &count,
            &order,
            TJFLAG_LIMITSCANS
        )
        if status != 0, let error = failure(of: handle) {
            let words = error.description
            guard words.contains("not perfect") || words.contains("subsampling type") else {
                throw error
            }
            return .impossible(
                words.contains("not perfect")
                    ? "its size does not fill its blocks" : "its sampling is unusual"
            )
        }
        return .done(Array(UnsafeBufferPointer(start: result, count: Int(count))))
    }

    /// Decodes `bytes` to pixels and the chroma subsampling, a TJSAMP. Throws `damaged`,
    /// `unsupported`, `tooLarge` or `noMemory`.
    package static func decode(
        _ bytes: [UInt8]
    ) throws(PhotoError) -> (picture: Raster, sampling: Int32) {
        guard let decoder = tjInitDecompress() else { throw PhotoError(.noMemory, "no memory") }
        defer { tjDestroy(decoder) }
        var (width, height, sampling, colors): (CInt, CInt, CInt, CInt) = (0, 0, -1, -1)
        let found = tjDecompressHeader3(
            decoder,
            bytes,
            UInt(bytes.count),
            &width,
            &height,
            &sampling,
            &colors
        )
        if found != 0, let error = failure(of: decoder) { throw error }
        guard let colors = TJCS(optional: colors), colors != TJCS_CMYK, colors != TJCS_YCCK else {
            throw PhotoError(.unsupported, "its colours are for print")
        }
        let size = Size(width: Int(width), height: Int(height))
        guard size.area > 0, size.area <= JPEGOutline.maximumArea else {
            throw PhotoError(.tooLarge, "it claims \(size) pixels")
        }
        var pixels = [UInt32](repeating: 0, count: size.area)
        let decoded = pixels.withUnsafeMutableBytes {
            tjDecompress2(
                decoder,
                bytes,
                UInt(bytes.count),
                $0.baseAddress?.assumingMemoryBound(to: UInt8.self),
                width,
                0,
                height,
                TJPF_RGBX.rawValue,
                TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS
            )
        }
        if decoded != 0, let error = failure(of: decoder) { throw error }
        return (Raster(size: size, pixels: pixels), sampling)
    }

    /// Encodes `picture` as a JPEG of `quality`, 1 to 100, and `sampling`, a TJSAMP; by default
    /// 4:2:0. Throws `noMemory`, or `damaged` when libjpeg-turbo fails.
    package static func encode(
        _ picture: Raster,
        sampling: Int32 = 2,
        quality: Int
    ) throws(PhotoError) -> [UInt8] {
        guard let encoder = tjInitCompress() else { throw PhotoError(.noMemory, "no memory") }
        defer { tjDestroy(encoder) }
        var result: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        defer { tjFree(result) }
        let encoded = picture.pixels.withUnsafeBytes {
            tjCompress2(
                encoder,
                $0.baseAddress?.assumingMemoryBound(to: UInt8.self),
                CInt(picture.size.width),
                0,
                CInt(picture.size.height),
                TJPF_RGBX.rawValue,
                &result,
                &count,
                sampling,
                CInt(quality),
                TJFLAG_ACCURATEDCT
            )
        }
        if encoded != 0, let error = failure(of: encoder) { throw error }
        return Array(UnsafeBufferPointer(start: result, count: Int(count)))
    }

    /// Turns `bytes` by decoding and encoding it at `quality`, with its own subsampling. The result
    /// is the bare picture, without the segments of the original. Throws as `decode`.
    package static func recode(
        _ bytes: [UInt8],
        by transform: Transform,
        quality: Int
    ) throws(PhotoError) -> [UInt8] {
        let (picture, sampling) = try decode(bytes)
        return try encode(
            picture.turned(by: transform),
            sampling: transform.swapsAxes ? sampling.transposed : sampling,
            quality: quality
        )
    }

    /// Returns `bytes` with Huffman tables: if it has none, as in Motion JPEG, adds the typical
    /// tables of T.81, which the library itself writes. Throws as `JPEGOutline` and `encode`.
    package static func completed(_ bytes: [UInt8]) throws(PhotoError) -> [UInt8] {
        let outline = try JPEGOutline(of: bytes)
        guard !outline.hasTables else { return bytes }
        let sample = try encode(
            Raster(
                size: Size(width: 16, height: 16),
                pixels: [UInt32](repeating: 0, count: 256)
            ),
            sampling: CInt(TJSAMP_420.rawValue),
            quality: Photograph.quality
        )
        let tables = try JPEGOutline(of: sample).segments.filter { $0.marker == 0xC4 }
        return bytes[..<outline.scan] + tables.flatMap { sample[$0.range] } + bytes[outline.scan...]
    }

    /// Returns the last error of `handle`; `nil` if the picture is whole all the same: some cameras
    /// leave stray bytes before each end marker. The library keeps the message of its first
    /// warning, so a message about the very end means that there was none before.
    private static func failure(of handle: tjhandle) -> PhotoError? {
        let words = String(cString: tjGetErrorStr2(handle))
        let isWarning = tjGetErrorCode(handle) == CInt(TJERR_WARNING.rawValue)
        if isWarning, words.contains("extraneous bytes before marker 0xd9") { return nil }
        return PhotoError(.damaged, words.prefix(1).lowercased() + words.dropFirst())
    }
}

extension TJCS {
    fileprivate init?(optional value: CInt) {
        guard value >= 0 else { return nil }
        self.init(rawValue: RawValue(value))
    }
}

extension CInt {
    /// The same subsampling, a TJSAMP, of a picture on its side. 4:1:1 becomes 4:4:4, because the
    /// library has no transposed form of it.
    fileprivate var transposed: CInt {
        switch self {
        case CInt(TJSAMP_422.rawValue): CInt(TJSAMP_440.rawValue)
        case CInt(TJSAMP_440.rawValue): CInt(TJSAMP_422.rawValue)
        case CInt(TJSAMP_411.rawValue): CInt(TJSAMP_444.rawValue)
        default: self
        }
    }
}

extension Transform {
    /// The library's name for the transform.
    fileprivate var operation: TJXOP {
        switch (isMirrored, quarterTurns) {
        case (false, 1): TJXOP_ROT90
        case (false, 2): TJXOP_ROT180
        case (false, 3): TJXOP_ROT270
        case (true, 0): TJXOP_HFLIP
        case (true, 1): TJXOP_TRANSVERSE
        case (true, 2): TJXOP_VFLIP
        case (true, 3): TJXOP_TRANSPOSE
        default: TJXOP_NONE
        }
    }
}
