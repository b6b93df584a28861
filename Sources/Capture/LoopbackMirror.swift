import CV4L2
import DualCamCore
package import Frames
import Glibc
package import Platform
import Synchronization

/// A copy of the stream on a device of the kernel module v4l2loopback, for programs without
/// PipeWire.
///
/// It consumes our own node, and only while a program has the device open, so that cameras run only
/// for a viewer. Works on a thread of its own, named `loopback`.
package final class LoopbackMirror: Sendable {
    /// A change of the mirror's state.
    package enum Report: Hashable, Sendable {
        /// There is no stream to copy, and it has no device.
        case resting
        /// It waits for programs at this device.
        case ready(String)
        /// These programs have the device open; the stream is written to it.
        case mirroring(String, [Reader])
        /// It has no device that it can write to, for this reason.
        case unavailable(String)
    }

    /// A program that has the device open.
    package struct Reader: Hashable, Sendable {
        /// The program's name as the kernel keeps it, 15 bytes at most.
        package let name: String
        package let process: Int32
        /// When it was first seen, in microseconds since 1970.
        package let since: Int64
    }

    private let isPublished = Atomic(false)
    private let worker: Worker

    private static let fed = Mutex<Set<String>>([])

    /// Returns `true` if we feed the device at `path`, so that it shows our own stream. From any
    /// thread.
    static func feeds(_ path: String) -> Bool { fed.withLock { $0.contains(path) } }

    /// Mirrors the node called `node`, of `size` and `rate`, to `device` once both exist. `device`
    /// is a path in /dev, or "auto" for the first device that no program feeds.
    ///
    /// `report` is called on the mirror's thread after each change.
    ///
    /// - Throws: `SystemError` if the system is out of threads or descriptors.
    package init(
        to device: String,
        of node: String,
        size: Size,
        rate: Int,
        report: @escaping @Sendable (Report) -> Void
    ) throws(SystemError) {
        worker = try Worker(name: "loopback")
        try worker.start { [self] in
            Feeder(self, to: device, of: node, size: size, rate: rate, report: report).run()
        }
    }

    /// Follows the node's arrival and removal. Without a node, the device is released.
    package func follow(isPublished: Bool) {
        self.isPublished.store(isPublished, ordering: .releasing)
        worker.wake()
    }

    /// Asks the thread to end. Does not wait for it.
    package func end() { worker.end() }

    /// Waits for the thread to end, at most until `deadline`. Returns `true` if it has ended. Call
    /// after `end()`.
    package func wait(until deadline: Timestamp) -> Bool { worker.join(until: deadline) }

    /// Lets the thread end by itself. Call after `end()`, instead of `wait(until:)`.
    package func leave() { worker.leave() }

    /// The state of the thread. Bound to it.
    private final class Feeder {
        private let shared: LoopbackMirror
        private let wanted: String
        private let node: String
        private let size: Size
        private let rate: Int
        private let report: @Sendable (Report) -> Void
        private var reported: Report?
        /// The device that was fed last.
        private var last: String?
        private var readers: [Reader] = []

        /// The time that a program has to keep the device open until it counts: some programs open
        /// every device briefly to identify it.
        private static let debounce = Timestamp(seconds: 0.2)
        /// The time until a retry where nothing reports a change.
        private static let retry = Timestamp(seconds: 2)

        init(
            _ shared: LoopbackMirror,
            to wanted: String,
            of node: String,
            size: Size,
            rate: Int,
            report: @escaping @Sendable (Report) -> Void
        ) {
            self.shared = shared
            self.wanted = wanted
            self.node = node
            self.size = size
            self.rate = rate
            self.report = report
        }

        private var isPublished: Bool { shared.isPublished.load(ordering: .acquiring) }
        private var isEnding: Bool { shared.worker.isEnding }

        private func reportOnce(_ news: Report) {
            guard news != reported else { return }
            reported = news
            report(news)
        }

        func run() {
            while !isEnding {
                guard isPublished else {
                    reportOnce(.resting)
                    pause(for: Timestamp(seconds: 3600))
                    continue
                }
                do throws(CaptureError) {
                    let device = try open()
                    LoopbackMirror.fed.withLock { _ = $0.insert(device.path) }
                    defer { LoopbackMirror.fed.withLock { _ = $0.remove(device.path) } }
                    last = device.path
                    try attend(device)
                } catch {
                    reportOnce(.unavailable(error.description))
                    if error.code == .notFound { awaitDevice() } else { pause(for: Self.retry) }
                }
            }
        }

        /// Opens the wanted device, or the first that no other program feeds. The one fed last is
        /// tried first, since programs may still have it open.
        ///
        /// - Throws: the reason why there is none.
        private func open() throws(CaptureError) -> LoopbackWriter {
            guard wanted == "auto" else {
                return try LoopbackWriter(wanted, size: size, rate: rate)
            }
            let paths = LoopbackWriter.paths
            var reason = CaptureError(
                .notFound,
                "v4l2loopback",
                detail: "the kernel module v4l2loopback has none"
            )
            for path in paths.filter({ $0 == last }) + paths.filter({ $0 != last }) {
                do throws(CaptureError) {
                    return try LoopbackWriter(
                        path,
                        size: size,
                        rate: rate,
                        sparesOpen: path != last
                    )
                } catch {
                    // "Another program feeds it" says more than that some other device is unusable.
                    if reason.code != .busy { reason = error }
                }
            }
            throw reason
        }

        /// Finds the programs that have `device` open, in some milliseconds. Returns `true` if any
        /// has.
        private func lookForReaders(of device: LoopbackWriter) -> Bool {
            let now = WallTime.now.microseconds
            readers = holders(of: device.path).map { holder in
                let known = readers.first { $0.process == holder.process }
                return Reader(
                    name: holder.name,
                    process: holder.process,
                    since: known?.since ?? now
                )
            }
            return !readers.isEmpty
        }

        /// Waits for the bell, at most for `span`.
        private func pause(for span: Timestamp) {
            _ = Capture.wait(for: -1, bell: shared.worker.bell, until: MonotonicClock.now + span)
        }

        /// Waits for something new in /dev, then a moment longer for udev to set it up.
        private func awaitDevice() {
            guard let watch = FileWatch("/dev", for: IN_CREATE | IN_ATTRIB) else {
                return pause(for: Self.retry)
            }
            // A limit, since the watch does not report what appeared before it.
            awaitEvent(of: watch, for: Timestamp(seconds: 30))
        }

        /// Waits for `watch` or the bell, at most for `span`; after an event, a moment longer.
        private func awaitEvent(of watch: FileWatch, for span: Timestamp) {
            let deadline = MonotonicClock.now + span
            let bell = shared.worker.bell
            if case .ready = Capture.wait(for: watch.descriptor, bell: bell, until: deadline) {
                pause(for: Self.debounce)
            }
        }

        /// Serves the programs that open `device`, until the node is gone or the mirror ends.
        ///
        /// - Throws: a `CaptureError` if the device becomes unusable.
        private func attend(_ device: LoopbackWriter) throws(CaptureError) {
            guard let watch = FileWatch(device.path, for: IN_OPEN | IN_CLOSE) else {
                throw CaptureError(.system, "inotify", device.path, errno: errno)
            }
            while isPublished, !isEnding {
                watch.drain()
                guard lookForReaders(of: device) else {
                    reportOnce(.ready(device.path))
                    awaitEvent(of: watch, for: Timestamp(seconds: 3600))
                    continue
                }
                try mirror(to: device, watch)
                // The next program begins with the last picture, which is not to be an old one of
                // the cameras.
                try device.blank()
            }
        }

        /// Pauses after `error`, and reports it unless the node is gone. Does neither for `woken`.
        private func endured(_ error: CaptureError) {
            guard error.code != .woken else { return }
            pause(for: Self.debounce)
            if isPublished, !isEnding {
                reportOnce(.unavailable(error.description))
            }
        }

        /// Writes frames until no program has the device open, or until there is a command.
        private func mirror(to device: LoopbackWriter, _ watch: FileWatch) throws(CaptureError) {
            let stream: PipeWireStream
            do throws(CaptureError) {
                stream = try PipeWireStream(
                    node,
                    CaptureRequest(size: size, rate: rate),
                    isOwn: true,
                    bell: shared.worker.bell
                )
            } catch {
                return endured(error)
            }
            while lookForReaders(of: device) {
                // Finding the programs that have it open takes some milliseconds, so it is done
                // only after an event.
                while !watch.drain() {
                    let event: CapturedEvent
                    do throws(CaptureError) {
                        event = try stream.next(
                            until: MonotonicClock.now + Self.retry,
                            bell: shared.worker.bell
                        )
                    } catch {
                        return endured(error)
                    }
                    switch event {
                    case .frame(let frame):
                        try device.write(frame)
                        reportOnce(.mirroring(device.path, readers))
                    case .woken: return
                    case .jpeg, .outdated, .dropped, .timedOut, .resting: break
                    }
                }
            }
        }
    }
}

