import CAV
import Frames

// Pictures as libav decodes them.

/// Copies the planes of `picture` into `buffer`, laid out as `layout`.
func copyPlanes(
    of picture: UnsafeMutablePointer<AVFrame>,
    into buffer: FrameBuffer,
    _ layout: FrameLayout
) {
    withUnsafeBytes(of: &picture.pointee.data) { data in
        withUnsafeBytes(of: &picture.pointee.linesize) { lines in
            let data = data.assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self)
            let lines = lines.assumingMemoryBound(to: CInt.self)
            for index in 0..<layout.planeCount {
                let plane = buffer.plane(index, of: layout)
                guard let base = data[index] else { continue }
                for y in 0..<plane.rows {
                    plane.row(y).update(from: base + y * Int(lines[index]), count: plane.rowBytes)
                }
            }
        }
    }
}

/// Converts `picture` into the three planes of `buffer`, laid out as `layout`, with a scaler of
/// libswscale for its size and format.
func convertPlanes(
    of picture: UnsafeMutablePointer<AVFrame>,
    _ scaler: OpaquePointer,
    into buffer: FrameBuffer,
    _ layout: FrameLayout
) {
    var planes: [UnsafeMutablePointer<UInt8>?] = (0..<3).map { buffer.plane($0, of: layout).base }
    let strides = (0..<3).map { CInt(buffer.plane($0, of: layout).stride) }
    withUnsafeBytes(of: &picture.pointee.data) { data in
        withUnsafeBytes(of: &picture.pointee.linesize) { lines in
            _ = cav_scaler_convert(
                scaler,
                data.assumingMemoryBound(to: UnsafePointer<UInt8>?.self).baseAddress,
                lines.assumingMemoryBound(to: CInt.self).baseAddress,
                picture.pointee.height,
                &planes,
                strides
            )
        }
    }
}

extension ColorSpace {
    /// Creates the colour space of a frame that is no RGB: what it declares, or else what players
    /// assume of a movie in high definition (`isHD`), or of any other picture.
    init(of frame: AVFrame, isHD: Bool) {
        let isFull =
            frame.color_range == AVCOL_RANGE_JPEG
            || fullRange.contains(AVPixelFormat(frame.format).rawValue)
        let matrix: Matrix =
            switch frame.colorspace {
            case AVCOL_SPC_BT709: .bt709
            case AVCOL_SPC_UNSPECIFIED where isHD: .bt709
            default: .bt601
            }
        self.init(matrix: matrix, range: isFull ? .full : .limited)
    }
}

/// libav's formats whose names imply full range.
private let fullRange = [
    AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUVJ440P,
    AV_PIX_FMT_YUVJ411P,
].map(\.rawValue)

/// Returns the planar `Frame` format for libav's `format`; `nil` if it has to be converted.
func planarFormat(_ format: AVPixelFormat) -> PixelFormat? {
    switch format {
    case AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P: .i420
    case AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUVJ422P: .i422
    case AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVJ444P: .i444
    case AV_PIX_FMT_YUV440P, AV_PIX_FMT_YUVJ440P: .i440
    case AV_PIX_FMT_YUV411P, AV_PIX_FMT_YUVJ411P: .i411
    case AV_PIX_FMT_GRAY8: .gray
    default: nil
    }
}
