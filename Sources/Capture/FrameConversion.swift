import CV4L2
import Frames
import Glibc
import Imaging

/// A picture in memory, before it is known when it was taken.
struct FramePicture {
    /// The memory; `nil` when there was none to be had.
    var buffer: FrameBuffer?
    /// Where its planes lie.
    var layout: FrameLayout
    /// What its numbers mean.
    var color: ColorSpace
}

/// How what one device sends becomes frames: handed on as it is, or brought to planar YUV.
///
/// - Context: bound to the thread of its stream.
final class FrameConversion {
    private enum Way {
        case borrow(FrameLayout)
        case decode(JPEGDecoder)
        case convert(ForeignConversion)

        static func foreign(
            _ format: v4l2_format,
            _ device: VideoDevice
        ) throws(CaptureError) -> Way {
            .convert(try ForeignConversion(format, device))
        }
    }
    private let way: Way
    private let size: Size
    private let device: VideoDevice
    private var pool: FramePool?
    /// What the pool is for.
    private var layout: FrameLayout?
    /// Extent of the JPEGs.
    private var decodedSize: Size?

    /// How many converted frames may be held at once.
    private static let poolCount = 6

    /// The way for what `device` sends when it is set to `format`.
    ///
    /// Throws `system` when there is no memory for a decoder.
    init(_ format: v4l2_format, _ device: VideoDevice) throws(CaptureError) {
        size = format.size
        self.device = device
        let pixelFormat = PixelFormat(rawValue: format.fmt.pix.pixelformat)
        let layout = FrameLayout(lying: format, as: pixelFormat)
        switch pixelFormat {
        case .yuyv, .uyvy, .nv12, .i420, .i422, .gray:
            way = if let layout { .borrow(layout) } else { try .foreign(format, device) }
        case .mjpg, .jpeg:
            do {
                way = .decode(try JPEGDecoder())
            } catch {
                throw CaptureError(.system, "JPEG", device.path, detail: error.description)
            }
        default: way = try .foreign(format, device)
        }
    }

    /// Where pictures lie in the device's own memory, when they are handed on as they are.
    var borrowed: FrameLayout? {
        if case .borrow(let layout) = way { layout } else { nil }
    }

    /// A frame out of the first `length` bytes of `source`; `nil` when they are no good, or all
    /// frames are held.
    ///
    /// Allocates for the first, and when the device changes the kind of JPEG. Throws
    /// `unsupported` for what no later frame will make better.
    func convert(
        _ source: FrameBuffer,
        _ length: Int,
        _ color: ColorSpace
    ) throws(CaptureError) -> FramePicture? {
        switch way {
        case .borrow: preconditionFailure("nothing to convert")
        case .decode(let decoder):
            return decode(UnsafeRawBufferPointer(rebasing: source.bytes[..<length]), with: decoder)
        case .convert(let foreign):
            guard let buffer = draw(foreign.layout) else { return nil }
            guard try foreign.convert(source, length, into: buffer) else { return nil }
            return FramePicture(buffer: buffer, layout: foreign.layout, color: .video)
        }
    }

    private func decode(
        _ bytes: UnsafeRawBufferPointer,
        with decoder: JPEGDecoder
    ) -> FramePicture? {
        do {
            let header = try decoder.header(of: bytes)
            // The first whole picture decides; one of another size among them is a damaged one. Until
            // then, one much larger than the mode is: memory is not to be had for any claim.
            if let decodedSize {
                guard header.size == decodedSize else { return nil }
            } else {
                guard header.size.area <= 4 * size.area else { return nil }
            }
            guard let buffer = draw(FrameLayout(size: header.size, format: header.format)),
                let layout
            else { return nil }
            try decoder.decode(bytes, header: header, into: buffer, layout: layout)
            decodedSize = header.size
            return FramePicture(buffer: buffer, layout: layout, color: .jpeg)
        } catch {
            // Whatever it says, a damaged header may have said it, and the next may be better.
            return nil
        }
    }

    /// A buffer for `wanted`, from a pool that is made anew when it is for another layout.
    private func draw(_ wanted: FrameLayout) -> FrameBuffer? {
        if layout != wanted {
            layout = wanted
            pool = FramePool(count: Self.poolCount, byteCount: wanted.byteCount)
        }
        return pool?.draw()
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
