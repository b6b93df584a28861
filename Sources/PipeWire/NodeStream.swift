import CPipeWire
import Frames
import Glibc
import Platform

/// One connection of a node to PipeWire, and its stream; replaced after each loss. PipeWire's
/// callbacks only store what they report, and `PipeWireNode` reads it after they return: no
/// callback calls other code, and none destroys its caller. Bound to the thread of the event loop.
/// PipeWire's own thread, which wakes the consumers, never calls in here.
final class NodeStream: PipeWireObserver {
    /// The reason why the stream is unusable, or `nil` while it works.
    private(set) var failure: String?

    /// The source node of each link, by the link's id. Holds the links of all nodes, since a link
    /// may be reported before our own node's id.
    private var links: [UInt32: UInt32] = [:]
    /// The stream's buffers, each with the count of its readers.
    private var buffers: [Buffer] = []
    /// `true` if a consumer came or went since the buffers were made for the first one. One that
    /// leaves, perhaps by crashing, leaves the buffers it was reading marked as in use for ever.
    private var areShared = false
    /// The index in `buffers` of the newest frame. We count as one of its readers, so that it is
    /// not reused yet: a consumer that has returned it would miss another frame in the same buffer.
    private var newest: Int?
    /// The clock of the graph that we drive, in memory shared with PipeWire.
    private var clock: UnsafeMutablePointer<spa_io_clock>?

    private struct Buffer {
        let id: UnsafeMutablePointer<pw_buffer>
        let busy: UnsafeMutablePointer<spa_meta_busy>?
        var readers: UInt32 = 0
    }

    /// The properties that applications see, and may set.
    private var shown: [NodeProperty] = []
    /// The values that applications have set, until `takeWritten()`.
    private var written: [(name: NodeProperty.Name, value: Double)] = []

    private let size: Size
    private let rate: Int
    private let memory: Pods
    private let connection: PipeWireConnection
    private let stream: Stream

    /// Connects and requests the node, which is published once `nodeID` is known. Does not block.
    /// Throws as `PipeWireConnection.init`.
    init(_ settings: PipeWireNode.Settings) throws(SystemError) {
        size = settings.size
        rate = settings.rate
        memory = nodeMemory(size: settings.size)
        connection = try PipeWireConnection(
            remote: settings.remote,
            client: [PW_KEY_APP_NAME: "DualCam", PW_KEY_APP_ICON_NAME: "camera-web"]
        )
        // Browsers and the camera portal look for `media.role`.
        stream = try Stream(
            settings.description,
            [
                PW_KEY_MEDIA_CLASS: "Video/Source",
                PW_KEY_MEDIA_ROLE: "Camera",
                PW_KEY_NODE_NAME: settings.name,
                PW_KEY_NODE_DESCRIPTION: settings.description,
                PW_KEY_NODE_NICK: settings.description,
                PW_KEY_PRIORITY_SESSION: "\(settings.priority)",
            ],
            on: connection
        )
        connection.observe([.link], by: self)
        listen()
        try stream.connect(
            SPA_DIRECTION_OUTPUT,
            [PW_STREAM_FLAG_DRIVER, PW_STREAM_FLAG_MAP_BUFFERS],
            nodeFormat(size: settings.size, rate: settings.rate)
        )
    }

    private func listen() {
        stream.events.param_changed = { context, id, parameter in
            let node: NodeStream? = listener(context)
            switch id {
            case SPA_PARAM_Format.rawValue: node?.formatChanged(isSet: parameter != nil)
            case SPA_PARAM_Props.rawValue: node?.propertiesWritten(parameter)
            default: break
            }
        }
        stream.events.io_changed = { context, id, area, size in
            let node: NodeStream? = listener(context)
            node?.areaChanged(id, area, size)
        }
        stream.events.add_buffer = { context, buffer in
            let node: NodeStream? = listener(context)
            if let buffer { node?.bufferCame(buffer) }
        }
        stream.events.remove_buffer = { context, buffer in
            let node: NodeStream? = listener(context)
            if let buffer { node?.bufferWent(buffer) }
        }
        stream.listen(self)
    }

    /// The loop's descriptor; readable when `iterate()` has work.
    var descriptor: CInt { connection.descriptor }

    /// Handles PipeWire's pending events. Does not block.
    func iterate() {
        connection.iterate()
        // Not from the stream's own callback: it also reports an error when a consumer could not be
        // linked, although the stream goes on.
        failure = failure ?? connection.failure ?? stream.failure(otherwise: "the node was removed")
    }

