import CV4L2
import DualCamCore
import Frames
import Glibc
import Platform

/// A V4L2 device that streams into mapped memory.
///
/// Pictures that need no conversion are passed on in the device's memory, which is queued again
/// after the frame's release. If that would leave the device too few buffers, the frame is copied
/// instead, so that no consumer can starve a camera.
final class VideoStream: CameraStream {
    private(set) var mode: CaptureMode
    let unreducedMode: CaptureMode?
    private(set) var decoding = Timestamp.zero
    private let device: VideoDevice
    /// The mode requested from the driver.
    private let chosen: CaptureMode
    private var slots: [Slot] = []
    private let conversion: FrameConversion
    private let color: ColorSpace
    private var copies: FramePool?
    /// The filled buffer after the one delivered last, if the device had it by then.
    private var ahead: v4l2_buffer?
    var isEveryPictureNeeded = true
    /// The planes of the buffer in a call, filled by the driver if it has such.
    private let planes = UnsafeMutablePointer<v4l2_plane>.allocate(capacity: Int(VIDEO_MAX_PLANES))

    /// One buffer of the device.
    private struct Slot {
        /// Its memory; also held by frames that are not copied.
        var buffer: FrameBuffer
        /// Its further planes of memory. No frame holds them.
        var others: [FrameBuffer] = []
        /// `true` while the device has it, to be filled.
        var isQueued = false
    }

    /// The number of buffers to request: two or three may be held while the device still has
    /// enough.
    private static let bufferCount: UInt32 = 8
    /// The number of buffers the device must keep when a frame is passed on uncopied.
    private static let leastQueued = 3

    /// Sets `device` to `chosen` and starts it.
    ///
    /// - Throws: `busy`, `bandwidth`, `gone`, `unsupported` or another code of the failed call.
    init(
        _ device: VideoDevice,
        _ chosen: CaptureMode,
        insteadOf unreduced: CaptureMode? = nil
    ) throws(CaptureError) {
        unreducedMode = unreduced
        self.chosen = chosen
        planes.initialize(repeating: v4l2_plane(), count: Int(VIDEO_MAX_PLANES))
        let format = try device.set(chosen)
        mode = CaptureMode(size: format.size, rate: chosen.rate, format: chosen.format)
        self.device = device
        color = format.color
        conversion = try FrameConversion(format, device)
        let rate = try device.setRate(chosen.rate > 0 ? chosen.rate : 30)
        mode.rate = rate > 0 ? rate : chosen.rate > 0 ? chosen.rate : 30
        try allocate()
        try queueFree()
        var type = device.bufferType
        try device.call(cv4l2_streamon, "VIDIOC_STREAMON", &type)
    }

    deinit {
        var type = device.bufferType
        _ = device.attempt(cv4l2_streamoff, &type)
        // Memory has to be unmapped before it can be freed. If a frame still holds some, older
        // kernels refuse, and closing the device frees it later.
        slots.removeAll()
        var request = bufferRequest(count: 0)
        _ = device.attempt(cv4l2_reqbufs, &request)
        planes.deallocate()
    }

    private func bufferRequest(count: UInt32) -> v4l2_requestbuffers {
        var request = v4l2_requestbuffers()
        request.count = count
        request.type = device.bufferType
        request.memory = V4L2_MEMORY_MMAP.rawValue
        return request
    }

    /// Returns buffer `index` for a call, with room for its planes.
    private func buffer(_ index: Int) -> v4l2_buffer {
        var buffer = v4l2_buffer()
        buffer.index = UInt32(index)
        buffer.type = device.bufferType
        buffer.memory = V4L2_MEMORY_MMAP.rawValue
        if device.isMultiplanar {
            let count = max(1, device.planeStrides.count)
            planes.update(repeating: v4l2_plane(), count: count)
            buffer.m.planes = planes
            buffer.length = UInt32(count)
        }
        return buffer
    }

    private func allocate() throws(CaptureError) {
        var request = bufferRequest(count: Self.bufferCount)
        try device.call(cv4l2_reqbufs, "VIDIOC_REQBUFS", &request)
        guard request.count > 0 else { throw device.failure("VIDIOC_REQBUFS", ENOMEM) }
        for index in 0..<Int(request.count) {
            var buffer = buffer(index)
            try device.call(cv4l2_querybuf, "VIDIOC_QUERYBUF", &buffer)
            let places =
                device.isMultiplanar
                ? (0..<Int(buffer.length)).map { (planes[$0].m.mem_offset, planes[$0].length) }
                : [(buffer.m.offset, buffer.length)]
            var memories: [FrameBuffer] = []
            for (offset, length) in places {
                let memory = try device.map(offset: Int(offset), length: Int(length))
                memories.append(FrameBuffer(borrowing: memory.bytes, owner: memory))
            }
            let least = conversion.leastByteCounts
            guard memories.count >= max(1, least.count),
                zip(memories, least).allSatisfy({ $0.bytes.count >= $1 })
            else {
                let counts = memories.map { "\($0.bytes.count)" }.joined(separator: " and ")
                throw device.failure(
                    "VIDIOC_QUERYBUF",
                    0,
                    detail: "\(counts) bytes are too few for \(mode)"
                )
            }
            slots.append(Slot(buffer: memories[0], others: Array(memories.dropFirst())))
        }
    }

