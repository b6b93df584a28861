import CV4L2
import Frames
import Glibc

/// A picture in memory, before it is known when it was taken.
struct FramePicture {
    /// The memory; `nil` when there was none to be had.
    var buffer: FrameBuffer?
    /// Where its planes lie.
    var layout: FrameLayout
    /// What its numbers mean.
    var color: ColorSpace
}

/// How what one device sends becomes frames: handed on as it is, or brought to planar YUV. JPEGs are
/// handed on, too, and decoded by who knows how large they are shown.
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

    /// How many converted frames may be held at once.
    private static let poolCount = 6

    /// The way for what `device` sends when it is set to `format`.
    ///
    /// Throws `system` when there is no memory for a converter.
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

    /// Where pictures lie in the device's own memory, when they are handed on as they are.
    var borrowed: FrameLayout? {
        if case .borrow(let layout) = way { layout } else { nil }
    }

    /// Whether pictures come as JPEG.
    var isCompressed: Bool { if case .compressed = way { true } else { false } }

    /// A frame out of the first `length` bytes of `source`; `nil` when they are no good, or all
    /// frames are held.
    ///
    /// Allocates for the first. Throws `unsupported` for what no later frame will make better.
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
    /// Where a picture of `format` lies in the device's memory; `nil` where its planes are not
    /// packed as ours are.
    fileprivate init?(lying format: v4l2_format, as pixelFormat: PixelFormat) {
        let packed = pixelFormat == .yuyv || pixelFormat == .uyvy
        let tight = packed ? (format.size.width + 1) / 2 * 4 : format.size.width
        let stride = max(Int(format.fmt.pix.bytesperline), tight)
        // A row of NV12's chroma has a byte more than an odd one of luma.
        let horizontal =
            pixelFormat == .nv12 ? 2 : pixelFormat.planarSubsampling?.horizontal ?? 1
        if stride % horizontal != 0 { return nil }
        self.init(size: format.size, format: pixelFormat, stride: stride)
    }
}

/// What libv4lconvert makes planar YUV 4:2:0 of, which is most of what cameras ever sent.
private final class ForeignConversion {
    /// Where it puts pictures.
    let layout: FrameLayout
    private let converter: OpaquePointer
    private let calls: UnsafeMutablePointer<libv4l_dev_ops>
    private var source: v4l2_format
    private var destination: v4l2_format
    private let device: VideoDevice

    init(_ format: v4l2_format, _ device: VideoDevice) throws(CaptureError) {
        // It is to ask the device in the same way as we do.
        let calls = UnsafeMutablePointer<libv4l_dev_ops>.allocate(capacity: 1)
        calls.initialize(to: libv4l_dev_ops())
        calls.pointee.ioctl = { context, _, request, argument in
            guard let context, let argument else { return -1 }
            let device = Unmanaged<VideoDevice>.fromOpaque(context).takeUnretainedValue()
            let error = device.attempt(request, at: argument)
            errno = error
            return error == 0 ? 0 : -1
        }
        // Not retained: `device` is kept beside the converter, which goes before it.
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
        // It writes even sizes without padding.
        let even = Size(width: format.size.width / 2 * 2, height: format.size.height / 2 * 2)
        layout = FrameLayout(size: even, format: .i420, stride: even.width)
        destination = v4l2_format(capturing: .i420, even)
        v4lconvert_fixup_fmt(&destination)
    }

    deinit {
        v4lconvert_destroy(converter)
        calls.deallocate()
    }

    /// Whether `length` bytes of `bytes` became a picture in `buffer`.
    ///
    /// Throws `unsupported` when it does not know the format.
    func convert(
        _ bytes: FrameBuffer,
        _ length: Int,
        into buffer: FrameBuffer
    ) throws(CaptureError) -> Bool {
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
        // EPIPE and EIO are about this frame; the next may be better.
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