    /// The node's id, or `nil` before PipeWire has assigned one.
    var nodeID: UInt32? {
        guard state == PW_STREAM_STATE_PAUSED || state == PW_STREAM_STATE_STREAMING else {
            return nil
        }
        let id = pw_stream_get_node_id(stream.handle)
        return id == SPA_ID_INVALID ? nil : id
    }

    /// Replaces the properties that applications see.
    func show(_ properties: [NodeProperty]) {
        shown = properties
        stream.update(propertyParameters(properties))
    }

    /// Returns what applications have set since the last call: of each property the last.
    func takeWritten() -> [(name: NodeProperty.Name, value: Double)] {
        defer { written = [] }
        return written
    }

    /// `true` while a consumer takes frames.
    var isStreaming: Bool { failure == nil && state == PW_STREAM_STATE_STREAMING }

    /// The number of links from the node.
    var consumers: Int {
        guard let nodeID else { return 0 }
        return links.values.count { $0 == nodeID }
    }

    private var state: pw_stream_state { stream.state }
}

// MARK: - PipeWire's events

extension NodeStream {
    func objectCame(_ id: UInt32, _ object: PipeWireObject) {
        guard case .link(let node, _) = object else { return }
        links[id] = node
        if node == nodeID, !buffers.isEmpty { areShared = true }
    }

    func objectWent(_ id: UInt32) {
        guard let node = links.removeValue(forKey: id) else { return }
        if node == nodeID, !buffers.isEmpty { areShared = true }
    }

    fileprivate func formatChanged(isSet: Bool) {
        // Consumers clear the format more than once. There is nothing to undo then: PipeWire
        // removes the buffers itself.
        guard isSet else { return }
        stream.update(memory)
    }

    fileprivate func propertiesWritten(_ props: UnsafePointer<spa_pod>?) {
        gather(readProperties(props.map { Pod($0) }, of: shown), into: &written)
    }

    fileprivate func areaChanged(_ id: UInt32, _ area: UnsafeMutableRawPointer?, _ size: UInt32) {
        guard id == SPA_IO_Clock.rawValue else { return }
        let fits = size >= MemoryLayout<spa_io_clock>.size
        clock = fits ? area?.assumingMemoryBound(to: spa_io_clock.self) : nil
        // A consumer reads the clock when it starts, before the first frame.
        setClock(to: MonotonicClock.now)
    }

    fileprivate func bufferCame(_ buffer: UnsafeMutablePointer<pw_buffer>) {
        let busy: UnsafeMutablePointer<spa_meta_busy>? = buffer.pointee.buffer.flatMap {
            meta(SPA_META_Busy, of: $0)
        }
        buffers.append(Buffer(id: buffer, busy: busy))
    }

    fileprivate func bufferWent(_ buffer: UnsafeMutablePointer<pw_buffer>) {
        // PipeWire removes and adds buffers all at once.
        newest = nil
        areShared = false
        buffers.removeAll { $0.id == buffer }
    }
}

// MARK: - Frames

extension NodeStream {
    /// Publishes one frame; see `PipeWireNode.publish`.
    func publish(
        pts: Timestamp,
        sequence: UInt64,
        discontinuity: Bool,
        draw: (UnsafeMutablePointer<UInt8>, Int) -> Void
    ) -> Bool {
        guard isStreaming else { return false }
        guard let buffer = dequeue(), let content = buffer.pointee.buffer else {
            // PipeWire gives the only buffer back in a cycle without a frame.
            if buffers.count == 1, pw_stream_is_driving(stream.handle) {
                pw_stream_trigger_process(stream.handle)
            }
            return false
        }
        let stride = size.width * 2
        let byteCount = stride * size.height
        // A buffer that does not match the format is not returned, so it is not used again.
        guard content.pointee.n_datas > 0, let plane = content.pointee.datas,
            let base = plane.pointee.data, let chunk = plane.pointee.chunk,
            Int(plane.pointee.maxsize) >= byteCount
        else { return false }

        draw(base.assumingMemoryBound(to: UInt8.self), stride)
        chunk.pointee.offset = 0
        chunk.pointee.size = UInt32(byteCount)
        chunk.pointee.stride = CInt(stride)
        chunk.pointee.flags = SPA_CHUNK_FLAG_NONE
        if let header: UnsafeMutablePointer<spa_meta_header> = meta(SPA_META_Header, of: content) {
            header.pointee.flags = discontinuity ? UInt32(SPA_META_HEADER_FLAG_DISCONT) : 0
            header.pointee.offset = 0
            header.pointee.pts = pts.nanoseconds
            header.pointee.dts_offset = 0
            header.pointee.seq = sequence
        }
        if let transform: UnsafeMutablePointer<spa_meta_videotransform> =
            meta(SPA_META_VideoTransform, of: content)
        {
            transform.pointee.transform = SPA_META_TRANSFORMATION_None.rawValue
        }
        // Another node drives if a consumer also belongs to that node's graph; the consumer then
        // takes the frame in its own time. Calling this before the stream runs crashes PipeWire
        // 1.4, hence the check of `isStreaming`.
        let drives = pw_stream_is_driving(stream.handle)
        // Before the frame is queued: until a connection's first trigger, that starts a cycle.
        if drives { setClock(to: pts) }
        guard pw_stream_queue_buffer(stream.handle, buffer) >= 0 else { return false }
        hold(buffer)
        if drives { pw_stream_trigger_process(stream.handle) }
        return true
    }

