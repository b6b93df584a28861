import CV4L2
import Frames
import Glibc

/// A picture in memory, before its time is known.
struct FramePicture {
    /// The memory, or `nil` if none was free.
    var buffer: FrameBuffer?
    /// The layout of its planes.
    var layout: FrameLayout
    /// The colour space of its values.
    var color: ColorSpace
}

/// Turns a device's pictures into frames: passed on unchanged, or converted to planar YUV. JPEGs
/// are also passed on, and decoded later, when the size on screen is known.
///
/// - Context: bound to the thread of its stream.
final class FrameConversion {
    private enum Way {
        case borrow(FrameLayout)
        case compressed
        case convert(ForeignConversion)

        static func foreign(
            _ format: v4l2_format,
            _ device: VideoDevice
        ) throws(CaptureError) -> Way {
            .convert(try ForeignConversion(format, device))
        }
    }
    private let way: Way
    private let device: VideoDevice
    private var pool: FramePool?

    /// The number of converted frames that may be held at once.
    private static let poolCount = 6

    /// Creates the conversion for `device`, set to `format`.
    ///
    /// - Throws: `system` if there is no memory for a converter.
    init(_ format: v4l2_format, _ device: VideoDevice) throws(CaptureError) {
        self.device = device
        let pixelFormat = PixelFormat(rawValue: format.fmt.pix.pixelformat)
        let layout = FrameLayout(lying: format, as: pixelFormat)
        switch pixelFormat {
        case .yuyv, .uyvy, .nv12, .i420, .i422, .gray:
            way = if let layout { .borrow(layout) } else { try .foreign(format, device) }
        case .mjpg, .jpeg: way = .compressed
        default: way = try .foreign(format, device)
        }
    }

    /// The layout of pictures in the device's own memory, if they are passed on unchanged.
    var borrowed: FrameLayout? {
        if case .borrow(let layout) = way { layout } else { nil }
    }

    /// `true` if pictures are JPEGs.
    var isCompressed: Bool { if case .compressed = way { true } else { false } }

    /// Converts the first `length` bytes of `source`. Returns `nil` if they are damaged, or if all
    /// frames are held.
    ///
    /// Allocates on the first call.
    ///
    /// - Throws: `unsupported` if no later frame can succeed either.
    func convert(
        _ source: FrameBuffer,
        _ length: Int
    ) throws(CaptureError) -> FramePicture? {
        switch way {
        case .borrow, .compressed: preconditionFailure("nothing to convert")
        case .convert(let foreign):
            if pool == nil {
                pool = FramePool(count: Self.poolCount, byteCount: foreign.layout.byteCount)
            }
            guard let buffer = pool?.draw() else { return nil }
            guard try foreign.convert(source, length, into: buffer) else { return nil }
            return FramePicture(buffer: buffer, layout: foreign.layout, color: .video)
        }
    }
}

extension FrameLayout {
    /// Creates the layout of a picture of `format` in the device's memory; `nil` if its planes are
    /// not packed like ours.
    fileprivate init?(lying format: v4l2_format, as pixelFormat: PixelFormat) {
        let packed = pixelFormat == .yuyv || pixelFormat == .uyvy
        let tight = packed ? (format.size.width + 1) / 2 * 4 : format.size.width
        let stride = max(Int(format.fmt.pix.bytesperline), tight)
        // A chroma row of NV12 has one byte more than a luma row of odd width.
        let horizontal =
            pixelFormat == .nv12 ? 2 : pixelFormat.planarSubsampling?.horizontal ?? 1
        if stride % horizontal != 0 { return nil }
        self.init(size: format.size, format: pixelFormat, stride: stride)
    }
}

/// A conversion to planar YUV 4:2:0 by libv4lconvert, which knows most formats that cameras ever
/// sent.
private final class ForeignConversion {
    /// The layout of converted pictures.
    let layout: FrameLayout
    private let converter: OpaquePointer
    private let calls: UnsafeMutablePointer<libv4l_dev_ops>
    private var source: v4l2_format
    private var destination: v4l2_format
    private let device: VideoDevice
    /// The number of bytes of a whole picture; 0 where that is not known before it is read.
    private let leastLength: Int