    /// Queues every buffer that neither the device nor a frame holds, and that is not the next one.
    private func queueFree() throws(CaptureError) {
        let next = ahead.map { Int($0.index) }
        for index in slots.indices {
            guard !slots[index].isQueued, index != next,
                isKnownUniquelyReferenced(&slots[index].buffer)
            else { continue }
            var buffer = buffer(index)
            try device.call(cv4l2_qbuf, "VIDIOC_QBUF", &buffer)
            slots[index].isQueued = true
        }
    }

    func suits(_ request: CaptureRequest) -> Bool {
        guard let modes = try? device.modes(for: request) else { return false }
        let best = chooseMode(modes, for: request)
        // For a photograph, the same number of pixels is enough.
        if request.isFull { return best?.size == chosen.size }
        return best == chosen
            && request.unreducedMode(chosen, of: modes) == unreducedMode
    }

    func next(until deadline: Timestamp, bell: Bell) throws(CaptureError) -> CapturedEvent {
        while true {
            try queueFree()
            if let buffer = ahead {
                ahead = dequeueAhead()
                return try deliver(buffer)
            }
            switch device.wait(bell: bell, until: deadline) {
            case .rang: return .woken
            case .due: return .timedOut
            case .ready(let events):
                if events & POLLPRI != 0, device.watchesSignal, device.takeSignalChange() {
                    throw CaptureError(
                        .newSignal,
                        "VIDIOC_DQEVENT",
                        device.path,
                        detail: "the signal at the input has changed"
                    )
                }
                guard let buffer = try dequeue(events) else { continue }
                ahead = dequeueAhead()
                return try deliver(buffer)
            }
        }
    }

    var hasNewer: Bool { ahead.map { $0.flags & UInt32(V4L2_BUF_FLAG_ERROR) == 0 } ?? false }

    /// Takes another filled buffer if the device has one. An error comes again at the next wait,
    /// which tells a device that is gone from one that failed.
    private func dequeueAhead() -> v4l2_buffer? { (try? dequeue(0)) ?? nil }

    /// Takes a filled buffer from the device; `nil` if there was none after all.
    private func dequeue(_ events: CInt) throws(CaptureError) -> v4l2_buffer? {
        var buffer = buffer(0)
        let error = device.attempt(cv4l2_dqbuf, &buffer)
        guard error == 0 else {
            guard events & (POLLERR | POLLHUP | POLLNVAL) != 0 else {
                if error == EAGAIN { return nil }
                throw device.failure("VIDIOC_DQBUF", error)
            }
            // The device cannot go on. QUERYCAP shows whether it is still there.
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
        if device.isMultiplanar { takePlanes(of: &buffer) }
        return buffer
    }

    /// Notes the length of the picture in `buffer`, whose planes were just dequeued, and marks it
    /// as damaged if one is too short. A picture that does not begin with its plane is moved there.
    private func takePlanes(of buffer: inout v4l2_buffer) {
        let slot = slots[Int(buffer.index)]
        for index in 0..<min(Int(buffer.length), 1 + slot.others.count) {
            let memory = (index == 0 ? slot.buffer : slot.others[index - 1]).bytes
            let end = min(Int(planes[index].bytesused), memory.count)
            let start = min(Int(planes[index].data_offset), end)
            if start > 0, let base = memory.baseAddress { memmove(base, base + start, end - start) }
            if index == 0 { buffer.bytesused = UInt32(end - start) }
            let least = conversion.leastByteCounts
            if least.count > 1, index < least.count, end - start < least[index] {
                buffer.flags |= UInt32(V4L2_BUF_FLAG_ERROR)
            }
        }
        // They are valid within the call only.
        buffer.m.planes = nil
    }

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
        if hasNewer, !isEveryPictureNeeded, conversion.borrowed == nil,
            !conversion.needsEveryPicture
        {
            return .outdated(UInt64(buffer.sequence))
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
            picture = try conversion.convert(
                slot,
                slots[Int(buffer.index)].others,
                length,
                isLower: buffer.field == V4L2_FIELD_BOTTOM.rawValue
            )
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

    /// Returns a copy of the first `count` bytes of `buffer`; `nil` if all copies are held.
    private func copy(of buffer: FrameBuffer, _ count: Int) -> FrameBuffer? {
        if copies == nil { copies = FramePool(count: 4, byteCount: buffer.bytes.count) }
        guard let copy = copies?.draw() else { return nil }
        copy.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]))
        return copy
    }
}

extension v4l2_buffer {
    /// The time of the picture: the driver's if it uses our clock and is plausible, otherwise now.
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
