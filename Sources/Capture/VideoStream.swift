import CV4L2
import DualCamCore
import Frames
import Glibc
import Platform

/// A V4L2 device that streams into mapped memory.
///
/// What needs no conversion is handed on where the device put it, and its memory is queued again
/// when nobody holds the frame any more; when that leaves the device too little to go on with, a
/// frame is copied instead, so that no consumer can starve a camera.
final class VideoStream: CameraStream {
    private(set) var mode: CaptureMode
    let unreducedMode: CaptureMode?
    private(set) var decoding = Timestamp.zero
    private let device: VideoDevice
    /// What was asked of the driver.
    private let chosen: CaptureMode
    private var slots: [Slot] = []
    private let conversion: FrameConversion
    private let color: ColorSpace
    /// Where copies go.
    private var copies: FramePool?

    /// One buffer of the device.
    private struct Slot {
        /// Its memory; held by frames, too, where they are not copied.
        var buffer: FrameBuffer
        /// With the device, to be filled.
        var isQueued = false
    }

    /// How many buffers are asked for: two or three may be held while the device still has enough.
    private static let bufferCount: UInt32 = 8
    /// How many the device must have left, after a frame was handed on uncopied.
    private static let leastQueued = 3

    /// Sets `device` to `chosen` and starts it.
    ///
    /// Throws what its calls mean: `busy`, `bandwidth`, `gone`, `unsupported` and others.
    init(
        _ device: VideoDevice,
        _ chosen: CaptureMode,
        insteadOf unreduced: CaptureMode? = nil
    ) throws(CaptureError) {
        unreducedMode = unreduced
        self.chosen = chosen
        let format = try device.set(chosen)
        mode = CaptureMode(size: format.size, rate: chosen.rate, format: chosen.format)
        self.device = device
        color = format.color
        conversion = try FrameConversion(format, device)
        let rate = try device.setRate(chosen.rate > 0 ? chosen.rate : 30)
        mode.rate = rate > 0 ? rate : chosen.rate > 0 ? chosen.rate : 30
        try allocate()
        try queueFree()
        var type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        try device.call(cv4l2_streamon, "VIDIOC_STREAMON", &type)
    }

    deinit {
        var type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        _ = device.attempt(cv4l2_streamoff, &type)
        // Memory has to be unmapped before it can be given back. Where a frame still holds some,
        // older kernels refuse, and closing the device does it later.
        slots.removeAll()
        var request = Self.bufferRequest(count: 0)
        _ = device.attempt(cv4l2_reqbufs, &request)
    }

    private static func bufferRequest(count: UInt32) -> v4l2_requestbuffers {
        var request = v4l2_requestbuffers()
        request.count = count
        request.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        request.memory = V4L2_MEMORY_MMAP.rawValue
        return request
    }

    private static func buffer(_ index: Int) -> v4l2_buffer {
        var buffer = v4l2_buffer()
        buffer.index = UInt32(index)
        buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        buffer.memory = V4L2_MEMORY_MMAP.rawValue
        return buffer
    }

    private func allocate() throws(CaptureError) {
        var request = Self.bufferRequest(count: Self.bufferCount)
        try device.call(cv4l2_reqbufs, "VIDIOC_REQBUFS", &request)
        guard request.count > 0 else { throw device.failure("VIDIOC_REQBUFS", ENOMEM) }
        for index in 0..<Int(request.count) {
            var buffer = Self.buffer(index)
            try device.call(cv4l2_querybuf, "VIDIOC_QUERYBUF", &buffer)
            let memory = try device.map(offset: Int(buffer.m.offset), length: Int(buffer.length))
            if let layout = conversion.borrowed, memory.bytes.count < layout.byteCount {
                throw device.failure(
                    "VIDIOC_QUERYBUF",
                    0,
                    detail: "\(memory.bytes.count) bytes are too few for \(mode)"
                )
            }
            slots.append(Slot(buffer: FrameBuffer(borrowing: memory.bytes, owner: memory)))
        }
    }

    /// Gives the device every buffer that neither it nor a frame has.
    private func queueFree() throws(CaptureError) {
        for index in slots.indices {
            guard !slots[index].isQueued, isKnownUniquelyReferenced(&slots[index].buffer) else {
                continue
            }
            var buffer = Self.buffer(index)
            try device.call(cv4l2_qbuf, "VIDIOC_QBUF", &buffer)
            slots[index].isQueued = true
        }
    }

