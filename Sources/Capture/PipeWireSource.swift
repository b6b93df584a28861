import CPipeWire
import DualCamCore
import Frames
import Glibc
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
/// read after they return. The properties are in the order in which the C objects are created.
final class PipeWireStream: CameraStream {
    /// The requested mode, until the node has announced its own.
    private(set) var mode: CaptureMode
    private(set) var decoding = Timestamp.zero

    private let name: String
    private let request: CaptureRequest
    private let loop: UnsafeMutablePointer<pw_loop>
    private let context: OpaquePointer
    private let core: OpaquePointer
    private let registry: OpaquePointer
    private var stream: OpaquePointer?
    private let hooks: Hooks

    // Written by the callbacks.

    /// A camera in the registry.
    private struct RemoteCamera {
        var name: String
        var serial: String
        var client: String
        /// The path of its device file; empty if there is none.
        var device: String
    }

    /// The cameras in the registry, by id, and the process ids of clients in `processes`.
    private var nodes: [UInt32: RemoteCamera] = [:]
    private var processes: [String: String] = [:]
    /// `true` once PipeWire has listed all initial objects.
    private var isListed = false
    /// The id of the linked node.
    private var target: UInt32?
    /// The negotiated format.
    private var picture: (layout: FrameLayout, color: ColorSpace)?
    private var failure: String?

    private var pool: FramePool?
    private var pooled: FrameLayout?
    private var count: UInt64 = 0

    /// The number of frames that may be held at once.
    private static let poolCount = 6
    /// The time that PipeWire may take to list its objects.
    private static let timeout = Timestamp(seconds: 3)
    private static let library: Void = pw_init(nil, nil)
    private static let formats: [(PixelFormat, spa_video_format)] = [
        (.yuyv, SPA_VIDEO_FORMAT_YUY2), (.uyvy, SPA_VIDEO_FORMAT_UYVY),
        (.nv12, SPA_VIDEO_FORMAT_NV12), (.i420, SPA_VIDEO_FORMAT_I420),
    ]

    /// Opens a stream; see `PipeWireSource.open`. With `isOwn`, the node has to be one of ours.
    init(
        _ name: String,
        _ request: CaptureRequest,
        isOwn: Bool = false,
        bell: Bell? = nil
    ) throws(CaptureError) {
        _ = Self.library
        self.name = name
        self.request = request
        mode = CaptureMode(size: request.size, rate: Double(request.rate), format: .yuyv)
        func failed(_ operation: String) -> CaptureError {
            CaptureError(.notFound, operation, name, errno: errno)
        }
        var undo: [() -> Void] = []
        defer { for step in undo.reversed() { step() } }
        guard let loop = pw_loop_new(nil) else { throw failed("pw_loop_new") }
        cpw_loop_enter(loop)
        undo.append {
            cpw_loop_leave(loop)
            pw_loop_destroy(loop)
        }
        guard let context = pw_context_new(loop, nil, 0) else { throw failed("pw_context_new") }
        undo.append { pw_context_destroy(context) }
        guard let core = pw_context_connect(context, nil, 0) else {
            throw failed("pw_context_connect")
        }
        undo.append { pw_core_disconnect(core) }
        guard let registry = pw_core_get_registry(core, UInt32(PW_VERSION_REGISTRY), 0) else {
            throw failed("pw_core_get_registry")
        }
        self.loop = loop
        self.context = context
        self.core = core
        self.registry = registry
        hooks = Hooks()
        undo = []  // From here on `deinit` releases it all.

        let deadline = MonotonicClock.now + Self.timeout
        hooks.listen(core: core, registry: registry, for: self)
        cpw_core_sync(core, 0, 0)
        try iterate(until: deadline, bell) { isListed }
        let found = try node(isOwn: isOwn)
        target = found.id
        try connect(to: found.serial)
    }

