import DualCamCore
import Frames
import Glibc
import PipeWire
package import Platform

/// A camera that is a PipeWire node: one of libcamera's, a phone's, another computer's. Never one
/// of our own nodes, which would show itself.
package struct PipeWireSource: CameraSource {
    /// The node's name.
    package let name: String
    /// "pipewire:NODE".
    package var identity: String { "pipewire:\(name)" }

    /// Creates a source of the node called `name`, which need not exist yet.
    package init(node name: String) { self.name = name }

    /// Finds the node and links to it. The node decides on size and rate.
    ///
    /// - Throws: `notFound` if the node does not exist or PipeWire does not run; `unsupported` if
    ///   it is our own; `timedOut` if PipeWire does not answer within three seconds; `gone` if the
    ///   connection breaks; `system` otherwise.
    package func open(_ request: CaptureRequest) throws(CaptureError) -> any CameraStream {
        try PipeWireStream(name, request)
    }

    /// Opens the camera; see `CameraSource`.
    package func open(
        _ request: CaptureRequest,
        bell: Bell
    ) throws(CaptureError) -> any CameraStream { try PipeWireStream(name, request, bell: bell) }
}

/// The frames of a node, copied as they come.
///
/// PipeWire's loop runs on the capture thread: its callbacks only store what they report, which is
/// read after they return.
final class PipeWireStream: CameraStream, PipeWireObserver {
    /// The requested mode, until the node has announced its own.
    private(set) var mode: CaptureMode
    private(set) var decoding = Timestamp.zero

    private let name: String
    private let request: CaptureRequest
    private let connection: PipeWireConnection
    private var input: VideoInput?

    /// The cameras in the registry, by id, and the process ids of clients in `processes`.
    private var nodes: [UInt32: PipeWireObject.Camera] = [:]
    private var processes: [String: String] = [:]
    /// The id of the linked node.
    private var target: UInt32?
    /// `true` once the linked node has gone.
    private var isGone = false
    /// The negotiated format, and the layout that follows from it.
    private var picture: (format: VideoFormat, layout: FrameLayout, color: ColorSpace)?

    private var pool: FramePool?
    private var pooled: FrameLayout?
    private var count: UInt64 = 0

    /// The number of frames that may be held at once.
    private static let poolCount = 6
    /// The time that PipeWire may take to list its objects.
    private static let timeout = Timestamp(seconds: 3)
    private static let formats: [PixelFormat] = [.yuyv, .uyvy, .nv12, .i420]

    /// Opens a stream; see `PipeWireSource.open`. With `isOwn`, the node has to be one of ours.
    init(
        _ name: String,
        _ request: CaptureRequest,
        isOwn: Bool = false,
        bell: Bell? = nil
    ) throws(CaptureError) {
        self.name = name
        self.request = request
        mode = CaptureMode(size: request.size, rate: Double(request.rate), format: .yuyv)
        do throws(SystemError) {
            connection = try PipeWireConnection(remote: nil)
        } catch {
            throw CaptureError(.notFound, error.operation, name, errno: error.errno)
        }
        let deadline = MonotonicClock.now + Self.timeout
        connection.observe([.camera, .client], by: self)
        try iterate(until: deadline, bell) { connection.isListed }
        let found = try node(isOwn: isOwn)
        target = found.id
        do throws(SystemError) {
            input = try VideoInput(
                of: found.serial,
                as: "DualCam",
                formats: Self.formats,
                on: connection
            )
        } catch {
            throw CaptureError(.system, error.operation, name, errno: error.errno)
        }
    }