/// A device of v4l2loopback that we feed, open until this is released.
///
/// Programs see a camera there while it is fed, and need a first picture: see the module's
/// v4l2_loopback_write().
private final class LoopbackWriter {
    let path: String
    private let device: VideoDevice
    private let size: Size
    private var bytes: [UInt8]

    /// Opens the device at `path`; with `sparesOpen`, only if certainly no program feeds it.
    ///
    /// - Throws: `busy` if another program is known to feed it, which without `exclusive_caps` is a
    ///   guess that only `sparesOpen` makes; `unsupported` if it is another device or has another
    ///   format; otherwise the code of the failed call.
    init(
        _ path: String,
        size: Size,
        rate: Int,
        sparesOpen: Bool = false
    ) throws(CaptureError) {
        self.path = path
        self.size = size
        bytes = [UInt8](repeating: 0, count: size.area * 2)
        device = try VideoDevice(path: path)
        guard try device.capability().driver == "v4l2 loopback" else {
            throw CaptureError(.unsupported, "v4l2loopback", path, detail: "it is another device")
        }
        // A device with `exclusive_caps` becomes a camera, and nothing else, while it is fed
        // (vidioc_querycap of 0.12.7).
        if try device.capability().isCamera { throw fed() }
        var present = v4l2_format()
        present.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        let hasPictures = device.attempt(cv4l2_g_fmt, &present) == 0
        var format = v4l2_format()
        format.type = V4L2_BUF_TYPE_VIDEO_OUTPUT.rawValue
        format.fmt.pix.width = UInt32(size.width)
        format.fmt.pix.height = UInt32(size.height)
        format.fmt.pix.pixelformat = PixelFormat.yuyv.rawValue
        format.fmt.pix.field = V4L2_FIELD_NONE.rawValue
        format.fmt.pix.bytesperline = UInt32(size.width * 2)
        format.fmt.pix.sizeimage = UInt32(size.area * 2)
        format.fmt.pix.colorspace = V4L2_COLORSPACE_SMPTE170M.rawValue
        let error = device.attempt(cv4l2_s_fmt, &format)
        guard error == 0 else {
            // A device that another program fed by write(2) accepts nothing until a program that
            // has announced itself closes it; then it can be opened again.
            sayFed()
            throw device.failure("VIDIOC_S_FMT", error)
        }
        guard format.fmt.pix.width == size.width, format.fmt.pix.height == size.height,
            format.fmt.pix.pixelformat == PixelFormat.yuyv.rawValue
        else {
            throw CaptureError(.unsupported, "VIDIOC_S_FMT", path, detail: "it has another format")
        }
        sayFed()
        // Without `exclusive_caps`, nothing shows which program feeds it. A device that has
        // pictures and is open is assumed to be fed, though it may be open because of earlier
        // pictures.
        if sparesOpen, hasPictures, try !device.capability().isCamera, !holders(of: path).isEmpty {
            throw fed()
        }
        var parameters = v4l2_streamparm()
        parameters.type = V4L2_BUF_TYPE_VIDEO_OUTPUT.rawValue
        parameters.parm.output.timeperframe = v4l2_fract(numerator: 1, denominator: UInt32(rate))
        // The module's answer matters to readers only.
        _ = device.attempt(cv4l2_s_parm, &parameters)
        try blank()
    }