    /// The fewest buffers of which a consumer that keeps some leaves one, as GStreamer does. Others
    /// may ask for fewer than the node does, and get them.
    private static let enoughBuffers = 4

    /// Returns a free buffer, or `nil` if there is none. A single consumer that has had the buffers
    /// to itself, and enough of them, may hold them all; otherwise one is taken back.
    private func dequeue() -> UnsafeMutablePointer<pw_buffer>? {
        let isOfOne = !areShared && consumers <= 1 && buffers.count >= Self.enoughBuffers
        return dequeueAny() ?? (isOfOne ? nil : takeBack())
    }

    private func dequeueAny() -> UnsafeMutablePointer<pw_buffer>? {
        // The next buffer may still have readers (EBUSY); it then moves to the end of the queue.
        for _ in 0..<buffers.count {
            if let buffer = pw_stream_dequeue_buffer(stream.handle) { return buffer }
            guard errno == EBUSY else { return nil }
        }
        return nil
    }

    /// Returns the buffer that was published longest ago, even if it still has readers.
    ///
    /// All consumers share the buffers. One that hangs takes every frame and returns none, and
    /// after eight frames no other consumer would get one. Its frames are overwritten instead, as
    /// with any camera: PipeWire's own V4L2 node never checks for readers. PipeWire refuses a
    /// buffer that has readers, so the counts are set to zero during the call. A frame returned
    /// meanwhile is still counted correctly, since the counts are then added back, not set.
    private func takeBack() -> UnsafeMutablePointer<pw_buffer>? {
        for i in buffers.indices where i != newest {
            buffers[i].readers = buffers[i].busy.map(cpw_busy_take) ?? 0
        }
        defer {
            for i in buffers.indices where i != newest {
                buffers[i].busy.map { cpw_busy_add($0, Int64(buffers[i].readers)) }
            }
        }
        return dequeueAny()
    }

    /// Makes `buffer` the newest frame, and us one of its readers, unless it is the only one.
    private func hold(_ buffer: UnsafeMutablePointer<pw_buffer>) {
        guard buffers.count > 1 else { return }
        if let newest { buffers[newest].busy.map { cpw_busy_add($0, -1) } }
        newest = buffers.firstIndex { $0.id == buffer }
        if let newest { buffers[newest].busy.map { cpw_busy_add($0, 1) } }
    }

    /// Sets the graph's clock to `time`, on CLOCK_MONOTONIC. The driving stream has to do this
    /// itself; otherwise the clock shows an audio period and stands still. Since PipeWire 1.4,
    /// GStreamer's pipelines take their time from it: `position` must advance even without viewers,
    /// and agree with `nsec`. See docs/pipewire.md.
    private func setClock(to time: Timestamp) {
        guard let clock else { return }
        let now = UInt64(max(0, time.nanoseconds))
        let rate = UInt64(rate)
        clock.pointee.flags |= CPW_CLOCK_NO_RATE
        clock.pointee.nsec = now
        clock.pointee.rate.num = 1
        clock.pointee.rate.denom = 1000
        clock.pointee.position = now / 1_000_000
        clock.pointee.duration = max(1, 1000 / rate)
        clock.pointee.delay = 0
        clock.pointee.rate_diff = 1
        clock.pointee.next_nsec = now + 1_000_000_000 / rate
    }
}