    /// Returns the camera with the name, among our own nodes or among the others.
    private func node(isOwn: Bool) throws(CaptureError) -> (id: UInt32, serial: String) {
        let ours = "\(getpid())"
        let called = nodes.filter { $0.value.name == name }
        let suiting = called.first { _, node in
            let isOurs = processes[node.client] == ours
            return isOwn ? isOurs : !isOurs && !LoopbackMirror.feeds(node.device)
        }
        if let (id, node) = suiting { return (id, node.serial) }
        guard called.isEmpty else {
            let detail = isOwn ? "it is another program's" : "it is our own"
            throw CaptureError(.unsupported, "PipeWire node", name, detail: detail)
        }
        let names = nodes.values.map(\.name).sorted().joined(separator: ", ")
        throw CaptureError(
            .notFound,
            "PipeWire node",
            name,
            detail: names.isEmpty ? "there is no camera" : "there are \(names)"
        )
    }

    /// Runs the loop until `condition` holds.
    ///
    /// - Throws: `gone` if the connection fails, `timedOut` after `deadline`, `woken` if the bell
    ///   rings.
    private func iterate(
        until deadline: Timestamp,
        _ bell: Bell?,
        _ condition: () -> Bool
    ) throws(CaptureError) {
        while true {
            connection.iterate()
            try check()
            if condition() { return }
            let left = (deadline - MonotonicClock.now).nanoseconds / 1_000_000
            guard left > 0 else { throw CaptureError(.timedOut, "PipeWire node", name) }
            guard let bell else {
                connection.iterate(milliseconds: CInt(left))
                continue
            }
            switch wait(for: connection.descriptor, bell: bell, until: deadline) {
            case .ready: continue
            case .rang: throw CaptureError(.woken, "PipeWire node", name)
            case .due: throw CaptureError(.timedOut, "PipeWire node", name)
            }
        }
    }

    /// Takes over what the callbacks have stored.
    ///
    /// - Throws: `gone` if the connection or the node is lost, `unsupported` if the node's format
    ///   is none that we take.
    private func check() throws(CaptureError) {
        if let format = input?.format, format != picture?.format { adopt(format) }
        switch input?.failure {
        case .format(let reason)?:
            throw CaptureError(.unsupported, "PipeWire node", name, detail: "\(reason)")
        case .disconnected(let reason)?: throw gone(reason)
        case nil: break
        }
        if let failure = connection.failure { throw gone(failure) }
        if isGone { throw gone("it is gone") }
    }

    private func gone(_ reason: String) -> CaptureError {
        CaptureError(.gone, "PipeWire node", name, detail: reason)
    }

    private func adopt(_ format: VideoFormat) {
        // What the node does not declare is as with most cameras.
        let color = ColorSpace(matrix: format.matrix ?? .bt601, range: format.range ?? .limited)
        picture = (format, FrameLayout(size: format.size, format: format.pixels), color)
        mode = CaptureMode(
            size: format.size,
            rate: format.rate?.perSecond ?? Double(request.rate),
            format: format.pixels
        )
    }

    func objectCame(_ id: UInt32, _ object: PipeWireObject) {
        switch object {
        case .client(let process): processes["\(id)"] = process
        case .camera(let camera): nodes[id] = camera
        case .link: break
        }
    }

    func objectWent(_ id: UInt32) {
        nodes[id] = nil
        if id == target { isGone = true }
    }

    // MARK: - Frames

    func suits(_ request: CaptureRequest) -> Bool {
        request.size == self.request.size && request.rate == self.request.rate
    }

    func next(until deadline: Timestamp, bell: Bell) throws(CaptureError) -> CapturedEvent {
        while true {
            connection.iterate()
            try check()
            if let event = take() { return event }
            switch wait(for: connection.descriptor, bell: bell, until: deadline) {
            case .rang: return .woken
            case .due: return .timedOut
            case .ready: continue
            }
        }
    }

