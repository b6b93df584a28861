import CAV
import Frames
import Imaging

// Pictures as libav decodes them.

/// Makes pictures as they are coded into those that are meant: upright, with square pixels.
struct Presentation: ~Copyable {
    /// The width of a pixel by its height. Any number: only those that make sense are believed.
    var aspect = 1.0
    /// The transform that makes a picture upright, after its pixels are square.
    var upright = Transform.identity
    private var scratch = GrowingPool(count: 2)

    /// The shapes to believe.
    private static let shapes = 0.125...8

    /// Returns the size of a picture of `size` that is shown. It grows in one direction, but not
    /// beyond the largest from a network: then it shrinks in the other.
    func size(_ size: Size) -> Size {
        guard Self.shapes.contains(aspect) else { return upright.apply(to: size) }
        func times(_ length: Int, _ factor: Double) -> Int {
            max(1, Int((Double(length) * factor).rounded()))
        }
        let wider = Size(width: times(size.width, aspect), height: size.height)
        let higher = Size(width: size.width, height: times(size.height, 1 / aspect))
        let (larger, smaller) = aspect > 1 ? (wider, higher) : (higher, wider)
        let isFine = larger.area <= 4096 * 2560 && max(larger.width, larger.height) <= 16384
        return upright.apply(to: isFine ? larger : smaller)
    }

    /// Returns the layout of a picture that is shown, which is coded as `layout`.
    func layout(_ layout: FrameLayout) -> FrameLayout {
        let format: PixelFormat =
            switch layout.format {
            case .i422 where upright.swapsAxes: .i440
            case .i440 where upright.swapsAxes: .i422
            case .i411 where upright.swapsAxes: .i444
            default: layout.format
            }
        return FrameLayout(size: size(layout.size), format: format)
    }

    /// Returns `true` if pictures of `size` are shown as they are coded.
    func keeps(_ size: Size) -> Bool { upright == .identity && self.size(size) == size }

    /// Leaves a picture as it is shown in `buffer`, laid out as `layout(coded)`. `draw` writes it
    /// into a buffer as it is coded, and returns `false` if it is damaged; then so does this.
    mutating func present<Failure>(
        _ coded: FrameLayout,
        into buffer: FrameBuffer,
        _ draw: (FrameBuffer) throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        guard !keeps(coded.size) else { return try draw(buffer) }
        guard let source = scratch.draw(byteCount: coded.byteCount), try draw(source) else {
            return false
        }
        let shown = layout(coded)
        for index in 0..<coded.planeCount {
            let (plane, target) = (source.plane(index, of: coded), buffer.plane(index, of: shown))
            let size = upright.apply(to: Size(width: plane.rowBytes, height: plane.rows))
            if size == Size(width: target.rowBytes, height: target.rows) {
                plane.orient(upright, into: target)
                continue
            }
            let layout = FrameLayout(size: size, format: .gray)
            guard let memory = scratch.draw(byteCount: layout.byteCount) else { return false }
            let turned = memory.plane(0, of: layout)
            plane.orient(upright, into: turned)
            turned.scale(to: target)
        }
        return true
    }
}

extension AVRational {
    /// The number; not finite if it is none.
    var value: Double { Double(num) / Double(den) }
}

extension Transform {
    /// Creates the transform that a display matrix of libav asks for, to the nearest quarter turn.
    init(matrix: UnsafePointer<Int32>) {
        // Where a step to the right leads, and one down.
        let right = (x: Int(matrix[0]), y: Int(matrix[1]))
        let down = (x: Int(matrix[3]), y: Int(matrix[4]))
        let area = right.x * down.y - right.y * down.x
        guard area != 0 else {
            self = .identity
            return
        }
        let (x, y) = area < 0 ? (-right.x, -right.y) : right
        let turns = abs(x) >= abs(y) ? (x > 0 ? 0 : 2) : (y > 0 ? 1 : 3)
        self.init(mirrored: area < 0, quarterTurns: turns)
    }
}

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

/// Returns the layout of `frame` in planes of ours, converted if need be.
func codedLayout(of frame: AVFrame) -> FrameLayout {
    let size = Size(width: Int(frame.width), height: Int(frame.height))
    return FrameLayout(size: size, format: planarFormat(AVPixelFormat(frame.format)) ?? .i420)
}

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
