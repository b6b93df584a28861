import CV4L2
import DualCamCore
import Frames
import Glibc
import Media

/// A picture in memory, before its time is known.
struct FramePicture {
    /// The memory, or `nil` if none was free.
    var buffer: FrameBuffer?
    var layout: FrameLayout
    var color: ColorSpace
}

/// Turns a device's pictures into frames: passed on unchanged, joined from fields or from planes of
/// memory, or converted to planar YUV. JPEGs are also passed on, and decoded later, when the size
/// on screen is known.
///
/// - Context: bound to the thread of its stream.
final class FrameConversion {
    private enum Way {
        case borrow(FrameLayout)
        case compressed
        case join(FieldJoin, ColorSpace)
        /// Planes of memory of their own, with the layout that they are copied to.
        case gather(PlaneGathering, ColorSpace)
        /// H.264 or HEVC.
        case decode(VideoDecoder)
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
    private var pool = GrowingPool(count: poolCount)

    /// The number of converted frames that may be held at once.
    private static let poolCount = 6

    /// Creates the conversion for `device`, set to `format`.
    ///
    /// - Throws: `system` if there is no memory for a converter; `noMode` if libav is needed and
    ///   not installed; `unsupported`.
    init(_ format: v4l2_format, _ device: VideoDevice) throws(CaptureError) {
        self.device = device
        let pixelFormat = PixelFormat(rawValue: format.fmt.pix.pixelformat)
        let layout = FrameLayout(lying: format, as: pixelFormat)
        switch pixelFormat {
        case .yuyv, .uyvy, .nv12, .i420, .i422, .gray:
            if let layout, let join = FieldJoin(format.fmt.pix.field, layout) {
                way = .join(join, format.color)
            } else {
                way = if let layout { .borrow(layout) } else { try .foreign(format, device) }
            }
        case .mjpg, .jpeg: way = .compressed
        case .h264, .hevc:
            do throws(MediaError) {
                way = .decode(try VideoDecoder(pixelFormat == .h264 ? .h264 : .hevc))
            } catch {
                throw CaptureError(.noMode, "decoder", device.path, detail: "\(error)")
            }
        case _ where PixelFormat.multiplanar[pixelFormat] != nil || device.planeStrides.count > 1:
            guard let gathering = PlaneGathering(format, device.planeStrides) else {
                throw CaptureError(
                    .unsupported,
                    "VIDIOC_S_FMT",
                    device.path,
                    detail: "\(pixelFormat) in planes with rows of \(device.planeStrides) bytes"
                )
            }
            way = .gather(gathering, format.color)
        default: way = try .foreign(format, device)
        }
    }

    /// The layout of pictures in the device's own memory, if they are passed on unchanged.
    var borrowed: FrameLayout? {
        if case .borrow(let layout) = way { layout } else { nil }
    }

    /// The least number of bytes of a picture in each plane of the device's memory, in order; empty
    /// if it is not known before a picture is read.
    var leastByteCounts: [Int] {
        switch way {
        case .borrow(let layout): [layout.byteCount]
        case .join(let join, _): [join.source.byteCount]
        case .gather(let gathering, _): gathering.leastByteCounts
        case .convert(let foreign) where foreign.leastLength > 0: [foreign.leastLength]
        case .compressed, .convert, .decode: []
        }
    }

    /// `true` if every picture has to be converted, since later ones are made from it.
    var needsEveryPicture: Bool { if case .decode = way { true } else { false } }

    /// `true` if pictures are JPEGs.
    var isCompressed: Bool { if case .compressed = way { true } else { false } }

