import CV4L2
import Frames
import Glibc
import Platform

@testable import Capture

/// A video device that answers as a test instructs it.
///
/// Without instructions it is a camera with one mode, YUYV 64x32 at 30 frames per second, that
/// fills each of its buffers with the number of the frame.
final class ScriptedDevice: VideoCalls {
    struct Delivery {
        var content: [UInt8]?
        var length: Int?
        var flags = UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
        /// The time in seconds; by default the number of the frame plus 100.
        var time: Int?
    }

    /// The errnos to answer with, in order, by call; after them the call succeeds.
    var errors: [UInt: [CInt]] = [:]
    var events = CInt(POLLIN)
    /// `true` if poll returns `events` even without a frame.
    var isBroken = false
    var isPatient = false
    /// What it answers to further calls.
    var answers: [UInt: (UnsafeMutableRawPointer) -> CInt] = [:]
    private(set) var log: [UInt] = []
    /// The frames to give, each into the next queued buffer.
    var deliveries: [Delivery] = []
    var format: PixelFormat
    var size = Size(width: 64, height: 32)
    /// The sizes that it has besides `size`.
    var otherSizes: [Size] = []
    var pix = v4l2_pix_format()
    /// The capabilities of the node in QUERYCAP.
    var capabilities = UInt32(V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING)
    private(set) var queued: [Int] = []
    private(set) var isStreaming = false
    private var memory: [Weak] = []
    private var sequence: UInt32 = 0

    private var guards: [UnsafeMutableRawPointer] = []

    deinit { for page in guards { munmap(page, 4096) } }

    private struct Weak { weak var mapped: MappedMemory? }

    /// Creates a device of one format, whose buffers have `length` bytes and rows `row` bytes, if
    /// those are others than of YUYV.
    init(_ format: PixelFormat = .yuyv, length: Int? = nil, row: Int = 0) {
        self.format = format
        pix.bytesperline = UInt32(row)
        if let length { self.length = length }
    }

    let descriptor: CInt = -1
    lazy var length = size.area * 2
    var mappedCount: Int { memory.count { $0.mapped != nil } }

    /// Answers a further call by changing its argument.
    func on<T>(_ request: UInt, _ type: T.Type, _ body: @escaping (inout T) -> CInt) {
        answers[request] = { $0.update(type, body) }
    }

    func mapped(_ index: Int) -> UnsafeMutableRawBufferPointer? { memory[index].mapped?.bytes }

    func ioctl(_ request: UInt, _ argument: UnsafeMutableRawPointer) -> CInt {
        log.append(request)
        if let error = errors[request]?.first {
            errors[request]?.removeFirst()
            return error
        }
        if let answer = answers[request] { return answer(argument) }
        switch request {
        case cv4l2_querycap:
            argument.update(v4l2_capability.self) {
                $0.device_caps = capabilities
                // The device as a whole captures in any case.
                $0.capabilities = UInt32(V4L2_CAP_VIDEO_CAPTURE) | V4L2_CAP_DEVICE_CAPS
            }
        case cv4l2_enum_fmt:
            return argument.update(v4l2_fmtdesc.self) {
                $0.pixelformat = format.rawValue
                return $0.index == 0 ? 0 : EINVAL
            }
        case cv4l2_enum_framesizes:
            return argument.update(v4l2_frmsizeenum.self) {
                let sizes = [size] + otherSizes
                guard $0.index < sizes.count else { return EINVAL }
                $0.type = V4L2_FRMSIZE_TYPE_DISCRETE.rawValue
                $0.discrete.width = UInt32(sizes[Int($0.index)].width)
                $0.discrete.height = UInt32(sizes[Int($0.index)].height)
                return 0
            }
        case cv4l2_enum_frameintervals:
            return argument.update(v4l2_frmivalenum.self) {
                $0.type = V4L2_FRMIVAL_TYPE_DISCRETE.rawValue
                $0.discrete = v4l2_fract(numerator: 1, denominator: 30)
                return $0.index == 0 ? 0 : EINVAL
            }
        case cv4l2_s_fmt:
            argument.update(v4l2_format.self) {
                let asked = Size(width: Int($0.fmt.pix.width), height: Int($0.fmt.pix.height))
                let given = otherSizes.contains(asked) ? asked : size
                pix.width = UInt32(given.width)
                pix.height = UInt32(given.height)
                pix.pixelformat = $0.fmt.pix.pixelformat
                $0.fmt.pix = pix
            }
        case cv4l2_reqbufs:
            if argument.assumingMemoryBound(to: v4l2_requestbuffers.self).pointee.count > 0 {
                memory = []
            }
        case cv4l2_querybuf:
            argument.update(v4l2_buffer.self) {
                $0.m.offset = $0.index * 0x10000
                $0.length = UInt32(length)
            }
        case cv4l2_qbuf:
            let index = Int(argument.assumingMemoryBound(to: v4l2_buffer.self).pointee.index)
            // The device may write to it at any time from now on.
            for place in memory[index].mapped?.bytes.indices ?? 0..<0 {
                memory[index].mapped?.bytes[place] = 0xee
            }
            queued.append(index)
        case cv4l2_dqbuf:
            return argument.update(v4l2_buffer.self) { dequeue(&$0) }
        case cv4l2_streamon: isStreaming = true
        case cv4l2_streamoff:
            isStreaming = false
            queued = []
        case cv4l2_s_parm: break
        default: return ENOTTY
        }
        return 0
    }

    private func dequeue(_ buffer: inout v4l2_buffer) -> CInt {
        guard !deliveries.isEmpty, !queued.isEmpty else { return EAGAIN }
        let delivery = deliveries.removeFirst()
        let index = queued.removeFirst()
        guard let bytes = memory[index].mapped?.bytes else { return EFAULT }
        let content = delivery.content ?? [UInt8](repeating: UInt8(sequence & 0xff), count: length)
        bytes.copyBytes(from: content.prefix(bytes.count))
        buffer.index = UInt32(index)
        buffer.bytesused = UInt32(delivery.length ?? content.count)
        buffer.flags = delivery.flags
        buffer.sequence = sequence
        buffer.timestamp.tv_sec = delivery.time ?? 100 + Int(sequence)
        sequence += 1
        return 0
    }

    /// Returns memory that a page follows which nobody may touch.
    func map(offset: Int, length: Int) throws(SystemError) -> MappedMemory {
        if let error = errors[0]?.first { throw SystemError("mmap", errno: error) }
        let (page, pages) = (4096, (length + 4095) / 4096 * 4096)
        let start = mmap(nil, pages + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let start, start != MAP_FAILED else { throw .last("mmap") }
        guards.append(start + pages)
        guard mprotect(start, pages, PROT_READ | PROT_WRITE) == 0 else { throw .last("mprotect") }
        let mapped = MappedMemory(
            owning: UnsafeMutableRawBufferPointer(start: start, count: length)
        )
        memory.append(Weak(mapped: mapped))
        return mapped
    }

    func wait(bell: Bell, until deadline: Timestamp) -> WaitResult {
        if isBroken || (!deliveries.isEmpty && !queued.isEmpty) { return .ready(events) }
        return isPatient ? Capture.wait(for: -1, bell: bell, until: deadline) : .due
    }
}

extension UnsafeMutableRawPointer {
    /// Changes the structure of type `T` at this address.
    fileprivate func update<T, R>(_ type: T.Type, _ change: (inout T) -> R) -> R {
        change(&assumingMemoryBound(to: type).pointee)
    }
}
