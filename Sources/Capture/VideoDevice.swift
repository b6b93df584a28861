import CV4L2
import DualCamCore
import Frames
import Glibc
import Platform

/// The system calls on a video node. Tests replace them with a scripted device.
protocol VideoCalls: AnyObject {
    /// The descriptor that libv4lconvert uses to identify the camera; -1 if there is none.
    var descriptor: CInt { get }
    /// Calls ioctl(2) once. Returns 0 or the errno.
    func ioctl(_ request: UInt, _ argument: UnsafeMutableRawPointer) -> CInt
    /// Maps `length` bytes of the device's memory from `offset`: mmap(2).
    func map(offset: Int, length: Int) throws(SystemError) -> MappedMemory
    /// Waits for a frame or an error of the node; see `wait(for:bell:until:)`.
    func wait(bell: Bell, until deadline: Timestamp) -> WaitResult
}

/// Memory mapped by mmap(2), unmapped when its last user releases it.
final class MappedMemory {
    let bytes: UnsafeMutableRawBufferPointer

    /// Takes ownership of `bytes`, a whole mapping.
    init(owning bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

    deinit { munmap(bytes.baseAddress, bytes.count) }
}

private final class VideoNode: VideoCalls {
    private let node: Descriptor

    init(_ path: String) throws(SystemError) {
        let number = retryingInterrupts { open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC) }
        guard number >= 0 else { throw .last("open", path) }
        node = Descriptor(owning: number)
    }

    var descriptor: CInt { node.number }

    func ioctl(_ request: UInt, _ argument: UnsafeMutableRawPointer) -> CInt {
        Glibc.ioctl(node.number, request, argument) == -1 ? errno : 0
    }

    func map(offset: Int, length: Int) throws(SystemError) -> MappedMemory {
        let start = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, node.number, offset)
        guard let start, start != MAP_FAILED else { throw .last("mmap") }
        return MappedMemory(owning: UnsafeMutableRawBufferPointer(start: start, count: length))
    }

    func wait(bell: Bell, until deadline: Timestamp) -> WaitResult {
        Capture.wait(for: node.number, bell: bell, until: deadline)
    }
}

/// A V4L2 capture node, open until this is released. Its errors name the failed call.
///
/// - Context: bound to one thread at a time.
final class VideoDevice {
    /// The path in /dev, for messages.
    let path: String
    /// The kind of its buffers, known from `capability()` on: in one plane of memory, or several.
    private(set) var bufferType = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
    /// The lengths of the rows in each plane of memory, in bytes, as `set` found them; empty for a
    /// device with single planes.
    var planeStrides: [Int] = []
    /// `true` if its input tells when its signal changes.
    var watchesSignal = false
    private let calls: any VideoCalls

    /// Opens the node at `path`.
    ///
    /// - Throws: `notFound`, `gone`, `denied` or `busy`; `system` and others for rarer errnos.
    convenience init(path: String) throws(CaptureError) {
        do {
            try self.init(path: path, calls: VideoNode(path))
        } catch {
            throw CaptureError(
                Self.code(of: error.errno, at: "open"),
                "open",
                path,
                errno: error.errno
            )
        }
    }

    init(path: String, calls: any VideoCalls) {
        self.path = path
        self.calls = calls
    }

    /// The descriptor that libv4lconvert uses to identify the camera; -1 if there is none.
    var descriptor: CInt { calls.descriptor }

    /// Makes the call `request`, and repeats it after signals. Returns 0 or the errno.
    func attempt(_ request: UInt, at argument: UnsafeMutableRawPointer) -> CInt {
        while true {
            let error = calls.ioctl(request, argument)
            if error != EINTR { return error }
        }
    }

    /// Makes the call `request`, and repeats it after signals. Returns 0 or the errno.
    @inline(__always)
    func attempt<T>(_ request: UInt, _ argument: inout T) -> CInt {
        withUnsafeMutablePointer(to: &argument) { attempt(request, at: $0) }
    }