    /// Takes the newest frame, and drops older ones; `nil` if there is none.
    private func take() -> CapturedEvent? {
        guard let input, var newest = input.dequeue() else { return nil }
        while let newer = input.dequeue() {
            input.queue(newest)
            newest = newer
        }
        defer { input.queue(newest) }
        let start = MonotonicClock.now
        defer { decoding = MonotonicClock.now - start }
        let header = newest.header
        guard header?.isDamaged != true, let (_, layout, color) = picture,
            let buffer = draw(layout), copy(newest, as: layout, to: buffer)
        else { return .dropped }
        count += 1
        // The time of a node on another computer, or of one without a clock, is not on our clock.
        let stamped = header?.time ?? .zero
        let isOurs = stamped > start - Timestamp(seconds: 1) && stamped <= start
        return .frame(
            Frame(
                buffer: buffer,
                layout: layout,
                color: color,
                timestamp: isOurs ? stamped : start,
                sequence: count
            )
        )
    }

    private func draw(_ layout: FrameLayout) -> FrameBuffer? {
        if pooled != layout {
            pooled = layout
            pool = FramePool(count: Self.poolCount, byteCount: layout.byteCount)
        }
        return pool?.draw()
    }

    /// Copies `picture` to `buffer`. Returns `true` if it is complete.
    private func copy(
        _ picture: VideoBuffer,
        as layout: FrameLayout,
        to buffer: FrameBuffer
    ) -> Bool {
        let blocks = picture.blockCount
        guard blocks == 1 || blocks >= layout.planeCount, let first = picture.block(0),
            first.count > 0, !first.isDamaged
        else { return false }
        let lying = BlockLayout(layout, stride: first.stride, byteCount: first.count)
        for index in 0..<layout.planeCount {
            guard let block = picture.block(blocks == 1 ? 0 : index) else { return false }
            let (offset, stride, rowBytes, rows) = lying.plane(index)
            let plane = buffer.plane(index, of: layout)
            let isCopied = picture.copy(
                block,
                at: blocks == 1 ? offset : 0,
                stride: blocks == 1 ? stride : max(rowBytes, block.stride),
                rows: rows,
                rowBytes: rowBytes,
                to: plane.row(0),
                targetStride: plane.stride
            )
            guard isCopied else { return false }
        }
        return true
    }
}

/// The positions of a picture's planes in one block of memory.
private struct BlockLayout {
    private let layout: FrameLayout
    /// The chroma stride and the luma size in bytes, if rows are laid out as GStreamer does.
    private var rounded: (stride: Int, luma: Int)?

    /// Creates the layout of a block of `byteCount` bytes for a picture of the size and format of
    /// `wanted`. `stride` is the luma stride in bytes, or 0 if unknown.
    ///
    /// The chroma rows follow from the luma rows. GStreamer rounds each to 4 bytes separately
    /// (gst_video_info_set_format), which shows in the number of bytes alone.
    init(_ wanted: FrameLayout, stride: Int, byteCount: Int) {
        // An NV12 chroma row is one byte wider than the luma row if the width is odd.
        let tight = (0..<wanted.planeCount).reduce(0) { max($0, wanted.plane($1).rowBytes) }
        let fourfold = (tight + 3) / 4 * 4
        if wanted.planeCount > 1, stride == 0 || stride == fourfold {
            let chroma = wanted.plane(1)
            let own = (chroma.rowBytes + 3) / 4 * 4
            let luma = fourfold * 2 * chroma.rows
            if byteCount == luma + (wanted.planeCount - 1) * own * chroma.rows {
                rounded = (own, luma)
            }
        }
        layout = FrameLayout(
            size: wanted.size,
            format: wanted.format,
            stride: rounded == nil ? max(tight, stride) : fourfold
        )
    }

    /// Returns the position of plane `index`, like `FrameLayout.plane`.
    func plane(_ index: Int) -> (offset: Int, stride: Int, rowBytes: Int, rows: Int) {
        var plane = layout.plane(index)
        guard let rounded, index > 0 else { return plane }
        plane.stride = rounded.stride
        plane.offset = rounded.luma + (index - 1) * rounded.stride * plane.rows
        return plane
    }
}