    deinit {
        hooks.remove()
        if let stream { pw_stream_destroy(stream) }
        pw_proxy_destroy(registry)
        pw_core_disconnect(core)
        pw_context_destroy(context)
        cpw_loop_leave(loop)
        pw_loop_destroy(loop)
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

    private func connect(to serial: String) throws(CaptureError) {
        var empty = spa_dict()
        let properties = pw_properties_new_dict(&empty)
        for (key, value) in [
            (PW_KEY_MEDIA_TYPE, "Video"), (PW_KEY_MEDIA_CATEGORY, "Capture"),
            (PW_KEY_MEDIA_ROLE, "Camera"), (PW_KEY_TARGET_OBJECT, serial),
        ] { pw_properties_set(properties, key, value) }
        guard let stream = pw_stream_new(core, "DualCam", properties) else {
            throw CaptureError(.system, "pw_stream_new", name, errno: errno)
        }
        self.stream = stream
        hooks.listen(stream: stream, for: self)
        let flags =
            PW_STREAM_FLAG_AUTOCONNECT.rawValue | PW_STREAM_FLAG_MAP_BUFFERS.rawValue
            | PW_STREAM_FLAG_DONT_RECONNECT.rawValue
        let result = withPods { builder in
            var pods = Self.formats.map { _, format -> UnsafePointer<spa_pod>? in
                var info = spa_video_info_raw()
                info.format = format
                return UnsafePointer(
                    spa_format_video_raw_build(builder, SPA_PARAM_EnumFormat.rawValue, &info)
                )
            }
            return pw_stream_connect(
                stream,
                SPA_DIRECTION_INPUT,
                SPA_ID_INVALID,
                pw_stream_flags(rawValue: flags),
                &pods,
                UInt32(pods.count)
            )
        }
        guard result >= 0 else {
            throw CaptureError(.system, "pw_stream_connect", name, errno: -result)
        }
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
            cpw_loop_iterate(loop, 0)
            try check()
            if condition() { return }
            let left = (deadline - MonotonicClock.now).nanoseconds / 1_000_000
            guard left > 0 else { throw CaptureError(.timedOut, "PipeWire node", name) }
            guard let bell else {
                cpw_loop_iterate(loop, CInt(left))
                continue
            }
            switch wait(for: cpw_loop_get_fd(loop), bell: bell, until: deadline) {
            case .ready: continue
            case .rang: throw CaptureError(.woken, "PipeWire node", name)
            case .due: throw CaptureError(.timedOut, "PipeWire node", name)
            }
        }
    }

    private func check() throws(CaptureError) {
        if let failure { throw CaptureError(.gone, "PipeWire node", name, detail: failure) }
    }

    // MARK: - Frames

    func suits(_ request: CaptureRequest) -> Bool {
        request.size == self.request.size && request.rate == self.request.rate
    }

    func next(until deadline: Timestamp, bell: Bell) throws(CaptureError) -> CapturedEvent {
        while true {
            cpw_loop_iterate(loop, 0)
            try check()
            if let event = take() { return event }
            switch wait(for: cpw_loop_get_fd(loop), bell: bell, until: deadline) {
            case .rang: return .woken
            case .due: return .timedOut
            case .ready: continue
            }
        }
    }

