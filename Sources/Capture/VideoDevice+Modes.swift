import CV4L2
import DualCamCore
import Frames
import Glibc

extension VideoDevice {
    /// Returns the modes that the device offers for `request`, in its own order.
    ///
    /// If the device takes any size or rate within limits, these are the ones that the request or
    /// common use would ask for. A rate of 0 is one that the device does not report.
    ///
    /// - Throws: the code of the failed VIDIOC_ENUM_FMT.
    func modes(for request: CaptureRequest) throws(CaptureError) -> [CaptureMode] {
        var modes: [CaptureMode] = []
        for format in try formats() {
            for size in sizes(of: format, for: request) {
                for rate in rates(of: format, size: size, for: request) {
                    modes.append(CaptureMode(size: size, rate: rate, format: format))
                }
            }
        }
        return modes
    }

    /// Returns the pixel formats that the device offers (VIDIOC_ENUM_FMT).
    func formats() throws(CaptureError) -> [PixelFormat] {
        var formats: [PixelFormat] = []
        while true {
            var answer = v4l2_fmtdesc()
            answer.index = UInt32(formats.count)
            answer.type = bufferType
            let error = attempt(cv4l2_enum_fmt, &answer)
            // The end of the list, or a limit in case a driver has none.
            if error == EINVAL || formats.count == 256 { return formats }
            guard error == 0 else { throw failure("VIDIOC_ENUM_FMT", error) }
            formats.append(PixelFormat(rawValue: answer.pixelformat))
        }
    }

    /// Returns the sizes of `format` (VIDIOC_ENUM_FRAMESIZES).
    private func sizes(of format: PixelFormat, for request: CaptureRequest) -> [Size] {
        var sizes: [Size] = []
        while sizes.count < 256 {
            var answer = v4l2_frmsizeenum()
            answer.index = UInt32(sizes.count)
            answer.pixel_format = format.rawValue
            guard attempt(cv4l2_enum_framesizes, &answer) == 0 else { break }
            guard answer.type == V4L2_FRMSIZE_TYPE_DISCRETE.rawValue else {
                return steps(answer.stepwise, for: request)
            }
            let size = Size(
                width: Int(answer.discrete.width),
                height: Int(answer.discrete.height)
            )
            sizes.append(size)
        }
        if sizes.isEmpty, let size = nearestSize(of: format, to: request.wantedSize) {
            sizes = [size]
        }
        // A camera for Windows Hello gives its infrared picture as one more size of its usual node.
        if sizes.contains(where: { $0 != .infrared }) { sizes.removeAll { $0 == .infrared } }
        // A descriptor may list a size twice, or impossible sizes.
        return sizes.enumerated()
            .filter { $0.element.isPossible && !sizes[..<$0.offset].contains($0.element) }
            .map(\.element)
    }

    /// Returns sizes to try if the device takes any within limits: the requested one and common
    /// ones.
    private func steps(_ limits: v4l2_frmsize_stepwise, for request: CaptureRequest) -> [Size] {
        func snap(_ value: Int, _ low: UInt32, _ high: UInt32, _ step: UInt32) -> Int {
            let (low, high, step) = (Int(low), max(Int(low), Int(high)), max(1, Int(step)))
            return low + (min(max(value, low), high) - low) / step * step
        }
        let usual = [(640, 360), (640, 480), (1280, 720), (1920, 1080)].map {
            Size(width: $0.0, height: $0.1)
        }
        var sizes: [Size] = []
        for size in [request.wantedSize] + usual {
            let snapped = Size(
                width: snap(size.width, limits.min_width, limits.max_width, limits.step_width),
                height: snap(size.height, limits.min_height, limits.max_height, limits.step_height)
            )
            if snapped.isPossible, !sizes.contains(snapped) { sizes.append(snapped) }
        }
        return sizes
    }

    /// Returns the size that the device would use for `size`, if it lists none (VIDIOC_TRY_FMT).
    private func nearestSize(of format: PixelFormat, to size: Size) -> Size? {
        var answer = v4l2_format(capturing: format, size)
        guard exchange(cv4l2_try_fmt, &answer) == 0,
            answer.fmt.pix.pixelformat == format.rawValue
        else { return nil }
        return answer.size
    }

    /// Returns the rates of `format` at `size` (VIDIOC_ENUM_FRAMEINTERVALS); only 0 if the device
    /// does not report them.
    private func rates(
        of format: PixelFormat,
        size: Size,
        for request: CaptureRequest
    ) -> [Double] {
        var rates: [Double] = []
        while rates.count < 256 {
            var answer = v4l2_frmivalenum()
            answer.index = UInt32(rates.count)
            answer.pixel_format = format.rawValue
            answer.width = UInt32(size.width)
            answer.height = UInt32(size.height)
            guard attempt(cv4l2_enum_frameintervals, &answer) == 0 else { break }
            guard answer.type == V4L2_FRMIVAL_TYPE_DISCRETE.rawValue else {
                let fastest = answer.stepwise.min.rate
                let slowest = answer.stepwise.max.rate
                return [min(max(request.wantedRate, slowest), fastest)]
            }
            rates.append(answer.discrete.rate)
        }
        return rates.isEmpty ? [0] : rates
    }

    /// Sets the device to `mode`. The result may have another size, but never another format.
    ///
    /// - Throws: `unsupported` if it has no such format, `busy` if another program uses it;
    ///   otherwise the code of the failed call.
    func set(_ mode: CaptureMode) throws(CaptureError) -> v4l2_format {
        var format = v4l2_format(capturing: mode.format, mode.size)
        let error = exchange(cv4l2_s_fmt, &format)
        guard error == 0 else { throw failure("VIDIOC_S_FMT", error) }
        guard format.fmt.pix.pixelformat == mode.format.rawValue, format.size.isPossible,
            format.fmt.pix.bytesperline <= Self.longestRow
        else {
            let given = PixelFormat(rawValue: format.fmt.pix.pixelformat)
            throw CaptureError(
                .unsupported,
                "VIDIOC_S_FMT",
                path,
                detail: "\(format.size)/\(given) instead of \(mode)"
            )
        }
        return format
    }