    /// Informs the module that we feed the device, and, when it is closed, that we stopped. Writing
    /// alone does not (vidioc_streamon and v4l2_loopback_close of 0.12.7).
    private func sayFed() {
        var type = CInt(V4L2_BUF_TYPE_VIDEO_OUTPUT.rawValue)
        _ = device.attempt(cv4l2_streamon, &type)
    }

    private func fed() -> CaptureError {
        let programs = holders(of: path).map(\.description).joined(separator: ", ")
        return CaptureError(
            .busy,
            "v4l2loopback",
            path,
            detail: "another program feeds it"
                + (programs.isEmpty ? "" : "; it is open in \(programs)")
        )
    }

    /// The paths of the module's devices, in numerical order.
    static var paths: [String] {
        let sysfs = "/sys/devices/virtual/video4linux"
        return entries(of: sysfs).filter { $0.hasPrefix("video") }
            .sorted { ($0.count, $0) < ($1.count, $1) }.map { "/dev/\($0)" }
            .filter { (try? VideoDevice(path: $0).capability().driver) == "v4l2 loopback" }
    }

    /// Shows `frame`, which is YUY2, to programs; ignores one of another size.
    func write(_ frame: Frame) throws(CaptureError) {
        guard frame.layout.size == size, frame.layout.format == .yuyv else { return }
        let plane = frame.plane(0)
        let row = size.width * 2
        bytes.withUnsafeMutableBytes { bytes in
            for y in 0..<size.height {
                guard let start = bytes.baseAddress else { return }
                memcpy(start + y * row, plane.row(y), row)
            }
        }
        try write()
    }