    /// Converts the first `length` bytes of `source`, or all of it and of `others`, which are its
    /// further planes of memory; each is as long as `leastByteCounts` at least. A field alone is
    /// the lower one if `isLower`. Returns `nil` if they are damaged, or if all frames are held.
    ///
    /// Allocates on the first call.
    ///
    /// - Throws: `unsupported` if no later frame can succeed either.
    func convert(
        _ source: FrameBuffer,
        _ others: [FrameBuffer] = [],
        _ length: Int,
        isLower: Bool = false
    ) throws(CaptureError) -> FramePicture? {
        switch way {
        case .borrow, .compressed: preconditionFailure("nothing to convert")
        case .join(let join, let color):
            guard length >= join.source.usedByteCount, let buffer = buffer(for: join.layout) else {
                return nil
            }
            join.join(source, isLower: isLower, into: buffer)
            return FramePicture(buffer: buffer, layout: join.layout, color: color)
        case .gather(let gathering, let color):
            guard let buffer = buffer(for: gathering.layout) else { return nil }
            gathering.gather(source, others, into: buffer)
            return FramePicture(buffer: buffer, layout: gathering.layout, color: color)
        case .decode(let decoder):
            let bytes = UnsafeRawBufferPointer(rebasing: source.bytes[..<length])
            do throws(MediaError) {
                guard let (layout, color) = try decoder.decode(bytes) else { return nil }
                guard let buffer = buffer(for: layout) else { return nil }
                decoder.copy(into: buffer)
                return FramePicture(buffer: buffer, layout: layout, color: color)
            } catch {
                throw CaptureError(.unsupported, "decoder", device.path, detail: "\(error)")
            }
        case .convert(let foreign):
            guard let buffer = buffer(for: foreign.layout) else { return nil }
            guard try foreign.convert(source, length, into: buffer) else { return nil }
            return FramePicture(buffer: buffer, layout: foreign.layout, color: foreign.color)
        }
    }

    /// Returns free memory for a picture; `nil` if all frames are held.
    private func buffer(for layout: FrameLayout) -> FrameBuffer? {
        pool.draw(byteCount: layout.byteCount)
    }
}

/// Copies planes that each have memory of their own into one buffer. Pure.
struct PlaneGathering: Hashable {
    let layout: FrameLayout
    /// The lengths of the rows in each plane of memory, in bytes.
    private let strides: [Int]

    /// The copy of pictures of `format` with rows of `strides` bytes; `nil` if that is not a format
    /// in planes of their own, or a row is shorter than its pixels.
    init?(_ format: v4l2_format, _ strides: [Int]) {
        let code = PixelFormat(rawValue: format.fmt.pix.pixelformat)
        guard let whole = PixelFormat.multiplanar[code] else { return nil }
        let layout = FrameLayout(size: format.size, format: whole)
        guard strides.count == layout.planeCount else { return nil }
        // A driver that names no length of a row has rows without padding.
        let rows = strides.indices.map { strides[$0] > 0 ? strides[$0] : layout.plane($0).rowBytes }
        guard rows.indices.allSatisfy({ (layout.plane($0).rowBytes...1 << 20).contains(rows[$0]) })
        else { return nil }
        self.layout = layout
        self.strides = rows
    }

    /// The least number of bytes of a picture in each plane of memory.
    var leastByteCounts: [Int] {
        strides.indices.map {
            let plane = layout.plane($0)
            return strides[$0] * (plane.rows - 1) + plane.rowBytes
        }
    }

    /// Copies the planes `first` and `others` into `result`.
    func gather(_ first: FrameBuffer, _ others: [FrameBuffer], into result: FrameBuffer) {
        for index in 0..<layout.planeCount {
            let plane = result.plane(index, of: layout)
            let source = index == 0 ? first : others[index - 1]
            guard let base = source.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
                continue
            }
            for y in 0..<plane.rows {
                plane.row(y).update(from: base + y * strides[index], count: plane.rowBytes)
            }
        }
    }
}

extension FrameLayout {
    /// The number of bytes from the picture's start to the end of its last row, without its
    /// padding.
    var usedByteCount: Int {
        let last = plane(planeCount - 1)
        return last.offset + last.stride * (last.rows - 1) + last.rowBytes
    }

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
    let layout: FrameLayout
    let color: ColorSpace
    private let converter: OpaquePointer
    private let calls: UnsafeMutablePointer<libv4l_dev_ops>
    private var source: v4l2_format
    private var destination: v4l2_format
    private let device: VideoDevice
    /// The number of bytes of a whole picture; 0 where that is not known before it is read.
    let leastLength: Int
    /// The memory into which pictures are copied that cannot be read in place.
    private let copy: UnsafeMutableRawBufferPointer?
    /// The bytes of a row, and from one row to the next, where padding has to be removed.
    private let padded: (row: Int, stride: Int)?