    init(_ format: v4l2_format, _ device: VideoDevice) throws(CaptureError) {
        var format = format
        leastLength = try Self.checkRows(of: &format, device)
        // libv4lconvert has to call the device the way we do.
        let calls = UnsafeMutablePointer<libv4l_dev_ops>.allocate(capacity: 1)
        calls.initialize(to: libv4l_dev_ops())
        calls.pointee.ioctl = { context, _, request, argument in
            guard let context, let argument else { return -1 }
            let device = Unmanaged<VideoDevice>.fromOpaque(context).takeUnretainedValue()
            let error = device.attempt(request, at: argument)
            errno = error
            return error == 0 ? 0 : -1
        }
        // Not retained: `device` is kept beside the converter, which is destroyed first.
        let context = Unmanaged.passUnretained(device).toOpaque()
        guard let converter = v4lconvert_create_with_dev_ops(device.descriptor, context, calls)
        else {
            calls.deallocate()
            throw CaptureError(.system, "v4lconvert_create", device.path, errno: errno)
        }
        self.calls = calls
        self.converter = converter
        self.device = device
        source = format
        // libv4lconvert writes even sizes without padding.
        let even = Size(width: format.size.width / 2 * 2, height: format.size.height / 2 * 2)
        layout = FrameLayout(size: even, format: .i420, stride: even.width)
        destination = v4l2_format(capturing: .i420, even)
        v4lconvert_fixup_fmt(&destination)
    }

    /// Returns the number of bytes of a picture of `format`; 0 if it has no rows of known length. A
    /// driver that names no length of a row has rows without padding.
    ///
    /// libv4lconvert believes the length of a row, and would read outside the buffer.
    ///
    /// - Throws: `unsupported` if the rows are shorter than their pixels.
    private static func checkRows(
        of format: inout v4l2_format,
        _ device: VideoDevice
    ) throws(CaptureError) -> Int {
        let pixel: Int
        switch PixelFormat(rawValue: format.fmt.pix.pixelformat) {
        case PixelFormat("RGB4"), PixelFormat("BGR4"), PixelFormat("AR24"), PixelFormat("XR24"),
            PixelFormat("BA24"), PixelFormat("BX24"):
            pixel = 4
        case PixelFormat("RGB3"), PixelFormat("BGR3"): pixel = 3
        case PixelFormat("RGBP"), PixelFormat("YVYU"), PixelFormat("VYUY"), .yuyv, .uyvy: pixel = 2
        case PixelFormat("BA81"), PixelFormat("GBRG"), PixelFormat("GRBG"), PixelFormat("RGGB"):
            pixel = 1
        default: return 0
        }
        let row = format.size.width * pixel
        if format.fmt.pix.bytesperline == 0 { format.fmt.pix.bytesperline = UInt32(row) }
        let stride = Int(format.fmt.pix.bytesperline)
        guard stride >= row else {
            throw CaptureError(
                .unsupported,
                "VIDIOC_S_FMT",
                device.path,
                detail: "rows of \(stride) bytes, expected at least \(row)"
            )
        }
        return stride * (format.size.height - 1) + row
    }

    deinit {
        v4lconvert_destroy(converter)
        calls.deallocate()
    }

    /// Converts `length` bytes of `bytes` into `buffer`. Returns `true` on success.
    ///
    /// - Throws: `unsupported` if libv4lconvert does not know the format.
    func convert(
        _ bytes: FrameBuffer,
        _ length: Int,
        into buffer: FrameBuffer
    ) throws(CaptureError) -> Bool {
        guard length >= leastLength else { return false }
        let written = v4lconvert_convert(
            converter,
            &source,
            &destination,
            bytes.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            CInt(length),
            buffer.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            CInt(buffer.bytes.count)
        )
        guard written < layout.byteCount else { return true }
        // EPIPE and EIO concern this frame only; the next may succeed.
        guard errno == EINVAL else { return false }
        throw CaptureError(
            .unsupported,
            "v4lconvert_convert",
            device.path,
            errno: EINVAL,
            detail: v4lconvert_get_error_message(converter).map { String(cString: $0) } ?? ""
        )
    }
}
