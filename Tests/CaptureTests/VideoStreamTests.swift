import CV4L2
import DualCamCore
import Frames
import Glibc
import Platform
import TestJPEGs
import Testing

@testable import Capture

@Suite(.timeLimit(.minutes(5))) struct VideoStreamTests {
    private let device = ScriptedDevice()

    private let request = CaptureRequest(size: Size(width: 64, height: 32), rate: 30)

    private func open(_ device: ScriptedDevice) throws(CaptureError) -> any CameraStream {
        try V4L2Source.stream(VideoDevice(path: "/dev/videoX", calls: device), request)
    }

    /// Returns what is wrong with `device` at its opening.
    private func refusal(_ device: ScriptedDevice) -> CaptureError? {
        #expect(throws: CaptureError.self) { try open(device) }
    }

    private func next(_ stream: any CameraStream) throws -> CapturedEvent {
        try stream.next(until: .zero, bell: try Bell())
    }

    private static let faults: [(UInt, String, CInt, CaptureError.Code, Interruption)] = [
        (cv4l2_s_fmt, "VIDIOC_S_FMT", EBUSY, .busy, .busy),
        (cv4l2_s_fmt, "VIDIOC_S_FMT", EINVAL, .unsupported, .stalled),
        (cv4l2_s_fmt, "VIDIOC_S_FMT", EIO, .system, .stalled),
        (cv4l2_s_parm, "VIDIOC_S_PARM", EBUSY, .busy, .busy),
        (cv4l2_s_parm, "VIDIOC_S_PARM", ENODEV, .gone, .unplugged),
        (cv4l2_reqbufs, "VIDIOC_REQBUFS", EBUSY, .busy, .busy),
        (cv4l2_reqbufs, "VIDIOC_REQBUFS", ENOMEM, .system, .stalled),
        (cv4l2_querybuf, "VIDIOC_QUERYBUF", ENODEV, .gone, .unplugged),
        (0, "mmap", ENOMEM, .system, .stalled),
        (cv4l2_qbuf, "VIDIOC_QBUF", ENODEV, .gone, .unplugged),
        (cv4l2_enum_fmt, "VIDIOC_ENUM_FMT", EACCES, .denied, .denied),
        (cv4l2_enum_fmt, "VIDIOC_ENUM_FMT", ENODEV, .gone, .unplugged),
        (cv4l2_streamon, "VIDIOC_STREAMON", ENOSPC, .bandwidth, .bandwidth),
        (cv4l2_streamon, "VIDIOC_STREAMON", EPROTO, .system, .stalled),
        (cv4l2_s_fmt, "VIDIOC_S_FMT", EACCES, .denied, .denied),
        (cv4l2_streamon, "VIDIOC_STREAMON", ENODEV, .gone, .unplugged),
        (cv4l2_streamon, "VIDIOC_STREAMON", ETIMEDOUT, .timedOut, .stalled),
    ]

    @Test(arguments: faults)
    func `each errno at opening has its code and its name`(
        call: UInt,
        name: String,
        errno: CInt,
        code: CaptureError.Code,
        interruption: Interruption
    ) {
        device.errors[call] = [errno]
        let error = refusal(device)
        #expect(error?.code == code && error?.interruption == interruption)
        #expect(error?.operation == name && error?.errno == errno)
        #expect(error?.subject == "/dev/videoX")
        #expect(device.mappedCount == 0 && !device.isStreaming)
    }

    @Test(
        "EIO at STREAMON is want of bandwidth as long as there is a lighter mode",
        arguments: [
            (ENOSPC, 0, CaptureError.Code.bandwidth), (ENOSPC, 1, .bandwidth),
            (ENOSPC, 8, .bandwidth),
            (EIO, 0, .bandwidth), (EIO, 1, .system), (EIO, 8, .system),
        ]
    )
    func bandwidth(errno: CInt, reduction: Int, code: CaptureError.Code) {
        device.otherSizes = [Size(width: 32, height: 16)]
        device.errors[cv4l2_streamon] = [errno]
        var request = request
        request.reduction = reduction
        let error = #expect(throws: CaptureError.self) {
            try V4L2Source.stream(VideoDevice(path: "/dev/videoX", calls: device), request)
        }
        #expect(error?.code == code)
        #expect(error?.errno == errno)
    }

    @Test func `a stream knows which requests it answers as it is`() throws {
        device.otherSizes = [Size(width: 32, height: 16)]
        let stream = try open(device)
        let rows: [(size: Size, reduction: Int, suits: Bool)] = [
            (Size(width: 64, height: 32), 0, true), (Size(width: 60, height: 30), 0, true),
            (Size(width: 32, height: 16), 0, false), (Size(width: 64, height: 32), 1, false),
        ]
        for row in rows {
            let request = CaptureRequest(size: row.size, rate: 30, reduction: row.reduction)
            #expect(stream.suits(request) == row.suits, "\(row)")
        }
        device.errors[cv4l2_enum_fmt] = [ENODEV]
        #expect(!stream.suits(request))
    }

    @Test("times that go back or stand still are the camera's own; its frames come all the same")
    func wildTimes() throws {
        let stream = try open(device)
        for (index, time) in [100, 100, 99, 5000, 101].enumerated() {
            let frame = try device.frame(of: stream, .init(time: time))
            #expect(frame.timestamp == Timestamp(seconds: Double(time)))
            #expect(frame.sequence == UInt64(index))
        }
    }

    @Test(
        "a time of another clock, or one that cannot be, is replaced by the time of its arrival",
        arguments: [
            (UInt32(V4L2_BUF_FLAG_TIMESTAMP_UNKNOWN), 100),
            (UInt32(V4L2_BUF_FLAG_TIMESTAMP_COPY), 100),
            (UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC), -1),
            (UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC), 1 << 32),
            (UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC), .max),
            (UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC), .min),
        ]
    )
    func otherClocks(flags: UInt32, time: Int) throws {
        let stream = try open(device)
        let before = MonotonicClock.now
        let frame = try device.frame(of: stream, .init(flags: flags, time: time))
        #expect(frame.timestamp >= before && frame.timestamp <= MonotonicClock.now)
    }

    @Test("a camera whose rate cannot be set is opened as it is", arguments: [ENOTTY, EINVAL])
    func fixedRate(errno: CInt) throws {
        device.errors[cv4l2_s_parm] = [errno]
        let stream = try open(device)
        #expect(stream.mode.rate == 30, "as the device lists it")
        _ = try device.frame(of: stream, .init())
    }

    @Test("every call that a signal interrupts is made again")
    func interrupts() throws {
        for request in [
            cv4l2_enum_fmt, cv4l2_s_fmt, cv4l2_s_parm, cv4l2_reqbufs, cv4l2_querybuf, cv4l2_qbuf,
            cv4l2_streamon, cv4l2_dqbuf,
        ] { device.errors[request] = [EINTR, EINTR] }
        let stream = try open(device)
        _ = try device.frame(of: stream, .init())
        #expect(device.errors.values.allSatisfy { $0.isEmpty })
    }

    @Test(
        "each errno in mid stream has its code",
        arguments: [
            (ENODEV, POLLERR | POLLHUP, CInt(0), CaptureError.Code.gone),
            (ENODEV, POLLIN, 0, .gone), (EINVAL, POLLERR, ENODEV, .gone),
            (EAGAIN, POLLERR, ENODEV, .gone), (EAGAIN, POLLERR, 0, .system),
            (EIO, POLLERR, 0, .system), (EIO, POLLIN, 0, .system), (EIO, POLLERR, ENODEV, .gone),
            (EAGAIN, POLLHUP, ENODEV, .gone), (EPROTO, POLLERR, 0, .system),
            (EPROTO, POLLHUP, ENODEV, .gone), (EBUSY, POLLIN, 0, .busy),
            (EACCES, POLLIN, 0, .denied),
        ]
    )
    func streaming(errno: CInt, events: CInt, capability: CInt, code: CaptureError.Code) throws {
        let stream = try open(device)
        _ = try device.frame(of: stream, .init())
        device.isBroken = true
        device.events = events
        device.errors[cv4l2_dqbuf] = [errno]
        device.errors[cv4l2_querycap] = capability == 0 ? [] : [capability]
        let error = #expect(throws: CaptureError.self) { try next(stream) }
        #expect(error?.code == code)
        #expect(error?.operation == "VIDIOC_DQBUF")
    }

    @Test func `frames that are no good are dropped, and their buffers used again`() throws {
        let stream = try open(device)
        for delivery: ScriptedDevice.Delivery in [
            .init(flags: UInt32(V4L2_BUF_FLAG_ERROR)), .init(length: 0), .init(length: 4095),
        ] {
            for _ in 0..<20 {
                device.deliveries = [delivery]
                guard case .dropped = try next(stream) else { throw NoSuchEvent("\(delivery)") }
            }
        }
        let frame = try device.frame(of: stream, .init(length: 4096))
        #expect(frame.sequence == 60)
        #expect(frame.timestamp == Timestamp(seconds: 160))
    }

    @Test(
        "frames lie in the device's memory; one that is held is not overwritten, and none starves it"
    )
    func holding() throws {
        let stream = try open(device)
        #expect(device.queued.count == 8)
        var held: [Frame] = []
        var dropped = 0
        for _ in 0..<20 {
            device.deliveries = [.init()]
            switch try next(stream) {
            case .frame(let frame): held.append(frame)
            case .dropped: dropped += 1
            case let event: Issue.record("\(event)")
            }
            // The buffer just copied goes back to the device with the next call.
            #expect(device.queued.count >= 2)
        }
        // Five are in the device's memory, four are copies, and then there is no more room.
        #expect(held.count == 9)
        #expect(dropped == 11)
        for (index, frame) in held.enumerated() {
            #expect(frame.layout.format == .yuyv)
            #expect(frame.plane(0).row(31)[127] == UInt8(index))
        }
        held.removeAll()
        #expect(try device.frame(of: stream, .init()).plane(0).row(0)[0] == 20)
        #expect(device.queued.count == 7)
    }

    @Test("a frame outlives its stream; the device is stopped and its memory given back")
    func closing() throws {
        var stream: (any CameraStream)? = try open(device)
        device.deliveries = [.init(content: [UInt8](repeating: 77, count: 4096))]
        var held: Frame?
        if let stream, case .frame(let frame) = try next(stream) { held = frame }
        stream = nil
        #expect(device.log.suffix(2) == [cv4l2_streamoff, cv4l2_reqbufs])
        #expect(device.mappedCount == 1)
        #expect(held?.plane(0).row(31)[127] == 77)
        held = nil
        #expect(device.mappedCount == 0)
    }

    @Test("JPEGs are handed on as they came, and their memory is the device's again afterwards")
    func jpeg() throws {
        let good = flatJPEG(Size(width: 64, height: 32), luma: 90)
        let device = ScriptedDevice(.mjpg)
        let stream = try open(device)
        #expect(stream.mode.description == "64x32@30/MJPG")
        var held: [JPEGFrame] = []
        for index in 0..<12 {
            let content = index % 2 == 0 ? good : [1, 2, 3]
            device.deliveries.append(.init(content: content))
            let event = try next(stream)
            guard case .jpeg(let jpeg) = event else { throw NoSuchEvent("\(event)") }
            #expect(Array(jpeg.bytes) == content)
            // A few may be held; the device continues with the rest, and copies.
            if index < 6 { held.append(jpeg) }
        }
        #expect(Array(held[0].bytes) == good && Array(held[5].bytes) == [1, 2, 3])
        device.deliveries.append(.init(content: good))
        let frame = try #require(try next(stream).frame)
        #expect(frame.layout.format == .i422 && frame.color == .jpeg)
        #expect(abs(Int(frame.plane(0).row(16)[40]) - 90) <= 2)
    }

    @Test(
        arguments: [
            (Size(width: 64, height: 32), UInt32.max),
            (Size(width: 1 << 31, height: 1 << 31), UInt32(0)),
            (Size(width: 64, height: 1 << 20), UInt32(0)), (Size(width: 1, height: 32), UInt32(0)),
        ] as [(Size, UInt32)]
    )
    func `what a driver says of sizes is not believed beyond reason`(size: Size, stride: UInt32) {
        device.size = size
        device.length = 4096
        device.pix.bytesperline = stride
        // Sizes that are impossible are no modes; a stride shows only once a mode is set.
        #expect(refusal(device)?.code == (stride == 0 ? .noMode : .unsupported))
    }

    @Test("packed and half-packed formats stay what they are")
    func packed() throws {
        for format in [PixelFormat.uyvy, .nv12] {
            let device = ScriptedDevice(format)
            let stream = try open(device)
            let content: [UInt8] =
                format == .uyvy
                ? (0..<4096).map { [10, 20, 30, 40][$0 % 4] }
                : (0..<3072).map { $0 < 2048 ? 20 : [10, 30][$0 % 2] }
            let frame = try device.frame(of: stream, .init(content: content))
            #expect(frame.layout.format == format)
            let seen = (0..<3).map { frame.sample(plane: $0, x: 30, y: 15) }
            #expect(seen == [20, 10, 30])
        }
    }

    @Test("other formats are converted by libv4lconvert, in BT.601 and limited range")
    func foreign() throws {
        let rows: [(format: StaticString, content: [UInt8], color: [Int])] = [
            ("RGB3", (0..<6144).map { $0 % 3 == 0 ? 255 : 0 }, [81, 90, 240]),
            ("BGR3", (0..<6144).map { $0 % 3 == 0 ? 255 : 0 }, [41, 240, 110]),
            ("RGB3", Array(repeating: 255, count: 6144), [235, 128, 128]),
            ("YVYU", (0..<4096).map { [20, 30, 40, 10][$0 % 4] }, [30, 10, 30]),
        ]
        for row in rows {
            let stride = row.content.count / 32
            let device = ScriptedDevice(PixelFormat(row.format), length: 6144, row: stride)
            device.pix.quantization = V4L2_QUANTIZATION_FULL_RANGE.rawValue
            let stream = try open(device)
            let frame = try device.frame(of: stream, .init(content: row.content))
            #expect(frame.layout.format == .i420)
            // The driver's word counts for YUV; what was RGB is always the same.
            let isYUV = row.format.description == "YVYU"
            #expect(frame.color == (isYUV ? ColorSpace.jpeg : .video))
            let mean = zip(pixel(frame, 30, 16), pixel(frame, 31, 16)).map { ($0 + $1) / 2 }
            for (value, expected) in zip(mean, row.color) {
                #expect(abs(value - expected) <= 2, "\(row.format) \(mean)")
            }
        }
        let device = ScriptedDevice(PixelFormat("Y444"), row: 128)
        #expect(refusal(device)?.code == .noMode)
        // A version of libv4lconvert that reads less says so.
        let stream = try VideoStream(
            VideoDevice(path: "/dev/videoX", calls: device),
            CaptureMode(size: device.size, rate: 30, format: device.format)
        )
        device.deliveries = [.init()]
        #expect(#expect(throws: CaptureError.self) { try next(stream) }?.code == .unsupported)
    }

    @Test(
        "the length of a driver's rows is not believed where its memory has no room for them",
        arguments: [(0, true), (192, true), (200, false), (1 << 19, false)]
    )
    func rows(stride: Int, isWhole: Bool) throws {
        let device = ScriptedDevice(PixelFormat("RGB3"), length: 6144, row: stride)
        guard isWhole else {
            #expect(refusal(device)?.code == .system)
            return
        }
        let stream = try open(device)
        device.deliveries = [.init(), .init(length: 6143)]
        guard case .frame = try next(stream), case .dropped = try next(stream) else {
            throw NoSuchEvent("a whole picture, then none")
        }
    }

    /// The bytes of a picture of 64x32.
    @Test(
        "what libv4lconvert reads by its size alone is whole, or no picture",
        arguments: [
            ("NV16", 4096), ("NV61", 4096), ("YV12", 3072), ("M420", 3072), ("CITV", 4096),
            ("HM12", 720 * 32 * 3 / 2), ("KONI", 3072), ("S501", 3072), ("Y16", 4096),
            ("Y04", 2048), ("Y06", 2048), ("Y10B", 2560), ("BG10", 4096), ("GB10", 4096),
            ("BA10", 4096), ("RG10", 4096), ("BYR2", 4096), ("GB16", 4096), ("GR16", 4096),
            ("RG16", 4096), ("pBAA", 2560), ("pGAA", 2560), ("pgAA", 2560), ("pRAA", 2560),
            ("S680", 2048),
        ]
    )
    func sizes(format: String, whole: Int) throws {
        let device = ScriptedDevice(PixelFormat(text: format))
        for length in [100, whole - 1] {
            device.length = length
            #expect(refusal(device)?.description.contains("too few") == true)
        }
        device.length = whole
        let stream = try open(device)
        device.deliveries = [100, whole - 1, whole].map { .init(length: $0) }
        for length in [100, whole - 1, whole] {
            switch try next(stream) {
            case .frame: #expect(length == whole)
            case .dropped: #expect(length < whole)
            case let event: Issue.record("\(event)")
            }
        }
    }

    @Test(
        "a decoder that trusts its bytes finds zeros behind them, and a mosaic has rows",
        arguments: ["S561", "S910", "SONX", "M310", "905C", "P207", "CPIA", "O511", "O518", "JL20"]
    )
    func unknownLengths(format: String) throws {
        let device = ScriptedDevice(PixelFormat(text: format), length: 4096)
        let stream = try open(device)
        for value: UInt8 in [0, 1, 0x55, 0xaa, 0xff] {
            device.deliveries = [.init(content: Array(repeating: value, count: 4096))]
            switch try next(stream) {
            case .frame, .dropped: break
            case let event: Issue.record("\(event)")
            }
        }
    }

    @Test(
        "rows with padding that libv4lconvert does not know stand below one another",
        arguments: [("Y16", 128), ("Y10B", 80), ("BG10", 128), ("pBAA", 80), ("BYR2", 128)]
    )
    func paddedRows(format: String, row: Int) throws {
        let stride = row + 48
        let device = ScriptedDevice(PixelFormat(text: format), length: stride * 32, row: stride)
        // Black rows behind which there is white that is no part of the picture.
        let content = (0..<device.length).map { $0 % stride < row ? UInt8(0) : 255 }
        let stream = try open(device)
        let frame = try device.frame(of: stream, .init(content: content))
        for (x, y) in [(0, 0), (30, 7), (63, 15), (31, 31)] {
            #expect(frame.sample(plane: 0, x: x, y: y) <= 16, "at \(x), \(y)")
        }
    }

    @Test func `rows that are shorter than their pixels are refused`() throws {
        let device = ScriptedDevice(PixelFormat("BGR3"), length: 6144, row: 64)
        #expect(refusal(device)?.code == .unsupported)
    }

    @Test func `the colour fields of V4L2 mean what its header says`() {
        func color(
            _ space: v4l2_colorspace,
            _ encoding: UInt32 = 0,
            _ range: UInt32 = 0
        ) -> ColorSpace {
            var format = v4l2_format(capturing: .yuyv, Size(width: 64, height: 32))
            format.fmt.pix.colorspace = space.rawValue
            format.fmt.pix.ycbcr_enc = encoding
            format.fmt.pix.quantization = range
            return format.color
        }
        let hd = ColorSpace(matrix: .bt709, range: .limited)
        #expect(color(V4L2_COLORSPACE_DEFAULT) == .video)
        #expect(color(V4L2_COLORSPACE_SRGB) == .video)
        #expect(color(V4L2_COLORSPACE_SMPTE170M) == .video)
        #expect(color(V4L2_COLORSPACE_JPEG) == .jpeg)
        #expect(color(V4L2_COLORSPACE_REC709) == hd)
        #expect(color(V4L2_COLORSPACE_SRGB, V4L2_YCBCR_ENC_709.rawValue) == hd)
        #expect(color(V4L2_COLORSPACE_REC709, V4L2_YCBCR_ENC_601.rawValue) == .video)
        #expect(color(V4L2_COLORSPACE_SRGB, 0, V4L2_QUANTIZATION_FULL_RANGE.rawValue) == .jpeg)
        #expect(color(V4L2_COLORSPACE_JPEG, 0, V4L2_QUANTIZATION_LIM_RANGE.rawValue) == .video)
    }

    @Test func `a mode that the device has not is refused with those that it has`() throws {
        let device = VideoDevice(path: "/dev/videoX", calls: ScriptedDevice())
        let wanted = CaptureRequest(
            size: request.size,
            rate: 30,
            mode: try CaptureModePreference(parsing: "1280x720@30")
        )
        let error = #expect(throws: CaptureError.self) { try V4L2Source.stream(device, wanted) }
        #expect(error?.code == .noMode)
        #expect(error?.description.contains("64x32@30/YUYV") == true)
        #expect(error?.description.contains("1280x720@30") == true)
    }

    @Test("only nodes that capture into mapped memory, and do nothing else, are cameras")
    func capability() throws {
        let camera = UInt32(V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING)
        let rows: [(device: UInt32, isCamera: Bool)] = [
            (camera, true), (UInt32(V4L2_CAP_VIDEO_CAPTURE), false),
            (UInt32(V4L2_CAP_META_CAPTURE | V4L2_CAP_STREAMING), false),
            (camera | UInt32(V4L2_CAP_VIDEO_OUTPUT), false),
            (camera | UInt32(V4L2_CAP_VIDEO_M2M), false),
        ]
        for row in rows {
            device.capabilities = row.device
            let answer = try VideoDevice(path: "/dev/videoX", calls: device).capability()
            #expect(answer.isCamera == row.isCamera)
        }
    }
}

/// What ends a test: an event is not the one that was expected.
private struct NoSuchEvent: Error {
    let text: String
    init(_ text: String) { self.text = text }
}

extension ScriptedDevice {
    fileprivate func frame(of stream: any CameraStream, _ delivery: Delivery) throws -> Frame {
        deliveries = [delivery]
        return try stream.immediateFrame()
    }
}

extension PixelFormat {
    /// The format whose code is `text`, filled up with spaces.
    fileprivate init(text: String) {
        let bytes = Array(text.utf8) + [0x20, 0x20, 0x20, 0x20]
        self.init(rawValue: bytes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }
}