    /// Shows a black picture to programs.
    func blank() throws(CaptureError) {
        for at in bytes.indices { bytes[at] = at % 2 == 0 ? 16 : 128 }
        try write()
    }

    private func write() throws(CaptureError) {
        let count = bytes.withUnsafeBytes {
            Glibc.write(device.descriptor, $0.baseAddress, $0.count)
        }
        guard count < 0, errno != EINTR, errno != EAGAIN else { return }
        throw device.failure("write", errno)
    }
}

/// A watch for events of a file: inotify(7).
private final class FileWatch {
    private let inotify: Descriptor
    /// Readable after an event.
    var descriptor: CInt { inotify.number }

    /// Watches `path`; `nil` if the system has no watch left, or if the file is gone.
    init?(_ path: String, for events: CInt) {
        let number = inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC))
        guard number >= 0 else { return nil }
        inotify = Descriptor(owning: number)
        guard inotify_add_watch(number, path, UInt32(events)) >= 0 else { return nil }
    }

    /// Discards the events so far. Returns `true` if there were any.
    @discardableResult
    func drain() -> Bool {
        var bytes = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        var hasEvents = false
        withUnsafeMutableBytes(of: &bytes) { buffer in
            // An event of a file has no name and takes 16 bytes; one in a directory takes more, and
            // is read whole or not at all.
            while read(descriptor, buffer.baseAddress, buffer.count) > 0 { hasEvents = true }
        }
        return hasEvents
    }
}