    /// Takes the newest frame, and drops older ones; `nil` if there is none.
    private func take() -> CapturedEvent? {
        guard let stream else { return nil }
        var newest: UnsafeMutablePointer<pw_buffer>?
        while let buffer = pw_stream_dequeue_buffer(stream) {
            if let older = newest { pw_stream_queue_buffer(stream, older) }
            newest = buffer
        }
        guard let newest, let content = newest.pointee.buffer else { return nil }
        defer { pw_stream_queue_buffer(stream, newest) }
        let start = MonotonicClock.now
        defer { decoding = MonotonicClock.now - start }
        let header = spa_buffer_find_meta_data(
            content,
            SPA_META_Header.rawValue,
            MemoryLayout<spa_meta_header>.size
        )?.load(as: spa_meta_header.self)
        let isDamaged = (header?.flags ?? 0) & UInt32(SPA_META_HEADER_FLAG_CORRUPTED) != 0
        guard !isDamaged, let (layout, color) = picture, let buffer = draw(layout),
            copy(content, as: layout, to: buffer)
        else { return .dropped }
        count += 1
        // The time of a node on another computer, or of one without a clock, is not on our clock.
        let stamped = Timestamp(nanoseconds: header?.pts ?? 0)
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

    /// Copies the picture in `content` to `buffer`. Returns `true` if it is complete.
    private func copy(
        _ content: UnsafeMutablePointer<spa_buffer>,
        as layout: FrameLayout,
        to buffer: FrameBuffer
    ) -> Bool {
        let blocks = Int(content.pointee.n_datas)
        guard let datas = content.pointee.datas, blocks == 1 || blocks >= layout.planeCount,
            let first = datas[0].chunk?.pointee, first.size > 0,
            first.flags & CInt(SPA_CHUNK_FLAG_CORRUPTED) == 0
        else { return false }
        let lying = BlockLayout(layout, stride: Int(first.stride), byteCount: Int(first.size))
        for index in 0..<layout.planeCount {
            let data = datas[blocks == 1 ? 0 : index]
            guard let base = data.data, let chunk = data.chunk?.pointee else { return false }
            let (offset, stride, rowBytes, rows) = lying.plane(index)
            let own = max(rowBytes, Int(chunk.stride))
            let (begin, step) = blocks == 1 ? (offset, stride) : (0, own)
            let from = Int(chunk.offset) + begin
            let end = min(Int(data.maxsize), Int(chunk.offset) + Int(chunk.size))
            guard from + step * (rows - 1) + rowBytes <= end else { return false }
            let plane = buffer.plane(index, of: layout)
            for row in 0..<rows {
                memcpy(plane.row(row), base + from + step * row, rowBytes)
            }
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

// MARK: - PipeWire's events

extension PipeWireStream {
    fileprivate func objectCame(_ id: UInt32, _ type: String, _ properties: [String: String]) {
        // The C constants are two adjacent literals, which Swift does not import.
        switch type {
        case "PipeWire:Interface:Client":
            processes["\(id)"] = properties[PW_KEY_SEC_PID]
        case "PipeWire:Interface:Node"
        where properties[PW_KEY_MEDIA_CLASS]?.hasPrefix("Video/Source") == true:
            let path = properties[PW_KEY_OBJECT_PATH] ?? ""
            nodes[id] = RemoteCamera(
                name: properties[PW_KEY_NODE_NAME] ?? "",
                serial: properties[PW_KEY_OBJECT_SERIAL] ?? "\(id)",
                client: properties[PW_KEY_CLIENT_ID] ?? "",
                device: path.hasPrefix("v4l2:") ? String(path.dropFirst("v4l2:".count)) : ""
            )
        default: break
        }
    }

    fileprivate func objectWent(_ id: UInt32) {
        nodes[id] = nil
        if id == target { failure = failure ?? "it is gone" }
    }

    fileprivate func coreFailed(_ object: UInt32, _ result: CInt, _ message: String) {
        // Only this error, of the core itself (object 0), ends the connection.
        if object == 0, result == -EPIPE { failure = failure ?? message }
    }

    fileprivate func formatChanged(_ parameter: UnsafePointer<spa_pod>) {
        var info = spa_video_info_raw()
        guard spa_format_video_raw_parse(parameter, &info) >= 0,
            let format = Self.formats.first(where: { $0.1 == info.format })?.0,
            (1...16384).contains(info.size.width), (1...16384).contains(info.size.height),
            info.size.width * info.size.height <= 1 << 26
        else {
            failure = "it has a format that was not asked for"
            return
        }
        let size = Size(width: Int(info.size.width), height: Int(info.size.height))
        picture = (FrameLayout(size: size, format: format), color(of: info))
        let rate = info.framerate
        mode = CaptureMode(
            size: size,
            rate: rate.num > 0 && rate.denom > 0
                ? Double(rate.num) / Double(rate.denom) : Double(request.rate),
            format: format
        )
        withPods { builder in
            // Mappable memory, and the time of each frame.
            var pods: [UnsafePointer<spa_pod>?] = [
                object(builder, UInt32(SPA_TYPE_OBJECT_ParamBuffers), SPA_PARAM_Buffers) {
                    spa_pod_builder_prop(builder, SPA_PARAM_BUFFERS_dataType.rawValue, 0)
                    withUnsafeTemporaryAllocation(of: spa_pod_frame.self, capacity: 1) { frame in
                        spa_pod_builder_push_choice(
                            builder,
                            frame.baseAddress,
                            SPA_CHOICE_Flags.rawValue,
                            0
                        )
                        spa_pod_builder_int(
                            builder,
                            1 << CInt(SPA_DATA_MemPtr.rawValue) | 1 << CInt(SPA_DATA_MemFd.rawValue)
                        )
                        spa_pod_builder_pop(builder, frame.baseAddress)
                    }
                },
                object(builder, UInt32(SPA_TYPE_OBJECT_ParamMeta), SPA_PARAM_Meta) {
                    spa_pod_builder_prop(builder, SPA_PARAM_META_type.rawValue, 0)
                    spa_pod_builder_id(builder, SPA_META_Header.rawValue)
                    spa_pod_builder_prop(builder, SPA_PARAM_META_size.rawValue, 0)
                    spa_pod_builder_int(builder, CInt(MemoryLayout<spa_meta_header>.size))
                },
            ]
            pw_stream_update_params(stream, &pods, UInt32(pods.count))
        }
    }

    fileprivate func stateChanged(_ state: pw_stream_state, _ error: String?) {
        guard state == PW_STREAM_STATE_ERROR || state == PW_STREAM_STATE_UNCONNECTED else { return }
        failure = failure ?? error ?? "it was disconnected"
    }

    fileprivate static func at(_ context: UnsafeMutableRawPointer?) -> PipeWireStream? {
        context.map { Unmanaged<PipeWireStream>.fromOpaque($0).takeUnretainedValue() }
    }

    fileprivate func listed() { isListed = true }

    /// Returns the colour space; if the node declares none, the one of most cameras.
    private func color(of info: spa_video_info_raw) -> ColorSpace {
        ColorSpace(
            matrix: info.color_matrix == SPA_VIDEO_COLOR_MATRIX_BT709 ? .bt709 : .bt601,
            range: info.color_range == SPA_VIDEO_COLOR_RANGE_0_255 ? .full : .limited
        )
    }
}

/// The PipeWire callbacks of one stream.
private final class Hooks {
    private let memory = UnsafeMutablePointer<cpw_listeners>.allocate(capacity: 1)

    init() { memory.initialize(to: cpw_listeners()) }

    deinit { memory.deallocate() }

    func listen(core: OpaquePointer, registry: OpaquePointer, for owner: PipeWireStream) {
        // Not retained: the stream removes the hooks before it is released.
        let context = Unmanaged.passUnretained(owner).toOpaque()
        memory.pointee.core.done = { context, _, _ in PipeWireStream.at(context)?.listed() }
        memory.pointee.core.error = { context, id, _, result, message in
            let text = message.map { String(cString: $0) } ?? ""
            PipeWireStream.at(context)?.coreFailed(id, result, text)
        }
        cpw_listen_core(memory, core, context)
        memory.pointee.registry.global = { context, id, _, type, _, properties in
            guard let type, let properties else { return }
            var values: [String: String] = [:]
            for key in [
                PW_KEY_SEC_PID, PW_KEY_MEDIA_CLASS, PW_KEY_NODE_NAME, PW_KEY_OBJECT_SERIAL,
                PW_KEY_CLIENT_ID, PW_KEY_OBJECT_PATH,
            ] {
                values[key] = spa_dict_lookup(properties, key).map { String(cString: $0) }
            }
            PipeWireStream.at(context)?.objectCame(id, String(cString: type), values)
        }
        memory.pointee.registry.global_remove = { PipeWireStream.at($0)?.objectWent($1) }
        cpw_listen_registry(memory, registry, context)
    }

    func listen(stream: OpaquePointer, for owner: PipeWireStream) {
        memory.pointee.stream.state_changed = { context, _, state, error in
            PipeWireStream.at(context)?.stateChanged(state, error.map { String(cString: $0) })
        }
        memory.pointee.stream.param_changed = { context, id, parameter in
            guard id == SPA_PARAM_Format.rawValue, let parameter else { return }
            PipeWireStream.at(context)?.formatChanged(parameter)
        }
        let context = Unmanaged.passUnretained(owner).toOpaque()
        cpw_listen_stream(memory, stream, context)
    }

    /// Stops all calls. Harmless if nothing was added.
    func remove() { cpw_unlisten(memory) }
}

/// Calls `body` with a builder for parameters, valid within it.
@discardableResult
private func withPods<Result>(
    _ body: (UnsafeMutablePointer<spa_pod_builder>) -> Result
) -> Result {
    withUnsafeTemporaryAllocation(byteCount: 2048, alignment: 8) { bytes in
        var builder = spa_pod_builder()
        spa_pod_builder_init(&builder, bytes.baseAddress, UInt32(bytes.count))
        return withUnsafeMutablePointer(to: &builder, body)
    }
}

/// Returns an object of `type` with the properties that `body` adds.
private func object(
    _ builder: UnsafeMutablePointer<spa_pod_builder>,
    _ type: UInt32,
    _ id: spa_param_type,
    _ body: () -> Void
) -> UnsafePointer<spa_pod>? {
    withUnsafeTemporaryAllocation(of: spa_pod_frame.self, capacity: 1) { frame in
        spa_pod_builder_push_object(builder, frame.baseAddress, type, id.rawValue)
        body()
        return spa_pod_builder_pop(builder, frame.baseAddress).map {
            UnsafePointer($0.assumingMemoryBound(to: spa_pod.self))
        }
    }
}