    init(_ format: v4l2_format, _ device: VideoDevice) throws(CaptureError) {
        var format = format
        color = Self.color(of: format)
        let tight = Self.tightRow(of: format)
        leastLength = try Self.checkRows(of: &format, tight, device)
        let stride = Int(format.fmt.pix.bytesperline)
        padded = tight.flatMap { stride > $0 ? ($0, stride) : nil }
        if let padded { format.fmt.pix.bytesperline = UInt32(padded.row) }
        // No decoder takes as much as four bytes for a pixel.
        let copied = padded.map { $0.row * format.size.height } ?? format.size.area * 4
        // libv4lconvert makes its calls through the same device.
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
        copy =
            padded != nil || leastLength == 0
            ? .allocate(byteCount: copied, alignment: 16) : nil
        source = format
        // libv4lconvert writes even sizes without padding.
        let even = Size(width: format.size.width / 2 * 2, height: format.size.height / 2 * 2)
        layout = FrameLayout(size: even, format: .i420, stride: even.width)
        destination = v4l2_format(capturing: .i420, even)
        v4lconvert_fixup_fmt(&destination)
    }

    /// Returns the colour space of converted pictures of `format`. YUV keeps the values that the
    /// driver sent; libv4lconvert makes limited range of everything else.
    private static func color(of format: v4l2_format) -> ColorSpace {
        let pixelFormat = PixelFormat(rawValue: format.fmt.pix.pixelformat)
        return switch pixelFormat {
        case PixelFormat("YVYU"), PixelFormat("VYUY"), PixelFormat("NV16"), PixelFormat("NV61"),
            PixelFormat("YV12"), PixelFormat("M420"), PixelFormat("HM12"), PixelFormat("Y04"),
            PixelFormat("Y06"), PixelFormat("Y10B"), PixelFormat("Y16"), .yuyv, .uyvy, .nv12, .i420,
            .i422, .gray:
            format.color
        case PixelFormat("PJPG"), PixelFormat("JPGL"): .jpeg
        default: .video
        }
    }

    /// Returns the number of bytes of a picture of `format`; 0 if it has no rows of known length. A
    /// driver that names no length of a row has rows without padding.
    ///
    /// libv4lconvert believes the length of a row, and would read outside the buffer.
    ///
    /// - Throws: `unsupported` if the rows are shorter than their pixels.
    private static func checkRows(
        of format: inout v4l2_format,
        _ tight: Int?,
        _ device: VideoDevice
    ) throws(CaptureError) -> Int {
        if let tight { return try checkRows(of: &format, ofAtLeast: tight, device) }
        let pixel: Int
        switch PixelFormat(rawValue: format.fmt.pix.pixelformat) {
        case PixelFormat("RGB4"), PixelFormat("BGR4"), PixelFormat("AR24"), PixelFormat("XR24"),
            PixelFormat("BA24"), PixelFormat("BX24"):
            pixel = 4
        case PixelFormat("RGB3"), PixelFormat("BGR3"): pixel = 3
        case PixelFormat("RGBP"), PixelFormat("YVYU"), PixelFormat("VYUY"), .yuyv, .uyvy: pixel = 2
        case PixelFormat("BA81"), PixelFormat("GBRG"), PixelFormat("GRBG"), PixelFormat("RGGB"):
            pixel = 1
        // libv4lconvert writes these beyond the end of a picture of YUV: seen with a guard page.
        case PixelFormat("HSV3"), PixelFormat("HSV4"):
            throw CaptureError(.unsupported, "HSV", device.path)
        case PixelFormat("NV16"), PixelFormat("NV61"):
            // Chroma has as many rows, below.
            let row = max(Int(format.fmt.pix.bytesperline), format.size.width)
            format.fmt.pix.bytesperline = UInt32(row)
            return row * 2 * format.size.height
        case .nv12:
            let row = max(Int(format.fmt.pix.bytesperline), format.size.width)
            format.fmt.pix.bytesperline = UInt32(row)
            return row * format.size.height + row * ((format.size.height + 1) / 2)
        // Read by their size alone, and some whatever their length is.
        case PixelFormat("YV12"), PixelFormat("M420"), PixelFormat("S501"), PixelFormat("S505"),
            PixelFormat("S508"), PixelFormat("KONI"), PixelFormat("S920"):
            return format.size.area * 3 / 2
        case PixelFormat("S561"), PixelFormat("S910"), PixelFormat("SONX"), PixelFormat("M310"),
            PixelFormat("905C"), PixelFormat("P207"), PixelFormat("S680"):
            // Its decoders make a mosaic without padding, which it then reads with the driver's
            // length of a row: outside its memory, with a length of 0.
            format.fmt.pix.bytesperline = UInt32(format.size.width)
            let isPlain = format.fmt.pix.pixelformat == PixelFormat("S680").rawValue
            return isPlain ? format.size.area : 0
        case PixelFormat("CITV"): return format.size.area * 2
        case PixelFormat("HM12"):
            // Blocks of 16x16, and rows of 720 pixels.
            return 720 * ((format.size.height + 31) / 32 * 32) * 3 / 2
        default: return 0
        }
        return try checkRows(of: &format, ofAtLeast: format.size.width * pixel, device)
    }

