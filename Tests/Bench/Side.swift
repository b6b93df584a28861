import CTurboJPEG
import Capture
import Compositing
import DualCamCore
import Engine
import Frames
import Glibc
import Imaging
import Platform

/// DualCam's own work as measured, each side in a process of its own: two cameras on their threads,
/// and the composite thread's work on their frames, as fast as possible and in step.
enum Side: String, CaseIterable {
    /// The way of a frame through DualCam, up to PipeWire.
    case dualcam
    /// The least possible work: libjpeg-turbo alone, and one copy of the output.
    case floor

    /// Returns the scene of a daemon in whose configuration only the size is set.
    static func scene(_ size: Size = Clips.size) -> SceneState {
        SceneState(canvas: size, style: SceneStyle(), present: PerRole(back: true, front: true))
    }

    static var inset: PixelRect {
        let scene = scene().scene(at: .zero)
        let rect = scene[scene.count - 1].rect
        return PixelRect(
            x: Int(rect.x),
            y: Int(rect.y),
            width: Int(rect.width),
            height: Int(rect.height)
        )
    }

    /// Makes `count` output frames from the clip at `path`, and writes the first to `picture`.
    func run(_ path: String, frames count: Int, picture: String?) throws {
        let clip = try ClipFile(path)
        let back = try ClipStream(clip, path)
        let size = back.mode.size
        let output = Output(size)
        switch self {
        case .dualcam:
            let cameras = PerRole<any CameraStream>(back: back, front: try ClipStream(clip, path))
            let compositor = Compositor(canvas: size)
            let (state, start) = (Side.scene(size), Timestamp.zero)
            let scene = state.scene(at: start)
            let extents = state.extents(at: start)
            let shown = PerRole(back: extents.back.a, front: extents.front.a)
            try inStep(count, cameras, shown) { frames in
                compositor.composite(
                    scene,
                    back: frames.back,
                    front: frames.front,
                    labels: PerRole(back: nil, front: nil),
                    into: output.next(),
                    stride: 2 * size.width
                )
            }
        case .floor:
            let jpegs = clip.jpegs()
            let cameras = PerRole<any CameraStream>(
                back: try BareStream(jpegs, eighths: 8),
                front: try BareStream(jpegs, eighths: Self.eighths)
            )
            let composed = Output(size)
            try inStep(count, cameras, PerRole(back: .whole, front: .whole)) { _ in
                output.next().update(from: composed.next(), count: output.byteCount)
            }
        }
        if let picture { try output.write(to: picture) }
    }

    /// The smallest scale of libjpeg-turbo, in eighths, at which a picture fills the inset.
    private static var eighths: Int {
        let inset = inset
        return (1...8).first {
            (Clips.size.width * $0 + 7) / 8 >= inset.width
                && (Clips.size.height * $0 + 7) / 8 >= inset.height
        } ?? 8
    }

    /// Makes each camera deliver `count` frames on a thread of its own, decoded as large as
    /// `extents` asks. Calls `compose` for each pair of frames, while the cameras go on with the
    /// next.
    private func inStep(
        _ count: Int,
        _ cameras: PerRole<any CameraStream>,
        _ extents: PerRole<ShownExtent>,
        _ compose: (PerRole<Frame?>) -> Void
    ) throws {
        let bell = try Bell()
        let slots = PerRole(back: FrameSlot(bell: bell), front: FrameSlot(bell: bell))
        let go = PerRole(back: try Bell(), front: try Bell())
        let threads = try Role.allCases.map { role in
            // Unsafe: created here and used by the new thread alone, until it is joined.
            nonisolated(unsafe) let camera = cameras[role]
            let (slot, go, extent) = (slots[role], go[role], extents[role])
            return try Thread(name: "capture-\(role.rawValue)") {
                guard let quiet = try? Bell(),
                    let decoder = try? FrameDecoder(expecting: camera.mode.size)
                else { return }
                for _ in 0..<count {
                    go.wait(until: nil)
                    switch try? camera.next(until: .zero, bell: quiet) {
                    case .frame(let frame): slot.put(frame)
                    case .jpeg(let jpeg):
                        guard case .frame(let frame) = decoder.decode(jpeg, for: extent) else {
                            return
                        }
                        slot.put(frame, of: jpeg)
                    default: return
                    }
                }
            }
        }
        for _ in 0..<min(1, count) { for role in Role.allCases { go[role].ring() } }
        for index in 0..<count {
            while Role.allCases.contains(where: { slots[$0].counts.captured <= index }) {
                bell.wait(until: nil)
            }
            let frames = PerRole(back: slots.back.fetch().frame, front: slots.front.fetch().frame)
            for role in Role.allCases { go[role].ring() }
            compose(frames)
        }
        for thread in threads { thread.join() }
    }
}

/// The compositor's output in place of PipeWire's buffers: eight, in turn.
final class Output {
    let byteCount: Int
    private let buffers: [FrameBuffer]
    private var index = 0

