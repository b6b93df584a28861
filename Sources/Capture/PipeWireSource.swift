package import DualCamCore
import Frames
import Glibc
import Imaging
import Media
import PipeWire
package import Platform

/// A camera that is a PipeWire node: one of libcamera's, a phone's, another computer's. Never one
/// of our own nodes, which would show itself.
package struct PipeWireSource: CameraSource {
    /// The node's name, or its description if that is known.
    package let name: String
    private let node: String
    /// "pipewire:NODE".
    package var identity: String { "pipewire:\(node)" }

    package init(node: String, name: String? = nil) {
        self.node = node
        self.name = name ?? node
    }

    /// Finds the node and links to it. It is asked for the size and rate of the request, and may
    /// give others.
    ///
    /// - Throws: `notFound` if the node does not exist or PipeWire does not run; `unsupported` if
    ///   it is our own; `timedOut` if PipeWire does not answer within three seconds; `gone` if the
    ///   connection breaks; `system` otherwise.
    package func open(_ request: CaptureRequest) throws(CaptureError) -> any CameraStream {
        try PipeWireStream(node, request)
    }

    /// Opens the camera; see `CameraSource`.
    package func open(
        _ request: CaptureRequest,
        bell: Bell,
        while isWanted: () -> Bool
    ) throws(CaptureError) -> any CameraStream {
        try PipeWireStream(node, request, bell: bell, while: isWanted)
    }
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

    private var list = PipeWireCameraList()
    /// The id of the linked node.
    private var target: UInt32?
    /// `true` once the linked node has gone.
    private var isGone = false
    private var format: VideoFormat?
    private var color = ColorSpace.video

    private var pool = GrowingPool(count: poolCount)
    private var turnedPool = GrowingPool(count: poolCount)
    /// The memory of pictures that still have to be converted or turned.
    private var scratch: FrameBuffer?
    private var jpegs: FramePool?
    /// The decoder of JPEGs that have to be turned or cropped.
    private var decoder: FrameDecoder?
    /// The decoder of H.264.
    private var videoDecoder: VideoDecoder?
    private var count: UInt64 = 0

    /// The number of frames that may be held at once.
    private static let poolCount = 6
    /// The time that PipeWire may take to list its objects.
    private static let timeout = Timestamp(seconds: 3)
    /// Formats that can be shown as they are come first, those that have to be converted last.
    private static let formats: [PixelFormat] = [
        .yuyv, .uyvy, .nv12, .i420, .mjpg, .bgrx, .rgbx, .bgra, .rgba, .xrgb, .argb, .xbgr, .abgr,
        .bgr, .rgb, .h264,
    ]
    /// The most bytes of a coded picture.
    private static let longestPicture = 1 << 24

    /// Opens a stream; see `PipeWireSource.open`. With `isOwn`, the node has to be one of ours.
    init(
        _ name: String,
        _ request: CaptureRequest,
        isOwn: Bool = false,
        bell: Bell? = nil,
        while isWanted: () -> Bool = { true }
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
        try iterate(until: deadline, bell, while: isWanted) { connection.isListed }
        let found = try node(isOwn: isOwn)
        target = found.id
        do throws(SystemError) {
            input = try VideoInput(
                of: found.serial,
                as: "DualCam",
                formats: Self.formats,
                wish: VideoInput.Wish(size: request.size, rate: request.rate),
                memory: .any,
                on: connection
            )
        } catch {
            throw CaptureError(.system, error.operation, name, errno: error.errno)
        }
    }

    /// Returns the camera with the name, among our own nodes or among the others.
    private func node(isOwn: Bool) throws(CaptureError) -> (id: UInt32, serial: String) {
        let called = list.cameras.filter { $0.value.name == name }
        let suiting = called.first { _, node in
            isOwn ? list.isOurs(node) : !list.isOurs(node) && !LoopbackMirror.feeds(node.device)
        }
        if let (id, node) = suiting { return (id, node.serial) }
        guard called.isEmpty else {
            let detail = isOwn ? "it is another program's" : "it is our own"
            throw CaptureError(.unsupported, "PipeWire node", name, detail: detail)
        }
        let names = list.cameras.values.map(\.name).sorted().joined(separator: ", ")
        throw CaptureError(
            .notFound,
            "PipeWire node",
            name,
            detail: "it was not found; "
                + (names.isEmpty ? "PipeWire has no camera" : "PipeWire has \(names)")
        )
    }

    /// Runs the loop until `condition` holds.
    ///
    /// - Throws: `gone` if the connection fails, `timedOut` after `deadline`, `woken` if the bell
    ///   rings and the camera is not wanted any more.
    private func iterate(
        until deadline: Timestamp,
        _ bell: Bell?,
        while isWanted: () -> Bool = { true },
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
            case .rang: guard isWanted() else { throw CaptureError(.woken, "PipeWire node", name) }
            case .due: throw CaptureError(.timedOut, "PipeWire node", name)
            }
        }
    }

    /// Takes over what the callbacks have stored.
    ///
    /// - Throws: `gone` if the connection or the node is lost, `unsupported` if the node's format
    ///   is none that we take, `noMode` if libav is needed for it and not installed.
    private func check() throws(CaptureError) {
        if let format = input?.format, format != self.format { try adopt(format) }
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

    private func adopt(_ format: VideoFormat) throws(CaptureError) {
        self.format = format
        videoDecoder = nil
        if format.pixels == .h264 {
            do throws(MediaError) {
                videoDecoder = try VideoDecoder(.h264)
            } catch {
                throw CaptureError(.noMode, "decoder", name, detail: "\(error)")
            }
        }
        // What the node does not declare is as with most cameras.
        color = ColorSpace(matrix: format.matrix ?? .bt601, range: format.range ?? .limited)
        mode = CaptureMode(
            size: format.size,
            rate: format.rate?.perSecond ?? Double(request.rate),
            format: format.pixels
        )
    }

    func objectCame(_ id: UInt32, _ object: PipeWireObject) {
        list.add(id, object)
    }

    func objectWent(_ id: UInt32) {
        list.remove(id)
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
            if let event = try take() { return event }
            switch wait(for: connection.descriptor, bell: bell, until: deadline) {
            case .rang: return .woken
            case .due: return .timedOut
            case .ready: continue
            }
        }
    }

    /// Takes the newest frame, and drops older ones; `nil` if there is none.
    private func take() throws(CaptureError) -> CapturedEvent? {
        guard let input, var newest = input.dequeue() else { return nil }
        let start = MonotonicClock.now
        defer { decoding = MonotonicClock.now - start }
        while let newer = input.dequeue() {
            // Later pictures are made from this one.
            if let videoDecoder { _ = try decode(newest, videoDecoder) }
            input.queue(newest)
            newest = newer
        }
        defer { input.queue(newest) }
        let header = newest.header
        guard header?.isDamaged != true, let format else { return .dropped }
        // The time of a node on another computer, or of one without a clock, is not on our clock.
        let stamped = header?.time ?? .zero
        let isOurs = stamped > start - Timestamp(seconds: 1) && stamped <= start
        let time = isOurs ? stamped : start
        count += 1
        if let videoDecoder { return try coded(newest, videoDecoder, time) }
        guard format.pixels == .mjpg else { return raw(newest, format, time) }
        return jpeg(newest, format, time)
    }

    /// Copies a coded picture to the memory that `memory` returns for its length in bytes. Returns
    /// the memory and the length; `nil` if the picture is damaged or too long, or without memory.
    private func copyCoded(
        _ picture: VideoBuffer,
        to memory: (Int) -> FrameBuffer?
    ) -> (buffer: FrameBuffer, count: Int)? {
        guard let block = picture.block(0), !block.isDamaged,
            (1...Self.longestPicture).contains(block.count), let buffer = memory(block.count),
            let base = buffer.bytes.baseAddress,
            picture.copy(
                block,
                at: 0,
                stride: block.count,
                rows: 1,
                rowBytes: block.count,
                to: base,
                targetStride: block.count
            )
        else { return nil }
        return (buffer, block.count)
    }

    /// Decodes a picture of H.264. Returns its layout; `nil` before the first key picture, and
    /// after damage.
    private func decode(
        _ picture: VideoBuffer,
        _ decoder: VideoDecoder
    ) throws(CaptureError) -> (FrameLayout, ColorSpace)? {
        guard let (buffer, count) = copyCoded(picture, to: scratch) else { return nil }
        do throws(MediaError) {
            return try decoder.decode(UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]))
        } catch {
            throw CaptureError(.unsupported, "decoder", name, detail: "\(error)")
        }
    }

    private func coded(
        _ picture: VideoBuffer,
        _ decoder: VideoDecoder,
        _ time: Timestamp
    ) throws(CaptureError) -> CapturedEvent {
        guard let (layout, color) = try decode(picture, decoder),
            let buffer = pool.draw(byteCount: layout.byteCount)
        else {
            return .dropped
        }
        decoder.copy(into: buffer)
        let made = Frame(
            buffer: buffer,
            layout: layout,
            color: color,
            timestamp: time,
            sequence: count
        )
        let (part, transform) = (picture.part(of: layout.size), picture.upright)
        guard transform != .identity || part.size != layout.size else { return .frame(made) }
        return turned(made, part, transform).map { .frame($0) } ?? .dropped
    }

    /// Copies a JPEG. One that is turned or cropped is decoded here.
    private func jpeg(
        _ picture: VideoBuffer,
        _ format: VideoFormat,
        _ time: Timestamp
    ) -> CapturedEvent {
        if jpegs == nil { jpegs = FramePool(count: Self.poolCount, byteCount: Self.longestPicture) }
        guard let (buffer, length) = copyCoded(picture, to: { _ in jpegs?.draw() }) else {
            return .dropped
        }
        let jpeg = JPEGFrame(
            buffer: buffer,
            byteCount: length,
            timestamp: time,
            sequence: count
        )
        let part = picture.part(of: format.size)
        guard picture.upright != .identity || part.size != format.size else { return .jpeg(jpeg) }
        if decoder == nil { decoder = try? FrameDecoder(expecting: format.size) }
        let outcome = decoder?.decode(jpeg, for: .whole)
        // The decoder reports the fault.
        if decoder?.fault?.lasting != nil { return .jpeg(jpeg) }
        guard case .frame(let frame)? = outcome,
            frame.layout.size == format.size,
            let turned = turned(frame, part, picture.upright)
        else { return .dropped }
        return .frame(turned)
    }

    /// Copies pixels: as they are, or converted to planar YUV, and turned.
    private func raw(
        _ picture: VideoBuffer,
        _ format: VideoFormat,
        _ time: Timestamp
    ) -> CapturedEvent {
        let part = picture.part(of: format.size)
        let transform = picture.upright
        let isRGB = format.pixels.rgbBytes != nil
        let needsPlanes = isRGB || transform != .identity && format.pixels != .i420
        func frame(_ buffer: FrameBuffer, _ layout: FrameLayout) -> Frame {
            Frame(
                buffer: buffer,
                layout: layout,
                color: isRGB ? .video : color,
                timestamp: time,
                sequence: count
            )
        }
        let planar = FrameLayout(size: part.size, format: .i420)
        var made: Frame?
        if needsPlanes {
            guard let planes = copyToScratch(picture, format, part),
                let buffer = pool.draw(byteCount: planar.byteCount),
                makePlanar(planes, format.pixels, into: buffer, planar)
            else { return .dropped }
            made = frame(buffer, planar)
        } else {
            let layout = FrameLayout(size: part.size, format: format.pixels)
            guard let buffer = pool.draw(byteCount: layout.byteCount),
                copy(
                    picture,
                    FrameLayout(size: format.size, format: format.pixels),
                    part,
                    to: (0..<layout.planeCount).map { buffer.plane($0, of: layout) }
                )
            else { return .dropped }
            made = frame(buffer, layout)
        }
        guard let made else { return .dropped }
        guard transform != .identity else { return .frame(made) }
        let whole = PixelRect(x: 0, y: 0, width: part.width, height: part.height)
        return turned(made, whole, transform).map { .frame($0) } ?? .dropped
    }

    /// Returns `part` of a planar frame, turned by `transform`; `nil` without free memory, or for
    /// colours that cannot be turned.
    private func turned(_ frame: Frame, _ part: PixelRect, _ transform: Transform) -> Frame? {
        guard let layout = turnedLayout(frame.layout, part: part, transform),
            let buffer = turnedPool.draw(byteCount: layout.byteCount)
        else { return nil }
        turn(frame, part: part, transform, into: buffer, layout)
        return Frame(
            buffer: buffer,
            layout: layout,
            color: frame.color,
            timestamp: frame.timestamp,
            sequence: frame.sequence
        )
    }

    /// Copies `part` of a picture to memory of our own, and returns its planes there.
    private func copyToScratch(
        _ picture: VideoBuffer,
        _ format: VideoFormat,
        _ part: PixelRect
    ) -> [Plane]? {
        guard let pixel = format.pixels.rgbBytes else {
            let layout = FrameLayout(size: part.size, format: format.pixels)
            let buffer = scratch(layout.byteCount)
            let planes = (0..<layout.planeCount).map { buffer.plane($0, of: layout) }
            let whole = FrameLayout(size: format.size, format: format.pixels)
            return copy(picture, whole, part, to: planes) ? planes : nil
        }
        let (rowBytes, rows) = (pixel * part.width, part.height)
        guard let block = picture.block(0), block.count > 0, !block.isDamaged,
            let base = scratch(rowBytes * rows).bytes.baseAddress
        else { return nil }
        let tight = pixel * format.size.width
        // GStreamer rounds rows up to 4 bytes, and older versions of it name no stride.
        let rounded = (tight + 3) / 4 * 4
        let unnamed = block.count >= rounded * format.size.height ? rounded : tight
        let stride = block.stride > 0 ? block.stride : unnamed
        guard stride >= tight else { return nil }
        let target = Plane(
            base: base.assumingMemoryBound(to: UInt8.self),
            stride: rowBytes,
            rowBytes: rowBytes,
            rows: rows
        )
        let isCopied = picture.copy(
            block,
            at: part.y * stride + part.x * pixel,
            stride: stride,
            rows: rows,
            rowBytes: rowBytes,
            to: target.base,
            targetStride: rowBytes
        )
        return isCopied ? [target] : nil
    }

    private func scratch(_ count: Int) -> FrameBuffer {
        if let scratch, scratch.bytes.count >= count { return scratch }
        let made = FrameBuffer(byteCount: count)
        scratch = made
        return made
    }

    /// Copies `part` of `picture`, whose size and format `whole` has, to `planes`. Returns `true`
    /// if it is complete.
    private func copy(
        _ picture: VideoBuffer,
        _ whole: FrameLayout,
        _ part: PixelRect,
        to planes: [Plane]
    ) -> Bool {
        let blocks = picture.blockCount
        guard blocks == 1 || blocks >= whole.planeCount, let first = picture.block(0),
            first.count > 0, !first.isDamaged, first.stride <= 1 << 20
        else { return false }
        let lying = BlockLayout(whole, stride: first.stride, byteCount: first.count)
        let isPacked = whole.format == .yuyv || whole.format == .uyvy
        for (index, plane) in planes.enumerated() {
            guard let block = picture.block(blocks == 1 ? 0 : index), block.stride <= 1 << 20
            else { return false }
            let (offset, ownStride, rowBytes, _) = lying.plane(index)
            let stride = blocks == 1 ? ownStride : max(rowBytes, block.stride)
            let isHalf = whole.format == .i420 && index > 0
            let across = isPacked ? 2 * part.x : isHalf ? part.x / 2 : part.x
            let down = index > 0 ? part.y / 2 : part.y
            let isCopied = picture.copy(
                block,
                at: (blocks == 1 ? offset : 0) + down * stride + across,
                stride: stride,
                rows: plane.rows,
                rowBytes: plane.rowBytes,
                to: plane.base,
                targetStride: plane.stride
            )
            guard isCopied else { return false }
        }
        return true
    }
}

/// The positions of a picture's planes in one block of memory.
struct BlockLayout {
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