    /// Makes the call `request`, which errors call `name`.
    ///
    /// - Throws: the code for the errno.
    @inline(__always)
    func call<T>(_ request: UInt, _ name: String, _ argument: inout T) throws(CaptureError) {
        let error = attempt(request, &argument)
        guard error == 0 else { throw failure(name, error) }
    }

    func failure(_ name: String, _ errno: CInt, detail: String = "") -> CaptureError {
        CaptureError(Self.code(of: errno, at: name), name, path, errno: errno, detail: detail)
    }

    /// Maps `length` bytes of the device's memory from `offset`.
    ///
    /// - Throws: the code for the errno of mmap(2).
    func map(offset: Int, length: Int) throws(CaptureError) -> MappedMemory {
        do {
            return try calls.map(offset: offset, length: length)
        } catch {
            throw failure("mmap", error.errno)
        }
    }

    func wait(bell: Bell, until deadline: Timestamp) -> WaitResult {
        calls.wait(bell: bell, until: deadline)
    }

    private static func code(of errno: CInt, at name: String) -> CaptureError.Code {
        switch errno {
        case ENOENT: .notFound
        case ENODEV, ENXIO: .gone
        case EBUSY: .busy
        case EACCES, EPERM: .denied
        case ENOSPC: .bandwidth
        // USB host controllers report this when promised bandwidth is missing.
        case EIO where name == "VIDIOC_STREAMON": .bandwidth
        case ENOLINK, ENOLCK: .noSignal
        case ENOTTY, EINVAL: .unsupported
        case ETIMEDOUT: .timedOut
        default: .system
        }
    }
}

/// A node's answer to VIDIOC_QUERYCAP.
struct VideoCapability: Hashable {
    /// The driver's name: "uvcvideo", "v4l2 loopback".
    var driver: String
    /// The device's name for people.
    var card: String
    /// The place on the bus: "usb-0000:00:14.0-1".
    var bus: String
    /// The capabilities of this node of the device.
    var flags: NodeFacts.Capabilities

    var isCamera: Bool { flags.isCamera }
    var isRelay: Bool { NodeFacts.isRelay(driver: driver) }
}

extension VideoDevice {
    /// Returns the node's capabilities (VIDIOC_QUERYCAP).
    ///
    /// - Throws: the code for the errno.
    func capability() throws(CaptureError) -> VideoCapability {
        var answer = v4l2_capability()
        try call(cv4l2_querycap, "VIDIOC_QUERYCAP", &answer)
        // The device may capture although this node of it does not, for example one for metadata.
        let flags =
            answer.capabilities & V4L2_CAP_DEVICE_CAPS != 0
            ? answer.device_caps : answer.capabilities
        let isMultiplanar =
            flags & UInt32(V4L2_CAP_VIDEO_CAPTURE) == 0
            && flags & UInt32(V4L2_CAP_VIDEO_CAPTURE_MPLANE) != 0
        bufferType =
            isMultiplanar
            ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE.rawValue : V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        return VideoCapability(
            driver: text(of: answer.driver),
            card: text(of: answer.card),
            bus: text(of: answer.bus_info),
            flags: NodeFacts.Capabilities(rawValue: flags)
        )
    }

    /// `true` if its buffers have planes of memory of their own, even if each has only one.
    var isMultiplanar: Bool { bufferType == V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE.rawValue }

    /// Returns the direction that it faces, if its driver reports it (V4L2_CID_CAMERA_ORIENTATION).
    func orientation() -> CameraDevice.Orientation? {
        var control = v4l2_control(id: UInt32(V4L2_CID_CAMERA_ORIENTATION), value: -1)
        guard attempt(cv4l2_g_ctrl, &control) == 0 else { return nil }
        return switch control.value {
        case 0: .front
        case 1: .back
        case 2: .external
        default: nil
        }
    }
}

/// Returns a fixed-length C string, with invalid UTF-8 replaced.
func text<T>(of field: T) -> String {
    withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
