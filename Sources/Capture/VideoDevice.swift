import CV4L2
import Frames
import Glibc
import Platform

/// What the kernel is asked about a video node: the seam at which tests put a scripted device.
protocol VideoCalls: AnyObject {
    /// For libv4lconvert, which looks up by it what camera this is; -1 where there is none.
    var descriptor: CInt { get }
    /// ioctl(2) once: 0, or the errno.
    func ioctl(_ request: UInt, _ argument: UnsafeMutableRawPointer) -> CInt
    /// mmap(2): `length` bytes of the device's memory from `offset`.
    func map(offset: Int, length: Int) throws(SystemError) -> MappedMemory
    /// Waits until the node has a frame or an error to tell, as `wait(for:bell:until:)`.
    func wait(bell: Bell, until deadline: Timestamp) -> WaitResult
}

/// Memory mapped by mmap(2); unmapped when its last user lets go of it.
final class MappedMemory {
    let bytes: UnsafeMutableRawBufferPointer

    /// Takes ownership of `bytes`, a whole mapping.
    init(owning bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

    deinit { munmap(bytes.baseAddress, bytes.count) }
}

/// An open video node.
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

/// A V4L2 capture node, open until this is released: its calls, each with its name in the error.
///
/// - Context: bound to one thread at a time.
final class VideoDevice {
    /// Its path in /dev, for messages.
    let path: String
    private let calls: any VideoCalls

    /// Opens the node at `path`. Throws `notFound`, `gone`, `denied`, `busy`.
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

    /// A device whose calls `calls` answers.
    init(path: String, calls: any VideoCalls) {
        self.path = path
        self.calls = calls
    }

    /// For libv4lconvert, which looks up by it what camera this is.
    var descriptor: CInt { calls.descriptor }

    /// Makes the call `request`, again when a signal interrupts it: 0, or the errno.
    func attempt(_ request: UInt, at argument: UnsafeMutableRawPointer) -> CInt {
        while true {
            let error = calls.ioctl(request, argument)
            if error != EINTR { return error }
        }
    }

    /// Makes the call `request`, again when a signal interrupts it: 0, or the errno.
    @inline(__always)
    func attempt<T>(_ request: UInt, _ argument: inout T) -> CInt {
        withUnsafeMutablePointer(to: &argument) { attempt(request, at: $0) }
    }

    /// Makes the call `request`, or throws what its errno means, naming it `name`.
    @inline(__always)
    func call<T>(_ request: UInt, _ name: String, _ argument: inout T) throws(CaptureError) {
        let error = attempt(request, &argument)
        guard error == 0 else { throw failure(name, error) }
    }

    /// What `errno` out of the call `name` means for the camera.
    func failure(_ name: String, _ errno: CInt, detail: String = "") -> CaptureError {
        CaptureError(Self.code(of: errno, at: name), name, path, errno: errno, detail: detail)
    }

    /// The device's memory of `length` bytes from `offset`.
    func map(offset: Int, length: Int) throws(CaptureError) -> MappedMemory {
        do {
            return try calls.map(offset: offset, length: length)
        } catch {
            throw failure("mmap", error.errno)
        }
    }

    /// Waits for a frame, an error, the bell or the deadline.
    func wait(bell: Bell, until deadline: Timestamp) -> WaitResult {
        calls.wait(bell: bell, until: deadline)
    }

    /// What an errno means, by the call that it came from.
    private static func code(of errno: CInt, at name: String) -> CaptureError.Code {
        switch errno {
        case ENOENT: .notFound
        case ENODEV, ENXIO: .gone
        case EBUSY: .busy
        case EACCES, EPERM: .denied
        case ENOSPC: .bandwidth
        // USB host controllers say so when the bandwidth they promised is not there.
        case EIO where name == "VIDIOC_STREAMON": .bandwidth
        case ENOTTY, EINVAL: .unsupported
        case ETIMEDOUT: .timedOut
        default: .system
        }
    }
}

/// What VIDIOC_QUERYCAP says of a node.
struct VideoCapability: Hashable {
    /// "uvcvideo", "v4l2 loopback".
    var driver: String
    /// The device's name for people.
    var card: String
    /// Where it is attached: "usb-0000:00:14.0-1".
    var bus: String
    /// It captures pictures into memory that can be mapped, and does nothing else.
    var isCamera: Bool
}

extension VideoDevice {
    /// What kind of node it is (VIDIOC_QUERYCAP).
    func capability() throws(CaptureError) -> VideoCapability {
        var answer = v4l2_capability()
        try call(cv4l2_querycap, "VIDIOC_QUERYCAP", &answer)
        // The whole device may capture where this node of it, such as that for metadata, does not.
        let flags =
            answer.capabilities & V4L2_CAP_DEVICE_CAPS != 0
            ? answer.device_caps : answer.capabilities
        let needed = UInt32(V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING)
        let excluded = UInt32(
            V4L2_CAP_VIDEO_OUTPUT | V4L2_CAP_VIDEO_OUTPUT_MPLANE
                | V4L2_CAP_VIDEO_M2M | V4L2_CAP_VIDEO_M2M_MPLANE
        )
        return VideoCapability(
            driver: text(of: answer.driver),
            card: text(of: answer.card),
            bus: text(of: answer.bus_info),
            isCamera: flags & needed == needed && flags & excluded == 0
        )
    }

    /// Which way it looks, where its driver tells (V4L2_CID_CAMERA_ORIENTATION).
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

/// A fixed-length C string; what is no UTF-8 in it is replaced.
func text<T>(of field: T) -> String {
    withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