    /// Makes the call `request` with `format`, which is in single planes here whatever the device
    /// has: the row length is that of the first plane. Returns 0 or the errno.
    private func exchange(_ request: UInt, _ format: inout v4l2_format) -> CInt {
        guard isMultiplanar else { return attempt(request, &format) }
        var planes = v4l2_format()
        planes.type = bufferType
        planes.fmt.pix_mp.pixelformat = format.fmt.pix.pixelformat
        planes.fmt.pix_mp.width = format.fmt.pix.width
        planes.fmt.pix_mp.height = format.fmt.pix.height
        planes.fmt.pix_mp.field = format.fmt.pix.field
        let error = attempt(request, &planes)
        guard error == 0 else { return error }
        var answer = planes.fmt.pix_mp
        // At least one: a driver's 0 would be a device without memory.
        let count = min(max(1, UInt32(answer.num_planes)), UInt32(VIDEO_MAX_PLANES))
        planeStrides = (0..<count).map { Int(cv4l2_plane_stride(&answer, $0)) }
        format.fmt.pix.pixelformat = answer.pixelformat
        format.fmt.pix.width = answer.width
        format.fmt.pix.height = answer.height
        format.fmt.pix.field = answer.field
        format.fmt.pix.bytesperline = cv4l2_plane_stride(&answer, 0)
        format.fmt.pix.sizeimage = cv4l2_plane_size(&answer, 0)
        format.fmt.pix.colorspace = answer.colorspace
        format.fmt.pix.ycbcr_enc = UInt32(answer.ycbcr_enc)
        format.fmt.pix.quantization = UInt32(answer.quantization)
        return 0
    }

    /// Requests `rate` frames per second (VIDIOC_S_PARM). Returns the actual rate, or 0 if the
    /// device does not report it.
    func setRate(_ rate: Double) throws(CaptureError) -> Double {
        var answer = v4l2_streamparm()
        answer.type = bufferType
        // Whole rates as they are, others in USB video's own unit of 100 ns.
        answer.parm.capture.timeperframe =
            rate == rate.rounded()
            ? v4l2_fract(numerator: 1, denominator: UInt32(rate))
            : v4l2_fract(
                numerator: UInt32(min((1e7 / rate).rounded(), 4e9)),
                denominator: 10_000_000
            )
        let error = attempt(cv4l2_s_parm, &answer)
        // Many devices have a fixed rate and no such call.
        if error == ENOTTY || error == EINVAL { return 0 }
        guard error == 0 else { throw failure("VIDIOC_S_PARM", error) }
        return answer.parm.capture.timeperframe.rate
    }
}

extension VideoDevice {
    /// The longest plausible row, in bytes.
    private static let longestRow: UInt32 = 1 << 20
}

extension Size {
    /// The size of the infrared picture of many cameras for Windows Hello.
    fileprivate static let infrared = Size(width: 340, height: 340)

    /// `true` if a camera may have this size. Guards the memory sizes computed from a driver's
    /// answers.
    fileprivate var isPossible: Bool {
        (2...16384).contains(width) && (2...16384).contains(height)
    }
}

extension v4l2_format {
    init(capturing format: PixelFormat, _ size: Size) {
        self.init()
        type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        fmt.pix.pixelformat = format.rawValue
        fmt.pix.width = UInt32(size.width)
        fmt.pix.height = UInt32(size.height)
        fmt.pix.field = V4L2_FIELD_ANY.rawValue
    }

    var size: Size { Size(width: Int(fmt.pix.width), height: Int(fmt.pix.height)) }

    /// The colour space, with V4L2's own defaults for what the driver leaves open
    /// (V4L2_MAP_YCBCR_ENC_DEFAULT, V4L2_MAP_QUANTIZATION_DEFAULT).
    var color: ColorSpace {
        let space = v4l2_colorspace(rawValue: fmt.pix.colorspace)
        let matrix: ColorSpace.Matrix =
            switch v4l2_ycbcr_encoding(rawValue: fmt.pix.ycbcr_enc) {
            case V4L2_YCBCR_ENC_DEFAULT:
                space == V4L2_COLORSPACE_REC709 || space == V4L2_COLORSPACE_DCI_P3
                    ? .bt709 : .bt601
            case V4L2_YCBCR_ENC_709, V4L2_YCBCR_ENC_XV709: .bt709
            default: .bt601
            }
        let range: ColorSpace.Range =
            switch v4l2_quantization(rawValue: fmt.pix.quantization) {
            case V4L2_QUANTIZATION_DEFAULT: space == V4L2_COLORSPACE_JPEG ? .full : .limited
            case V4L2_QUANTIZATION_FULL_RANGE: .full
            default: .limited
            }
        return ColorSpace(matrix: matrix, range: range)
    }
}

extension v4l2_fract {
    /// The frame rate for this time per frame, in frames per second; 0 if the time is zero.
    fileprivate var rate: Double {
        numerator > 0 ? Double(denominator) / Double(numerator) : 0
    }
}

extension CaptureRequest {
    /// The size to look for: the configured one, or the one to fill.
    fileprivate var wantedSize: Size {
        if case .mode(let size, _, _) = mode { size } else { size }
    }
    fileprivate var wantedRate: Double {
        if case .mode(_, let rate, _) = mode { rate } else { Double(rate) }
    }
}