    func suits(_ request: CaptureRequest) -> Bool {
        guard let modes = try? device.modes(for: request) else { return false }
        let best = chooseMode(modes, for: request)
        // For a photograph it is enough to have as many pixels.
        if request.isFull { return best?.size == chosen.size }
        return best == chosen
            && request.unreducedMode(chosen, of: modes) == unreducedMode
    }

    func next(until deadline: Timestamp, bell: Bell) throws(CaptureError) -> CapturedEvent {
        while true {
            try queueFree()
            switch device.wait(bell: bell, until: deadline) {
            case .rang: return .woken
            case .due: return .timedOut
            case .ready(let events):
                guard let buffer = try dequeue(events) else { continue }
                return try deliver(buffer)
            }
        }
    }

    /// Takes a filled buffer from the device; `nil` when there was none after all.
    private func dequeue(_ events: CInt) throws(CaptureError) -> v4l2_buffer? {
        var buffer = Self.buffer(0)
        let error = device.attempt(cv4l2_dqbuf, &buffer)
        guard error == 0 else {
            guard events & (POLLERR | POLLHUP | POLLNVAL) != 0 else {
                if error == EAGAIN { return nil }
                throw device.failure("VIDIOC_DQBUF", error)
            }
            // The device says that it cannot go on. Whether it is still there, QUERYCAP knows.
            var capability = v4l2_capability()
            let there = device.attempt(cv4l2_querycap, &capability)
            throw CaptureError(
                there == 0 && error != ENODEV ? .system : .gone,
                "VIDIOC_DQBUF",
                device.path,
                errno: error
            )
        }
        guard slots.indices.contains(Int(buffer.index)) else {
            throw device.failure("VIDIOC_DQBUF", EINVAL, detail: "a buffer that there is not")
        }
        slots[Int(buffer.index)].isQueued = false
        return buffer
    }

    /// Makes a frame of what the device left in `buffer`.
    private func deliver(_ buffer: v4l2_buffer) throws(CaptureError) -> CapturedEvent {
        let slot = slots[Int(buffer.index)].buffer
        let length = min(Int(buffer.bytesused), slot.bytes.count)
        guard buffer.flags & UInt32(V4L2_BUF_FLAG_ERROR) == 0, length > 0 else { return .dropped }
        let hasEnough = slots.count { $0.isQueued } >= Self.leastQueued
        if conversion.isCompressed {
            guard let memory = hasEnough ? slot : copy(of: slot, length) else { return .dropped }
            return .jpeg(
                JPEGFrame(
                    buffer: memory,
                    byteCount: length,
                    timestamp: buffer.time,
                    sequence: UInt64(buffer.sequence)
                )
            )
        }
        let picture: FramePicture?
        let start = MonotonicClock.now
        if let layout = conversion.borrowed {
            guard length >= layout.usedByteCount else { return .dropped }
            picture = FramePicture(
                buffer: hasEnough ? slot : copy(of: slot, layout.byteCount),
                layout: layout,
                color: color
            )
        } else {
            picture = try conversion.convert(slot, length)
        }
        decoding = MonotonicClock.now - start
        guard let picture, let memory = picture.buffer else { return .dropped }
        mode.size = picture.layout.size
        return .frame(
            Frame(
                buffer: memory,
                layout: picture.layout,
                color: picture.color,
                timestamp: buffer.time,
                sequence: UInt64(buffer.sequence)
            )
        )
    }

    /// A copy of the first `count` bytes of `buffer`; `nil` when all copies are held.
    private func copy(of buffer: FrameBuffer, _ count: Int) -> FrameBuffer? {
        if copies == nil { copies = FramePool(count: 4, byteCount: buffer.bytes.count) }
        guard let copy = copies?.draw() else { return nil }
        copy.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]))
        return copy
    }
}

extension v4l2_buffer {
    /// When the picture was taken: the driver's word where it uses our clock, and a time that the
    /// clock can show, else now.
    fileprivate var time: Timestamp {
        guard
            flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK)
                == UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC),
            (0..<1 << 32).contains(timestamp.tv_sec), (0..<1_000_000).contains(timestamp.tv_usec)
        else { return MonotonicClock.now }
        return Timestamp(
            nanoseconds: Int64(timestamp.tv_sec) * 1_000_000_000 + Int64(timestamp.tv_usec) * 1000
        )
    }
}

extension FrameLayout {
    /// Bytes from the picture's start to the end of its last row, without what fills that up.
    fileprivate var usedByteCount: Int {
        let last = plane(planeCount - 1)
        return last.offset + last.stride * (last.rows - 1) + last.rowBytes
    }
}