    /// Returns the number of bytes of a row of `format` where libv4lconvert knows no padding; else
    /// `nil`.
    private static func tightRow(of format: v4l2_format) -> Int? {
        let width = format.size.width
        return switch PixelFormat(rawValue: format.fmt.pix.pixelformat) {
        case PixelFormat("Y04"), PixelFormat("Y06"): width
        case PixelFormat("Y16"), PixelFormat("BG10"), PixelFormat("GB10"), PixelFormat("BA10"),
            PixelFormat("RG10"), PixelFormat("BYR2"), PixelFormat("GB16"), PixelFormat("GR16"),
            PixelFormat("RG16"):
            width * 2
        case PixelFormat("pBAA"), PixelFormat("pGAA"), PixelFormat("pgAA"), PixelFormat("pRAA"),
            PixelFormat("Y10B"):
            (width + 3) / 4 * 5
        default: nil
        }
    }

    /// Returns the number of bytes of a picture of `format` whose rows have `row` bytes without
    /// padding.
    ///
    /// - Throws: `unsupported` if they are shorter.
    private static func checkRows(
        of format: inout v4l2_format,
        ofAtLeast row: Int,
        _ device: VideoDevice
    ) throws(CaptureError) -> Int {
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
        copy?.deallocate()
    }

    /// Returns the first `length` bytes of `bytes` as libv4lconvert can read them: without padding
    /// that it does not know, and with zeros behind a picture of unknown length, since some of its
    /// decoders read on until they have all pixels. Returns `nil` if they cannot be a picture.
    private func readable(_ bytes: FrameBuffer, _ length: Int) -> UnsafeRawBufferPointer? {
        let source = UnsafeRawBufferPointer(rebasing: bytes.bytes[..<length])
        guard let copy else { return source }
        guard let padded else {
            guard length <= copy.count else { return nil }
            copy.copyMemory(from: source)
            UnsafeMutableRawBufferPointer(rebasing: copy[length...])
                .initializeMemory(as: UInt8.self, repeating: 0)
            return UnsafeRawBufferPointer(rebasing: copy[..<length])
        }
        for y in 0..<copy.count / padded.row {
            UnsafeMutableRawBufferPointer(rebasing: copy[(y * padded.row)...]).copyMemory(
                from: UnsafeRawBufferPointer(
                    rebasing: source[y * padded.stride..<y * padded.stride + padded.row]
                )
            )
        }
        return UnsafeRawBufferPointer(copy)
    }

    /// Converts `length` bytes of `bytes` into `buffer`. Returns `true` on success.
    ///
    /// - Throws: `unsupported` if libv4lconvert does not know the format.
    func convert(
        _ bytes: FrameBuffer,
        _ length: Int,
        into buffer: FrameBuffer
    ) throws(CaptureError) -> Bool {
        guard length >= leastLength, let readable = readable(bytes, length) else { return false }
        let written = v4lconvert_convert(
            converter,
            &source,
            &destination,
            UnsafeMutablePointer(
                mutating: readable.baseAddress?.assumingMemoryBound(to: UInt8.self)
            ),
            CInt(readable.count),
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