    init(_ size: Size = Clips.size) {
        let byteCount = 2 * size.area
        self.byteCount = byteCount
        buffers = (0..<8).map { _ in FrameBuffer(byteCount: byteCount) }
    }

    func next() -> UnsafeMutablePointer<UInt8> {
        index = (index + 1) % buffers.count
        guard let base = buffers[index].bytes.baseAddress else {
            preconditionFailure("a buffer without memory")
        }
        return base.assumingMemoryBound(to: UInt8.self)
    }

    /// Writes the first picture drawn, while it is still there.
    func write(to path: String) throws {
        guard let file = fopen(path, "w") else { throw SystemError.last("fopen", path) }
        defer { fclose(file) }
        fwrite(buffers[1].bytes.baseAddress, 1, byteCount, file)
    }
}

/// A camera that delivers a clip from memory, as fast as it is asked.
final class ClipStream: CameraStream {
    let mode: CaptureMode
    /// The memory of each frame.
    private let buffers: [FrameBuffer]
    private var sequence: UInt64 = 0

    /// Reads the clip at `path`, whose name determines the format.
    init(_ clip: ClipFile, _ path: String) throws {
        func buffer(_ bytes: UnsafeRawBufferPointer) -> FrameBuffer {
            FrameBuffer(borrowing: UnsafeMutableRawBufferPointer(mutating: bytes), owner: clip)
        }
        guard path.hasSuffix(".mjpeg") else {
            let format: PixelFormat = path.hasSuffix(".yuyv") ? .yuyv : .nv12
            mode = CaptureMode(size: Clips.size, rate: Double(Clips.rate), format: format)
            let count = FrameLayout(size: Clips.size, format: format).byteCount
            buffers = (0..<clip.bytes.count / count).map {
                let bytes = clip.bytes[$0 * count..<($0 + 1) * count]
                return buffer(UnsafeRawBufferPointer(rebasing: bytes))
            }
            return
        }
        let jpegs = clip.jpegs()
        let size = try JPEGDecoder().header(of: jpegs[0]).size
        mode = CaptureMode(size: size, rate: Double(Clips.rate), format: .mjpg)
        buffers = jpegs.map(buffer)
    }

    func suits(_ request: CaptureRequest) -> Bool { true }

    func next(until deadline: Timestamp, bell: Bell) throws(CaptureError) -> CapturedEvent {
        defer { sequence += 1 }
        let buffer = buffers[Int(sequence) % buffers.count]
        let now = MonotonicClock.now
        guard mode.format == .mjpg else {
            return .frame(
                Frame(
                    buffer: buffer,
                    layout: FrameLayout(size: mode.size, format: mode.format),
                    color: .video,
                    timestamp: now,
                    sequence: sequence
                )
            )
        }
        return .jpeg(
            JPEGFrame(
                buffer: buffer,
                byteCount: buffer.bytes.count,
                timestamp: now,
                sequence: sequence
            )
        )
    }
}

/// A camera of libjpeg-turbo alone, which decodes a clip at a scale.
final class BareStream: CameraStream {
    let mode = CaptureMode(size: Clips.size, rate: Double(Clips.rate), format: .mjpg)
    private let jpegs: [UnsafeRawBufferPointer]
    private let handle: tjhandle
    private let layout: FrameLayout
    private var pool: FramePool
    private var sequence: UInt64 = 0

    init(_ jpegs: [UnsafeRawBufferPointer], eighths: Int) throws {
        self.jpegs = jpegs
        guard let handle = tjInitDecompress() else { throw BenchError("no JPEG decoder") }
        self.handle = handle
        layout = FrameLayout(
            size: Size(
                width: (Clips.size.width * eighths + 7) / 8,
                height: (Clips.size.height * eighths + 7) / 8
            ),
            format: .i422
        )
        pool = FramePool(count: 6, byteCount: layout.byteCount)
    }

    deinit { tjDestroy(handle) }

    func suits(_ request: CaptureRequest) -> Bool { true }

    func next(until deadline: Timestamp, bell: Bell) throws(CaptureError) -> CapturedEvent {
        defer { sequence += 1 }
        let bytes = jpegs[Int(sequence) % jpegs.count]
        guard let buffer = pool.draw() else { return .dropped }
        let planes = (0..<3).map { buffer.plane($0, of: layout) }
        var bases: [UnsafeMutablePointer<UInt8>?] = planes.map(\.base)
        var strides = planes.map { CInt($0.stride) }
        let result = tjDecompressToYUVPlanes(
            handle,
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            UInt(bytes.count),
            &bases,
            CInt(layout.size.width),
            &strides,
            CInt(layout.size.height),
            0
        )
        guard result == 0 else { return .dropped }
        return .frame(
            Frame(
                buffer: buffer,
                layout: layout,
                color: .jpeg,
                timestamp: MonotonicClock.now,
                sequence: sequence
            )
        )
    }
}
